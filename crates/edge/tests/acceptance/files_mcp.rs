//! The tools for files that applets call.

use std::{fs, os::unix::fs::symlink};

use serde_json::{Value, json};

use crate::common::{House, refused};

fn wrong(text: &str) -> (u16, Value) {
    refused(400, "BAD_REQUEST", text)
}

fn denied() -> (u16, Value) {
    refused(403, "FORBIDDEN", "Access denied: path not in allowed directories")
}

#[tokio::test]
async fn the_tools_are_listed_with_the_directories_they_may_use() {
    let house = House::new([]).await;
    let (status, answer) = house.get("/api/mcp/tools").await;
    assert_eq!(status, 200);
    let tools = answer["tools"].as_array().unwrap();
    let names: Vec<_> = tools.iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["read_file", "write_file", "list_directory"]);
    for tool in tools {
        assert!(tool["description"].is_string());
        for what in tool["parameters"].as_object().unwrap().values() {
            assert!(what.as_str().unwrap().starts_with("string - "), "{tool}");
        }
    }
    let directories = answer["allowedDirectories"].as_array().unwrap();
    assert_eq!(directories[0], json!(house.cwd()));
    for name in ["applets", "tmp"] {
        assert!(directories.contains(&json!(house.data_dir().join(name))));
    }
    assert!(directories.contains(&json!("/tmp")));
    assert!(!directories.contains(&json!(house.data_dir())));
    let (status, unknown) = house.post("/api/mcp/dance", json!({})).await;
    assert_eq!((status, unknown), refused(404, "NOT_FOUND", "Not found: POST /api/mcp/dance"));
}

#[tokio::test]
async fn what_is_written_can_be_read_and_listed() {
    let house = House::new([]).await;
    let work = house.workspace();
    let call = async |tool: &str, body: Value| house.post(&format!("/api/mcp/{tool}"), body).await;
    let path = |name: &str| json!(work.join(name));
    for (name, content) in [("a.txt", "grüße"), (".b", ""), ("c.txt", "x")] {
        let written = call("write_file", json!({ "path": path(name), "content": content })).await;
        assert_eq!(written, (200, json!({ "ok": true, "path": path(name) })));
        let read = call("read_file", json!({ "path": name })).await;
        assert_eq!(read, (200, json!({ "ok": true, "content": content })));
    }
    fs::create_dir(work.join("dir")).unwrap();
    symlink("dir", work.join("door")).unwrap();
    symlink("nowhere", work.join("dangling")).unwrap();
    let (status, mut listed) = call("list_directory", json!({ "path": "." })).await;
    assert_eq!(status, 200);
    let mut found = Vec::new();
    for item in listed["files"].as_array_mut().unwrap() {
        let modified = item["modified"].as_str().unwrap();
        assert!(modified.len() == 24 && modified.ends_with('Z'), "{modified}");
        let name = item["name"].as_str().unwrap().to_owned();
        assert_eq!(item["path"], path(&name));
        found.push((name, item["isDirectory"] == true, item["size"].as_u64().unwrap()));
    }
    let sizes = found.iter().filter(|(_, is_dir, _)| !is_dir).map(|(_, _, size)| *size);
    assert_eq!(sizes.collect::<Vec<_>>(), [0, 7, 1, 7], "and of the link its own");
    let names: Vec<_> = found.iter().map(|(name, is_dir, _)| (name.as_str(), *is_dir)).collect();
    let expected = [
        (".b", false),
        ("a.txt", false),
        ("c.txt", false),
        ("dangling", false),
        ("dir", true),
        ("door", true),
    ];
    assert_eq!(names, expected);
    fs::write(work.join("odd"), b"a\xffb").unwrap();
    let read = call("read_file", json!({ "path": "odd" })).await;
    assert_eq!(read, (200, json!({ "ok": true, "content": "a\u{fffd}b" })));
}

#[tokio::test]
async fn what_goes_wrong_is_told_in_the_words_of_the_system() {
    let house = House::new([]).await;
    let work = house.workspace();
    fs::create_dir(work.join("dir")).unwrap();
    fs::write(work.join("file"), "").unwrap();
    symlink("loop", work.join("loop")).unwrap();
    let call = async |tool: &str, body: Value| house.post(&format!("/api/mcp/{tool}"), body).await;
    for (tool, body, text) in [
        ("read_file", json!({}), "path required"),
        ("read_file", json!({ "path": "" }), "path required"),
        ("list_directory", json!({ "path": null }), "path required"),
        ("write_file", json!({ "path": "x" }), "path and content required"),
        ("write_file", json!({ "content": "x" }), "path and content required"),
        ("write_file", json!({ "path": "", "content": "x" }), "path and content required"),
        ("read_file", json!({ "path": "no" }), "ENOENT: no such file or directory, open 'no'"),
        ("read_file", json!({ "path": "dir" }), "EISDIR: illegal operation on a directory, read"),
        ("read_file", json!({ "path": "file/x" }), "ENOTDIR: not a directory, open 'file/x'"),
        (
            "read_file",
            json!({ "path": "loop" }),
            "ELOOP: too many symbolic links encountered, open 'loop'",
        ),
        (
            "write_file",
            json!({ "path": "no/x", "content": "" }),
            "ENOENT: no such file or directory, open 'no/x'",
        ),
        (
            "write_file",
            json!({ "path": "dir", "content": "" }),
            "EISDIR: illegal operation on a directory, open 'dir'",
        ),
        (
            "list_directory",
            json!({ "path": "no" }),
            "ENOENT: no such file or directory, scandir 'no'",
        ),
        ("list_directory", json!({ "path": "file" }), "ENOTDIR: not a directory, scandir 'file'"),
        ("read_file", json!({ "path": "a\0b" }), "Invalid path: it holds a NUL character"),
    ] {
        assert_eq!(call(tool, body.clone()).await, wrong(text), "{tool} {body}");
    }
    let (status, answer) = call("read_file", json!({ "path": 5 })).await;
    assert_eq!((status, &answer["ok"]), (400, &json!(false)), "{answer}");
}

#[tokio::test]
async fn nothing_outside_of_the_allowed_directories_is_touched() {
    let house = House::new([]).await;
    let work = house.workspace();
    symlink("/etc", work.join("door")).unwrap();
    symlink("/etc/passwd", work.join("names")).unwrap();
    symlink(house.data_dir().join("key"), work.join("key")).unwrap();
    let key = house.data_dir().join("key").display().to_string();
    let around = format!("/proc/self/root{key}");
    for path in [
        "/etc/passwd",
        "/tmpfoo",
        "/tmp/../etc/passwd",
        "door",
        "door/passwd",
        "names",
        "key",
        &key,
        &around,
        "/",
        "../../../../../../../../etc/passwd",
    ] {
        for tool in ["read_file", "write_file", "list_directory"] {
            let body = json!({ "path": path, "content": "ours now" });
            let answer = house.post(&format!("/api/mcp/{tool}"), body).await;
            assert_eq!(answer, denied(), "{tool} {path}");
        }
    }
    assert_eq!(house.get("/healthz").await.0, 200);
    let twin = work.join("twin");
    fs::hard_link(house.data_dir().join("key"), &twin).unwrap();
    let read = house.post("/api/mcp/read_file", json!({ "path": "twin" })).await;
    assert_eq!(read, wrong("EACCES: permission denied, open 'twin'"));
}
