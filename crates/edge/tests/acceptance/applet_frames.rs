//! Applets in frames: what their documents are, and what they may ask for under their tickets.

use std::fs;

use serde_json::{Value, json};
use testkit::model::text;

use crate::common::{Ask, House, Reply, Socket, error};

const OTHER: &str = "0190f5fe-7c00-7a00-8000-0000000000ff";

fn put(house: &House, slug: &str, more: &Value) {
    let folder = house.applets().join(slug);
    fs::create_dir_all(&folder).unwrap();
    let mut meta = json!({ "name": format!("The <{slug}>") });
    meta.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    fs::write(folder.join("content.html"), "<b onclick=\"go()\">hi</b><script>no()</script>")
        .unwrap();
    fs::write(folder.join("script.js"), "var x = 1; return;").unwrap();
    fs::write(folder.join("style.css"), "b { background: url(\"/api/file?path=a.png\") }").unwrap();
    fs::write(folder.join("meta.json"), meta.to_string()).unwrap();
}

/// One applet in a frame.
struct Frame<'a> {
    house: &'a House,
    answer: Value,
    /// The path of its ticket, with a slash at the end.
    path: String,
}

impl<'a> Frame<'a> {
    async fn open(house: &'a House, slug: &str, session: Option<&str>) -> Self {
        let params = json!({ "a b": "c&d" });
        let body =
            json!({ "kind": "applet", "slug": slug, "sessionId": session, "params": params });
        let (status, answer) = house.post("/api/frames", body).await;
        assert_eq!(status, 200, "{answer}");
        let url = answer["url"].as_str().unwrap();
        let path = url.strip_prefix(&format!("http://{}", house.sandbox())).unwrap();
        let path = path.split_once('?').unwrap().0.to_owned();
        Self { house, answer, path }
    }

    fn ask(&self, method: &str, path: &str) -> Ask {
        let path = format!("{}{path}", self.path);
        Ask::new(self.house.sandbox(), method, &path).header("origin", "null")
    }

    async fn get(&self, path: &str) -> Reply {
        self.ask("GET", path).send().await
    }

    async fn read(&self, path: &str) -> (u16, Value) {
        json_of(&self.get(path).await)
    }

    async fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        json_of(&self.ask("POST", path).json(body).send().await)
    }

    /// Lets a page hold the frame, as far as the server can tell.
    async fn hold(&self, socket: &mut Socket) {
        socket.send(json!({ "type": "holdFrame", "frameId": self.answer["frameId"] })).await;
        socket.until(|frame| frame["type"] == "frameHeld").await;
    }

    async fn say(&self, socket: &mut Socket, message: Value) {
        let id = &self.answer["frameId"];
        socket.send(json!({ "type": "frameMessage", "frameId": id, "message": message })).await;
    }
}

fn json_of(reply: &Reply) -> (u16, Value) {
    (reply.status, serde_json::from_slice(&reply.body).unwrap_or_default())
}

fn forbidden(text: &str) -> (u16, Value) {
    (403, error("FORBIDDEN", text))
}

#[tokio::test]
async fn the_document_of_an_applet_is_put_together_from_its_parts() {
    let house = House::new([]).await;
    put(&house, "clock", &json!({ "connectDomains": ["https://api.example.com"] }));
    let id = house.session().await;
    let frame = Frame::open(&house, "clock", Some(&id)).await;
    let url = frame.answer["url"].as_str().unwrap();
    let query = format!("?session={}&applet=clock&a%20b=c%26d", id.replace('-', "%2D"));
    assert!(url.ends_with(&query), "{url}");
    assert_eq!(frame.answer["title"], "The <clock>");
    let sandbox = frame.answer["sandbox"].as_str().unwrap();
    assert!(sandbox.contains("allow-scripts") && !sandbox.contains("same-origin"), "{sandbox}");

    let document = frame.get(&query).await;
    let html = document.text();
    assert_eq!(document.header("content-type"), Some("text/html; charset=utf-8"));
    assert!(html.contains("<title>The &lt;clock></title>"), "{html}");
    let holder = "<div class=\"applet-instance applet-content\" data-slug=\"clock\"></div>";
    assert!(html.contains(holder) && !html.contains("no()"), "{html}");
    let policy = document.header("content-security-policy").unwrap();
    assert!(policy.contains("'unsafe-inline' 'unsafe-eval';"), "{policy}");
    assert!(policy.contains("https://api.example.com; frame-src 'none'"), "{policy}");
    let script = frame.get("__applet/script.js").await.text();
    let wrapped =
        "(function () { var appletContainer = window.appletContainer;\nvar x = 1; return;\n})();\n";
    assert_eq!(script, wrapped);
    let style = frame.get("__applet/style.css").await.text();
    assert_eq!(style, "b { background: url(\"../api/file?path=a.png\") }");
    let config = frame.get("__applet/config.js").await.text();
    let config = config.strip_prefix("globalThis.__applet = ").unwrap();
    let config: Value = serde_json::from_str(config.strip_suffix(";\n").unwrap()).unwrap();
    let inner = "<b onclick=\"go()\">hi</b><script>no()</script>";
    let expected = json!({ "slug": "clock", "sessionId": id, "html": inner, "storage": {} });
    assert_eq!(config, expected);

    fs::write(house.applets().join("clock/script.js"), "later()").unwrap();
    assert_eq!(frame.get("__applet/script.js").await.text(), wrapped, "as it was when opened");
    for path in ["meta.json", "script.js", "__applet/", "__applet/meta.json", "../clock/meta.json"]
    {
        assert_eq!(frame.get(path).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn an_applet_that_is_not_there_is_not_opened() {
    let house = House::new([]).await;
    put(&house, "clock", &json!({}));
    for slug in ["none", "..", "../applets/clock", "Clock", "", "clock/", "a\0"] {
        let (status, answer) =
            house.post("/api/frames", json!({ "kind": "applet", "slug": slug })).await;
        let text = format!("Applet \"{slug}\" not found");
        assert_eq!((status, answer), (404, error("NOT_FOUND", &text)));
    }
    let many: Value = (0..65).map(|n| (n.to_string(), json!("x"))).collect();
    let body = json!({ "kind": "applet", "slug": "clock", "params": many });
    assert_eq!(house.post("/api/frames", body).await.0, 400);
}

#[tokio::test]
async fn an_applet_reads_what_every_applet_may_and_nothing_else() {
    let house = House::new([]).await;
    put(&house, "clock", &json!({}));
    put(&house, "other", &json!({}));
    let (id, other) = (house.session().await, house.session().await);
    let frame = Frame::open(&house, "clock", Some(&id)).await;
    let (status, listed) = frame.read("api/applets").await;
    let slugs = listed["applets"].as_array().unwrap().iter().map(|it| it["slug"].clone());
    assert!(status == 200 && slugs.collect::<Vec<_>>().contains(&json!("other")), "{listed}");
    assert_eq!(frame.read("api/models").await.0, 200);
    let (status, loaded) = frame.post("api/applets/other/load", &json!({})).await;
    assert_eq!((status, &loaded["slug"]), (200, &json!("other")));
    let (_, current) = house.get("/api/applet/state").await;
    assert_eq!(current, json!({ "state": {} }));

    for (method, path) in [
        ("GET", "api/preferences".to_owned()),
        ("POST", "api/preferences".into()),
        ("GET", "api/sessions".into()),
        ("GET", "api/session".into()),
        ("POST", "api/sessions".into()),
        ("DELETE", format!("api/sessions/{id}")),
        ("POST", format!("api/sessions/{other}/messages")),
        ("POST", format!("api/sessions/{OTHER}/messages")),
        ("GET", "api/approvals".into()),
        ("GET", "api/grants".into()),
        ("POST", "api/socket-token".into()),
        ("POST", "api/frames".into()),
        ("GET", "api/log".into()),
        ("POST", "api/windows".into()),
        ("GET", "api/mcp/servers".into()),
        ("GET", "api/openapi.json".into()),
        ("GET", "api/%70references".into()),
        ("GET", "api/applets/../preferences".into()),
        ("GET", "api//preferences".into()),
    ] {
        let ask = frame.ask(method, &path).header("authorization", &house.bearer());
        let answer = json_of(&ask.json(&json!({})).send().await);
        let text = format!("An applet may not use {method} /{path}");
        assert_eq!(answer, forbidden(&text), "even with a key");
    }
    let preflight = frame.ask("OPTIONS", "api/applet/state").send().await;
    assert_eq!(preflight.status, 204);
    assert_eq!(preflight.header("access-control-allow-origin"), Some("*"));
    let frames = format!("/api/frames/{}", frame.answer["frameId"].as_str().unwrap());
    assert_eq!(house.delete(&frames).await.0, 200);
    assert_eq!(frame.get("api/applets").await.status, 404, "and nothing once the frame is closed");
    assert_eq!(Ask::new(house.sandbox(), "GET", "/api/applets").send().await.status, 404);
    let demo = house.post("/api/frames", json!({ "kind": "app", "id": "demo" })).await.1;
    let path = demo["url"].as_str().unwrap().replace(&format!("http://{}", house.sandbox()), "");
    let other = Ask::new(house.sandbox(), "GET", &format!("{path}api/applets")).send().await;
    assert_eq!(other.status, 404, "nor for what is no applet");
}

#[tokio::test]
async fn an_applet_has_its_own_state_whatever_it_names() {
    let house = House::new([]).await;
    put(&house, "clock", &json!({}));
    put(&house, "other", &json!({}));
    let (id, other) = (house.session().await, house.session().await);
    let frame = Frame::open(&house, "clock", Some(&id)).await;
    let place = format!("?sessionId={other}&slug=other");
    let set = frame.post(&format!("api/applet/state{place}"), &json!({ "n": 1 })).await;
    assert_eq!(set, (200, json!({ "ok": true })));
    let (_, there) = house.get(&format!("/api/applet/state{place}")).await;
    assert_eq!(there, json!({ "state": {} }));
    let own = format!("/api/applet/state?sessionId={id}&slug=clock");
    assert_eq!(house.get(&own).await.1, json!({ "state": { "n": 1 } }));
    assert_eq!(
        frame.read(&format!("api/applet/state{place}")).await.1,
        json!({ "state": { "n": 1 } })
    );
    let beside = Frame::open(&house, "other", Some(&id)).await;
    assert_eq!(beside.read("api/applet/state").await.1, json!({ "state": {} }));
    let again = Frame::open(&house, "clock", Some(&id)).await;
    assert_eq!(again.read("api/applet/state").await.1, json!({ "state": {} }), "opening clears it");
}

#[tokio::test]
async fn an_applet_speaks_in_its_own_name() {
    let house = House::new([vec![text("fine")]]).await;
    put(&house, "clock", &json!({}));
    let id = house.session().await;
    let frame = Frame::open(&house, "clock", Some(&id)).await;
    let mut socket = house.listener(&id).await;
    let body = json!({
        "prompt": "hello", "source": "agent", "fromSession": OTHER, "appletSlug": "other",
        "correlationId": "x", "scheduleSlug": "y",
    });
    let path = format!("api/sessions/{id}/messages");
    let said = frame.post(&path, &body).await;
    assert_eq!(said, (200, json!({ "ok": true, "sessionId": id })));
    let heard = socket.until_event("user.message").await;
    let data = &heard.last().unwrap()["event"]["data"];
    let expected = json!({
        "content": "hello", "attachments": [], "source": "applet", "appletSlug": "clock",
    });
    assert_eq!(*data, expected);
    let empty = frame.post(&path, &json!({})).await;
    assert_eq!(empty, (400, error("BAD_REQUEST", "prompt is required")));
    let form = frame.ask("POST", &path).body("text/plain", "{}").send().await;
    assert_eq!(form.status, 415);
    let alone = Frame::open(&house, "clock", None).await;
    let refused = alone.post(&path, &json!({ "prompt": "hello" })).await;
    assert_eq!(refused, forbidden(&format!("An applet may not use POST /{path}")));
}

#[tokio::test]
async fn what_needs_leave_is_asked_once_and_refused_where_it_was_not_declared() {
    let house = House::new([]).await;
    put(&house, "plain", &json!({}));
    put(&house, "editor", &json!({ "permissions": ["files:write"] }));
    let id = house.session().await;
    let plain = Frame::open(&house, "plain", Some(&id)).await;
    let (write, body) = ("api/mcp/write_file", json!({ "path": "/tmp/x", "content": "" }));
    for (path, permission) in [
        (write, "files:write"),
        ("api/shell", "shell"),
        ("api/schedule/a/run", "schedules:write"),
        ("api/apps/open", "apps:open"),
    ] {
        let text = format!(
            "The applet \"plain\" needs the permission \"{permission}\", which its meta.json does not declare"
        );
        assert_eq!(plain.post(path, &body).await, forbidden(&text));
    }
    assert_eq!(house.get("/api/approvals").await.1["approvals"], json!([]), "nobody was asked");

    let editor = Frame::open(&house, "editor", Some(&id)).await;
    let mut socket = house.listener(&id).await;
    let decide = async |decision: Value| {
        let asked = loop {
            let (_, inbox) = house.get("/api/approvals").await;
            if let Some(first) = inbox["approvals"].as_array().unwrap().first() {
                break first.clone();
            }
            socket.next().await;
        };
        let path = format!("/api/approvals/{}", asked["id"].as_str().unwrap());
        assert_eq!(house.post(&path, decision).await.0, 200);
        asked
    };
    let refused =
        forbidden("The permission \"files:write\" was not given to the applet \"editor\"");
    let no = json!({ "decision": "deny" });
    let mut decide = decide;
    let (answer, asked) = tokio::join!(editor.post(write, &body), decide(no));
    assert_eq!(answer, refused);
    assert_eq!(
        (&asked["kind"], &asked["caller"], &asked["tool"], &asked["title"]),
        (
            &json!("approval"),
            &json!("applet:editor"),
            &json!("files:write"),
            &json!("The applet The <editor> wants to write files"),
        )
    );
    assert_eq!(asked["detail"]["args"], json!({ "request": "POST /api/mcp/write_file" }));
    assert_eq!(editor.post(write, &body).await, refused, "and not asked again");

    let again = Frame::open(&house, "editor", Some(&id)).await;
    let yes = json!({ "decision": "always" });
    // Whoever answers that route comes later; until then it is not found, which is past the gate.
    let passed = |answer: (u16, Value)| assert_ne!(answer.0, 403, "{}", answer.1);
    let (answer, _) = tokio::join!(again.post(write, &body), decide(yes));
    passed(answer);
    passed(again.post(write, &body).await);
    let third = Frame::open(&house, "editor", Some(&id)).await;
    passed(third.post(write, &body).await);
    let (_, grants) = house.get("/api/grants").await;
    let grant = &grants["grants"][0];
    assert_eq!(
        (&grant["tool"], &grant["caller"]),
        (&json!("files:write"), &json!("applet:editor"))
    );
    let path = format!("/api/grants/{}", grant["id"].as_str().unwrap());
    assert_eq!(house.delete(&path).await.0, 200);
    let (answer, _) = tokio::join!(third.post(write, &body), decide(json!({ "decision": "deny" })));
    assert_eq!(answer, refused, "what is taken back is asked for again");
}

/// Answers the first thing that is asked, and tells what it was.
async fn decide(house: &House, socket: &mut Socket, decision: &str) -> Value {
    let asked = loop {
        let (_, inbox) = house.get("/api/approvals").await;
        if let Some(first) = inbox["approvals"].as_array().unwrap().first() {
            break first.clone();
        }
        socket.next().await;
    };
    let path = format!("/api/approvals/{}", asked["id"].as_str().unwrap());
    assert_eq!(house.post(&path, json!({ "decision": decision })).await.0, 200);
    asked
}

#[tokio::test]
async fn an_applet_that_may_opens_files_in_apps_of_its_own_session() {
    let house = House::new([]).await;
    put(&house, "files", &json!({ "permissions": ["apps:open"] }));
    let opens = json!({ "extensions": [".tally"], "command": "open", "paramKey": "content" });
    let app = json!({ "name": "Ledger", "fileAssociations": [opens] });
    crate::cabinet::put(&house, "ledger", &app, &[]);
    fs::write(house.workspace().join("a.tally"), "1").unwrap();
    let (id, other) = (house.session().await, house.session().await);
    let files = Frame::open(&house, "files", Some(&id)).await;
    let ledger = json!({ "apps": [{ "id": "ledger", "name": "Ledger" }] });
    assert_eq!(files.read("api/apps/openers?path=a.tally").await, (200, ledger));
    let none = json!({ "apps": [] });
    assert_eq!(files.read("api/apps/openers?path=a.none").await, (200, none));
    let wish = json!({ "path": "a.tally", "session": other });
    let (status, told) = files.post("api/apps/open", &wish).await;
    // Nobody shows the window, so that the app cannot take the file.
    let text = told["error"].as_str().unwrap();
    assert!(status == 409 && text.contains("No client is connected to this session"), "{told}");
    let windows = async |session: &str| {
        let (_, told) = house.get(&format!("/api/windows?session={session}")).await;
        told["windows"].as_array().unwrap().len()
    };
    assert_eq!((windows(&id).await, windows(&other).await), (1, 0), "its own session alone");
    let outside = json!({ "path": house.data_dir().join("key").to_str().unwrap() });
    let text = "Access denied: path not in allowed directories";
    assert_eq!(files.post("api/apps/open", &outside).await, forbidden(text));
    let alone = Frame::open(&house, "files", None).await;
    let text = "The permission \"apps:open\" is asked for in a session, and this applet is in none";
    assert_eq!(alone.post("api/apps/open", &wish).await, forbidden(text));
}

#[tokio::test]
async fn an_applet_that_has_changed_is_asked_about_anew_whatever_it_was_allowed() {
    let house = House::new([]).await;
    let needs = json!({ "permissions": ["shell"] });
    put(&house, "git-status", &needs);
    let id = house.session().await;
    let mut socket = house.listener(&id).await;
    let body = json!({ "command": "true" });
    let run = async |frame: &Frame<'_>| frame.post("api/shell", &body).await.0;
    let first = Frame::open(&house, "git-status", Some(&id)).await;
    let (ran, asked) = tokio::join!(run(&first), decide(&house, &mut socket, "always"));
    let plainly = "it runs a program that can do whatever you can";
    assert_eq!((ran, &asked["why"]), (200, &json!(plainly)));
    let again = Frame::open(&house, "git-status", Some(&id)).await;
    assert_eq!(run(&again).await, 200, "the same applet is not asked about again");

    // Whatever runs in a frame that is open stays what it was, and keeps what it was allowed.
    let script = house.applets().join("git-status/script.js");
    let before = fs::read_to_string(&script).unwrap();
    fs::write(&script, "fetch('/api/shell')").unwrap();
    let changed = Frame::open(&house, "git-status", Some(&id)).await;
    let (ran, asked) = tokio::join!(run(&changed), decide(&house, &mut socket, "deny"));
    let told = format!("{plainly}; you allowed this before, and the applet has changed since");
    assert_eq!((ran, &asked["why"]), (403, &json!(told)));
    fs::write(&script, before).unwrap();
    assert_eq!(run(&changed).await, 403, "what runs there is not what is in the folder");

    fs::write(&script, "second()").unwrap();
    let second = Frame::open(&house, "git-status", Some(&id)).await;
    let (ran, _) = tokio::join!(run(&second), decide(&house, &mut socket, "always"));
    assert_eq!(ran, 200);
    let (_, grants) = house.get("/api/grants").await;
    assert_eq!(grants["grants"].as_array().unwrap().len(), 1, "one takes the place of the other");
    fs::remove_dir_all(house.applets().join("git-status")).unwrap();
    let shipped = Frame::open(&house, "git-status", Some(&id)).await;
    let (ran, _) = tokio::join!(run(&shipped), decide(&house, &mut socket, "deny"));
    assert_eq!(ran, 403, "the shipped one does not inherit it either");
}

#[tokio::test]
async fn what_a_frame_has_asked_goes_with_the_frame() {
    let house = House::new([]).await;
    put(&house, "editor", &json!({ "permissions": ["files:write"] }));
    let id = house.session().await;
    let mut socket = house.listener(&id).await;
    let frame = Frame::open(&house, "editor", Some(&id)).await;
    let (write, body) = ("api/mcp/write_file", json!({ "path": "/tmp/x", "content": "" }));
    let close = async {
        let asked = socket.until_event("permission.requested").await;
        let asked = asked.last().unwrap()["event"]["data"].clone();
        let path = format!("/api/frames/{}", frame.answer["frameId"].as_str().unwrap());
        assert_eq!(house.delete(&path).await.0, 200);
        let settled = socket.until_event("permission.completed").await;
        (asked, settled.last().unwrap()["event"]["data"].clone())
    };
    // Both wait for the same answer, unless one of them comes only after the frame is gone.
    let (one, two, (asked, settled)) =
        tokio::join!(frame.post(write, &body), frame.post(write, &body), close);
    let gone = forbidden("The window was closed before anyone answered");
    let late = (404, Value::Null);
    assert!(one == gone || two == gone, "{one:?} {two:?}");
    assert!([one, two].iter().all(|it| [&gone, &late].contains(&it)));
    assert_eq!(
        (&settled["approvalId"], &settled["verdict"], &settled["by"]),
        (&asked["approval"]["id"], &json!("withdrawn"), &json!("whoever asked is gone"))
    );
    assert_eq!(house.get("/api/approvals").await.1, json!({ "approvals": [] }));
}

#[tokio::test]
async fn frames_of_an_applet_share_its_state_and_hear_of_changes() {
    let house = House::new([]).await;
    put(&house, "clock", &json!({}));
    let (id, other) = (house.session().await, house.session().await);
    let (mut page, mut tab) = (house.listener(&id).await, house.listener(&id).await);
    let mut third = house.listener(&other).await;
    let one = Frame::open(&house, "clock", Some(&id)).await;
    let two = Frame::open(&house, "clock", Some(&id)).await;
    let elsewhere = Frame::open(&house, "clock", Some(&other)).await;
    one.hold(&mut page).await;
    two.hold(&mut tab).await;
    elsewhere.hold(&mut third).await;
    one.say(&mut page, json!({ "type": "setState", "data": { "n": 1 } })).await;
    let state = |frame: &Frame<'_>, data: Value| {
        let message = json!({ "type": "state", "data": data });
        json!({ "type": "frameMessage", "frameId": frame.answer["frameId"], "message": message })
    };
    let heard = tab.until(|frame| frame["message"]["type"] == "state").await;
    assert_eq!(heard.last(), Some(&state(&two, json!({ "n": 1 }))));
    let update = json!({ "type": "stateUpdate", "appletSlug": "clock", "data": { "n": 1 } });
    let mut told = heard;
    told.extend(tab.waiting().await);
    assert!(told.contains(&update), "other clients hear it as well: {told:#?}");
    let quiet = page.waiting().await;
    assert!(
        quiet.iter().all(|it| it["message"]["type"] != "state" && it["type"] != "stateUpdate"),
        "{quiet:?}"
    );
    let own = format!("/api/applet/state?sessionId={id}&slug=clock");
    assert_eq!(house.get(&own).await.1, json!({ "state": { "n": 1 } }));

    one.say(&mut page, json!({ "type": "dance" })).await;
    let heard = page.until(|frame| frame["type"] == "frameError").await;
    let told = heard.last().unwrap()["error"].as_str().unwrap();
    assert!(told.starts_with("this is nothing that an applet can say"), "{told}");

    fs::write(house.applets().join("clock/script.js"), "later()").unwrap();
    for (socket, frame) in [(&mut page, &one), (&mut tab, &two), (&mut third, &elsewhere)] {
        let heard = socket.until(|frame| frame["type"] == "frameGone").await;
        assert!(heard.iter().all(|it| it["message"]["type"] != "state"), "of another session");
        let id = &frame.answer["frameId"];
        assert_eq!(heard.last(), Some(&json!({ "type": "frameGone", "frameId": id })));
        assert_eq!(frame.get("__applet/script.js").await.status, 404);
    }
    let anew = Frame::open(&house, "clock", Some(&id)).await;
    assert!(anew.get("__applet/script.js").await.text().contains("later()"));
}

#[tokio::test]
async fn what_an_applet_keeps_outlives_its_frames_and_is_its_own() {
    let house = House::new([]).await;
    put(&house, "clock", &json!({}));
    put(&house, "other", &json!({}));
    let mut page = house.socket().await;
    let frame = Frame::open(&house, "clock", None).await;
    frame.hold(&mut page).await;
    frame.say(&mut page, json!({ "type": "store", "items": { "a": "1" } })).await;
    let kept = async |slug: &str| {
        let config = Frame::open(&house, slug, None).await.get("__applet/config.js").await.text();
        let config = config.strip_prefix("globalThis.__applet = ").unwrap();
        let config: Value = serde_json::from_str(config.trim_end_matches(";\n")).unwrap();
        config["storage"].clone()
    };
    while frame.get("__applet/config.js").await.text().contains("\"storage\":{}") {}
    assert_eq!(frame.get("__applet/config.js").await.text().matches("\"a\":\"1\"").count(), 1);
    assert_eq!(kept("other").await, json!({}));
    let large = json!({ "type": "store", "items": { "a": "x".repeat(600_000) } });
    frame.say(&mut page, large).await;
    let heard = page.until(|frame| frame["type"] == "frameError").await;
    assert_eq!(heard.last().unwrap()["error"], "an applet may keep 524288 bytes at most");
}

#[tokio::test]
async fn a_frame_that_goes_to_the_front_door_says_where_it_meant_to_go() {
    let house = House::new([]).await;
    let page = Ask::new(house.sandbox(), "GET", "/?applet=clock").send().await;
    assert_eq!(page.status, 200);
    assert!(page.text().contains("src=\"/away.js\""), "{}", page.text());
    let script = Ask::new(house.sandbox(), "GET", "/away.js").send().await;
    assert!(script.text().contains("megaron:open"), "{}", script.text());
}
