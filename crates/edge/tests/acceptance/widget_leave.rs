//! Leave for one view: how far it reaches, and when it ends.

use serde_json::{Value, json};
use testkit::model::{call, text};

use crate::{
    common::{House, Socket, bad},
    widgets::{Shown, home, lend},
};

/// The next thing that the person is asked.
async fn asked(listener: &mut Socket) -> Value {
    let heard = listener.until_event("permission.requested").await;
    heard.last().unwrap()["event"]["data"]["approval"].clone()
}

async fn decide(house: &House, approval: &Value, decision: &str) -> (u16, Value) {
    let path = format!("/api/approvals/{}", approval["id"].as_str().unwrap());
    house.post(&path, json!({ "decision": decision })).await
}

/// Whether the person is asked about such a request; they say no, and the view hears it.
async fn is_asked(
    house: &House,
    listener: &mut Socket,
    shown: &mut Shown,
    (method, params): (&str, Value),
) -> bool {
    shown.request(77, method, params).await;
    let approval = asked(listener).await;
    assert_eq!(decide(house, &approval, "deny").await.0, 200);
    shown.hear().await["result"]["isError"] == true
}

fn act() -> (&'static str, Value) {
    ("tools/call", json!({ "name": "act", "arguments": {} }))
}

#[tokio::test]
async fn what_one_view_may_do_no_other_may_and_it_ends_with_the_view() {
    let (mut house, session) = home().await;
    let mut listener = house.listener(&session).await;
    let mut first = Shown::ready(&house, &session).await;
    let mut second = Shown::ready(&house, &session).await;
    let (method, params) = act();
    first.request(1, method, params.clone()).await;
    let approval = asked(&mut listener).await;
    assert_eq!((&approval["caller"], &approval["forView"]), (&json!("widget:clock"), &json!(true)));
    assert_eq!(decide(&house, &approval, "view").await.0, 200);
    assert_eq!(first.hear().await["result"]["content"][0]["text"], "noon");
    let settled = listener.until_event("permission.completed").await;
    assert_eq!(settled.last().unwrap()["event"]["data"]["scope"], "view");
    // It may do so again, and nothing else.
    let again = first.ask(2, method, params.clone()).await;
    assert_eq!(again["result"]["content"][0]["text"], "noon");
    let link = ("ui/open-link", json!({ "url": "https://a.example/" }));
    assert!(is_asked(&house, &mut listener, &mut first, link).await, "something else");
    assert!(is_asked(&house, &mut listener, &mut second, act()).await, "another view");
    let (_, grants) = house.get("/api/grants").await;
    let grant = &grants["grants"][0];
    let told = (&grant["tool"], &grant["caller"], &grant["sessionId"], &grant["forView"]);
    assert_eq!(told, (&json!("act"), &json!("widget:clock"), &json!(session), &json!(true)));
    // It goes with the view, and no other takes its place.
    let path = format!("/api/frames/{}", first.frame.as_str().unwrap());
    let parting = async {
        let asked = first.hear().await;
        first.say(json!({ "jsonrpc": "2.0", "id": asked["id"], "result": {} })).await;
    };
    let (ended, ()) = tokio::join!(house.delete(&path), parting);
    assert_eq!(ended.0, 200);
    assert_eq!(house.get("/api/grants").await, (200, json!({ "grants": [] })));
    let mut third = Shown::ready(&house, &session).await;
    assert!(is_asked(&house, &mut listener, &mut third, act()).await, "the same shown anew");
    // Nor does it outlive the house.
    third.request(3, method, params).await;
    let approval = asked(&mut listener).await;
    assert_eq!(decide(&house, &approval, "view").await.0, 200);
    third.hear().await;
    house.restart().await;
    lend(&house);
    assert_eq!(house.get("/api/grants").await, (200, json!({ "grants": [] })));
}

#[tokio::test]
async fn links_downloads_and_messages_are_allowed_to_a_view_each_by_itself() {
    let (house, session) = home().await;
    house.world.model.otherwise(vec![text("I see.")]);
    let mut listener = house.listener(&session).await;
    let mut shown = Shown::ready(&house, &session).await;
    let file = json!({ "type": "resource", "resource": { "uri": "file:///a.csv", "text": "1,2" } });
    let said = json!({ "role": "user", "content": [{ "type": "text", "text": "hello" }] });
    let mut id = 0;
    for (method, params, wish) in [
        ("ui/open-link", json!({ "url": "https://a.example/x" }), Some("open-link")),
        ("ui/download-file", json!({ "contents": [file] }), Some("download")),
        ("ui/message", said, None),
    ] {
        for asks in [true, false] {
            id += 1;
            shown.request(id, method, params.clone()).await;
            if asks {
                let approval = asked(&mut listener).await;
                assert_eq!(decide(&house, &approval, "view").await.0, 200, "{method}");
            }
            if let Some(kind) = wish {
                let wish = shown.wish().await;
                assert_eq!(wish["kind"], kind);
                shown.note(json!({ "done": wish["id"], "ok": true })).await;
            }
            let answer = shown.hear().await;
            assert_eq!((&answer["id"], &answer["result"]), (&json!(id), &json!({})), "{method}");
        }
    }
}

#[tokio::test]
async fn what_no_view_asks_for_is_not_allowed_to_one() {
    let (house, session) = home().await;
    let mut listener = house.listener(&session).await;
    house.world.model.push(vec![call("d1", "act", json!({}))]);
    house.world.model.push(vec![text("Well.")]);
    house.say(&session, "act").await;
    let approval = asked(&mut listener).await;
    assert_eq!(approval.get("forView"), None);
    let wrong = "only what a widget asks for can be allowed for its view";
    assert_eq!(decide(&house, &approval, "view").await, bad(wrong));
    assert_eq!(decide(&house, &approval, "deny").await.0, 200);
    listener.turn().await;
}
