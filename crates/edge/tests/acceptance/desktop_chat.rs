//! A message by the door of the desktop protocol, and the whole answer at once.

use kernel::update::Failure;
use serde_json::{Value, json};
use testkit::{
    TestTool, World,
    model::{call, fail, text},
};

use crate::common::{House, bad};

#[tokio::test]
async fn a_message_is_a_turn_of_the_session_that_is_kept_for_it() {
    let move_it = json!({ "x": 500, "y": 300 });
    let scripts = [
        vec![
            text("I will."),
            call("c1", "mouse_move", move_it.clone()),
            call("c2", "broken", json!({})),
        ],
        vec![text("It is there now.")],
        vec![call("c3", "mouse_move", json!({}))],
        vec![],
        vec![fail(Failure::BadKey, "the key is wrong")],
    ];
    let moves = TestTool::echo().named("mouse_move");
    let broken = TestTool::failing("it is broken").named("broken");
    let world = World::new(scripts).tool(&moves).tool(&broken);
    let house = House::over(world).await;
    let history = json!([{ "role": "user", "content": "before" }]);
    let asked = json!({ "message": "move it", "conversationHistory": history });
    let (status, answer) = house.post("/api/chat", asked).await;
    let session = answer["session"].as_str().unwrap().to_owned();
    let expected = json!({
        "response": "It is there now.",
        "toolCalls": [
            { "name": "mouse_move", "arguments": move_it }, { "name": "broken", "arguments": {} },
        ],
        "executedTools": [
            { "tool": "mouse_move", "arguments": move_it,
              "result": { "type": "success", "message": move_it.to_string() } },
            { "tool": "broken", "arguments": {}, "error": "it is broken" },
        ],
        "thinking": null,
        "session": session,
    });
    assert_eq!((status, answer), (200, expected));
    // Nothing was said this time, and it is the same session.
    let (status, answer) = house.post("/api/chat", json!({ "message": "again" })).await;
    assert_eq!(
        (
            status,
            &answer["response"],
            &answer["session"],
            answer["executedTools"].as_array().unwrap().len()
        ),
        (200, &json!("Command executed"), &json!(session), 1)
    );
    let failed = house.post("/api/chat", json!({ "message": "and again" })).await;
    let expected = json!({ "error": "The agent did not answer", "details": "the key is wrong" });
    assert_eq!(failed, (500, expected));
    let (_, sessions) = house.get("/api/sessions").await;
    let all = sessions["grouped"][&house.cwd()].as_array().unwrap();
    let names: Vec<&Value> = all.iter().map(|session| &session["name"]).collect();
    assert_eq!(names, ["Desktop"]);
}

#[tokio::test]
async fn what_is_no_message_is_refused_and_nobody_without_a_key_is_heard() {
    let house = House::new([]).await;
    assert_eq!(
        house.post("/api/chat", json!({ "message": " " })).await,
        bad("message must not be empty")
    );
    for wrong in
        [json!({}), json!({ "message": 5 }), json!({ "message": "a", "conversationHistory": "b" })]
    {
        assert_eq!(house.post("/api/chat", wrong).await.0, 400);
    }
    let keyless = house.ask_without_key("POST", "/api/chat").send().await;
    assert_eq!(keyless.status, 401);
    let (_, sessions) = house.get("/api/sessions").await;
    assert_eq!(sessions["grouped"], json!({}));
}
