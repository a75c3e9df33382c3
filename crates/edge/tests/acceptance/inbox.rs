//! What waits for the person, and their answers: over HTTP, and as the socket tells of it.

use jiff::SignedDuration;
use kernel::{
    ports::Log as _,
    tasks::{Close, Progress, Step, Task, Visibility},
    toolbox::Risk,
    update::Fact,
};
use serde_json::{Value, json};
use testkit::{
    Author, TestTool, World,
    model::{Script, call, text},
};

use crate::common::{House, Socket, bad, error, no_session, persisted, shorts};

/// A house whose agent wants to do these things, one after the other, each in a turn of its own.
async fn house(wishes: &[Value]) -> (House, TestTool) {
    let tool = TestTool::echo().named("act").risky(Risk::Acts);
    let turn = |(index, args): (usize, &Value)| -> [Script; 2] {
        [vec![call(&format!("c{index}"), "act", args.clone())], vec![text("Done")]]
    };
    let world = World::new(wishes.iter().enumerate().flat_map(turn)).tool(&tool);
    (House::over(world).await, tool)
}

/// Says something and waits until the agent asks for leave; returns what it asks.
async fn asked(house: &House, socket: &mut Socket, id: &str) -> Value {
    house.say(id, "act").await;
    let heard = socket.until_event("permission.requested").await;
    heard.last().unwrap()["event"]["data"]["approval"].clone()
}

fn path(approval: &Value) -> String {
    format!("/api/approvals/{}", approval["id"].as_str().unwrap())
}

fn none() -> (u16, Value) {
    (200, json!({ "approvals": [] }))
}

#[tokio::test]
async fn a_tool_waits_for_leave_and_everybody_hears_of_it() {
    let args = json!({ "on": "a" });
    let (house, tool) = house(std::slice::from_ref(&args)).await;
    let id = house.session().await;
    house.patch(&format!("/api/sessions/{id}"), json!({ "name": "Mine" })).await;
    let (mut socket, mut bystander) = (house.listener(&id).await, house.socket().await);
    house.say(&id, "act").await;
    let mut heard = socket.until_event("permission.requested").await;
    let approval = heard.last().unwrap()["event"]["data"]["approval"].clone();
    let expected = json!({
        "id": approval["id"], "sessionId": id, "kind": "approval", "tool": "act",
        "toolCallId": "c0", "title": "Running act {\"on\":\"a\"}", "caller": "model",
        "why": "its effects are not known here", "risk": "acts",
        "detail": { "type": "arguments", "args": args }, "patterns": ["a"],
        "askedAt": "2026-02-01T10:00:00.000Z", "expiresAt": "2026-02-02T10:00:00.000Z",
    });
    assert_eq!(approval, expected);
    let mut listed = expected;
    listed["sessionName"] = json!("Mine");
    let listed = (200, json!({ "approvals": [listed] }));
    assert_eq!(house.get("/api/approvals").await, listed);
    assert_eq!(house.get(&format!("/api/approvals?session={id}")).await, listed);
    let other = house.session().await;
    assert_eq!(house.get(&format!("/api/approvals?session={other}")).await, none());
    assert_eq!(house.get("/api/approvals?session=x").await, no_session("x"));
    assert_eq!(tool.calls(), [] as [Value; 0], "it is only asked for");

    let resolved = house.post(&path(&approval), json!({ "decision": "once" })).await;
    assert_eq!(resolved, (200, json!({ "verdict": "allowed", "approvalId": approval["id"] })));
    heard.extend(socket.turn().await);
    let expected = [
        "busy true",
        "user.message",
        "assistant.turn_start",
        "assistant.intent",
        "tool.execution_start",
        "permission.requested",
        "open 1",
        "permission.completed",
        "open 0",
        "tool.execution_complete",
        "assistant.turn_start",
        "assistant.message_delta",
        "assistant.message.delta",
        "assistant.message",
        "session.idle",
        "list idle",
        "busy false",
    ];
    let own = heard.iter().filter(|frame| frame["event"]["data"]["sessionId"] != json!(other));
    let own: Vec<Value> = own.cloned().collect();
    assert_eq!(shorts(&own), expected);
    let data = json!({
        "approvalId": approval["id"], "verdict": "allowed", "scope": "once", "by": "the owner",
    });
    assert_eq!(own[7]["event"]["data"], data);
    let told = bystander.until(|frame| frame["event"]["data"]["open"] == 0).await;
    let data = json!({ "sessionId": id, "open": 0, "by": "the owner" });
    let news = json!({ "type": "approvals.changed", "data": data });
    assert_eq!(*told.last().unwrap(), json!({ "type": "globalEvent", "event": news }));
    assert_eq!(tool.calls(), [args]);
    assert_eq!(house.get("/api/approvals").await, none());
    let mut past = house.history(&id).await;
    past.pop();
    assert_eq!(persisted(&past)[..], persisted(&heard)[..], "history tells the same");
}

#[tokio::test]
async fn an_answer_counts_once() {
    let (mut house, tool) = house(&[json!({})]).await;
    let id = house.session().await;
    let mut socket = house.listener(&id).await;
    let approval = asked(&house, &mut socket, &id).await;
    let no = json!({ "decision": "deny", "reason": "not now" });
    let place = path(&approval);
    let (one, other) = tokio::join!(
        house.post(&place, no.clone()),
        house.post(&place, json!({ "decision": "once" })),
    );
    let mut statuses = [one.0, other.0];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409], "{one:?} {other:?}");
    let late = error("ALREADY_RESOLVED", "this was answered already, or given up");
    assert_eq!(house.post(&place, no.clone()).await, (409, late.clone()));
    socket.turn().await;
    assert_eq!(tool.calls().len(), usize::from(other.0 == 200));
    house.restart().await;
    assert_eq!(house.post(&place, no).await, (409, late), "nor after a restart");
}

#[tokio::test]
async fn what_is_no_answer_is_explained_and_the_question_stays_open() {
    let (house, tool) = house(&[json!({ "on": "a b" })]).await;
    let id = house.session().await;
    let mut socket = house.listener(&id).await;
    let approval = asked(&house, &mut socket, &id).await;
    let open = house.get("/api/approvals").await;
    let lasting = "pattern, view, session and always";
    for (body, problem) in [
        (json!({}), "Invalid JSON body: missing field `decision`".to_owned()),
        (
            json!({ "decision": "maybe" }),
            "Invalid JSON body: decision: unknown variant `maybe`, expected one of `once`, \
             `view`, `session`, `pattern`, `always`, `deny`, `answer`"
                .to_owned(),
        ),
        (json!({ "decision": "pattern" }), "pattern is required".to_owned()),
        (json!({ "decision": "pattern", "pattern": "" }), "pattern is required".to_owned()),
        (
            json!({ "decision": "pattern", "pattern": "b*" }),
            "the pattern `b*` does not cover what is asked: a b".to_owned(),
        ),
        (
            json!({ "decision": "pattern", "pattern": "x".repeat(4097) }),
            "pattern is longer than 4096 characters".to_owned(),
        ),
        (
            json!({ "decision": "once", "pattern": "a*" }),
            format!("pattern goes only with the decision {lasting}"),
        ),
        (
            json!({ "decision": "deny", "expiresInSeconds": 5 }),
            format!("expiresInSeconds goes only with the decision {lasting}"),
        ),
        (
            json!({ "decision": "session", "expiresInSeconds": 0 }),
            "expiresInSeconds must be from 1 to 31536000".to_owned(),
        ),
        (
            json!({ "decision": "always", "expiresInSeconds": u64::MAX }),
            "expiresInSeconds must be from 1 to 31536000".to_owned(),
        ),
        (
            json!({ "decision": "always", "scope": "session" }),
            "scope goes only with the decision pattern".to_owned(),
        ),
        (
            json!({ "decision": "once", "reason": "x" }),
            "reason goes only with the decision deny".to_owned(),
        ),
        (
            json!({ "decision": "once", "answer": "x" }),
            "answer goes only with the decision answer".to_owned(),
        ),
        (
            json!({ "decision": "answer", "answer": "x" }),
            "this question is answered by allowing or denying it".to_owned(),
        ),
    ] {
        assert_eq!(house.post(&path(&approval), body.clone()).await, bad(&problem), "{body}");
    }
    let unknown = "01900000-0000-7000-8000-000000000000";
    for name in ["x", unknown] {
        let place = format!("/api/approvals/{name}");
        let expected = (404, error("NOT_FOUND", &format!("Approval not found: {name}")));
        assert_eq!(house.post(&place, json!({ "decision": "once" })).await, expected);
    }
    assert_eq!(house.get("/api/approvals").await, open);
    assert_eq!(house.get("/api/grants").await, (200, json!({ "grants": [] })));
    assert_eq!(tool.calls(), [] as [Value; 0]);
}

#[tokio::test]
async fn a_lasting_yes_is_listed_holds_and_is_taken_back() {
    let wish = || json!({ "on": "a b" });
    let (house, tool) = house(&[wish(), wish(), wish(), wish()]).await;
    let id = house.session().await;
    let mut socket = house.listener(&id).await;
    let approval = asked(&house, &mut socket, &id).await;
    let yes = json!({ "decision": "pattern", "pattern": "a *", "expiresInSeconds": 3600 });
    assert_eq!(house.post(&path(&approval), yes).await.0, 200);
    socket.turn().await;
    let (_, grants) = house.get("/api/grants").await;
    let grant = grants["grants"][0]["id"].clone();
    let expected = json!({ "grants": [{
        "id": grant, "tool": "act", "caller": "model", "sessionId": id, "pattern": "a *",
        "expiresAt": "2026-02-01T11:00:00.000Z", "grantedAt": "2026-02-01T10:00:00.000Z",
    }] });
    assert_eq!(grants, expected);
    let heard = house.turn(&id, json!({ "prompt": "again" })).await;
    assert!(!shorts(&heard).contains(&"permission.requested".to_owned()), "it needs no answer");
    let path_of_grant = format!("/api/grants/{}", grant.as_str().unwrap());
    assert_eq!(house.delete(&path_of_grant).await, (200, json!({ "success": true })));
    for name in [grant.as_str().unwrap(), "x"] {
        let expected = (404, error("NOT_FOUND", &format!("Grant not found: {name}")));
        assert_eq!(house.delete(&format!("/api/grants/{name}")).await, expected);
    }

    let approval = asked(&house, &mut socket, &id).await;
    let always = json!({ "decision": "always", "expiresInSeconds": 60 });
    assert_eq!(house.post(&path(&approval), always).await.0, 200);
    let heard = socket.turn().await;
    let completed = heard.iter().find(|it| it["event"]["type"] == "permission.completed").unwrap();
    assert_eq!(completed["event"]["data"]["scope"], "always");
    let (_, grants) = house.get("/api/grants").await;
    assert_eq!(grants["grants"][0]["sessionId"], Value::Null);
    assert_eq!(tool.calls().len(), 3);
    house.world.clock.advance(SignedDuration::from_mins(2));
    assert_eq!(house.get("/api/grants").await, (200, json!({ "grants": [] })));
    asked(&house, &mut socket, &id).await;
}

#[tokio::test]
async fn what_waits_survives_a_restart_under_the_same_name() {
    let (mut house, tool) = house(&[json!({ "n": 1 })]).await;
    let id = house.session().await;
    let mut socket = house.listener(&id).await;
    let approval = asked(&house, &mut socket, &id).await;
    let before = house.get("/api/approvals").await;
    house.restart().await;
    assert_eq!(house.get("/api/approvals").await, before);
    let mut socket = house.listener(&id).await;
    assert_eq!(house.post(&path(&approval), json!({ "decision": "once" })).await.0, 200);
    socket.turn().await;
    assert_eq!(tool.calls(), [json!({ "n": 1 })]);
}

#[tokio::test]
async fn the_mode_of_a_session_is_chosen_told_and_shown() {
    let (house, tool) = house(&[json!({})]).await;
    let wrong = bad("mode must be ask, auto-safe or full, not `yolo`");
    assert_eq!(house.post("/api/sessions", json!({ "mode": "yolo" })).await, wrong);
    let (_, list) = house.get("/api/sessions").await;
    assert_eq!(list["grouped"], json!({}), "nothing was made");
    let (_, made) = house.post("/api/sessions", json!({ "mode": "auto-safe" })).await;
    let id = made["sessionId"].as_str().unwrap();
    let path = format!("/api/sessions/{id}");
    let shown = async || {
        let (_, state) = house.get(&format!("{path}/state")).await;
        let (_, list) = house.get("/api/sessions").await;
        assert_eq!(list["grouped"][house.cwd()][0]["mode"], state["mode"]);
        state["mode"].clone()
    };
    assert_eq!(shown().await, "auto-safe");
    assert_eq!(house.patch(&path, json!({ "mode": "yolo" })).await, wrong);
    let mut socket = house.listener(id).await;
    for _ in 0..2 {
        let changed = house.patch(&path, json!({ "mode": "full" })).await;
        assert_eq!(changed, (200, json!({ "success": true })));
    }
    let heard = socket.waiting().await;
    assert_eq!(
        shorts(&heard),
        ["session.mode_changed", "list mode"],
        "to choose what is chosen is no news"
    );
    assert_eq!(heard[0]["event"]["data"], json!({ "mode": "full" }));
    assert_eq!(shown().await, "full");
    let heard = house.turn(id, json!({ "prompt": "act" })).await;
    assert!(!shorts(&heard).contains(&"permission.requested".to_owned()));
    assert_eq!(tool.calls(), [json!({})]);
}

#[tokio::test]
async fn tasks_are_told_of_and_listed_while_they_are_open() {
    let world = World::new([]);
    let step = |text: &str, progress| Step { text: text.to_owned(), progress };
    let task = |author: &Author, steps: Vec<Step>| Task {
        id: author.session.0,
        title: "Tidy up".to_owned(),
        steps,
        reached: 0,
        visibility: Visibility::Auto,
    };
    let (mut one, mut other) = (Author::new(1001), Author::new(1002));
    let opened = || Fact::Opened {
        cwd: "/".to_owned(),
        model: "test".to_owned(),
        name: String::new(),
        parent: None,
    };
    let first = task(&one, vec![step("look", Progress::Active), step("sort", Progress::Pending)]);
    let second = task(&one, vec![step("look", Progress::Done), step("sort", Progress::Failed)]);
    let close = Fact::TaskClosed { task: second.id, close: Close::Failed, reason: None };
    let facts = [opened(), Fact::TaskOpened(first.clone()), Fact::TaskMoved(second), close];
    world.store.append(one.batch(facts)).await.unwrap();
    let left = Task { id: other.session.0, ..first };
    world.store.append(other.batch([opened(), Fact::TaskOpened(left)])).await.unwrap();
    let house = House::over(world).await;

    let (id, open) = (one.session.to_string(), other.session.to_string());
    let events = persisted(&house.history(&id).await);
    let events: Vec<Value> = events
        .iter()
        .map(|frame| json!([frame["seq"], frame["event"]["type"], frame["event"]["data"]]))
        .collect();
    let shown = |id: &str, one: &str, other: &str| {
        json!({ "id": id, "title": "Tidy up", "steps": [
            { "text": "look", "status": one }, { "text": "sort", "status": other },
        ] })
    };
    let expected = [
        json!([2, "task.created", { "task": shown(&id, "active", "pending") }]),
        json!([3, "task.updated", { "task": shown(&id, "done", "failed") }]),
        json!([4, "task.completed", { "taskId": id, "status": "failed" }]),
    ];
    assert_eq!(events, expected);
    let mut listed = shown(&open, "active", "pending");
    listed["sessionId"] = json!(open);
    let listed = (200, json!({ "tasks": [listed] }));
    assert_eq!(house.get("/api/tasks").await, listed);
    assert_eq!(house.get(&format!("/api/tasks?session={open}")).await, listed);
    assert_eq!(house.get(&format!("/api/tasks?session={id}")).await, (200, json!({ "tasks": [] })));
    assert_eq!(house.get("/api/tasks?session=x").await, no_session("x"));
}
