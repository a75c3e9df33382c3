//! What a person is asked before a file changes.

use std::{fs, path::Path};

use kernel::{
    approvals::Mode,
    question::{About, Decision, Question, Scope},
    toolbox::{Caller, Deed, Detail, Risk},
};
use serde_json::{Value, json};

use crate::home::{Home, unopened};

/// Calls a tool, waits for the question, answers it, and returns the question.
async fn asked(home: &Home, name: &str, args: Value, decision: Decision) -> Question {
    let call = Box::pin(home.host.call(home.session, Caller::Client, name, args));
    let answer = async {
        loop {
            if let Some(waiting) = home.host.questions().await.unwrap().pop() {
                home.host.decide(waiting.question.id, decision, "test").await.unwrap();
                return waiting.question;
            }
            tokio::task::yield_now().await;
        }
    };
    let (called, question) = tokio::join!(call, answer);
    // Whether it was allowed or not is seen in the files.
    unopened(called).ok();
    question
}

fn yes(scope: Scope, pattern: Option<&str>) -> Decision {
    Decision::Allow { scope, pattern: pattern.map(str::to_owned), lasts: None }
}

fn deed(question: Question) -> Deed {
    match question.about {
        About::Leave { deed, .. } => deed,
        other => panic!("{other:?}"),
    }
}

fn edit(path: &str, diff: &str) -> Deed {
    let detail = Detail::Change { path: path.into(), diff: diff.into() };
    let subjects = path.split(", ").map(str::to_owned).collect();
    Deed { risk: Risk::Edits, detail, subjects, within: None }
}

#[tokio::test]
async fn the_person_sees_the_very_change_that_is_then_made() {
    let home = Home::new(Mode::Ask).await;
    home.put("src/a", "one\ntwo\n");
    let once = || yes(Scope::Once, None);
    let diff = |cut: &str, add: &str| {
        format!("diff --git a/src/a b/src/a\n--- a/src/a\n+++ b/src/a\n@@ -1,2 +1,2 @@\n{cut}{add}")
    };

    let args = json!({ "path": "src/../src/a", "old": "two", "new": "zwei" });
    let question = asked(&home, "edit_file", args, once()).await;
    assert_eq!(deed(question), edit("src/a", &diff(" one\n", "-two\n+zwei\n")));
    assert_eq!(home.get("src/a"), "one\nzwei\n");

    let args = json!({ "path": "src/a", "content": "one\nthree\n" });
    let question = asked(&home, "write_file", args, once()).await;
    assert_eq!(deed(question), edit("src/a", &diff(" one\n", "-zwei\n+three\n")));
    assert_eq!(home.get("src/a"), "one\nthree\n");

    let patch = "diff --git a/src/a b/b\nrename from src/a\nrename to b\n\
                 --- a/src/a\n+++ b/b\n@@ -1,2 +1,2 @@\n one\n-three\n+drei\n\
                 diff --git a/c b/c\nnew file mode 100644\n--- /dev/null\n+++ b/c\n\
                 @@ -0,0 +1,1 @@\n+new\n";
    let question = asked(&home, "apply_patch", json!({ "patch": patch }), once()).await;
    assert_eq!((question.title.as_str(), question.tool.as_str()), ("Patching b, c", "apply_patch"));
    assert_eq!(deed(question), edit("src/a, b, c", patch));
    assert_eq!((home.get("b").as_str(), home.get("c").as_str()), ("one\ndrei\n", "new\n"));
}

#[tokio::test]
async fn a_change_that_is_refused_is_not_made() {
    let home = Home::new(Mode::Ask).await;
    home.put("a", "old\n");
    for (name, args) in [
        ("write_file", json!({ "path": "a", "content": "new" })),
        ("edit_file", json!({ "path": "a", "old": "old", "new": "new" })),
        ("apply_patch", json!({ "patch": "--- a/a\n+++ b/a\n@@\n-old\n+new\n" })),
    ] {
        asked(&home, name, args, Decision::Deny { reason: None }).await;
        assert_eq!(home.get("a"), "old\n");
    }
    assert_eq!(fs::read_dir(home.room()).unwrap().count(), 1);
}

#[tokio::test]
async fn a_call_that_cannot_succeed_bothers_nobody() {
    let home = Home::new(Mode::Ask).await;
    home.put("a", "old\n");
    for (name, args) in [
        ("write_file", json!({ "path": "../a", "content": "new" })),
        ("edit_file", json!({ "path": "a", "old": "gone", "new": "new" })),
        ("apply_patch", json!({ "patch": "--- a/a\n+++ b/a\n@@\n-gone\n+new\n" })),
    ] {
        let called = home.host.call(home.session, Caller::Client, name, args).await;
        assert!(called.is_err(), "{name}");
    }
    assert_eq!(home.host.questions().await.unwrap(), []);
}

#[tokio::test]
async fn a_grant_for_a_folder_cannot_be_stretched() {
    let home = Home::new(Mode::Ask).await;
    home.put("src/a", "old\n");
    home.put("other", "old\n");
    let write = |path: &str| json!({ "path": path, "content": "new\n" });
    let for_src = yes(Scope::Session, Some("src/*"));
    asked(&home, "write_file", write("src/a"), for_src).await;
    let unasked = home.host.call(home.session, Caller::Client, "write_file", write("src/b")).await;
    assert!(unasked.is_ok());
    let no = || Decision::Deny { reason: None };
    asked(&home, "write_file", write("src/../other"), no()).await;
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("../other", home.room().join("src/link")).unwrap();
        std::os::unix::fs::symlink("..", home.room().join("src/up")).unwrap();
        for path in ["src/link", "src/up/other", "src/up/new"] {
            asked(&home, "write_file", write(path), no()).await;
        }
    }
    assert_eq!(home.get("other"), "old\n");
}

#[tokio::test]
async fn a_safe_session_edits_freely_but_asks_before_it_touches_what_git_runs() {
    let home = Home::new(Mode::AutoSafe).await;
    home.put(".git/config", "");
    let write = |path: &str| json!({ "path": path, "content": "new\n" });
    let unasked = home.host.call(home.session, Caller::Client, "write_file", write("a")).await;
    assert!(unasked.is_ok());
    let refused = Decision::Deny { reason: None };
    let question = asked(&home, "write_file", write(".git/hooks/pre-commit"), refused).await;
    assert_eq!(deed(question).risk, Risk::Acts);
    assert!(!home.room().join(".git/hooks").exists());
}

#[tokio::test]
async fn applets_are_made_in_their_folder_and_need_leave_where_files_need_none() {
    let home = Home::new(Mode::AutoSafe).await;
    let path = home.workshop().join("tally/meta.json").display().to_string();
    let once = || yes(Scope::Once, None);
    let diff = "diff --git a/tally/meta.json b/tally/meta.json\nnew file mode 100644\n\
                --- /dev/null\n+++ b/tally/meta.json\n@@ -0,0 +1,1 @@\n+{}\n";
    let args = json!({ "path": path, "content": "{}\n" });
    let question = asked(&home, "write_file", args, once()).await;
    let within = Some(home.workshop().display().to_string());
    assert_eq!(deed(question), Deed { risk: Risk::Acts, within, ..edit(&path, diff) });
    let args = json!({ "path": path, "old": "{}", "new": "{ }" });
    let question = asked(&home, "edit_file", args, once()).await;
    assert_eq!(deed(question).risk, Risk::Acts);
    assert_eq!(fs::read_to_string(&path).unwrap(), "{ }\n");

    let read = home.call("read_file", json!({ "path": path })).await.unwrap();
    assert!(read.text.contains("{ }"), "{}", read.text);
    let folder = home.workshop().display().to_string();
    let listed = home.call("list_directory", json!({ "path": folder })).await.unwrap();
    assert!(listed.text.contains("tally/"), "{}", listed.text);

    let out = home.workshop().join("../next/secret").display().to_string();
    for (tool, args) in [
        ("read_file", json!({ "path": out })),
        ("write_file", json!({ "path": out, "content": "" })),
        ("write_file", json!({ "path": "../applets/tally/meta.json", "content": "" })),
    ] {
        assert!(home.call(tool, args).await.is_err(), "{tool}");
    }
}

#[tokio::test]
async fn leave_for_all_files_is_none_for_applets_and_the_other_way_round() {
    let home = Home::new(Mode::Ask).await;
    let write = |path: &Path| json!({ "path": path.display().to_string(), "content": "new\n" });
    let (file, applet) = (home.room().join("a"), home.workshop().join("tally/script.js"));
    let unasked = async |path: &Path| {
        let done = home.host.call(home.session, Caller::Client, "write_file", write(path)).await;
        assert!(done.is_ok(), "{}", path.display());
    };
    let no = || Decision::Deny { reason: None };
    for pattern in [None, Some("*"), Some("*a*")] {
        asked(&home, "write_file", write(&file), yes(Scope::Always, pattern)).await;
        for grant in home.host.approvals.all() {
            unasked(&file).await;
            asked(&home, "write_file", write(&applet), no()).await;
            assert!(home.host.approvals.revoke(grant.id).await.unwrap());
        }
    }
    asked(&home, "write_file", write(&applet), yes(Scope::Always, None)).await;
    unasked(&applet).await;
    unasked(&home.workshop().join("other/script.js")).await;
    asked(&home, "write_file", write(&file), no()).await;
}

#[tokio::test]
async fn applets_in_the_session_s_own_folder_are_still_applets() {
    let mut home = Home::new(Mode::AutoSafe).await;
    let above = home.workshop().parent().unwrap().to_owned();
    home.session = home.host.create(&above, "test", "").await.unwrap();
    let once = || yes(Scope::Once, None);
    let whole = home.workshop().join("tally/script.js").display().to_string();
    let within = Some(home.workshop().display().to_string());
    let patch = "--- /dev/null\n+++ b/applets/tally/script.js\n@@ -0,0 +1,1 @@\n+one\n";
    for (tool, args) in [
        ("apply_patch", json!({ "patch": patch })),
        ("edit_file", json!({ "path": "applets/tally/script.js", "old": "one", "new": "two" })),
        ("write_file", json!({ "path": whole, "content": "three" })),
    ] {
        let question = asked(&home, tool, args, once()).await;
        let Deed { risk, subjects, within: asked, .. } = deed(question);
        assert_eq!((risk, subjects, asked), (Risk::Acts, vec![whole.clone()], within.clone()));
    }
}
