//! Transcripts: updates in, frames out.

use std::sync::Arc;

use jiff::Timestamp;
use kernel::{
    toolbox::Caller,
    update::{Entry, Failure, Message, Seq, ToolRequest},
    windows::{Bounds, Content as Shown, Operation as How, Renderer},
};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{super::frames::write, *};

fn fact(fact: Fact) -> Update {
    Update::Fact(Arc::new(Entry { seq: Seq(1), at: Timestamp::UNIX_EPOCH, fact }))
}

fn signal(signal: Signal) -> Update {
    Update::Signal { after: Seq(1), at: Timestamp::UNIX_EPOCH, signal }
}

fn text(delta: &str) -> Update {
    signal(Signal::Text { step: Seq(1), delta: delta.to_owned(), size: 0 })
}

fn answer(text: &str, calls: Vec<ToolRequest>) -> Update {
    fact(Fact::Answered(Answer { text: text.to_owned(), calls, ..Answer::to(Seq(1)) }))
}

fn told(teller: &mut Teller, updates: &[Update]) -> Vec<Value> {
    let mut frames = Vec::new();
    teller.tell(updates, |frame| frames.push(serde_json::from_str(&write(frame, None)).unwrap()));
    frames
}

fn everything(updates: &[Update]) -> Vec<Value> {
    told(&mut Teller::new(Interest::Everything, None), updates)
}

fn window(id: &str, monitor: &str) -> Window {
    Window {
        id: id.to_owned(),
        monitor: monitor.to_owned(),
        title: "Notes".to_owned(),
        content: Shown { renderer: Renderer::Markdown, data: json!("# Hi") },
        bounds: Bounds { x: 1, y: 2, w: 300, h: 200 },
        variant: None,
        dock_edge: None,
        frameless: false,
        stance: Stance::Normal,
        app: None,
        by: By::Agent,
    }
}

fn change(change: WindowChange) -> Update {
    fact(Fact::WindowChanged { window: "monitor-0/notes".to_owned(), change, by: By::Person })
}

#[test]
fn what_happens_to_a_window_is_an_action() {
    let content = Shown { renderer: Renderer::Text, data: json!("x") };
    let told = everything(&[
        fact(Fact::WindowOpened(Box::new(window("notes", "monitor-0")))),
        change(WindowChange::Moved { x: -3, y: 4 }),
        change(WindowChange::Resized { w: 5, h: 6 }),
        change(WindowChange::Focused),
        change(WindowChange::Titled { title: "More".to_owned() }),
        change(WindowChange::Content { content }),
        change(WindowChange::Updated {
            operation: How::InsertAt { position: 2, data: json!("y") },
        }),
        change(WindowChange::Updated { operation: How::Clear }),
        change(WindowChange::Minimised),
        change(WindowChange::Maximised),
        change(WindowChange::Restored),
        fact(Fact::WindowClosed {
            window: "monitor-0/notes".to_owned(),
            by: By::Person,
            left: None,
        }),
    ]);
    let actions: Vec<Value> = told.iter().map(|frame| frame["actions"][0].clone()).collect();
    assert_eq!(
        told[0],
        json!({ "type": "ACTIONS", "agentId": "agent", "monitorId": "monitor-0", "actions": [{
            "type": "window.create", "windowId": "notes", "title": "Notes",
            "bounds": { "x": 1, "y": 2, "w": 300, "h": 200 },
            "content": { "renderer": "markdown", "data": "# Hi" }, "monitorId": "monitor-0",
        }] })
    );
    assert_eq!(
        actions[1..],
        [
            json!({ "type": "window.move", "windowId": "notes", "x": -3, "y": 4 }),
            json!({ "type": "window.resize", "windowId": "notes", "w": 5, "h": 6 }),
            json!({ "type": "window.focus", "windowId": "notes" }),
            json!({ "type": "window.setTitle", "windowId": "notes", "title": "More" }),
            json!({ "type": "window.setContent", "windowId": "notes",
                "content": { "renderer": "text", "data": "x" } }),
            json!({ "type": "window.updateContent", "windowId": "notes",
                "operation": { "op": "insertAt", "position": 2, "data": "y" } }),
            json!({ "type": "window.updateContent", "windowId": "notes",
                "operation": { "op": "clear" } }),
            json!({ "type": "window.minimize", "windowId": "notes" }),
            json!({ "type": "window.maximize", "windowId": "notes" }),
            json!({ "type": "window.restore", "windowId": "notes" }),
            json!({ "type": "window.close", "windowId": "notes" }),
        ]
    );
}

#[test]
fn who_looks_at_one_monitor_hears_of_no_other() {
    let updates = [
        fact(Fact::WindowOpened(Box::new(window("a", "monitor-0")))),
        fact(Fact::WindowOpened(Box::new(window("b", "monitor-1")))),
    ];
    for (monitor, expected) in
        [(None, vec!["a", "b"]), (Some("monitor-1"), vec!["b"]), (Some("0"), vec!["a"])]
    {
        let mut teller = Teller::new(Interest::Windows, monitor.map(str::to_owned));
        let heard = told(&mut teller, &updates);
        let names: Vec<&str> =
            heard.iter().map(|it| it["actions"][0]["windowId"].as_str().unwrap()).collect();
        assert_eq!(names, expected, "{monitor:?}");
    }
}

#[test]
fn a_snapshot_tells_of_all_windows_at_once() {
    let windows = [window("a", "monitor-0"), window("b", "monitor-1")];
    let frame: Value = serde_json::from_str(&write(&snapshot(windows.iter()), None)).unwrap();
    let keys: Vec<&str> = frame.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["type", "actions"]);
    let names: Vec<(&Value, &Value)> = frame["actions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (&it["windowId"], &it["monitorId"]))
        .collect();
    assert_eq!(names, [(&json!("a"), &json!("monitor-0")), (&json!("b"), &json!("monitor-1"))]);
}

#[test]
fn a_sentence_is_told_as_it_stands_and_once_for_all_that_came_together() {
    let mut teller = Teller::new(Interest::Everything, None);
    let mut heard = told(&mut teller, &[text("Hel"), text("lo")]);
    heard.extend(told(&mut teller, &[text(", guest")]));
    heard.extend(told(
        &mut teller,
        &[answer("Hello, guest.", vec![]), fact(Fact::TurnEnded(Outcome::Finished))],
    ));
    let said = |content: &str, done: bool| {
        json!({ "type": "AGENT_RESPONSE", "content": content, "isComplete": done,
            "agentId": "agent" })
    };
    assert_eq!(
        heard,
        [
            said("Hello", false),
            said("Hello, guest", false),
            said("Hello, guest.", false),
            said("Hello, guest.", true),
        ]
    );
}

#[test]
fn tools_are_told_of_by_name_from_beginning_to_end() {
    let call = |id: &str| ToolRequest {
        id: id.to_owned(),
        name: format!("tool_{id}"),
        args: json!({ "n": id }),
        title: String::new(),
    };
    let heard = everything(&[
        answer("", vec![call("a"), call("b")]),
        fact(Fact::ToolReturned { call: "b".to_owned(), output: Output::done("ok") }),
        fact(Fact::ToolReturned { call: "a".to_owned(), output: Output::failed("no") }),
    ]);
    let progress = |name: &str, status: &str, more: Value| {
        let mut frame = json!({ "type": "TOOL_PROGRESS", "toolName": name, "status": status,
            "agentId": "agent" });
        frame.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        frame
    };
    assert_eq!(
        heard,
        [
            progress("tool_a", "running", json!({ "toolInput": { "n": "a" } })),
            progress("tool_b", "running", json!({ "toolInput": { "n": "b" } })),
            progress("tool_b", "complete", json!({})),
            progress("tool_a", "error", json!({ "message": "no" })),
        ]
    );
}

#[test]
fn a_turn_that_fails_says_why_and_is_complete() {
    let failed = Outcome::Failed { kind: Failure::Network, reason: "unreachable".to_owned() };
    assert_eq!(
        everything(&[fact(Fact::TurnEnded(failed))]),
        [
            json!({ "type": "ERROR", "error": "unreachable" }),
            json!({ "type": "AGENT_RESPONSE", "content": "", "isComplete": true,
                "agentId": "agent" }),
        ]
    );
}

#[test]
fn a_question_is_a_dialog() {
    let id = Uuid::from_u128(7);
    let question = Question {
        id,
        call: None,
        caller: Caller::Model,
        tool: "shell".to_owned(),
        title: "Running ls".to_owned(),
        about: About::Choice {
            text: "Which?".to_owned(),
            choices: vec!["a".to_owned(), "b".to_owned()],
            free: false,
        },
        expires: None,
    };
    assert_eq!(
        everything(&[fact(Fact::Asked(Box::new(question)))]),
        [json!({ "type": "APPROVAL_REQUEST", "dialogId": id.to_string(), "title": "Running ls",
            "message": "Which? (a, b)", "confirmText": "Done", "cancelText": "Decline",
            "permissionOptions": { "showRememberChoice": false, "toolName": "shell" },
            "agentId": "agent" })]
    );
}

#[test]
fn whoever_wants_windows_alone_hears_nothing_of_the_conversation() {
    let message = Message::from_user("hi");
    let updates = [
        fact(Fact::Said { message, queued: None }),
        text("Hello"),
        answer("Hello", vec![]),
        fact(Fact::TurnEnded(Outcome::Finished)),
    ];
    assert_eq!(told(&mut Teller::new(Interest::Windows, None), &updates), Vec::<Value>::new());
}
