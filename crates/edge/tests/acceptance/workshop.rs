//! What the shipped applets lean on: files and commands, at the front door and under a ticket.

use std::fs;

use serde_json::{Value, json};

use crate::common::{Ask, House, Reply};

fn told(reply: &Reply) -> (u16, Value) {
    (reply.status, serde_json::from_slice(&reply.body).unwrap_or_default())
}

/// An applet in a frame: the path of its ticket, with a slash at the end.
async fn frame(house: &House, permissions: Value) -> String {
    let folder = house.applets().join("probe");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("content.html"), "").unwrap();
    let meta = json!({ "name": "Probe", "permissions": permissions });
    fs::write(folder.join("meta.json"), meta.to_string()).unwrap();
    let id = house.session().await;
    let body = json!({ "kind": "applet", "slug": "probe", "sessionId": id, "params": {} });
    let (status, answer) = house.post("/api/frames", body).await;
    assert_eq!(status, 200, "{answer}");
    let url = answer["url"].as_str().unwrap();
    let path = url.strip_prefix(&format!("http://{}", house.sandbox())).unwrap();
    path.split_once('?').unwrap().0.to_owned()
}

#[tokio::test]
async fn a_file_that_changed_meanwhile_is_left_alone() {
    let house = House::new([]).await;
    let path = house.workspace().join("plan.txt");
    fs::write(&path, "one").unwrap();
    let read = house.ask("GET", "/api/file?path=plan.txt").send().await;
    let tag = read.header("etag").unwrap().to_owned();
    let put = |tag: String, text: &str| {
        let ask = house.ask("PUT", "/api/files/plan.txt").header("if-match", &tag);
        ask.body("text/plain", text).send()
    };
    let written = put(tag.clone(), "second").await;
    let body = json!({ "ok": true, "path": "plan.txt", "size": 6 });
    assert_eq!(told(&written), (200, body));
    let refused = json!({
        "ok": false,
        "error": "the file is no longer what If-Match says; read it again",
        "code": "CHANGED_MEANWHILE",
    });
    assert_eq!(told(&put(tag, "third").await), (412, refused));
    assert_eq!(fs::read_to_string(&path).unwrap(), "second");
    let next = written.header("etag").unwrap().to_owned();
    assert_eq!(put(next, "third").await.status, 200);
    assert_eq!(fs::read_to_string(&path).unwrap(), "third");
    fs::remove_file(&path).unwrap();
    assert_eq!(put("*".to_owned(), "fourth").await.status, 412, "there is nothing to match");
    assert!(!path.exists());
}

#[tokio::test]
async fn an_applet_reads_what_is_allowed_and_no_more() {
    let house = House::new([]).await;
    fs::write(house.workspace().join("a.txt"), "hello").unwrap();
    let ticket = frame(&house, json!([])).await;
    let get = |path: &str| {
        let path = format!("{ticket}api/{path}");
        Ask::new(house.sandbox(), "GET", &path).header("origin", "null").send()
    };
    let file = get("file?path=a.txt").await;
    assert_eq!((file.status, file.text()), (200, "hello".to_owned()));
    let files = json!([{ "name": "a.txt", "type": "file", "size": 5 }]);
    assert_eq!(told(&get("files").await).1["files"], files);
    let denied = json!({
        "ok": false,
        "error": "Access denied: path not in allowed directories",
        "code": "FORBIDDEN",
    });
    assert_eq!(told(&get("file?path=/etc/passwd").await), (403, denied));
    assert_eq!(house.ask("GET", "/api/file?path=/etc/passwd").send().await.status, 200);
}

#[tokio::test]
async fn commands_of_the_list_are_run_and_others_refused() {
    let house = House::new([]).await;
    let run = |command: &str, args: Value| {
        house.post("/api/shell", json!({ "command": command, "args": args }))
    };
    let printed = json!({ "stdout": "a\tb\n", "stderr": "", "code": 0 });
    assert_eq!(run("echo", json!(["a\tb"])).await, (200, printed));
    assert_eq!(run("ls", json!(["missing"])).await.1["code"], 2);
    for (command, args) in [
        ("rm", json!(["a"])),
        ("/bin/ls", json!([])),
        ("git", json!(["-c", "alias.x=!id", "x"])),
        ("git", json!(["diff", "--ext-diff"])),
    ] {
        let text = format!("Command not allowed: {command}");
        let refused = json!({ "ok": false, "error": text, "code": "FORBIDDEN" });
        assert_eq!(run(command, args).await, (403, refused));
    }
}

#[tokio::test]
async fn git_compares_files_itself_whatever_the_folder_would_have_it_start() {
    let house = House::new([]).await;
    let run = async |args: &[&str]| {
        let (status, done) =
            house.post("/api/shell", json!({ "command": "git", "args": args })).await;
        assert_eq!((status, &done["code"]), (200, &json!(0)), "{done}");
        done["stdout"].as_str().unwrap().to_owned()
    };
    run(&["init"]).await;
    fs::write(house.workspace().join("a.txt"), "one\n").unwrap();
    run(&["add", "a.txt"]).await;
    fs::write(house.workspace().join("a.txt"), "two\n").unwrap();
    let config = house.workspace().join(".git/config");
    let hostile = fs::read_to_string(&config).unwrap() + "[diff]\n\texternal = touch started\n";
    fs::write(config, hostile).unwrap();
    let diff = run(&["diff", "--numstat", "--patch"]).await;
    assert!(diff.starts_with("1\t1\ta.txt\n") && diff.ends_with("-one\n+two\n"), "{diff}");
    assert!(!house.workspace().join("started").exists());
}
