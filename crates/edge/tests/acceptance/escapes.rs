//! Ways out of the directories that are open, none of which may lead anywhere.

use std::{
    fs,
    os::unix::{fs::symlink, net::UnixListener},
    path::Path,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use serde_json::{Value, json};

use crate::common::{Ask, House, Reply};

const SECRET: &str = "what nobody is told";

/// Every endpoint that takes a path, asked with this one.
async fn everywhere(house: &House, path: &str) -> Vec<(&'static str, Reply)> {
    let encoded = encoded(path);
    let json = |tool: &str| {
        let body = json!({ "path": path, "content": "theirs", "data": "AAEC", "filename": path });
        house.ask("POST", tool).json(&body).send()
    };
    let put = house.ask("PUT", &format!("/api/files/{encoded}")).body("text/plain", "theirs");
    let plain = house.ask("PUT", &format!("/api/files/{}", path.replace(['\0', ' ', '\n'], "")));
    vec![
        ("list", house.ask("GET", &format!("/api/files?path={encoded}")).send().await),
        ("read", house.ask("GET", &format!("/api/file?path={encoded}")).send().await),
        ("put", put.send().await),
        ("plain put", plain.body("text/plain", "theirs").send().await),
        ("mcp read", json("/api/mcp/read_file").await),
        ("mcp write", json("/api/mcp/write_file").await),
        ("mcp list", json("/api/mcp/list_directory").await),
        ("tmpfile", json("/api/tmpfile").await),
    ]
}

/// Ways to write the name of the secret, or something that somebody might take for it.
fn spellings(data: &Path) -> Vec<String> {
    let secret = data.join("secret").display().to_string();
    let climb = "../".repeat(30);
    vec![
        "../data/secret".to_owned(),
        "..%2fdata%2fsecret".to_owned(),
        "..%252fdata%252fsecret".to_owned(),
        "%2e%2e/data/secret".to_owned(),
        "..\\data\\secret".to_owned(),
        "....//data/secret".to_owned(),
        "..;/data/secret".to_owned(),
        "dir/../../data/secret".to_owned(),
        "./.././data/./secret".to_owned(),
        "../data/secret/".to_owned(),
        "../data/secret/.".to_owned(),
        "../data//secret".to_owned(),
        "../DATA/SECRET".to_owned(),
        "../data./secret.".to_owned(),
        "../data/secret\0.txt".to_owned(),
        "../data/secret::$DATA".to_owned(),
        "\\\\?\\..\\data".to_owned(),
        "C:\\data\\secret".to_owned(),
        "CON".to_owned(),
        "file://".to_owned() + &secret,
        "~/../".to_owned() + &secret,
        secret.clone(),
        format!("/{secret}"),
        format!("{climb}{secret}"),
        format!("/proc/self/root{secret}"),
        format!("/proc/self/cwd/{climb}{secret}"),
        format!("/proc/thread-self/root{secret}"),
        format!("/proc/{}/root{secret}", std::process::id()),
        format!("/dev/fd/../root{secret}"),
        "x".repeat(5000),
        "a/".repeat(3000) + "x",
    ]
}

fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02x}")).collect::<Vec<_>>().concat()
}

#[tokio::test]
async fn no_spelling_of_a_path_leads_to_what_is_kept_from_everybody() {
    let house = House::new([]).await;
    let (work, data) = (house.workspace(), house.data_dir().to_owned());
    fs::write(data.join("secret"), SECRET).unwrap();
    fs::create_dir(work.join("dir")).unwrap();
    symlink(&data, work.join("middle")).unwrap();
    symlink(data.join("secret"), work.join("end")).unwrap();
    symlink("middle/secret", work.join("twice")).unwrap();
    symlink(data.join("new"), work.join("dangling")).unwrap();
    fs::hard_link(data.join("secret"), work.join("hard")).unwrap();
    let mut paths = spellings(&data);
    let links = ["middle/secret", "middle/new", "end", "twice", "dangling", "hard", "middle"];
    paths.extend(links.map(str::to_owned));
    let before = contents(&data);
    for path in &paths {
        let shown: String = path.chars().take(60).collect();
        for (how, reply) in everywhere(&house, path).await {
            assert!(!reply.text().contains(SECRET), "{how} {shown}: {}", reply.text());
            assert!(!reply.text().contains("\"secret\""), "{how} {shown}: {}", reply.text());
            let is_file = how == "read" && reply.status == 200;
            assert!(is_file || reply.json().0 <= 500, "{how} {shown}");
        }
        let after: Vec<_> = contents(&data);
        assert_eq!(after, before, "{shown}");
    }
    assert!(!house.outside().join("theirs").exists());
}

/// The names and the contents of the files here; those in `tmp` may be written.
fn contents(dir: &Path) -> Vec<(String, String)> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let files = entries.filter(|path| path.is_file());
    let text = |path: &Path| String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
    let mut all: Vec<_> = files.map(|path| (path.display().to_string(), text(&path))).collect();
    all.sort();
    all
}

/// Every endpoint that takes the name of something, asked with this one.
async fn named(house: &House, name: &str) -> Vec<(String, Reply)> {
    let encoded = encoded(name);
    let timing = json!({ "type": "interval", "intervalMinutes": 60 });
    let schedule = json!({ "prompt": "theirs", "schedule": timing });
    let frame = json!({ "kind": "applet", "slug": name });
    let mut replies = Vec::new();
    for (method, path, body) in [
        ("POST", format!("/api/applets/{encoded}/load"), json!({})),
        ("GET", format!("/api/applet/state?slug={encoded}"), Value::Null),
        ("POST", format!("/api/applet/state?slug={encoded}"), json!({ "a": "theirs" })),
        ("GET", format!("/api/applet/state?sessionId={encoded}"), Value::Null),
        ("POST", "/api/frames".to_owned(), frame),
        ("DELETE", format!("/api/frames/{encoded}"), Value::Null),
        ("GET", format!("/api/outputs/{encoded}"), Value::Null),
        ("GET", format!("/api/outputs/{encoded}?format=json"), Value::Null),
        ("PUT", format!("/api/schedule/{encoded}"), schedule.clone()),
        ("GET", format!("/api/schedule/{encoded}"), Value::Null),
        ("GET", format!("/api/schedule/{encoded}/runs"), Value::Null),
        ("PATCH", format!("/api/schedule/{encoded}"), json!({ "enabled": true })),
        ("POST", format!("/api/schedule/{encoded}/run"), json!({})),
        ("DELETE", format!("/api/schedule/{encoded}"), Value::Null),
        ("GET", format!("/api/sessions/{encoded}/state"), Value::Null),
        ("GET", format!("/api/sessions/{encoded}/pictures/1/0"), Value::Null),
        ("DELETE", format!("/api/sessions/{encoded}"), Value::Null),
    ] {
        let ask = house.ask(method, &path);
        let ask = if body.is_null() { ask } else { ask.json(&body) };
        replies.push((format!("{method} {path}"), ask.send().await));
    }
    replies
}

#[tokio::test]
async fn no_name_of_an_applet_an_output_a_schedule_or_a_session_is_a_path() {
    let house = House::new([]).await;
    let data = house.data_dir().to_owned();
    fs::write(data.join("secret"), SECRET).unwrap();
    let applets = house.applets();
    let put = |slug: &str, file: &str, text: &str| {
        fs::create_dir_all(applets.join(slug)).unwrap();
        fs::write(applets.join(slug).join(file), text).unwrap();
    };
    put("tally", "meta.json", r#"{"name":"Tally"}"#);
    put("tally", "content.html", "ours");
    symlink(&data, applets.join("linked")).unwrap();
    put("inner", "meta.json", r#"{"name":"Inner"}"#);
    symlink(data.join("secret"), applets.join("inner/content.html")).unwrap();
    put("hard", "meta.json", r#"{"name":"Hard"}"#);
    fs::hard_link(data.join("secret"), applets.join("hard/content.html")).unwrap();
    put("late", "meta.json", r#"{"name":"Late"}"#);
    put("late", "content.html", "ours");
    fs::hard_link(data.join("secret"), applets.join("late/script.js")).unwrap();
    let mut names = spellings(&data);
    let more =
        ["TALLY", "Tally", "tally.", "tally ", "tally\0", "tally/", "./tally", "AUX", "nul.js"];
    names.extend(more.map(str::to_owned));
    names.extend(["linked", "inner", "hard", "late"].map(str::to_owned));
    let before = (contents(&data), contents(&house.outside()));
    let mut socket = house.socket().await;
    for name in &names {
        let shown: String = name.chars().take(60).collect();
        let is_slug = ["linked", "inner", "hard", "late"].contains(&name.as_str());
        for (how, reply) in named(&house, name).await {
            let how: String = how.chars().take(80).collect();
            assert!(!reply.text().contains(SECRET), "{how} {shown}: {}", reply.text());
            // The name of an applet that cannot be read is a good name for a schedule.
            let fits = is_slug && (how.contains("/state?slug") || how.contains("/api/schedule"));
            assert!(fits || (400..=500).contains(&reply.status), "{how} {shown}: {}", reply.status);
            assert!(reply.json().1.is_object(), "{how} {shown}");
        }
        for wish in ["setState", "getState"] {
            let wish =
                json!({ "type": wish, "id": 1, "appletSlug": name, "data": { "a": "theirs" } });
            socket.send(wish).await;
        }
        let answers = socket.waiting().await;
        assert!(!json!(answers).to_string().contains(SECRET), "{shown}");
        assert!(is_slug || answers.iter().any(|it| it["type"] == "error"), "{shown}: {answers:?}");
    }
    assert_eq!((contents(&data), contents(&house.outside())), before);
    let (_, listed) = house.get("/api/applets").await;
    let own: Vec<_> = listed["applets"].as_array().unwrap().iter().collect();
    let own = own.iter().filter(|it| it["bundled"] == false).map(|it| &it["slug"]);
    assert_eq!(own.collect::<Vec<_>>(), ["late", "tally"], "of those with links only the page");
}

#[tokio::test]
async fn an_applet_is_led_out_by_no_spelling_either() {
    let house = House::new([]).await;
    let (work, data) = (house.workspace(), house.data_dir().to_owned());
    fs::write(data.join("secret"), SECRET).unwrap();
    symlink(&data, work.join("middle")).unwrap();
    symlink(data.join("secret"), work.join("end")).unwrap();
    symlink("/etc/passwd", work.join("system")).unwrap();
    fs::hard_link(data.join("secret"), work.join("hard")).unwrap();
    fs::create_dir_all(house.applets().join("tally")).unwrap();
    fs::write(house.applets().join("tally/meta.json"), r#"{"name":"Tally"}"#).unwrap();
    fs::write(house.applets().join("tally/content.html"), "ours").unwrap();
    let frame = json!({ "kind": "applet", "slug": "tally", "sessionId": house.session().await });
    let (status, answer) = house.post("/api/frames", frame).await;
    assert_eq!(status, 200, "{answer}");
    let url = answer["url"].as_str().unwrap().split('?').next().unwrap();
    let ticket = url.strip_prefix(&format!("http://{}", house.sandbox())).unwrap().to_owned();
    let mut paths = spellings(&data);
    paths.extend(
        ["middle/secret", "middle", "end", "hard", "system", "/etc/passwd"].map(str::to_owned),
    );
    let before = contents(&data);
    for path in &paths {
        let shown: String = path.chars().take(60).collect();
        let encoded = encoded(path);
        let body = json!({ "path": path, "data": "AAEC", "filename": path });
        for (method, place) in [
            ("GET", format!("api/file?path={encoded}")),
            ("GET", format!("api/files?path={encoded}")),
            ("GET", format!("api/outputs/{encoded}")),
            ("GET", format!("api/schedule/{encoded}")),
            ("POST", format!("api/applets/{encoded}/load")),
            ("POST", "api/mcp/read_file".to_owned()),
            ("POST", "api/mcp/list_directory".to_owned()),
            ("POST", "api/tmpfile".to_owned()),
            ("GET", encoded.clone()),
            ("GET", format!("api/../{encoded}")),
        ] {
            let ask = Ask::new(house.sandbox(), method, &format!("{ticket}{place}"));
            let ask = ask.header("origin", "null");
            let reply = if method == "POST" { ask.json(&body).send() } else { ask.send() }.await;
            let text = reply.text();
            for outside in [SECRET, "\"secret\"", "root:x:"] {
                assert!(!text.contains(outside), "{place} {shown}: {text}");
            }
        }
        assert_eq!(contents(&data), before, "{shown}");
    }
}

#[tokio::test]
async fn what_is_no_file_makes_nobody_wait() {
    let house = House::new([]).await;
    let work = house.workspace();
    let made = Command::new("mkfifo").arg(work.join("pipe")).status().unwrap();
    assert!(made.success());
    let _listener = UnixListener::bind(work.join("socket")).unwrap();
    symlink("/dev/zero", work.join("zero")).unwrap();
    symlink("pipe", work.join("to-pipe")).unwrap();
    let devices = ["/dev/zero", "/dev/null", "/dev/tty", "/dev/random", "/dev/stdin"];
    for path in ["pipe", "socket", "zero", "to-pipe"].into_iter().chain(devices) {
        for (how, reply) in everywhere(&house, path).await {
            let done = how == "tmpfile" && !path.contains('/');
            assert_eq!(reply.status == 200, done, "{how} {path}: {}", reply.text());
        }
    }
    let listed = house.get("/api/files").await;
    assert_eq!(listed.0, 200, "{listed:?}");
}

#[tokio::test]
async fn a_link_that_comes_and_goes_never_leads_out() {
    let house = House::new([]).await;
    let (work, data) = (house.workspace(), house.data_dir().to_owned());
    fs::create_dir(work.join("own")).unwrap();
    fs::write(work.join("own/file"), "ours").unwrap();
    fs::write(data.join("file"), SECRET).unwrap();
    symlink("own", work.join("door")).unwrap();
    let names = |dir: &Path| {
        let mut names: Vec<_> =
            fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = names(&data);
    let over = Arc::new(AtomicBool::new(false));
    let (flag, door, away) = (over.clone(), work.join("door"), data.clone());
    let flipping = std::thread::spawn(move || {
        let mut flips = 0_u32;
        while !flag.load(Ordering::Relaxed) {
            let next = door.with_extension("next");
            let inside = flips.is_multiple_of(2);
            symlink(if inside { away.as_path() } else { Path::new("own") }, &next).unwrap();
            fs::rename(&next, &door).unwrap();
            flips += 1;
        }
        flips
    });
    for round in 0..300 {
        let text = format!("round {round}");
        let put = house.ask("PUT", "/api/files/door/file").body("text/plain", text.clone());
        put.send().await.json();
        let body = json!({ "path": "door/file", "content": text });
        house.post("/api/mcp/write_file", body.clone()).await;
        let read = house.post("/api/mcp/read_file", body).await;
        assert!(!read.1.to_string().contains(SECRET), "{}", read.1);
        let served = house.ask("GET", "/api/file?path=door/file").send().await;
        assert!(!served.text().contains(SECRET));
        let (_, listed) = house.get("/api/files?path=door").await;
        assert!(!listed.to_string().contains("\"key\""), "{listed}");
    }
    over.store(true, Ordering::Relaxed);
    assert!(flipping.join().unwrap() > 1);
    assert_eq!(fs::read_to_string(data.join("file")).unwrap(), SECRET);
    assert_eq!(names(&data), before);
}
