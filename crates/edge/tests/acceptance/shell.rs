//! Commands over HTTP: which, with what, and what comes back.

use std::{fs, os::unix::fs::symlink};

use edge::Settings;
use serde_json::{Value, json};
use testkit::World;

use crate::common::{House, refused};

async fn run(house: &House, order: Value) -> (u16, Value) {
    house.post("/api/shell", order).await
}

fn wrong(text: &str) -> (u16, Value) {
    refused(400, "BAD_REQUEST", text)
}

fn forbidden(command: &str) -> (u16, Value) {
    refused(403, "FORBIDDEN", &format!("Command not allowed: {command}"))
}

fn done(stdout: &str, code: i32) -> (u16, Value) {
    (200, json!({ "stdout": stdout, "stderr": "", "code": code }))
}

/// A house in which more may be run than is wise.
pub async fn bold(commands: &[&str]) -> House {
    let commands = Some(commands.iter().map(|it| (*it).to_owned()).collect());
    House::with(World::new([]), Settings { commands, ..Settings::default() }).await
}

#[tokio::test]
async fn a_command_runs_in_its_folder_and_tells_how_it_ended() {
    let house = House::new([]).await;
    let work = house.workspace();
    fs::create_dir(work.join("dir")).unwrap();
    fs::write(work.join("dir/a.txt"), "one\r\n\ttwo\rthree\u{1b}[1m!\u{1b}[0m\n").unwrap();
    assert_eq!(run(&house, json!({ "command": "true" })).await, done("", 0));
    let here = house.cwd() + "\n";
    assert_eq!(run(&house, json!({ "command": "pwd", "args": [] })).await, done(&here, 0));
    let dir = work.join("dir");
    let listed = run(&house, json!({ "command": "ls", "cwd": dir })).await;
    assert_eq!(listed, done("a.txt\n", 0));
    let read = run(&house, json!({ "command": "cat", "args": ["a.txt"], "cwd": dir })).await;
    assert_eq!(read, done("one\n\ttwothree!\n", 0));
    let literal = run(&house, json!({ "command": "echo", "args": ["$(id); `id` | x"] })).await;
    assert_eq!(literal, done("$(id); `id` | x\n", 0));
    assert_eq!(run(&house, json!({ "command": "cat" })).await, done("", 0), "no input");
    let (status, failed) = run(&house, json!({ "command": "cat", "args": ["missing"] })).await;
    assert_eq!((status, &failed["code"], &failed["stdout"]), (200, &json!(1), &json!("")));
    assert!(failed["stderr"].as_str().unwrap().contains("missing"), "{failed}");
}

#[tokio::test]
async fn what_may_not_be_run_is_refused_in_a_fixed_order() {
    let house = House::new([]).await;
    fs::write(house.workspace().join("file"), "").unwrap();
    let file = house.workspace().join("file");
    let list = "args must be an array of strings";
    for (order, answer) in [
        (json!({}), wrong("command is required")),
        (json!({ "command": "", "args": 5 }), wrong("command is required")),
        (json!({ "command": "rm", "args": "x" }), wrong(list)),
        (json!({ "command": "ls", "args": null }), wrong(list)),
        (json!({ "command": "ls", "args": [5] }), wrong(list)),
        (json!({ "command": "ls", "args": { "0": "x" } }), wrong(list)),
        (json!({ "command": "ls", "args": ["a\0b"] }), wrong(list)),
        (json!({ "command": "rm", "args": ["x"], "cwd": "x" }), forbidden("rm")),
        (json!({ "command": "/bin/ls" }), forbidden("/bin/ls")),
        (json!({ "command": "./ls" }), forbidden("./ls")),
        (json!({ "command": "LS" }), forbidden("LS")),
        (json!({ "command": "ls " }), forbidden("ls ")),
        (json!({ "command": "ls\0" }), forbidden("ls\0")),
        (json!({ "command": "sh" }), forbidden("sh")),
        (json!({ "command": "ls", "cwd": "x" }), wrong("Working directory must be absolute path")),
        (json!({ "command": "ls", "cwd": "/no/x" }), wrong("Working directory does not exist")),
        (json!({ "command": "ls", "cwd": file }), wrong("Working directory is not a directory")),
        (json!({ "command": "git", "args": ["-c", "alias.x=!id", "x"] }), forbidden("git")),
    ] {
        assert_eq!(run(&house, order.clone()).await, answer, "{order}");
    }
    let (status, answer) = run(&house, json!({ "command": 5 })).await;
    assert_eq!((status, &answer["ok"]), (400, &json!(false)), "{answer}");
    let form = house.ask("POST", "/api/shell").body("text/plain", r#"{"command":"ls"}"#);
    assert_eq!(form.send().await.status, 415);
}

#[tokio::test]
async fn the_configuration_says_what_may_be_run() {
    let house = bold(&["printf", "no-such-program"]).await;
    let colours = json!({ "command": "printf", "args": ["\\033[31mred\\033[0m\\r\\nx\\ry\\tz"] });
    assert_eq!(run(&house, colours).await, done("red\nxy\tz", 0));
    assert_eq!(run(&house, json!({ "command": "ls" })).await, forbidden("ls"));
    let missing = refused(500, "INTERNAL_ERROR", "Command not found: no-such-program");
    assert_eq!(run(&house, json!({ "command": "no-such-program" })).await, missing);
}

#[tokio::test]
async fn our_own_things_are_shown_to_no_command() {
    let house = House::new([]).await;
    let key = house.data_dir().join("key").display().to_string();
    symlink(&key, house.workspace().join("link")).unwrap();
    let around = format!("/proc/self/root{key}");
    for args in [
        vec!["cat", &key],
        vec!["cat", "../data/key"],
        vec!["cat", "link"],
        vec!["cat", &around],
        vec!["head", "-n1", &key],
        vec!["wc", &format!("--files0-from={key}")],
        vec!["date", &format!("-f{key}")],
        vec!["ls", house.data_dir().to_str().unwrap()],
    ] {
        let (status, answer) = run(&house, json!({ "command": args[0], "args": args[1..] })).await;
        assert_eq!((status, answer), forbidden(args[0]), "{args:?}");
    }
    let within = json!({ "command": "cat", "args": ["key"], "cwd": house.data_dir() });
    assert_eq!(run(&house, within).await, forbidden("cat"));
}
