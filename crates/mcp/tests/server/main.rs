//! What the house says to a client, message by message.
#![expect(clippy::unwrap_used, reason = "all of it is a test")]

mod apps;
mod desktops;
mod talk;
mod widgets;

use kernel::{
    question::{Decision, Scope},
    roster::{Change, News},
    toolbox::Risk,
    update::Message,
};
use serde_json::json;
use testkit::{Gate, TestTool, World, model};

use talk::Talk;

/// A house with a tool that needs leave.
fn guarded() -> (World, TestTool) {
    let tool = TestTool::echo().named("act").risky(Risk::Edits);
    (World::new([]).tool(&tool), tool)
}

#[tokio::test]
async fn a_risky_call_waits_for_the_person_and_says_so() {
    let (world, tool) = guarded();
    let mut talk = Talk::new(&world).await;
    talk.call(1, "act", json!({ "on": "x" })).await;
    let waiting = "Waiting for the person to allow this: Running act {\"on\":\"x\"}";
    let progress = json!({ "progressToken": 1, "progress": 1.0, "message": waiting });
    assert_eq!(talk.told("progress").await, progress);
    let remark = json!({ "level": "notice", "logger": "megaron", "data": waiting });
    assert_eq!(talk.told("message").await, remark);
    let [open] = talk.host.questions().await.unwrap().try_into().unwrap();
    assert_eq!(tool.calls(), [json!(null); 0]);
    let allow = Decision::Allow { scope: Scope::Once, pattern: None, lasts: None };
    talk.host.decide(open.question.id, allow, "the test").await.unwrap();
    let content = json!([{ "type": "text", "text": "{\"on\":\"x\"}" }]);
    assert_eq!(talk.answer(1).await, json!({ "content": content, "isError": false }));
    assert_eq!(tool.calls(), [json!({ "on": "x" })]);
}

#[tokio::test]
async fn a_refused_call_is_not_made() {
    let (world, tool) = guarded();
    let mut talk = Talk::new(&world).await;
    talk.call(1, "act", json!({})).await;
    talk.told("progress").await;
    let [open] = talk.host.questions().await.unwrap().try_into().unwrap();
    let deny = Decision::Deny { reason: Some("not today".into()) };
    talk.host.decide(open.question.id, deny, "the test").await.unwrap();
    let text = "The person refused this: not today";
    let content = json!([{ "type": "text", "text": text }]);
    assert_eq!(talk.answer(1).await, json!({ "content": content, "isError": true }));
    assert_eq!(tool.calls(), [json!(null); 0]);
}

#[tokio::test]
async fn a_cancelled_call_takes_its_question_back() {
    let (world, tool) = guarded();
    let mut talk = Talk::new(&world).await;
    talk.call(1, "act", json!({})).await;
    talk.told("progress").await;
    let mut news = talk.host.roster.listen();
    talk.cancel(1).await;
    let settled =
        |it: &News| matches!(it, News::Session { change: Change::Questions { open: 0, .. }, .. });
    while !settled(&news.recv().await.unwrap()) {}
    assert_eq!(talk.host.questions().await.unwrap(), []);
    assert_eq!(tool.calls(), [json!(null); 0]);
}

#[tokio::test]
async fn remarks_are_kept_from_whoever_wants_only_worse() {
    let (world, _) = guarded();
    let mut talk = Talk::new(&world).await;
    talk.request(1, "logging/setLevel", json!({ "level": "error" })).await;
    assert_eq!(talk.answer(1).await, json!({}));
    talk.call(2, "act", json!({})).await;
    talk.told("progress").await;
    talk.request(3, "logging/setLevel", json!({ "level": "info" })).await;
    talk.answer(3).await;
    talk.call(4, "act", json!({ "on": "y" })).await;
    let waiting = "Waiting for the person to allow this: Running act {\"on\":\"y\"}";
    let remark = json!({ "level": "notice", "logger": "megaron", "data": waiting });
    assert_eq!(talk.told("message").await, remark, "and nothing before it");
}

#[tokio::test]
async fn what_a_session_asks_the_person_is_shown_and_not_answered_here() {
    let tool = TestTool::echo().named("act").risky(Risk::Edits);
    let script = vec![model::call("1", "act", json!({}))];
    let world = World::new([script]).tool(&tool);
    let mut talk = Talk::new(&world).await;
    talk.call(1, "ask_session", json!({ "prompt": "do it" })).await;
    let progress = |at: f64, text| json!({ "progressToken": 1, "progress": at, "message": text });
    assert_eq!(talk.told("progress").await, progress(1.0, "Running act {}"));
    assert_eq!(
        talk.told("progress").await,
        progress(2.0, "Waiting for the person: Running act {}")
    );
    let [(id, _)] = talk.host.roster.all().try_into().unwrap();
    talk.call(2, "get_session", json!({ "sessionId": id.to_string() })).await;
    let [open] = talk.host.questions().await.unwrap().try_into().unwrap();
    let question = json!({
        "id": open.question.id.to_string(),
        "tool": "act",
        "title": "Running act {}",
        "why": "it changes files",
        "since": open.since.to_string(),
        "expires": open.question.expires.unwrap().to_string(),
    });
    let seen = talk.answer(2).await;
    let seen = &seen["structuredContent"];
    assert_eq!((&seen["questions"], &seen["busy"]), (&json!([question]), &json!(true)));
    talk.request(3, "tools/list", json!({})).await;
    let listed = talk.answer(3).await.to_string();
    assert!(!listed.contains("answer_question"), "{listed}");
}

#[tokio::test]
async fn a_message_to_a_busy_session_waits_its_turn() {
    let gate = Gate::default();
    let first = vec![model::wait(&gate), model::text("one")];
    let world = World::new([first, vec![model::text("two")]]);
    let mut talk = Talk::new(&world).await;
    let cwd = talk.host.ports.workspace.clone();
    let id = talk.host.create(&cwd, "test", "").await.unwrap();
    let message = Message::from_user("first");
    talk.host.post(id, message, kernel::update::WhenBusy::Refuse).await.unwrap();
    talk.call(1, "ask_session", json!({ "sessionId": id.to_string(), "prompt": "second" })).await;
    let text = "The session is busy; this waits at place 1";
    let progress = json!({ "progressToken": 1, "progress": 1.0, "message": text });
    assert_eq!(talk.told("progress").await, progress);
    gate.open();
    let data = json!({ "sessionId": id.to_string(), "answer": "two", "outcome": "finished" });
    let content = json!([{ "type": "text", "text": "two" }]);
    let expected = json!({ "content": content, "structuredContent": data, "isError": false });
    assert_eq!(talk.answer(1).await, expected);
}

#[tokio::test]
async fn a_client_hears_of_new_tools_and_new_sessions() {
    let world = World::new([]);
    let mut talk = Talk::new(&world).await;
    // Answered only when the connection stands, so that nothing new is missed.
    talk.request(1, "ping", json!({})).await;
    talk.answer(1).await;
    talk.host.ports.tools.add(TestTool::echo().named("new"));
    talk.told("tools/list_changed").await;
    let cwd = talk.host.ports.workspace.clone();
    talk.host.create(&cwd, "test", "").await.unwrap();
    talk.told("resources/list_changed").await;
}

#[tokio::test]
async fn only_what_is_watched_is_told_of() {
    let world = World::new([vec![model::text("one")], vec![model::text("two")]]);
    let mut talk = Talk::new(&world).await;
    let cwd = talk.host.ports.workspace.clone();
    let watched = talk.host.create(&cwd, "test", "").await.unwrap();
    let uri = format!("megaron://sessions/{watched}");
    talk.request(1, "resources/subscribe", json!({ "uri": uri })).await;
    assert_eq!(talk.answer(1).await, json!({}));
    talk.call(2, "ask_session", json!({ "sessionId": watched.to_string(), "prompt": "a" })).await;
    assert_eq!(talk.told("resources/updated").await, json!({ "uri": uri }));
    talk.answer(2).await;
    talk.request(3, "resources/subscribe", json!({ "uri": "file:///etc/hostname" })).await;
    let refused = json!({ "code": -32602, "message": "only sessions and states of apps on show can be watched" });
    assert_eq!(talk.answer(3).await, refused);
}

#[tokio::test]
async fn wrong_arguments_are_explained() {
    let mut talk = Talk::new(&World::new([])).await;
    for (id, (name, args, text)) in [
        ("ask_session", json!({}), "bad arguments for ask_session: missing field `prompt`"),
        (
            "ask_session",
            json!({ "prompt": "x", "cwd": "/no/such" }),
            "there is no folder `/no/such`",
        ),
        ("ask_session", json!({ "prompt": "x", "model": "none" }), "no model is called `none`"),
        ("list_sessions", json!({ "limit": 0 }), "`limit` must be from 1 to 200, and is 0"),
        (
            "wait_for_session",
            json!({ "sessionId": "x", "seconds": 9999 }),
            "`seconds` must be at most 3600, and is 9999",
        ),
        (
            "create_session",
            json!({ "mode": "auto-safe" }),
            "a session that a client makes may do no more than `ask` without asking; `auto-safe` \
             is for the person to choose",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let id = u32::try_from(id).unwrap() + 1;
        talk.call(id, name, args).await;
        let content = json!([{ "type": "text", "text": text }]);
        assert_eq!(talk.answer(id).await, json!({ "content": content, "isError": true }), "{name}");
    }
}
