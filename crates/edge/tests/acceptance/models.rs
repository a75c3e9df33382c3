//! Models over HTTP: listed, changed in mid-session, and what they have used.

use kernel::{
    ports::{Known, Piece, Price},
    update::Usage,
};
use serde_json::{Value, json};
use testkit::model::{Line, text, usage};

use crate::common::{House, bad, error, no_session, shorts};

const NOBODY: &str = "019c18a5-1d00-7000-8000-00000000ffff";

#[tokio::test]
async fn models_are_listed_with_who_pays_or_said_to_be_out_of_reach() {
    let house = House::new([]).await;
    let test = json!({ "id": "test", "name": "test", "multiplier": 1.0, "payer": "nobody" });
    let models = json!({ "models": [test] });
    assert_eq!(house.get("/api/models").await, (200, models.clone()));
    house.world.models.fail_listing(true);
    let mut down = error("INTERNAL_ERROR", "the provider does not answer");
    down["models"] = json!([]);
    assert_eq!(house.get("/api/models").await, (500, down));
    house.world.models.fail_listing(false);
    assert_eq!(house.get("/api/models").await, (200, models));
}

#[tokio::test]
async fn a_model_is_listed_with_what_is_known_of_it() {
    let house = House::new([]).await;
    let price = Price { input: 2.5, output: 10.0, cache_read: Some(1.25), cache_write: None };
    let known = Known { window: Some(128_000), vision: Some(true), price: Some(price) };
    house.world.models.set_known(known);
    let with = |mut item: Value| {
        let known = json!({
            "payer": "nobody", "contextWindow": 128_000, "vision": true,
            "price": { "input": 2.5, "output": 10.0, "cacheRead": 1.25 },
        });
        item.as_object_mut().unwrap().extend(known.as_object().unwrap().clone());
        json!([item])
    };
    let (_, listed) = house.get("/api/models").await;
    let item = json!({ "id": "test", "name": "test", "multiplier": 1.0 });
    assert_eq!(listed["models"], with(item));
    let (_, listed) = house.get("/api/sessions").await;
    assert_eq!(listed["models"], with(json!({ "id": "test", "name": "test", "cost": 1.0 })));
}

#[tokio::test]
async fn a_sessions_model_is_changed_and_everybody_hears() {
    let mut house = House::new([vec![text("own")]]).await;
    house.guest.push(vec![text("guest")]);
    house.guest.set_window(1000);
    let id = house.session().await;
    let path = format!("/api/sessions/{id}");
    house.turn(&id, json!({ "prompt": "one" })).await;
    let mut socket = house.socket().await;
    let before = house.snapshot(&id).await;
    assert_eq!(house.patch(&path, json!({ "model": "other" })).await, bad("Unknown model: other"));
    assert_eq!(house.patch(&path, json!({ "model": "" })).await, bad("Unknown model: "));
    let same = house.patch(&path, json!({ "model": "test" })).await;
    assert_eq!(same, (200, json!({ "success": true })));
    assert_eq!(house.snapshot(&id).await, before, "nothing was changed");
    assert_eq!(socket.waiting().await, Vec::<Value>::new(), "so there is no news");

    let changed = house.patch(&path, json!({ "model": "guest", "name": "Both" })).await;
    assert_eq!(changed, (200, json!({ "success": true })));
    let told = socket.waiting().await;
    assert_eq!(shorts(&told), ["list renamed", "list model"]);
    let data = json!({ "reason": "model", "sessionId": id });
    let news = json!({ "type": "session.listChanged", "data": data });
    assert_eq!(told[1], json!({ "type": "globalEvent", "event": news }));
    let log = house.log(&id).await;
    let fact = &log["facts"][5];
    assert_eq!((&fact["fact"], &fact["model"]), (&json!("model_changed"), &json!("guest")));
    house.turn(&id, json!({ "prompt": "two" })).await;
    assert_eq!(house.guest.prompts().len(), 1, "the new one answers");
    for restarted in [false, true] {
        if restarted {
            house.restart().await;
        }
        let (_, list) = house.get("/api/sessions").await;
        assert_eq!(list["grouped"][house.cwd()][0]["model"], "guest");
        let (_, state) = house.get(&format!("{path}/state")).await;
        assert_eq!((&state["model"], &state["contextWindow"]), (&json!("guest"), &json!(1000)));
    }
}

#[tokio::test]
async fn the_state_tells_what_fills_the_context_and_what_was_used() {
    let priced =
        Usage { input_tokens: 300, output_tokens: 100, cost: Some(0.25), ..Usage::default() };
    let priced = Line::Piece(Piece::Usage(priced));
    let house = House::new([vec![text("a"), usage(150, 50)], vec![text("b"), priced]]).await;
    house.world.model.set_window(1600);
    let id = house.session().await;
    let path = format!("/api/sessions/{id}");
    let state = |used: Option<u64>, remaining: Option<f64>, spent: Value, turn: Value| {
        json!({
            "sessionId": id, "status": "idle", "cwd": house.cwd(), "model": "test",
            "isActive": true, "isBusy": false, "mode": "ask", "queued": 0, "queuedMessages": [], "contextUsed": used,
            "contextWindow": 1600, "contextRemaining": remaining, "usage": spent,
            "turnUsage": turn,
        })
    };
    let spent = |input: u64, output: u64, cost: f64| json!({ "inputTokens": input, "outputTokens": output, "cost": cost });
    let state_path = format!("{path}/state");
    let look = || house.get(&state_path);
    let nothing = spent(0, 0, 0.0);
    assert_eq!(look().await, (200, state(None, None, nothing.clone(), nothing)));
    house.turn(&id, json!({ "prompt": "one" })).await;
    let first = spent(150, 50, 0.0);
    assert_eq!(look().await, (200, state(Some(200), Some(0.875), first.clone(), first)));
    house.turn(&id, json!({ "prompt": "two" })).await;
    let (both, second) = (spent(450, 150, 0.25), spent(300, 100, 0.25));
    let expected = state(Some(400), Some(0.75), both.clone(), second.clone());
    assert_eq!(look().await, (200, expected));

    house.patch(&path, json!({ "model": "guest" })).await;
    let mut unknown = state(None, None, both, second);
    unknown["model"] = json!("guest");
    unknown["contextWindow"] = json!(1 << 20);
    assert_eq!(look().await, (200, unknown), "another model counts in other tokens");
}

#[tokio::test]
async fn a_session_is_summed_up_when_asked() {
    let scripts = [vec![text("long story")], vec![text("In short: a story.")]];
    let house = House::new(scripts).await;
    let id = house.session().await;
    let path = format!("/api/sessions/{id}/compact");
    let begun = |started: bool| (200, json!({ "ok": true, "started": started }));
    assert_eq!(house.post(&path, json!({})).await, begun(false), "there is nothing yet");
    house.turn(&id, json!({ "prompt": "tell me" })).await;
    let mut socket = house.listener(&id).await;
    assert_eq!(house.ask("POST", &path).send().await.json(), begun(true));
    let heard = socket.turn().await;
    assert_eq!(
        shorts(&heard),
        ["busy true", "session.compaction_start", "session.compaction_complete", "busy false"]
    );
    let done = &heard[2]["event"]["data"];
    let expected = json!({
        "success": true, "summaryContent": "In short: a story.",
        "preCompactionTokens": done["preCompactionTokens"],
        "postCompactionTokens": done["postCompactionTokens"],
    });
    assert_eq!(*done, expected);
    assert!(done["preCompactionTokens"].is_u64() && done["postCompactionTokens"].is_u64());
    let (_, state) = house.get(&format!("/api/sessions/{id}/state")).await;
    assert_eq!(state["contextUsed"], Value::Null, "it is counted anew with the next step");
    for unknown in [NOBODY, "nonsense"] {
        let answer = house.post(&format!("/api/sessions/{unknown}/compact"), json!({})).await;
        assert_eq!(answer, no_session(unknown));
    }
}
