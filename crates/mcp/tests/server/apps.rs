//! The apps that somebody shows, as tools and resources that come and go with them.

use std::sync::{Arc, Mutex};

use kernel::{
    apps::{Asked, Attendance, Kind, Line, Remark, Response, Word, protocol::Outgoing},
    host::Host,
    toolbox::Risk,
    update::SessionId,
    windows::{By, Content, Named, Opening, Renderer, Wish},
};
use serde_json::{Value, json};
use testkit::{TestTool, World};

use super::talk::Talk;

/// A page with a counter in it, that answers at once.
#[derive(Default)]
struct Page {
    seat: Mutex<Option<Attendance>>,
}

impl Line for Page {
    fn tell(&self, Word::Request(Outgoing { request, window, asked, .. }): Word) {
        let response = match asked {
            Asked::Manifest => Response::of(Kind::Manifest, Some(manifest())),
            Asked::Query { state_key } if state_key == "broken" => {
                Response::error(Kind::Query, "Error: no")
            }
            Asked::Query { state_key } => {
                Response::of(Kind::Query, Some(json!({ "of": state_key })))
            }
            Asked::Command { params, .. } => Response::of(Kind::Command, params),
        };
        let seat = self.seat.lock().unwrap();
        seat.as_ref().unwrap().answered(request, Some(window), response);
    }
}

impl Page {
    fn says_changed(&self, key: &str) {
        let seat = self.seat.lock().unwrap();
        let remark = Remark::StateChanged { keys: vec![key.into()], by_person: false };
        seat.as_ref().unwrap().remarked("dock".into(), None, remark);
    }

    fn leave(&self) {
        let seat = self.seat.lock().unwrap().take();
        drop(seat);
    }
}

fn params() -> Value {
    json!({ "type": "object", "properties": { "by": { "type": "number" } } })
}

fn manifest() -> Value {
    json!({
        "appId": "counter", "name": "Counter",
        "state": { "n": { "description": "How many" }, "a b/ü": {}, "broken": {} },
        "commands": {
            "inc": { "description": "Counts", "params": params(), "returns": { "type": "object" } },
            "say it!": { "params": { "type": "array" } },
        },
    })
}

/// Opens an app in a window and shows it, until what is given back is dropped.
async fn show(host: &Arc<Host>, session: SessionId, window: &str) -> Arc<Page> {
    let data = json!("/api/apps/counter/index.html");
    let opening = Opening::new(window, "Dock", Content { renderer: Renderer::Iframe, data });
    host.arrange(session, Wish::Open(Box::new(opening)), By::Agent).await.unwrap();
    let page = Arc::new(Page::default());
    let mut editions = host.apps.editions();
    let seat = host.attend(session, page.clone()).unwrap();
    *page.seat.lock().unwrap() = Some(seat);
    let ready = || page.seat.lock().unwrap();
    ready().as_ref().unwrap().ready(window.into(), None, Some("a".into()));
    while !host.apps.offers(session).keys().any(|key| key.ends_with(&format!("/{window}"))) {
        editions.changed().await.unwrap();
    }
    page
}

async fn session(host: &Host, name: &str) -> SessionId {
    host.create("/".as_ref(), "test", name).await.unwrap()
}

/// The tools for apps, of those that are listed.
async fn tools(talk: &mut Talk, id: u32) -> Vec<Value> {
    talk.request(id, "tools/list", json!({})).await;
    let listed = talk.answer(id).await;
    let is_of_app = |it: &&Value| it["name"].as_str().unwrap().starts_with("app.");
    listed["tools"].as_array().unwrap().iter().filter(is_of_app).cloned().collect()
}

async fn states(talk: &mut Talk, id: u32) -> Vec<Value> {
    talk.request(id, "resources/list", json!({})).await;
    let listed = talk.answer(id).await;
    let is_of_app = |it: &&Value| it["uri"].as_str().unwrap().starts_with("yaar://");
    listed["resources"].as_array().unwrap().iter().filter(is_of_app).cloned().collect()
}

fn names(listed: &[Value]) -> Vec<&str> {
    listed.iter().map(|it| it["name"].as_str().unwrap()).collect()
}

/// A house whose `app_command` says what it was called with.
async fn talk() -> Talk {
    let command = TestTool::echo().named("app_command").risky(Risk::Reads);
    let mut talk = Talk::new(&World::new([]).tool(&command)).await;
    talk.request(100, "ping", json!({})).await;
    talk.answer(100).await;
    talk
}

#[tokio::test]
async fn a_command_of_an_app_is_a_tool_while_somebody_shows_it() {
    let mut talk = talk().await;
    let session = session(&talk.host, "Budget").await;
    talk.told("resources/list_changed").await;
    let page = show(&talk.host.clone(), session, "dock").await;
    talk.told("tools/list_changed").await;
    talk.told("resources/list_changed").await;
    let place = "of the app Counter in window \"dock\" of the session \"Budget\"";
    let annotations =
        json!({ "readOnlyHint": false, "destructiveHint": true, "openWorldHint": false });
    let [inc, say] = tools(&mut talk, 1).await.try_into().unwrap();
    assert_eq!(
        inc,
        json!({
            "name": "app.dock.inc", "description": format!("Counts\n\nRuns \"inc\" {place}."),
            "inputSchema": params(), "outputSchema": { "type": "object" },
            "annotations": annotations,
        })
    );
    let odd = say["name"].as_str().unwrap().to_owned();
    let plain = |it: char| it.is_ascii_alphanumeric() || "._-".contains(it);
    assert!(odd.starts_with("app.dock.say_it_-") && odd.chars().all(plain), "{odd}");
    assert_eq!(say["inputSchema"], json!({ "type": "object" }));

    talk.call(2, "app.dock.inc", json!({ "by": 2 })).await;
    let args = json!({ "windowId": "monitor-0/dock", "command": "inc", "params": { "by": 2 } });
    let content = json!([{ "type": "text", "text": args.to_string() }]);
    let expected = json!({ "content": content, "structuredContent": args, "isError": false });
    assert_eq!(talk.answer(2).await, expected);
    talk.request(3, "tools/call", json!({ "name": odd })).await;
    let args = json!({ "windowId": "monitor-0/dock", "command": "say it!" });
    let content = json!([{ "type": "text", "text": args.to_string() }]);
    assert_eq!(talk.answer(3).await, json!({ "content": content, "isError": false }));

    let close = Wish::Close { window: Named::new("dock") };
    talk.host.arrange(session, close, By::Agent).await.unwrap();
    talk.told("tools/list_changed").await;
    talk.told("resources/list_changed").await;
    assert_eq!((tools(&mut talk, 4).await, states(&mut talk, 5).await), (vec![], vec![]));
    talk.call(6, "app.dock.inc", json!({})).await;
    let unknown = json!({ "code": -32602, "message": "Unknown tool: app.dock.inc" });
    assert_eq!(talk.answer(6).await, unknown);
    page.leave();
}

#[tokio::test]
async fn whoever_shows_an_app_takes_its_tools_along() {
    let mut talk = talk().await;
    let session = session(&talk.host, "").await;
    let page = show(&talk.host.clone(), session, "dock").await;
    talk.told("tools/list_changed").await;
    assert_eq!(tools(&mut talk, 1).await.len(), 2);
    page.leave();
    let mut editions = talk.host.apps.editions();
    while !talk.host.apps.offers(session).is_empty() {
        editions.changed().await.unwrap();
    }
    talk.told("tools/list_changed").await;
    assert_eq!(tools(&mut talk, 2).await, [json!(null); 0]);
}

#[tokio::test]
async fn a_state_is_a_resource_that_is_read_and_watched() {
    let mut talk = talk().await;
    let session = session(&talk.host, "Budget").await;
    let page = show(&talk.host.clone(), session, "dock").await;
    let listed = states(&mut talk, 1).await;
    let place = "of the app Counter in window \"dock\" of the session \"Budget\"";
    let n = json!({
        "uri": "yaar://monitor-0/dock/state/n", "name": "dock/n", "title": "n of dock",
        "description": format!("How many\n\nThe state \"n\" {place}."),
        "mimeType": "application/json",
    });
    assert_eq!(listed.last(), Some(&n));
    assert_eq!(names(&listed), ["dock/a b/ü", "dock/broken", "dock/n"]);
    let odd = "yaar://monitor-0/dock/state/a%20b/%C3%BC";
    assert_eq!(listed[0]["uri"], odd);
    for (id, uri, key) in [
        (2, "yaar://monitor-0/dock/state/n", "n"),
        (3, odd, "a b/ü"),
        (4, "yaar://monitor-0/dock/state/a b/ü", "a b/ü"),
    ] {
        talk.request(id, "resources/read", json!({ "uri": uri })).await;
        let text = format!("{:#}", json!({ "of": key }));
        let contents = json!([{ "uri": uri, "mimeType": "application/json", "text": text }]);
        assert_eq!(talk.answer(id).await, json!({ "contents": contents }), "{uri}");
    }
    talk.request(5, "resources/read", json!({ "uri": "yaar://monitor-0/dock/state/broken" })).await;
    assert_eq!(talk.answer(5).await, json!({ "code": -32603, "message": "Error: no" }));
    talk.request(6, "resources/read", json!({ "uri": "yaar://monitor-0/dock/state/no" })).await;
    assert_eq!(talk.answer(6).await["message"], "Resource not found");

    let uri = "yaar://monitor-0/dock/state/n";
    talk.request(7, "resources/subscribe", json!({ "uri": uri })).await;
    assert_eq!(talk.answer(7).await, json!({}));
    page.says_changed("broken");
    page.says_changed("n");
    assert_eq!(talk.told("resources/updated").await, json!({ "uri": uri }));
    talk.request(8, "resources/unsubscribe", json!({ "uri": uri })).await;
    talk.answer(8).await;
    page.says_changed("n");
    talk.request(9, "resources/subscribe", json!({ "uri": odd })).await;
    talk.answer(9).await;
    page.says_changed("a b/ü");
    let heard = talk.told("resources/updated").await;
    assert_eq!(heard, json!({ "uri": odd }), "and nothing of what is not watched");
}

#[tokio::test]
async fn a_name_that_was_told_never_comes_to_mean_another_window() {
    let mut talk = talk().await;
    let host = talk.host.clone();
    let (first, second) = (session(&host, "One").await, session(&host, "Two").await);
    let page = show(&host, second, "dock").await;
    assert_eq!(names(&tools(&mut talk, 1).await)[0], "app.dock.inc");
    let _other = show(&host, first, "dock").await;
    let both = tools(&mut talk, 2).await;
    let both = names(&both);
    let marked = both.iter().find(|it| it.starts_with("app.dock-") && it.contains(".inc"));
    let marked = (*marked.unwrap()).to_owned();
    assert!(both.contains(&"app.dock.inc"));
    let states = states(&mut talk, 3).await;
    let label = marked.split('.').nth(1).unwrap();
    let uri = json!(format!("yaar://monitor-0/{label}/state/n"));
    assert!(states.iter().any(|it| it["uri"] == uri), "{states:#?}");

    let close = Wish::Close { window: Named::new("dock") };
    host.arrange(second, close, By::Agent).await.unwrap();
    let mut editions = host.apps.editions();
    while !host.apps.offers(second).is_empty() {
        editions.changed().await.unwrap();
    }
    page.leave();
    let third = session(&host, "Three").await;
    let _third = show(&host, third, "dock").await;
    talk.call(4, "app.dock.inc", json!({})).await;
    let another = "app.dock.inc is of another window than it was; list the tools again";
    assert_eq!(talk.answer(4).await, json!({ "code": -32602, "message": another }));
    let now = tools(&mut talk, 5).await;
    assert_eq!(names(&now).iter().filter(|it| **it == marked).count(), 1, "it keeps its name");
    talk.call(6, "app.dock.inc", json!({})).await;
    assert_eq!(talk.answer(6).await["isError"], false, "a name is free when its window is closed");
}
