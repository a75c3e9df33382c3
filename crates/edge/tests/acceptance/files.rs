//! Files of the workspace: listed, read, written, and kept for a while.

use std::{
    fs::{self, FileTimes, OpenOptions},
    os::unix::fs::symlink,
    path::Path,
    time::SystemTime,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use jiff::{SignedDuration, Timestamp};
use kernel::ports::Clock as _;
use serde_json::{Value, json};

use crate::common::{House, bad, error, refused};

fn escapes() -> (u16, Value) {
    refused(403, "FORBIDDEN", "Path escapes allowed directory")
}

#[tokio::test]
async fn a_directory_is_listed_with_directories_first_and_without_hidden_files() {
    let house = House::new([]).await;
    let work = house.workspace();
    fs::create_dir_all(work.join("src/deep")).unwrap();
    fs::create_dir(work.join("Art")).unwrap();
    for (name, text) in [("b.txt", "four"), ("A.txt", ""), ("c", "1"), (".hidden", "x")] {
        fs::write(work.join(name), text).unwrap();
    }
    symlink("src", work.join("link")).unwrap();
    symlink("b.txt", work.join("to-file")).unwrap();
    symlink(house.outside(), work.join("way-out")).unwrap();
    symlink("nowhere", work.join("dangling")).unwrap();
    let item =
        |name: &str, kind: &str, size: u64| json!({ "name": name, "type": kind, "size": size });
    let files = json!([
        item("Art", "directory", 0),
        item("link", "directory", 0),
        item("src", "directory", 0),
        item("A.txt", "file", 0),
        item("b.txt", "file", 4),
        item("c", "file", 1),
        item("dangling", "file", 0),
        item("to-file", "file", 4),
        item("way-out", "file", 0),
    ]);
    let root = json!({ "path": ".", "cwd": house.cwd(), "files": files });
    let absolute = format!("?path={}", house.cwd());
    for query in ["", "?path=", "?path=.", "?path=src/..", &absolute] {
        assert_eq!(house.get(&format!("/api/files{query}")).await, (200, root.clone()), "{query}");
    }
    let inner = |path: &str| json!({ "path": path, "cwd": house.cwd(), "files": [item("deep", "directory", 0)] });
    for query in ["src", "./src/", "link", "src%2F"] {
        let listed = house.get(&format!("/api/files?path={query}")).await;
        assert_eq!(listed, (200, inner("src")), "{query}");
    }
    for query in ["..", "/", "/etc", "way-out", "src/../..", "%2e%2e"] {
        assert_eq!(house.get(&format!("/api/files?path={query}")).await, escapes(), "{query}");
    }
    let failed = refused(500, "INTERNAL_ERROR", "Failed to list directory");
    for query in ["missing", "b.txt", "b.txt/x", "dangling"] {
        let listed = house.get(&format!("/api/files?path={query}")).await;
        assert_eq!(listed, failed, "{query}");
    }
}

#[tokio::test]
async fn a_file_is_served_as_what_its_name_says() {
    let house = House::new([]).await;
    for (name, kind) in [
        ("a.jpg", "image/jpeg"),
        ("a.JPEG", "image/jpeg"),
        ("a.png", "image/png"),
        ("a.svg", "image/svg+xml"),
        ("a.ico", "image/x-icon"),
        ("a.txt", "text/plain; charset=utf-8"),
        ("a.md", "text/markdown; charset=utf-8"),
        ("a.html", "text/html; charset=utf-8"),
        ("a.js", "text/javascript; charset=utf-8"),
        ("a.ts", "text/typescript; charset=utf-8"),
        ("a.json", "application/json; charset=utf-8"),
        ("a.xml", "application/xml"),
        ("a.pdf", "application/pdf"),
        ("a.py", "text/x-python; charset=utf-8"),
        ("a.h", "text/x-c; charset=utf-8"),
        ("a.cpp", "text/x-c++; charset=utf-8"),
        ("a.sh", "text/x-shellscript; charset=utf-8"),
        ("a.yml", "text/yaml; charset=utf-8"),
        ("a.toml", "text/toml; charset=utf-8"),
        ("a.exe", "application/octet-stream"),
        (".bashrc", "application/octet-stream"),
        ("Makefile", "application/octet-stream"),
    ] {
        let text = format!("<script>{name}</script>");
        fs::write(house.workspace().join(name), &text).unwrap();
        let reply = house.ask("GET", &format!("/api/file?path={name}")).send().await;
        assert_eq!((reply.status, reply.text()), (200, text), "{name}");
        assert_eq!(reply.header("content-type"), Some(kind), "{name}");
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
        let policy = reply.header("content-security-policy").unwrap();
        assert!(policy.starts_with("sandbox;") && !policy.contains("allow-"), "{policy}");
    }
}

#[tokio::test]
async fn the_owner_reads_any_file_but_not_our_keys() {
    let house = House::new([]).await;
    fs::write(house.outside().join("letter.txt"), "far").unwrap();
    let secret = house.data_dir().join("key");
    symlink(&secret, house.workspace().join("key.txt")).unwrap();
    fs::hard_link(&secret, house.workspace().join("twin.txt")).unwrap();
    fs::create_dir_all(house.data_dir().join("tmp")).unwrap();
    fs::write(house.data_dir().join("tmp/drawing.txt"), "mine").unwrap();
    let read = |path: String| house.ask("GET", &format!("/api/file?path={path}")).send();
    for (path, text) in [
        (house.outside().join("letter.txt").display().to_string(), "far"),
        ("../letter.txt".to_owned(), "far"),
        (house.data_dir().join("tmp/drawing.txt").display().to_string(), "mine"),
    ] {
        let reply = read(path.clone()).await;
        assert_eq!((reply.status, reply.text()), (200, text.to_owned()), "{path}");
    }
    for path in [
        secret.display().to_string(),
        "../data/key".to_owned(),
        "key.txt".to_owned(),
        "twin.txt".to_owned(),
        format!("/proc/self/root{}", secret.display()),
        format!("/proc/self/cwd/../../../../../../../..{}", secret.display()),
        "/proc/self/environ".to_owned(),
        format!("/proc/{}/environ", std::process::id()),
        format!("{}/", house.data_dir().display()),
    ] {
        let reply = read(path.clone()).await;
        assert_eq!((reply.status, &reply.json().1["ok"]), (403, &json!(false)), "{path}");
        assert!(!reply.text().contains(&house.key()), "{path}");
    }
}

#[tokio::test]
async fn what_cannot_be_served_is_refused_with_its_reason() {
    let house = House::new([]).await;
    let work = house.workspace();
    fs::create_dir(work.join("dir")).unwrap();
    fs::File::create(work.join("just")).unwrap().set_len(10 << 20).unwrap();
    fs::File::create(work.join("large")).unwrap().set_len((10 << 20) + 1).unwrap();
    let get = async |path: &str| house.get(&format!("/api/file{path}")).await;
    let required = refused(400, "BAD_REQUEST", "path parameter required");
    assert_eq!(get("").await, required);
    assert_eq!(get("?path=").await, required);
    let directory = refused(400, "BAD_REQUEST", "Cannot serve directory");
    assert_eq!(get("?path=dir").await, directory);
    assert_eq!(get("?path=/").await, directory);
    assert_eq!(get("?path=.").await, directory);
    let missing = refused(404, "NOT_FOUND", "File not found");
    assert_eq!(get("?path=missing").await, missing);
    assert_eq!(get("?path=just/x").await, missing);
    assert_eq!(get("?path=dir/missing/x").await, missing);
    let large = refused(413, "PAYLOAD_TOO_LARGE", "File too large (max 10MB)");
    assert_eq!(get("?path=large").await, large);
    let just = house.ask("GET", "/api/file?path=just").send().await;
    assert_eq!((just.status, just.body.len()), (200, 10 << 20));
    let nonsense = refused(400, "BAD_REQUEST", "Invalid path: it holds a NUL character");
    assert_eq!(get("?path=a%00b").await, nonsense);
    let (status, twice) = get("?path=a&path=b").await;
    assert_eq!((status, &twice["ok"]), (400, &json!(false)), "{twice}");
}

#[tokio::test]
async fn a_part_of_a_file_can_be_had_and_what_is_known_is_not_sent_again() {
    let house = House::new([]).await;
    let file = house.workspace().join("a.txt");
    fs::write(&file, "0123456789").unwrap();
    let ask = |method: &str| house.ask(method, "/api/file?path=a.txt");
    let whole = ask("GET").send().await;
    let (tag, changed) = (whole.header("etag").unwrap(), whole.header("last-modified").unwrap());
    assert_eq!(whole.header("accept-ranges"), Some("bytes"));
    let head = ask("HEAD").send().await;
    assert_eq!((head.status, head.body.len(), head.header("content-length")), (200, 0, Some("10")));

    let part = ask("GET").header("range", "bytes=2-4").send().await;
    let said = (part.status, part.text(), part.header("content-range"));
    assert_eq!(said, (206, "234".to_owned(), Some("bytes 2-4/10")));
    let beyond = ask("GET").header("range", "bytes=10-").send().await;
    assert_eq!(beyond.header("content-range"), Some("bytes */10"));
    let text = "the file has 10 bytes, and none of those asked for";
    assert_eq!(beyond.json(), refused(416, "BAD_REQUEST", text));

    let old = "Mon, 01 Jan 2024 00:00:00 GMT";
    let weak = format!("\"x\", W/{tag}");
    for (name, value, status) in [
        ("if-none-match", tag, 304),
        ("if-none-match", &weak, 304),
        ("if-none-match", "*", 304),
        ("if-none-match", "\"other\"", 200),
        ("if-modified-since", changed, 304),
        ("if-modified-since", old, 200),
        ("if-modified-since", "nonsense", 200),
    ] {
        let reply = ask("GET").header(name, value).send().await;
        assert_eq!((reply.status, reply.header("etag")), (status, Some(tag)), "{name}: {value}");
        assert_eq!(reply.body.is_empty(), status == 304, "{name}: {value}");
    }
    let both = ask("GET").header("if-none-match", "\"x\"").header("if-modified-since", changed);
    assert_eq!(both.send().await.status, 200, "the tag counts for more");
    for (meant, status) in [(tag, 206), (changed, 206), ("\"other\"", 200), (old, 200)] {
        let ranged = ask("GET").header("range", "bytes=0-0").header("if-range", meant).send().await;
        assert_eq!(ranged.status, status, "{meant}");
    }
    fs::write(&file, "another text").unwrap();
    assert_eq!(ask("GET").header("if-none-match", tag).send().await.text(), "another text");
}

#[tokio::test]
async fn a_file_is_written_whole_with_the_directories_it_needs() {
    let house = House::new([]).await;
    let work = house.workspace();
    fs::create_dir(work.join("dir")).unwrap();
    fs::write(work.join("old.txt"), "old").unwrap();
    symlink("old.txt", work.join("link.txt")).unwrap();
    let put = |path: &str, kind: &str, body: Vec<u8>| {
        house.ask("PUT", &format!("/api/files/{path}")).body(kind, body).send()
    };
    let text = "text/plain";
    let encoded = house.cwd().replace('/', "%2F") + "%2Fby%2Fname.txt";
    for (path, kind, body, real) in [
        ("a/b/new.txt", text, "grüße", "a/b/new.txt"),
        ("old.txt", text, "new", "old.txt"),
        ("link.txt", "text/plain; charset=utf-8", "through", "old.txt"),
        ("empty", text, "", "empty"),
        ("a/../bin", "application/octet-stream", "\0\u{1}", "bin"),
        ("with%20space", text, "x", "with space"),
        ("%252e%252e", text, "x", "%2e%2e"),
        (&encoded, text, "x", "by/name.txt"),
    ] {
        let reply = put(path, kind, body.into()).await;
        let expected = json!({ "ok": true, "path": real, "size": body.len() });
        assert_eq!(reply.json(), (200, expected), "{path}");
        assert_eq!(fs::read_to_string(work.join(real)).unwrap(), body, "{path}");
    }
    let required = refused(400, "BAD_REQUEST", "request body required");
    for kind in
        ["application/json", "application/x-www-form-urlencoded", "Application/JSON; a=b", ""]
    {
        assert_eq!(put("x", kind, b"{}".to_vec()).await.json(), required, "{kind}");
    }
    assert_eq!(house.ask("PUT", "/api/files/x").send().await.json(), required);
    let failed = refused(500, "INTERNAL_ERROR", "Failed to write file");
    for path in ["dir", "old.txt/x", "."] {
        assert_eq!(put(path, text, b"x".to_vec()).await.json(), failed, "{path}");
    }
    for path in ["../x", "%2e%2e/x", "%2Fetc%2Fx", "a/../../x"] {
        assert_eq!(put(path, text, b"x".to_vec()).await.json(), escapes(), "{path}");
    }
    let large = refused(413, "PAYLOAD_TOO_LARGE", "Request body too large");
    assert_eq!(put("large", text, vec![b'x'; 11 << 20]).await.json(), large);
    assert_eq!(put("large", text, vec![b'x'; 10 << 20]).await.status, 200);
    assert_eq!(put("", text, b"x".to_vec()).await.status, 404);
    let unreadable = refused(400, "BAD_REQUEST", "Invalid path: it is not UTF-8");
    assert_eq!(put("%ff", text, b"x".to_vec()).await.json(), unreadable);
    assert!(!work.join("x").exists() && !house.outside().join("x").exists());
    let left: Vec<_> = fs::read_dir(&work).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert!(!left.iter().any(|it| it.to_string_lossy().ends_with(".tmp")), "{left:?}");
}

#[tokio::test]
async fn something_is_kept_for_a_while_under_a_name_of_its_own_or_a_given_one() {
    let house = House::new([]).await;
    let post = async |body: Value| house.post("/api/tmpfile", body).await;
    let folder = house.data_dir().join("tmp");
    let given = |name: &str, size: usize, mime: &str| {
        let path = folder.join(name);
        json!({ "ok": true, "path": path, "filename": name, "size": size, "mimeType": mime })
    };
    let named = post(json!({ "data": "data:image/png;base64,AAEC", "filename": "a.png" })).await;
    assert_eq!(named, (200, given("a.png", 3, "image/png")));
    assert_eq!(fs::read(folder.join("a.png")).unwrap(), [0, 1, 2]);
    let raw = post(json!({ "data": "AAEC", "filename": "b" })).await;
    assert_eq!(raw, (200, given("b", 3, "application/octet-stream")));
    for (mime, extension) in [
        ("image/png", "png"),
        ("image/jpeg", "jpg"),
        ("image/gif", "gif"),
        ("image/webp", "webp"),
        ("image/svg+xml", "svg"),
        ("application/pdf", "pdf"),
        ("text/plain", "txt"),
        ("application/json", "json"),
        ("video/mp4", "bin"),
    ] {
        let (status, kept) = post(json!({ "data": "AAEC", "mimeType": mime })).await;
        let name = kept["filename"].as_str().unwrap();
        assert_eq!((status, &kept), (200, &given(name, 3, mime)));
        let (stem, end) = name.split_once('.').unwrap();
        assert_eq!((stem.len(), end), (36, extension), "{name}");
    }
    symlink(house.outside().join("x"), folder.join("link")).unwrap();
    fs::create_dir(folder.join("dir")).unwrap();
    let invalid = bad("Invalid filename");
    let long = "x".repeat(256);
    for name in ["../x", "a/b", "/x", "..", ".", "a\\b", "a\0b", "link", "dir", "c:x", &long] {
        let answer = post(json!({ "data": "AAEC", "filename": name })).await;
        assert_eq!(answer, invalid, "{name}");
    }
    assert!(!house.outside().join("x").exists());
    assert_eq!(post(json!({})).await, bad("data is required"));
    assert_eq!(post(json!({ "data": "" })).await, bad("data is required"));
    for data in ["data:image/png,AAEC", "data:;base64,AAEC", "data:"] {
        assert_eq!(post(json!({ "data": data })).await, bad("Invalid data URL format"), "{data}");
    }
    for data in [json!("%%%"), json!("data:image/png;base64,A"), json!(5), json!(["AAEC"])] {
        let (status, answer) = post(json!({ "data": data })).await;
        assert_eq!((status, &answer["code"]), (400, &json!("BAD_REQUEST")), "{data}");
    }
    let (status, kept) = post(json!({ "data": STANDARD.encode(vec![7; 10 << 20]) })).await;
    assert_eq!((status, &kept["size"]), (200, &json!(10 << 20)));
    let (status, answer) = post(json!({ "data": STANDARD.encode(vec![7; 13 << 20]) })).await;
    assert_eq!((status, answer), (413, error("PAYLOAD_TOO_LARGE", "Request body too large")));
}

/// A file that was written and read last at these times.
fn put(path: &Path, written: Timestamp, read: Timestamp) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, "x").unwrap();
    let [written, read] = [written, read].map(SystemTime::from);
    let times = FileTimes::new().set_modified(written).set_accessed(read);
    OpenOptions::new().write(true).open(path).unwrap().set_times(times).unwrap();
}

/// Waits until something is gone.
async fn gone(path: &Path) {
    while path.symlink_metadata().is_ok() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn what_was_kept_for_a_while_goes_when_nobody_has_used_it_for_a_week() {
    let mut house = House::new([]).await;
    let id = house.session().await;
    let (folder, now) = (house.data_dir().join("tmp"), house.world.clock.now());
    let days = |days: i64| now - SignedDuration::from_hours(24 * days);
    let path = |name: &str| folder.join(name);
    put(&path("new"), days(6), days(6));
    put(&path("read"), days(30), days(1));
    put(&path("dir/used"), days(2), days(2));
    put(&house.outside().join("other"), days(30), days(30));
    symlink(house.outside(), path("link")).unwrap();
    let noted = json!({ "setName": "files", "items": [path("noted")] });
    let noted = house.patch(&format!("/api/sessions/{id}"), json!({ "setContext": noted })).await;
    assert_eq!(noted.0, 200);
    // Not before: the first look at the folder may come, or go on, at any time.
    put(&path("noted"), days(30), days(30));
    house.kill().await;
    put(&path("old"), days(8), days(8));
    put(&path("deep/er/old"), days(8), days(8));
    house.start().await;
    gone(&path("old")).await;
    gone(&path("deep/er/old")).await;
    for kept in ["new", "read", "noted", "dir/used", "link"] {
        assert!(path(kept).symlink_metadata().is_ok(), "{kept}");
    }
    house.world.clock.advance(SignedDuration::from_hours(48));
    gone(&path("new")).await;
    assert!(path("read").exists() && path("noted").exists());
    assert!(house.outside().join("other").exists(), "no link is followed");
}
