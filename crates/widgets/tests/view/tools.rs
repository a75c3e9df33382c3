//! Tools that a view defines: pushed or pulled, checked, called, gone with it.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use widgets::{CallError, Handler, WidgetTool};

use super::world::{View, object};

/// Answers each request of the host by what `answer` makes of its method and parameters.
async fn respond(view: &View, answer: impl Fn(&str, &Value) -> Value) {
    loop {
        for message in view.world.said() {
            let (Some(id), Some(method)) = (message.get("id"), message["method"].as_str()) else {
                continue;
            };
            let mut reply = answer(method, &message["params"]);
            reply["jsonrpc"] = json!("2.0");
            reply["id"] = id.clone();
            view.handler.handle(reply).await;
        }
        moment().await;
    }
}

fn names(tools: &[WidgetTool]) -> Vec<&str> {
    tools.iter().map(|tool| tool.name.as_str()).collect()
}

async fn until(what: impl Fn() -> bool) {
    while !what() {
        moment().await;
    }
}

/// Time is paused: it goes on as soon as nobody has anything else to do.
async fn moment() {
    tokio::time::sleep(Duration::from_millis(1)).await;
}

fn state_tool() -> Value {
    json!({
        "name": "get_state",
        "description": "read state",
        "inputSchema": { "type": "object", "properties": { "k": { "type": "string" } } },
        "outputSchema": { "type": "object", "properties": { "n": { "type": "number" } }, "required": ["n"] },
        "annotations": { "readOnlyHint": true },
    })
}

#[tokio::test(start_paused = true)]
async fn tools_are_asked_for_page_by_page_and_again_when_they_change() {
    let view = View::new();
    view.greet(json!({ "tools": { "listChanged": true } })).await;
    let broken = json!({ "name": "bad", "inputSchema": { "type": 3 } });
    let listing = |method: &str, params: &Value| {
        assert_eq!(method, "tools/list");
        match params["cursor"].as_str() {
            None => json!({ "result": { "tools": [state_tool(), broken], "nextCursor": "2" } }),
            Some(_) => json!({ "result": { "tools": [{ "name": "plain" }] } }),
        }
    };
    let story = async {
        until(|| view.handler.tools().len() == 2).await;
        assert_eq!(names(&view.world.tools.lock().unwrap()), ["get_state", "plain"]);
        let read = &view.handler.tools()[0];
        assert_eq!(read.annotations, Some(json!({ "readOnlyHint": true })));
        assert!(read.callable);
        view.world.tools.lock().unwrap().clear();
        view.tell("notifications/tools/list_changed", json!({})).await;
        until(|| view.world.tools.lock().unwrap().len() == 2).await;
    };
    tokio::select! {
        () = story => (),
        () = view.handler.attend() => (),
        () = respond(&view, listing) => (),
    }
}

async fn with_tools(tools: Value) -> View {
    let view = View::new();
    view.greet(json!({ "tools": {} })).await;
    tokio::select! {
        () = until(|| !view.handler.tools().is_empty()) => (),
        () = view.handler.attend() => (),
        () = respond(&view, |_, _| json!({ "result": { "tools": tools } })) => (),
    }
    view
}

#[tokio::test(start_paused = true)]
async fn arguments_and_results_are_held_against_the_schemas() {
    let view = with_tools(json!([state_tool()])).await;
    let call = async |args: Value, answer: Value| {
        let handler: Arc<Handler> = view.handler.clone();
        tokio::select! {
            called = handler.call("get_state", object(args)) => called,
            () = respond(&view, |method, params| {
                assert_eq!((method, &params["name"]), ("tools/call", &json!("get_state")));
                answer.clone()
            }) => Err(CallError::Closed),
        }
    };
    let good =
        json!({ "content": [{ "type": "text", "text": "n=1" }], "structuredContent": { "n": 1 } });
    assert_eq!(call(json!({}), json!({ "result": good })).await, Ok(good));
    let wrong = CallError::Arguments("get_state".into(), "/k: 3 is not of type \"string\"".into());
    assert_eq!(call(json!({ "k": 3 }), json!({ "result": {} })).await, Err(wrong));
    let wrong = CallError::Result("get_state".into(), "null is not of type \"object\"".into());
    assert_eq!(call(json!({}), json!({ "result": { "content": [] } })).await, Err(wrong));
    let failed = json!({ "content": [], "isError": true });
    assert_eq!(call(json!({}), json!({ "result": failed })).await, Ok(failed));
    let error = json!({ "error": { "code": -32603, "message": "Tool nope not found" } });
    let expected = CallError::Failed("Tool nope not found".into());
    assert_eq!(call(json!({}), error).await, Err(expected));
    let unknown = view.handler.call("nope", object(json!({}))).await;
    assert_eq!(unknown, Err(CallError::Unknown("nope".into())));
}

#[tokio::test(start_paused = true)]
async fn a_call_ends_with_its_view_or_when_nobody_answers() {
    let view = with_tools(json!([state_tool()])).await;
    let before = tokio::time::Instant::now();
    let silent = view.handler.call("get_state", object(json!({}))).await;
    assert_eq!(silent, Err(CallError::Silent(30)));
    assert_eq!(before.elapsed(), Duration::from_secs(30));
    let close = async { view.handler.close() };
    let (open, ()) = futures::join!(view.handler.call("get_state", object(json!({}))), close);
    assert_eq!(open, Err(CallError::Closed));
    assert_eq!(CallError::Closed.to_string(), "view closed");
    assert_eq!((view.handler.tools(), view.world.tools.lock().unwrap().clone()), (vec![], vec![]));
    assert_eq!(view.handler.call("get_state", object(json!({}))).await, Err(CallError::Closed));
}

#[tokio::test]
async fn a_view_of_the_seed_pushes_its_tools_and_takes_them_back() {
    let view = View::seed().await;
    let tool = |description: &str| json!({ "name": "n", "description": description, "inputSchema": { "type": "object" } });
    for description in ["d", "other"] {
        assert_eq!(view.ask("ui/registerTool", tool(description)).await, json!({}));
    }
    let known = WidgetTool {
        name: "n".into(),
        description: "other".into(),
        input_schema: json!({ "type": "object" }),
        output_schema: None,
        annotations: None,
        // Its own bridge answers nothing that it is asked.
        callable: false,
    };
    assert_eq!(*view.world.tools.lock().unwrap(), [known]);
    let called = view.handler.call("n", object(json!({}))).await;
    assert_eq!(called, Err(CallError::NotCallable("n".into())));
    assert_eq!(view.ask("ui/unregisterTool", json!({ "name": "n" })).await, json!({}));
    assert_eq!(view.handler.tools(), []);
    let marked = View::new();
    let bridge = json!({ "experimental": { "megaron/bridge": { "version": 1 } } });
    let greeting = json!({ "protocolVersion": "2024-11-05", "appCapabilities": bridge });
    marked.ask("ui/initialize", greeting).await;
    marked.ask("ui/registerTool", tool("d")).await;
    assert!(marked.handler.tools()[0].callable);
}
