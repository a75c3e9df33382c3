//! What waits for the person, asked and answered in the App Protocol; and where else apps are heard.

use kernel::toolbox::Risk;
use serde_json::{Value, json};
use testkit::{
    TestTool, World,
    model::{Script, call, text},
};

use super::app_protocol::{create, facts, joined};
use crate::common::{House, Socket};

/// A house whose agent wants to do something in each of its turns.
async fn house(turns: usize) -> (House, TestTool) {
    let tool = TestTool::echo().named("act").risky(Risk::Acts);
    let turn = |n: usize| -> [Script; 2] {
        [vec![call(&format!("c{n}"), "act", json!({ "n": n }))], vec![text("Done")]]
    };
    let world = World::new((0..turns).flat_map(turn)).tool(&tool);
    (House::over(world).await, tool)
}

async fn say(socket: &mut Socket, key: &str) {
    socket.send(json!({ "type": "USER_MESSAGE", "messageId": key, "content": "act" })).await;
}

async fn dialog(socket: &mut Socket) -> Value {
    let heard = socket.until(|frame| frame["type"] == "APPROVAL_REQUEST").await;
    heard.last().unwrap().clone()
}

fn feedback(dialog: &Value, confirmed: bool, remember: &str) -> Value {
    json!({ "type": "DIALOG_FEEDBACK", "dialogId": dialog["dialogId"], "confirmed": confirmed,
        "rememberChoice": remember })
}

async fn answered(socket: &mut Socket) {
    socket.until(|frame| frame["isComplete"] == true).await;
}

async fn complaint(socket: &mut Socket) -> Value {
    let heard = socket.until(|frame| frame["type"] == "ERROR").await;
    heard.last().unwrap()["error"].clone()
}

#[tokio::test]
async fn what_an_agent_wants_leave_for_is_asked_in_a_dialog_and_in_the_inbox() {
    let (house, tool) = house(3).await;
    let id = house.session().await;
    let mut socket = joined(&house, &id).await;
    say(&mut socket, "m1").await;
    let mut asked = dialog(&mut socket).await;
    let (_, inbox) = house.get("/api/approvals").await;
    assert_eq!(inbox["approvals"][0]["id"], asked["dialogId"], "there is one inbox");
    let seq = asked.as_object_mut().unwrap().remove("seq");
    assert!(seq.is_some_and(|seq| seq.is_u64()));
    let expected = json!({
        "type": "APPROVAL_REQUEST", "dialogId": asked["dialogId"], "agentId": "agent",
        "title": "Running act {\"n\":0}", "message": "its effects are not known here",
        "confirmText": "Allow", "cancelText": "Deny",
        "permissionOptions": { "showRememberChoice": true, "toolName": "act" },
    });
    assert_eq!(asked, expected);
    let mut late = joined(&house, &id).await;
    assert_eq!(dialog(&mut late).await, expected, "whoever comes later is asked as well");

    late.send(feedback(&asked, true, "once")).await;
    answered(&mut socket).await;
    assert_eq!(tool.calls(), [json!({ "n": 0 })]);
    socket.send(feedback(&asked, false, "once")).await;
    assert_eq!(complaint(&mut socket).await, "this question has been settled already");

    say(&mut socket, "m2").await;
    let asked = dialog(&mut socket).await;
    socket.send(feedback(&asked, true, "always")).await;
    answered(&mut socket).await;
    say(&mut socket, "m3").await;
    let heard = socket.until(|frame| frame["isComplete"] == true).await;
    assert!(heard.iter().all(|frame| frame["type"] != "APPROVAL_REQUEST"), "{heard:#?}");
    assert_eq!(tool.calls().len(), 3);
    let (_, inbox) = house.get("/api/approvals").await;
    assert_eq!(inbox, json!({ "approvals": [] }));
}

#[tokio::test]
async fn a_dialog_that_is_declined_is_a_no_and_one_that_is_answered_elsewhere_is_over() {
    let (house, tool) = house(2).await;
    let id = house.session().await;
    let mut socket = joined(&house, &id).await;
    say(&mut socket, "m1").await;
    let asked = dialog(&mut socket).await;
    socket.send(feedback(&asked, false, "deny_always")).await;
    answered(&mut socket).await;
    assert_eq!(tool.calls(), [json!(null); 0]);

    say(&mut socket, "m2").await;
    let asked = dialog(&mut socket).await;
    let path = format!("/api/approvals/{}", asked["dialogId"].as_str().unwrap());
    let (status, _) = house.post(&path, json!({ "decision": "once" })).await;
    assert_eq!(status, 200);
    answered(&mut socket).await;
    assert_eq!(tool.calls(), [json!({ "n": 1 })], "leave can be given at any door");
    socket.send(feedback(&asked, true, "once")).await;
    assert_eq!(complaint(&mut socket).await, "this question has been settled already");
    socket.send(feedback(&json!({ "dialogId": "dialog-1" }), true, "once")).await;
    assert_eq!(complaint(&mut socket).await, "no dialog is called dialog-1");
}

#[tokio::test]
async fn an_app_is_heard_on_every_monitor_of_its_session_and_told_of_those_that_are_not_there() {
    let house = House::new([]).await;
    house.world.model.otherwise(vec![text("ok")]);
    let id = house.session().await;
    let mut socket = joined(&house, &id).await;
    socket.send(create("2/dock", "iframe", json!("/api/apps/sheet/index.html"))).await;
    socket.next().await;
    let words = |monitor: &str| {
        json!({ "type": "WINDOW_MESSAGE", "messageId": monitor, "windowId": "dock",
            "content": format!("for {monitor}"), "origin": "app", "toMonitor": monitor })
    };
    for monitor in ["2", "monitor-2", "0", "monitor-0"] {
        socket.send(words(monitor)).await;
        answered(&mut socket).await;
    }
    socket.send(words("monitor-7")).await;
    let error = "toMonitor: no monitor is called \"monitor-7\" in this session; it has monitor-0, \
                 monitor-2";
    assert_eq!(complaint(&mut socket).await, error);
    assert_eq!(facts(&house, &id, "said").await.len(), 4);
}
