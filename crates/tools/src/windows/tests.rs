//! The tools for windows, as a model and the person meet them.

use std::sync::Arc;

use kernel::{
    feed::Heard,
    host::{Host, Settings},
    inbox::CallError,
    toolbox::{Caller, Risk, ToolError},
    update::{Fact, Message, Output, Seq, SessionId, WhenBusy},
    windows::By,
};
use serde_json::{Value, json};
use testkit::{
    World,
    model::{call, text},
};

use crate::add_applets;

struct Home {
    host: Arc<Host>,
    session: SessionId,
}

impl Home {
    async fn new(world: &World) -> Self {
        let host = Host::start(world.ports(), Settings::default()).await.unwrap();
        add_applets(&host, crate::Workshop::default());
        let session = host.create("/".as_ref(), "test", "").await.unwrap();
        Self { host, session }
    }

    async fn call(&self, name: &str, args: Value) -> Result<String, String> {
        match self.host.call(self.session, Caller::Client, name, args).await {
            Ok(reply) => Ok(reply.text),
            Err(CallError::Tool(ToolError::Failed(message))) => Err(message),
            Err(error) => panic!("{error}"),
        }
    }

    async fn list(&self) -> Value {
        let text = self.call("window_list", json!({})).await.unwrap();
        serde_json::from_str(&text).unwrap()
    }
}

fn note(content: &Value) -> Value {
    json!({ "windowId": "note", "title": "A note", "renderer": "text", "content": content })
}

#[tokio::test]
async fn an_agent_opens_changes_lists_and_closes_a_window() {
    let home = Home::new(&World::new([])).await;
    assert_eq!(home.call("window_list", Value::Null).await.as_deref(), Ok("No window is open."));
    let opened = home.call("window_create", note(&json!("one"))).await;
    assert_eq!(opened.as_deref(), Ok("The window \"note\" is open."));
    let wish = json!({
        "windowId": "note", "title": "Another", "content": " two", "operation": "append",
        "bounds": { "x": 1, "y": 2, "w": 300, "h": 200 }, "focus": true, "state": "maximized",
    });
    let changed = home.call("window_update", wish).await;
    assert_eq!(changed.as_deref(), Ok("The window \"note\" is changed."));
    let mut window = json!({
        "windowId": "note", "monitorId": "monitor-0", "title": "Another", "renderer": "text",
        "bounds": { "x": 1, "y": 2, "w": 300, "h": 200 }, "state": "maximized", "bytes": 9,
        "focused": true,
    });
    assert_eq!(home.list().await, json!({ "windows": [window] }));
    let one = home.call("window_list", json!({ "windowId": "monitor-0/note" })).await.unwrap();
    window.as_object_mut().unwrap().remove("focused");
    window["content"] = json!("one two");
    assert_eq!(serde_json::from_str::<Value>(&one).unwrap(), window);
    let closed = home.call("window_close", json!({ "windowId": "note" })).await;
    assert_eq!(closed.as_deref(), Ok("The window \"note\" is closed."));
    assert!(home.host.windows(home.session).await.unwrap().is_empty());
}

#[tokio::test]
async fn what_cannot_be_done_is_explained() {
    let home = Home::new(&World::new([])).await;
    home.call("window_create", note(&json!("one"))).await.unwrap();
    let update = |more: Value| {
        let mut args = json!({ "windowId": "note" });
        args.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        args
    };
    for (tool, args, problem) in [
        (
            "window_create",
            note(&json!(["x"])),
            "a text window shows a text; expected a string, found a list",
        ),
        (
            "window_create",
            json!({ "windowId": "x", "title": "x", "renderer": "video", "content": "x" }),
            "bad arguments for window_create: renderer: unknown variant `video`, expected one of \
             `markdown`, `html`, `text`, `table`, `image`, `iframe`",
        ),
        ("window_create", json!({}), "bad arguments for window_create: missing field `windowId`"),
        ("window_update", json!({ "windowId": "gone" }), "Window \"gone\" not found."),
        (
            "window_update",
            update(json!({})),
            "there is nothing to change; expected one of title, content, operation, bounds, focus \
             or state",
        ),
        ("window_update", update(json!({ "operation": "append" })), "this operation needs content"),
        (
            "window_update",
            update(json!({ "operation": "insertAt", "content": "x" })),
            "the operation `insertAt` needs a position",
        ),
        (
            "window_update",
            update(json!({ "content": "x", "position": 1 })),
            "position goes with the operation `insertAt` alone",
        ),
        (
            "window_update",
            update(json!({ "renderer": "html" })),
            "renderer needs content to show in that way",
        ),
        (
            "window_update",
            update(json!({ "renderer": "html", "operation": "append", "content": "x" })),
            "an operation adds to what the window shows as text; leave out renderer, or operation",
        ),
        (
            "window_update",
            update(json!({ "bounds": { "x": 0, "y": 0, "w": 0, "h": 9 } })),
            "w and h are from 1 to 100000, not 0 and 9",
        ),
        ("window_close", json!({ "windowId": "gone" }), "Window \"gone\" not found."),
        ("window_list", json!({ "windowId": "gone" }), "Window \"gone\" not found."),
    ] {
        assert_eq!(home.call(tool, args).await, Err(problem.to_owned()), "{tool}");
    }
    let windows = home.host.windows(home.session).await.unwrap();
    assert_eq!(windows.list()[0].window.content.data, json!("one"));
}

#[tokio::test]
async fn a_table_may_be_written_as_a_text() {
    let home = Home::new(&World::new([])).await;
    let table = json!({ "headers": ["a"], "rows": [["1"]] }).to_string();
    let wish = json!({ "windowId": "t", "title": "T", "renderer": "table", "content": table });
    home.call("window_create", wish).await.unwrap();
    let wish = json!({ "windowId": "t", "operation": "append", "content": "[[2]]" });
    home.call("window_update", wish).await.unwrap();
    let windows = home.host.windows(home.session).await.unwrap();
    let data = json!({ "headers": ["a"], "rows": [["1"], ["2"]] });
    assert_eq!(windows.list()[0].window.content.data, data);
}

#[tokio::test]
async fn a_model_opens_a_window_unasked_and_is_shown_nothing_of_it_later() {
    let world = World::new([
        vec![call("1", "window_create", note(&json!("the content")))],
        vec![text("done")],
        vec![text("again")],
    ]);
    let home = Home::new(&world).await;
    let mut feed = home.host.feed(home.session, Some(Seq(0))).await.unwrap();
    for words in ["open it", "and now?"] {
        home.host.post(home.session, Message::from_user(words), WhenBusy::Queue).await.unwrap();
    }
    let mut facts = Vec::new();
    while facts.iter().filter(|fact| matches!(fact, Fact::TurnEnded(_))).count() < 2 {
        match feed.next().await.unwrap() {
            Heard::Past(entry) => facts.push(entry.fact),
            Heard::Live(told) => facts.extend(told.facts().map(|entry| entry.fact.clone())),
            Heard::Now { .. } => (),
        }
    }
    let opened = facts.iter().find_map(|fact| match fact {
        Fact::WindowOpened(window) => Some((window.key(), window.by.clone())),
        _ => None,
    });
    assert_eq!(opened, Some(("monitor-0/note".to_owned(), By::Agent)));
    let returned = facts.iter().find_map(|fact| match fact {
        Fact::ToolReturned { output: Output::Done { text, data, .. }, .. } => {
            Some((text.as_str(), data.clone().unwrap()["windowId"].clone()))
        }
        _ => None,
    });
    assert_eq!(returned, Some(("The window \"note\" is open.", json!("note"))));
    assert!(!facts.iter().any(|fact| matches!(fact, Fact::Asked(_))), "nobody is asked");
    let shown = format!("{:?}", world.model.prompts().last().unwrap().parts);
    assert_eq!(shown.matches("the content").count(), 1, "in its own call alone: {shown}");
}

#[tokio::test]
async fn models_are_told_what_a_window_can_show() {
    let home = Home::new(&World::new([])).await;
    let tools = home.host.ports.tools.specs(&Caller::Model);
    let create = tools.iter().find(|tool| tool.name == "window_create").unwrap();
    let properties = &create.schema["properties"];
    let shows = json!(["markdown", "html", "text", "table", "image", "iframe"]);
    assert_eq!(properties["renderer"]["enum"], shows);
    assert_eq!(properties["content"]["type"], json!(["string", "object", "array"]));
    assert!(properties["content"]["description"].as_str().unwrap().contains("headers"));
    assert_eq!(create.schema["required"], json!(["windowId", "title", "renderer", "content"]));
    let update = tools.iter().find(|tool| tool.name == "window_update").unwrap();
    assert_eq!(update.schema["required"], json!(["windowId"]));
    let content = &update.schema["properties"]["content"]["type"];
    assert_eq!(*content, json!(["string", "object", "array"]));
    for name in ["window_create", "window_update", "window_close", "window_list"] {
        assert_eq!(home.host.ports.tools.risk(name), Some(Risk::Reads), "{name}");
    }
}
