//! Widgets seen from outside: windows of ours for other hosts, and tools that widgets define.

use std::sync::Arc;

use kernel::{
    toolbox::{Risk, Shelf, Tool, ToolSpec},
    update::SessionId,
    windows::{By, Content, Opening, Renderer, Wish},
};
use serde_json::{Value, json};
use testkit::{TestTool, World};

use crate::talk::Talk;

const PAGE: &str = "ui://megaron/window.html";

async fn listed(talk: &mut Talk, id: u32, name: &str) -> Option<Value> {
    talk.request(id, "tools/list", json!({})).await;
    let tools = talk.answer(id).await["tools"].as_array().unwrap().clone();
    tools.into_iter().find(|tool| tool["name"] == name)
}

#[tokio::test]
async fn another_host_shows_a_window_of_ours() {
    let mut talk = Talk::new(&World::new([])).await;
    let session = talk.host.create("/".as_ref(), "test", "Budget").await.unwrap();
    let content = Content { renderer: Renderer::Text, data: json!("12 apples") };
    let opening = Opening::new("dock", "Stock", content);
    talk.host.arrange(session, Wish::Open(Box::new(opening)), By::Agent).await.unwrap();

    let shows = listed(&mut talk, 1, "show_window").await.unwrap();
    let ui = json!({ "resourceUri": PAGE, "visibility": ["model", "app"] });
    assert_eq!(shows["_meta"], json!({ "ui": ui, "ui/resourceUri": PAGE }));
    let looks = listed(&mut talk, 2, "look_at_window").await.unwrap();
    assert_eq!(looks["_meta"]["ui"]["visibility"], json!(["app"]));

    talk.request(3, "resources/read", json!({ "uri": PAGE })).await;
    let page = talk.answer(3).await["contents"][0].clone();
    assert_eq!(page["mimeType"], "text/html;profile=mcp-app");
    let html = page["text"].as_str().unwrap();
    assert!(html.contains("window, 'FrontMcpBridge'") && !html.contains("__BRIDGE__"));

    let which = json!({ "sessionId": session.to_string(), "windowId": "dock" });
    talk.call(4, "show_window", which).await;
    let shown = talk.answer(4).await;
    let expected = json!({
        "sessionId": session.to_string(), "windowId": "monitor-0/dock", "title": "Stock",
        "renderer": "text", "data": "12 apples",
    });
    assert_eq!(shown["structuredContent"], expected);
    assert_eq!(shown["content"][0]["text"], "Stock\n\n12 apples");
    let which = json!({ "sessionId": session.to_string(), "windowId": "none" });
    talk.call(5, "look_at_window", which).await;
    let text = "no window `none` is open in this session";
    assert_eq!(talk.answer(5).await["content"][0]["text"], text);
}

/// A widget in one session, with a tool.
struct Shown(SessionId, Arc<dyn Tool>);

impl Shelf for Shown {
    fn arrange(&self, _: SessionId, _: &mut Vec<ToolSpec>) {}

    fn find(&self, session: SessionId, name: &str) -> Option<Arc<dyn Tool>> {
        (session == self.0 && name == self.1.spec().name).then(|| self.1.clone())
    }

    fn lent(&self) -> Vec<(SessionId, ToolSpec)> {
        vec![(self.0, self.1.spec().clone())]
    }
}

#[tokio::test]
async fn a_tool_that_a_widget_defines_is_called_where_it_is() {
    let mut talk = Talk::new(&World::new([])).await;
    let session = talk.host.create("/".as_ref(), "test", "Budget").await.unwrap();
    assert_eq!(listed(&mut talk, 1, "widget__1__set").await, None);
    let tool = TestTool::echo().named("widget__1__set").risky(Risk::Shows);
    talk.host.ports.tools.furnish(Shown(session, Arc::new(tool)));
    talk.host.ports.tools.rearranged();
    talk.told("tools/list_changed").await;
    assert!(listed(&mut talk, 2, "widget__1__set").await.is_some());
    talk.call(3, "widget__1__set", json!({ "n": 1 })).await;
    assert_eq!(talk.answer(3).await["content"][0]["text"], r#"{"n":1}"#);
}
