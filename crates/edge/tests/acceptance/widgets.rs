//! Widgets in frames: the page that a server sends beside a result, its policy, and what it may ask.

mod clock;

use std::sync::Arc;

use serde_json::{Value, json};
use testkit::{
    World,
    model::{Script, call, text},
};

use crate::common::{Ask, House, Socket, bad, error};
use clock::sour;

pub use clock::{Fake, lend};

/// A house, and a session in which every tool was called.
pub async fn home() -> (House, String) {
    let (house, session, _) = home_of(Arc::default()).await;
    (house, session)
}

/// The same, with a server that can go away.
pub async fn home_of(fake: Arc<Fake>) -> (House, String, Arc<Fake>) {
    let calls = vec![
        call("c1", "get-time", json!({ "zone": "UTC" })),
        call("c2", "broken", json!({})),
        call("c3", "silent", json!({})),
        call("c4", "astray", json!({})),
        call("c5", "sour", json!({})),
    ];
    let scripts: Vec<Script> = vec![calls, vec![text("noon")]];
    let house = House::serving(World::new(scripts), fake.clone()).await;
    lend(&house);
    let session = house.session().await;
    house.turn(&session, json!({ "prompt": "what time is it?" })).await;
    (house, session, fake)
}

pub async fn open(house: &House, session: &str, call: &str) -> (u16, Value) {
    let params = json!({ "theme": "dark", "locale": "en-GB", "timeZone": "UTC" });
    let wish = json!({ "kind": "widget", "id": call, "sessionId": session, "params": params });
    house.post("/api/frames", wish).await
}

/// A widget that is shown, as the page passes on what it says.
pub struct Shown {
    pub socket: Socket,
    pub frame: Value,
}

impl Shown {
    /// The widget of the first call, greeted, and told what it shows.
    pub async fn ready(house: &House, session: &str) -> Self {
        let (_, ticket) = open(house, session, "c1").await;
        let mut shown = Self::new(house, ticket["frameId"].clone()).await;
        shown.greet().await;
        shown.hear().await;
        shown.hear().await;
        shown
    }

    pub async fn new(house: &House, frame: Value) -> Self {
        let mut socket = house.socket().await;
        socket.send(json!({ "type": "holdFrame", "frameId": frame })).await;
        assert_eq!(socket.next().await, json!({ "type": "frameHeld", "frameId": frame }));
        Self { socket, frame }
    }

    pub async fn say(&mut self, message: Value) {
        let frame = &self.frame;
        self.socket
            .send(json!({ "type": "frameMessage", "frameId": frame, "message": message }))
            .await;
    }

    pub async fn hear(&mut self) -> Value {
        self.told("frameMessage").await["message"].clone()
    }

    /// What the page around it is asked to do.
    pub async fn wish(&mut self) -> Value {
        self.told("frameWish").await["wish"].clone()
    }

    /// What the page around it says.
    pub async fn note(&mut self, note: Value) {
        let frame = &self.frame;
        self.socket.send(json!({ "type": "frameNote", "frameId": frame, "note": note })).await;
    }

    async fn told(&mut self, kind: &str) -> Value {
        let told = self.socket.until(|it| it["type"] != "globalEvent").await.pop().unwrap();
        assert_eq!((&told["type"], &told["frameId"]), (&json!(kind), &self.frame), "{told}");
        told
    }

    /// Asks for something, and waits for nothing.
    pub async fn request(&mut self, id: u64, method: &str, params: Value) {
        self.say(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
    }

    pub async fn ask(&mut self, id: u64, method: &str, params: Value) -> Value {
        self.request(id, method, params).await;
        let answer = self.hear().await;
        assert_eq!(answer["id"], json!(id), "{answer}");
        answer
    }

    pub async fn greet(&mut self) -> Value {
        self.greet_as(json!({})).await
    }

    pub async fn greet_as(&mut self, capabilities: Value) -> Value {
        let params = json!({
            "appInfo": { "name": "g", "version": "1" },
            "appCapabilities": capabilities,
            "protocolVersion": "2026-01-26",
        });
        let answer = self.ask(0, "ui/initialize", params).await;
        self.say(json!({ "jsonrpc": "2.0", "method": "ui/notifications/initialized" })).await;
        answer["result"].clone()
    }
}

#[tokio::test]
async fn a_widget_is_served_with_the_policy_it_declared_and_nothing_that_is_no_host() {
    let (house, session) = home().await;
    let listed = json!([
        { "tool": "get-time", "server": "clock", "name": "get-time", "uri": "ui://clock/time" },
        { "tool": "broken", "server": "clock", "name": "broken", "uri": "ui://clock/broken" },
        { "tool": "astray", "server": "clock", "name": "astray", "uri": "https://a.example/" },
        { "tool": "sour", "server": "clock", "name": "sour", "uri": "ui://clock/time" },
    ]);
    assert_eq!(house.get("/api/widgets").await, (200, json!({ "widgets": listed })));
    let (status, ticket) = open(&house, &session, "c1").await;
    assert_eq!(status, 200, "{ticket}");
    assert_eq!(ticket["title"], "get-time (clock)");
    assert_eq!(
        (&ticket["sandbox"], &ticket["allow"]),
        (&json!("allow-scripts allow-forms"), &json!(""))
    );
    let url = ticket["url"].as_str().unwrap();
    let path = url.strip_prefix(&format!("http://{}", house.sandbox())).unwrap();
    let page = Ask::new(house.sandbox(), "GET", path).send().await;
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.contains("; connect-src https://a.example; "), "{policy}");
    assert!(policy.contains("sandbox allow-scripts allow-forms"), "{policy}");
    assert!(!policy.contains("b.com") && !policy.contains("allow-same-origin"), "{policy}");
    let html = page.text();
    assert!(html.starts_with("<!doctype html><html><head><script src=\"/f/"), "{html}");
}

#[tokio::test]
async fn a_widget_is_told_what_its_call_was_given_and_gave_and_so_again_after_a_restart() {
    let (mut house, session) = home().await;
    for _ in 0..2 {
        let (_, ticket) = open(&house, &session, "c1").await;
        let mut shown = Shown::new(&house, ticket["frameId"].clone()).await;
        let greeting = shown.greet().await;
        let around = &greeting["hostContext"];
        assert_eq!((&around["theme"], &around["locale"]), (&json!("dark"), &json!("en-GB")));
        assert_eq!(around["toolInfo"]["tool"]["name"], "get-time");
        let keys: Vec<&String> = greeting["hostCapabilities"].as_object().unwrap().keys().collect();
        let expected = [
            "openLinks",
            "downloadFile",
            "serverTools",
            "serverResources",
            "logging",
            "updateModelContext",
            "message",
            "sandbox",
        ];
        assert_eq!(keys, expected);
        let input = shown.hear().await;
        assert_eq!(input["method"], "ui/notifications/tool-input");
        assert_eq!(input["params"], json!({ "arguments": { "zone": "UTC" } }));
        let result = shown.hear().await;
        assert_eq!(result["method"], "ui/notifications/tool-result");
        let content = json!([{ "type": "text", "text": "noon" }]);
        let whole = json!({ "content": content, "structuredContent": { "zone": "UTC" } });
        assert_eq!(result["params"], whole);
        drop(shown);
        house.restart().await;
        lend(&house);
    }
}

#[tokio::test]
async fn a_widget_calls_the_tools_of_its_own_server_and_no_others() {
    let (house, session) = home().await;
    let mut shown = Shown::ready(&house, &session).await;
    let called = shown
        .ask(1, "tools/call", json!({ "name": "get-time", "arguments": { "zone": "JST" } }))
        .await;
    assert_eq!(called["result"]["structuredContent"], json!({ "zone": "JST" }));
    let marked = json!({ "name": "get-time", "_meta": { "progressToken": "p" } });
    shown.request(9, "tools/call", marked).await;
    let params = json!({ "progressToken": "p", "progress": 1.0, "total": 2.0, "message": "half" });
    let step = json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params });
    assert_eq!((shown.hear().await, &shown.hear().await["id"]), (step, &json!(9)));
    let refused = shown.ask(2, "tools/call", json!({ "name": "elsewhere" })).await;
    let why = "Tool not available to this view: elsewhere";
    assert_eq!(refused["error"], json!({ "code": -32000, "message": why }));
    let private = shown.ask(7, "tools/call", json!({ "name": "private" })).await;
    let why = "Tool not available to this view: private";
    assert_eq!(private["error"], json!({ "code": -32000, "message": why }));
    for name in ["elsewhere", "private"] {
        let refused = shown.ask(8, "ui/callServerTool", json!({ "name": name })).await;
        let why = format!("Tool not found: {name}");
        assert_eq!(refused["error"], json!({ "code": -32001, "message": why }));
    }
    let unknown = shown.ask(3, "tools/call", json!({ "name": "nope" })).await;
    assert_eq!(unknown["error"], json!({ "code": -32603, "message": "Tool nope not found" }));
    let sampled = shown.ask(4, "sampling/createMessage", json!({})).await;
    assert_eq!(sampled["error"], json!({ "code": -32601, "message": "Method not found" }));
    let read = shown.ask(5, "resources/read", json!({ "uri": "file:///a.csv" })).await;
    assert_eq!(read["result"]["contents"][0]["text"], "1,2");
    let nothing = shown.ask(6, "resources/read", json!({ "uri": "file:///b.csv" })).await;
    assert_eq!(nothing["error"], json!({ "code": -32002, "message": "no such thing" }));
}

#[tokio::test]
async fn what_cannot_be_shown_is_said_by_name() {
    let (house, session) = home().await;
    let conflict = |text: &str| (409, error("CONFLICT", text));
    let mime = "wrong-mime: the widget is of type `text/plain`, and text/html;profile=mcp-app was expected";
    assert_eq!(open(&house, &session, "c2").await, conflict(mime));
    let astray = "bad-uri: the widget is said to be at `https://a.example/`, which does not begin with ui://";
    assert_eq!(open(&house, &session, "c4").await, conflict(astray));
    let nobody = "there is no call `c9` in this session";
    assert_eq!(open(&house, &session, "c9").await, (404, error("NOT_FOUND", nobody)));
    let wish = json!({ "kind": "widget", "id": "c1" });
    let needed = "sessionId is required for widgets: each belongs to a call in a session";
    assert_eq!(house.post("/api/frames", wish).await, bad(needed));
}

#[tokio::test]
async fn a_widget_is_told_the_whole_of_a_failure() {
    let (house, session) = home().await;
    let (_, ticket) = open(&house, &session, "c5").await;
    let mut shown = Shown::new(&house, ticket["frameId"].clone()).await;
    shown.greet().await;
    assert_eq!(shown.hear().await["method"], "ui/notifications/tool-input");
    let result = shown.hear().await;
    assert_eq!(result["method"], "ui/notifications/tool-result");
    let mut whole = sour();
    whole["isError"] = true.into();
    assert_eq!(result["params"], whole);
}
