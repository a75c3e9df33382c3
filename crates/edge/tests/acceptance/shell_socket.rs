//! Commands over the socket: told while they run, and ended with whoever listens.

use std::{path::PathBuf, time::Duration};

use serde_json::{Value, json};

use crate::{
    common::{House, Socket},
    shell::bold,
};

fn order(id: &str, command: &str, args: &[&str]) -> Value {
    json!({ "type": "shell", "id": id, "command": command, "args": args })
}

fn complaint(id: &str, text: &str) -> Value {
    json!({ "type": "error", "id": id, "error": text })
}

fn exit(id: &str, code: Option<i32>) -> Value {
    json!({ "type": "shellExit", "id": id, "code": code })
}

/// A command that has started another, and the sign that the other runs.
async fn lasting(socket: &mut Socket, id: &str) -> PathBuf {
    socket.send(order(id, "sh", &["-c", "sleep 1000 & echo $!; wait"])).await;
    let said = socket.next().await;
    assert_eq!((&said["type"], &said["id"]), (&json!("shellOutput"), &json!(id)));
    let sign = PathBuf::from(format!("/proc/{}/fd", said["data"].as_str().unwrap().trim()));
    assert!(sign.exists());
    sign
}

async fn gone(sign: PathBuf) {
    let gone = async {
        // Of one that has ended but was not buried, no files are left.
        while sign.read_dir().is_ok_and(|mut files| files.next().is_some()) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(50), gone).await.unwrap();
}

#[tokio::test]
async fn what_a_command_prints_is_told_at_once_and_then_how_it_ended() {
    let house = bold(&["sh"]).await;
    let mut socket = house.socket().await;
    let script = "printf '\\033[31mone\\r\\n'; printf two >&2; exit 3";
    socket.send(order("a", "sh", &["-c", script])).await;
    let frames = socket.until(|frame| frame["type"] == "shellExit").await;
    let heard = |stream: &str| -> String {
        let of = |frame: &&Value| frame["stream"] == stream;
        frames.iter().filter(of).map(|frame| frame["data"].as_str().unwrap()).collect()
    };
    assert_eq!((heard("stdout"), heard("stderr")), ("one\n".to_owned(), "two".to_owned()));
    assert_eq!(frames.last(), Some(&exit("a", Some(3))));
    socket.send(order("a", "sh", &["-c", "kill -9 $$"])).await;
    assert_eq!(socket.next().await, exit("a", None), "the id is free again");
}

#[tokio::test]
async fn a_command_ends_with_all_it_started_when_it_is_cancelled() {
    let house = bold(&["sh"]).await;
    let mut socket = house.socket().await;
    let sign = lasting(&mut socket, "a").await;
    socket.send(json!({ "type": "shellCancel", "id": "a" })).await;
    assert_eq!(socket.next().await, exit("a", None));
    gone(sign).await;
    socket.send(json!({ "type": "shellCancel", "id": "a" })).await;
    assert_eq!(socket.next().await, complaint("a", "No command with the id a is running"));
}

#[tokio::test]
async fn a_command_ends_when_nobody_listens_any_more() {
    let house = bold(&["sh"]).await;
    let mut socket = house.socket().await;
    let sign = lasting(&mut socket, "a").await;
    drop(socket);
    gone(sign).await;
}

#[tokio::test]
async fn what_cannot_be_run_is_refused_and_the_socket_stays() {
    let house = bold(&["sh"]).await;
    let mut socket = house.socket().await;
    for (frame, text) in [
        (order("a", "rm", &["x"]), "Command not allowed: rm"),
        (json!({ "type": "shell", "id": "a" }), "command is required"),
        (
            json!({ "type": "shell", "id": "a", "command": "sh", "args": "x" }),
            "args must be an array of strings",
        ),
        (
            json!({ "type": "shell", "id": "a", "command": "sh", "cwd": "x" }),
            "Working directory must be absolute path",
        ),
    ] {
        socket.send(frame.clone()).await;
        assert_eq!(socket.next().await, complaint("a", text), "{frame}");
    }
    socket.send(json!({ "type": "shell", "command": "sh" })).await;
    let expected = json!({ "type": "error", "error": "id is required for shell" });
    assert_eq!(socket.next().await, expected);
    for id in ["1", "2", "3", "4", "5", "6", "7", "8"] {
        lasting(&mut socket, id).await;
    }
    socket.send(order("8", "sh", &[])).await;
    assert_eq!(socket.next().await, complaint("8", "A command with the id 8 is running"));
    socket.send(order("9", "sh", &[])).await;
    let many = "8 commands are running already; cancel one or wait";
    assert_eq!(socket.next().await, complaint("9", many));
    socket.send(json!({ "type": "ping", "id": 1 })).await;
    assert_eq!(socket.next().await, json!({ "type": "pong", "id": 1 }));
}

#[tokio::test]
async fn much_is_told_in_pieces_and_nothing_of_it_is_lost() {
    let house: House = bold(&["head", "sh"]).await;
    let mut socket = house.socket().await;
    socket.send(order("a", "head", &["-c", "20000000", "/dev/zero"])).await;
    let frames = socket.until(|frame| frame["type"] == "shellExit").await;
    let told = |frame: &Value| frame["data"].as_str().map_or(0, str::len);
    assert_eq!(frames.iter().map(told).sum::<usize>(), 20_000_000);
}
