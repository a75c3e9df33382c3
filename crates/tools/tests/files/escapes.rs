//! Every way out that we could think of, for every tool, in every mode.

use std::{collections::BTreeSet, fs};

use kernel::{approvals::Mode, toolbox::ToolError};
use serde_json::{Value, json};

use crate::home::{Home, OUTSIDER, SECRET};

const MODES: [Mode; 3] = [Mode::Ask, Mode::AutoSafe, Mode::Full];

/// Every way to hand a path to a tool.
fn calls(path: &str) -> Vec<(&'static str, Value)> {
    let patch = |text: String| ("apply_patch", json!({ "patch": text }));
    let quoted = path.bytes().map(|byte| format!("\\{byte:03o}")).collect::<Vec<_>>().concat();
    vec![
        ("read_file", json!({ "path": path })),
        ("read_file", json!({ "path": path, "offset": 1, "limit": 1 })),
        ("list_directory", json!({ "path": path })),
        ("write_file", json!({ "path": path, "content": "written" })),
        ("edit_file", json!({ "path": path, "old": "the", "new": "written" })),
        ("edit_file", json!({ "path": path, "old": "t", "new": "", "all": true })),
        ("glob", json!({ "pattern": "*", "path": path })),
        ("grep", json!({ "pattern": "s", "path": path })),
        patch(format!("--- a/{path}\n+++ b/{path}\n@@\n-{SECRET}\n\\ No newline\n+written\n")),
        patch(format!("--- {path}\n+++ {path}\n@@ -1,0 +1,1 @@\n+written\n")),
        patch(format!("--- /dev/null\n+++ b/{path}\n@@\n+written\n")),
        patch(format!("--- /dev/null\n+++ \"b/{quoted}\"\n@@\n+written\n")),
        patch(format!("--- a/{path}\n+++ /dev/null\n@@\n-{SECRET}\n\\ No newline\n")),
        patch(format!("diff --git a/{path} b/{path}\ndeleted file mode 100644\n")),
        patch(format!("diff --git a/{path} b/{path}\nnew mode 100755\n")),
        patch(format!("diff --git a/{path} b/got\nrename from {path}\nrename to got\n")),
        patch(format!("diff --git a/mine b/{path}\nrename from mine\nrename to {path}\n")),
        patch(format!("diff --git a/mine b/x\nrename from mine\nrename to \"{quoted}\"\n")),
    ]
}

/// Whether an answer has something from outside in it that the call had not.
fn tells(args: &Value, text: &str) -> bool {
    text.contains(OUTSIDER) || text.contains(SECRET) && !args.to_string().contains(SECRET)
}

/// Paths that lead outside, or to something that is no file.
fn ways_out(home: &Home) -> Vec<String> {
    let (room, next) = (home.room().display().to_string(), home.next().display().to_string());
    let mut ways = vec![
        "..".into(),
        "../next".into(),
        "../next/secret".into(),
        "./../next/secret".into(),
        "dir/../../next/secret".into(),
        "dir/../../room/../next/secret".into(),
        "/".into(),
        "//".into(),
        "/etc/hostname".into(),
        "/proc/self/environ".into(),
        "/proc/self/root/etc/hostname".into(),
        "/proc/self/cwd/Cargo.toml".into(),
        "/dev/zero".into(),
        "/dev/stdin".into(),
        "/dev/fd/0".into(),
        format!("{next}/secret"),
        format!("{room}/../next/secret"),
        format!("{room}/dir/../../next/secret"),
        format!("{room}er/secret"),
        "mine/../../next/secret".into(),
        "x".repeat(5000),
        format!("dir/{}", "x".repeat(300)),
        "x/".repeat(3000) + "x",
        "nul\0".into(),
        "../next/secret\0.txt".into(),
    ];
    #[cfg(unix)]
    ways.extend(links(home).into_iter().map(str::to_owned));
    ways
}

#[cfg(unix)]
fn links(home: &Home) -> Vec<&'static str> {
    use std::os::unix::{fs::symlink, net::UnixListener};
    let secret = home.next().join("secret").display().to_string();
    for (to, name) in [
        (secret.as_str(), "absolute"),
        ("../next/secret", "link"),
        ("../next", "door"),
        ("../next/nothing", "dangling"),
        ("link", "chain"),
        ("../chain", "dir/chain"),
        ("dir/../door", "chain-of-doors"),
        ("round", "round"),
        ("/dev/zero", "zero"),
        ("/proc/self/root", "root"),
        ("/proc/self/cwd", "cwd"),
        ("..", "up"),
    ] {
        symlink(to, home.room().join(name)).unwrap();
    }
    rustix::fs::mkfifoat(rustix::fs::CWD, home.room().join("pipe"), rustix::fs::Mode::RWXU)
        .unwrap();
    // The name stays when the listener is gone.
    UnixListener::bind(home.room().join("socket")).unwrap();
    vec![
        "absolute",
        "link",
        "door",
        "door/secret",
        "door/new",
        "dangling",
        "chain",
        "dir/chain",
        "chain-of-doors/secret",
        "round",
        "zero",
        "root/etc/hostname",
        "cwd/new",
        "up/next/secret",
        "up/next/new",
        "pipe",
        "socket",
        "pipe/x",
    ]
}

/// Names that look like ways out, and are names like any other.
const HARMLESS: [&str; 9] = [
    "file:///etc/hostname",
    "~",
    "~/secret",
    "~root/x",
    "%2e%2e/next/secret",
    "..%2fnext%2fsecret",
    "..\\next\\secret",
    "．．/next/secret",
    "$HOME/secret",
];

#[tokio::test]
async fn no_way_out_leads_out() {
    for mode in MODES {
        let home = Home::new(mode).await;
        home.put("mine", "mine");
        home.put("dir/file", "mine");
        let (ways, outside) = (ways_out(&home), home.outside());
        let inside = fs::read_dir(home.room()).unwrap().count();
        for way in &ways {
            for (tool, args) in calls(way) {
                let called = home.call(tool, args.clone()).await;
                match called {
                    Err(ToolError::Failed(message)) => {
                        assert!(!tells(&args, &message), "{tool} {args}: {message}");
                        assert!(!message.contains("broke down"), "{message}");
                    }
                    other => panic!("{tool} {args}: {other:?}"),
                }
            }
        }
        assert_eq!(home.outside(), outside);
        assert_eq!(fs::read_dir(home.room()).unwrap().count(), inside);
        assert_eq!((home.get("mine").as_str(), home.get("dir/file").as_str()), ("mine", "mine"));
    }
}

#[tokio::test]
async fn what_only_looks_like_a_way_out_stays_inside() {
    for mode in MODES {
        let home = Home::new(mode).await;
        let outside = home.outside();
        for name in HARMLESS {
            for (tool, args) in calls(name) {
                home.put("mine", "mine");
                // Some succeed, inside.
                let text = match home.call(tool, args.clone()).await {
                    Ok(reply) => reply.text,
                    Err(error) => error.to_string(),
                };
                assert!(!tells(&args, &text), "{tool} {args}: {text}");
            }
            assert_eq!(home.outside(), outside, "{name}");
        }
    }
}

#[cfg(unix)]
#[tokio::test]
async fn what_the_house_keeps_in_the_folder_is_no_tools() {
    use std::os::unix::fs::symlink;
    for mode in MODES {
        let home = Home::new(mode).await;
        home.put("mine", "mine");
        home.put("dir/file", "mine");
        home.put(".house/key", SECRET);
        home.put(&format!(".house/{OUTSIDER}"), SECRET);
        symlink(".house", home.room().join("door")).unwrap();
        symlink("../.house/key", home.room().join("dir/link")).unwrap();
        let whole = home.room().join(".house/key").display().to_string();
        let ways = [".house", ".house/key", "./.house//key", "dir/../.house/key", ".house/new"];
        let links = ["door", "door/key", "door/new", "dir/link", whole.as_str()];
        for way in ways.into_iter().chain(links) {
            for (tool, args) in calls(way) {
                match home.call(tool, args.clone()).await {
                    Err(ToolError::Failed(text)) => assert!(!tells(&args, &text), "{tool}: {text}"),
                    other => panic!("{tool} {args}: {other:?}"),
                }
            }
        }
        let refused = home.call("read_file", json!({ "path": "door/key" })).await;
        let reason = "`door/key` cannot be used: Megaron keeps its own files to itself";
        assert_eq!(refused, Err(ToolError::Failed(reason.into())));
        let glob = home.call("glob", json!({ "pattern": "**/*" })).await.unwrap();
        assert_eq!(
            glob.text.lines().collect::<BTreeSet<_>>(),
            BTreeSet::from(["dir/file", "mine"])
        );
        let grep = home.call("grep", json!({ "pattern": SECRET })).await.unwrap();
        assert!(!tells(&json!(null), &grep.text), "{}", grep.text);
        assert_eq!((home.get("mine"), home.get(".house/key")), ("mine".into(), SECRET.into()));
        assert_eq!(fs::read_dir(home.room().join(".house")).unwrap().count(), 2);
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_search_sees_nothing_but_the_files_inside() {
    let home = Home::new(Mode::Ask).await;
    home.put("dir/file", "mine");
    links(&home);
    let glob = home.call("glob", json!({ "pattern": "**/*" })).await.unwrap();
    assert_eq!(glob.text, "dir/file");
    let grep = home.call("grep", json!({ "pattern": "." })).await.unwrap();
    assert_eq!(grep.text, "dir/file\n1:mine");
}

#[tokio::test]
async fn a_pattern_is_no_way_out() {
    let home = Home::new(Mode::Full).await;
    home.put("mine", "mine");
    let next = home.next().display().to_string();
    for pattern in ["../**", "../next/*", "/**", "**/../next/*", &format!("{next}/*"), "{..,.}/*"] {
        for (tool, args) in [
            ("glob", json!({ "pattern": pattern })),
            ("grep", json!({ "pattern": ".", "glob": pattern })),
            ("grep", json!({ "pattern": ".", "glob": format!("!{pattern}") })),
        ] {
            let text = match home.call(tool, args.clone()).await {
                Ok(reply) => reply.text,
                Err(error) => error.to_string(),
            };
            assert!(!tells(&args, &text), "{tool} {args}: {text}");
        }
    }
}

#[tokio::test]
async fn a_file_of_any_size_is_refused_or_cut() {
    let home = Home::new(Mode::Full).await;
    home.put("huge", "");
    fs::OpenOptions::new()
        .write(true)
        .open(home.room().join("huge"))
        .unwrap()
        .set_len(1 << 40)
        .unwrap();
    let read = home.call("read_file", json!({ "path": "huge" })).await.unwrap();
    assert!(read.text.len() < 2 * 1024 * 1024);
    let large = "`huge` cannot be used: it has more than 16777216 bytes";
    for (tool, args) in [
        ("edit_file", json!({ "path": "huge", "old": "a", "new": "b" })),
        ("apply_patch", json!({ "patch": "--- a/huge\n+++ b/huge\n@@\n-a\n+b\n" })),
        ("apply_patch", json!({ "patch": "--- a/huge\n+++ /dev/null\n@@\n-a\n" })),
    ] {
        assert_eq!(home.call(tool, args).await, Err(ToolError::Failed(large.into())));
    }
    let grep = home.call("grep", json!({ "pattern": "a" })).await.unwrap();
    assert_eq!(grep.text, "(nothing matches)");
    let write = home.call("write_file", json!({ "path": "huge", "content": "small" })).await;
    assert_eq!(
        write.unwrap().text,
        "replaced `huge` (5 bytes)\ndiff --git a/huge b/huge\n--- a/huge\n+++ b/huge\n\
         [what was there is not shown: it has more than 16777216 bytes]"
    );
    assert_eq!(home.get("huge"), "small");
}
