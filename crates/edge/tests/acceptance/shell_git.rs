//! Git in a folder that somebody else has filled, with everything that would have it run a program.

use std::{fs, path::Path, process::Command};

use serde_json::{Value, json};

use crate::common::House;

fn git(dir: &Path, args: &[&str]) {
    let done = Command::new("git").current_dir(dir).args(args).output().unwrap();
    assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
}

fn repository(dir: &Path) {
    fs::create_dir_all(dir).unwrap();
    git(dir, &["init", "-q", "-b", "main"]);
    git(dir, &["config", "user.name", "Somebody"]);
    git(dir, &["config", "user.email", "some@body.test"]);
    fs::write(dir.join("a.txt"), "one\n").unwrap();
    git(dir, &["add", "."]);
    git(dir, &["commit", "-qm", "first"]);
    fs::write(dir.join("a.txt"), "two\n").unwrap();
}

async fn run(house: &House, args: &[&str]) -> Value {
    let (status, done) = house.post("/api/shell", json!({ "command": "git", "args": args })).await;
    assert_eq!(status, 200, "{args:?} {done}");
    done
}

#[tokio::test]
async fn git_tells_what_it_knows() {
    let house = House::new([]).await;
    let nowhere = run(&house, &["log"]).await;
    assert_eq!(nowhere["code"], 128);
    assert!(nowhere["stderr"].as_str().unwrap().contains("not a git repository"), "{nowhere}");
    repository(&house.workspace());
    let status = run(&house, &["status", "--porcelain=v2"]).await;
    let line = status["stdout"].as_str().unwrap();
    assert!(line.starts_with("1 .M N... 100644") && line.ends_with("a.txt\n"), "{status}");
    let diff = run(&house, &["diff", "--", "a.txt"]).await;
    assert!(diff["stdout"].as_str().unwrap().ends_with("-one\n+two\n"), "{diff}");
    let numbers = run(&house, &["--no-pager", "diff", "--numstat"]).await;
    assert_eq!(numbers, json!({ "stdout": "1\t1\ta.txt\n", "stderr": "", "code": 0 }));
    let log = run(&house, &["log", "--format=%s", "--color=always"]).await;
    assert_eq!(log["stdout"], "first\n");
}

#[tokio::test]
async fn a_hostile_folder_has_nothing_run() {
    let house = House::new([]).await;
    let work = house.workspace();
    repository(&work);
    let proof = house.outside().join("proof");
    let evil = house.outside().join("evil");
    let script = format!("#!/bin/sh\necho \"$0 $@\" >> {}\ncat\n", proof.display());
    fs::write(&evil, script).unwrap();
    let done = Command::new("chmod").args(["+x".as_ref(), evil.as_os_str()]).status().unwrap();
    assert!(done.success());
    let evil = evil.to_str().unwrap();
    fs::write(work.join(".gitattributes"), "*.txt filter=x diff=x merge=x\n").unwrap();
    for name in ["pre-commit", "post-checkout", "post-index-change", "reference-transaction"] {
        fs::copy(evil, work.join(".git/hooks").join(name)).unwrap();
    }
    let alias = format!("!{evil}");
    for (name, value) in [
        ("filter.x.clean", evil),
        ("filter.x.smudge", evil),
        ("filter.x.required", "true"),
        ("filter.y.process", evil),
        ("diff.x.textconv", evil),
        ("diff.x.command", evil),
        ("diff.external", evil),
        ("merge.x.driver", evil),
        ("core.fsmonitor", evil),
        ("core.pager", evil),
        ("pager.log", evil),
        ("pager.status", evil),
        ("core.editor", evil),
        ("core.sshCommand", evil),
        ("core.askPass", evil),
        ("sequence.editor", evil),
        ("gpg.program", evil),
        ("gpg.x509.program", evil),
        ("log.showSignature", "true"),
        ("trailer.x.command", evil),
        ("interactive.diffFilter", evil),
        ("credential.helper", evil),
        ("alias.st", &alias),
        ("alias.status", &alias),
    ] {
        git(&work, &["config", name, value]);
    }
    fs::remove_file(&proof).ok();
    for args in [
        &["status"][..],
        &["status", "--porcelain=v2"],
        &["diff"],
        &["diff", "--cached"],
        &["diff-files", "-p"],
        &["diff-index", "-p", "HEAD"],
        &["log", "-p"],
        &["show"],
        &["blame", "a.txt"],
        &["grep", "two"],
        &["add", "."],
        &["commit", "-m", "second"],
        &["commit", "--amend"],
        &["checkout", "-b", "side"],
        &["checkout", "HEAD", "--", "."],
        &["stash"],
        &["branch", "-a"],
        &["tag", "-l"],
    ] {
        run(&house, args).await;
        let ran = fs::read_to_string(&proof).unwrap_or_default();
        assert_eq!(ran, "", "git {args:?}");
    }
    let refused = house.post("/api/shell", json!({ "command": "git", "args": ["st"] })).await;
    assert_eq!(refused.0, 403);
    let log = run(&house, &["log", "--format=%s"]).await;
    assert_eq!(log["stdout"], "second\nfirst\n", "and yet it works");
}
