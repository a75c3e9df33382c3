//! Budgets over HTTP: set, told of, and where they stop.

use serde_json::{Value, json};
use testkit::model::{call, priced, text};

use crate::common::{House, bad, shorts};

async fn put(house: &House, change: Value) -> (u16, Value) {
    house.ask("PUT", "/api/budgets").json(&change).send().await.json()
}

fn budgets(change: &Value, source: &str) -> Value {
    let mut all = json!({
        "session_usd": null, "day_usd": null, "month_usd": null, "session_tokens": null,
        "day_tokens": null, "month_tokens": null, "warn_at": 0.8, "source": source,
    });
    all.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
    all
}

async fn standings(house: &House) -> Value {
    house.get("/api/usage").await.1["budgets"].clone()
}

#[tokio::test]
async fn budgets_are_set_and_unset_and_outlive_the_server() {
    let mut house = House::new([]).await;
    let none = budgets(&json!({}), "config");
    assert_eq!(house.get("/api/budgets").await, (200, none.clone()));
    let change = json!({ "day_usd": 5, "month_tokens": 1000 });
    let set = budgets(&json!({ "day_usd": 5.0, "month_tokens": 1000 }), "api");
    assert_eq!(put(&house, change).await, (200, set.clone()));
    house.restart().await;
    assert_eq!(house.get("/api/budgets").await, (200, set));
    let less = budgets(&json!({ "month_tokens": 1000, "warn_at": 0.5 }), "api");
    assert_eq!(put(&house, json!({ "day_usd": null, "warn_at": 0.5 })).await, (200, less.clone()));
    for (change, message) in [
        (json!({ "day_usd": -1 }), "day_usd must be an amount of US dollars, 0 or more"),
        (
            json!({ "session_usd": 3, "warn_at": 2 }),
            "warn_at must be a share of a budget: more than 0, and 1 at most",
        ),
    ] {
        assert_eq!(put(&house, change).await, bad(message));
    }
    for change in [
        json!({ "day_tokens": -1 }),
        json!({ "day_tokens": 1.5 }),
        json!({ "day_usd": "5" }),
        json!({ "week_usd": 5 }),
        json!([]),
    ] {
        let (status, answer) = put(&house, change.clone()).await;
        assert_eq!((status, &answer["code"]), (400, &json!("BAD_REQUEST")), "{change}");
    }
    assert_eq!(house.get("/api/budgets").await, (200, less), "nothing of it was taken");
    assert_eq!(house.delete("/api/budgets").await, (200, none.clone()));
    house.restart().await;
    assert_eq!(house.get("/api/budgets").await, (200, none));
}

#[tokio::test]
async fn a_budget_warns_once_and_then_stops_what_is_asked_for() {
    let house = House::new([]).await;
    house.world.model.otherwise(vec![text("ok"), priced(10, 5, 1.0)]);
    let id = house.session().await;
    put(&house, json!({ "session_usd": 3, "day_tokens": 60, "warn_at": 0.6 })).await;
    let standing = |name: &str, limit: Value, spent: Value, state: &str| json!({ "name": name, "limit": limit, "spent": spent, "state": state });
    let expected = json!([
        standing("session_usd", json!(3.0), json!(0.0), "ok"),
        standing("day_tokens", json!(60), json!(0), "ok"),
    ]);
    let mut fresh = standings(&house).await;
    assert_eq!(fresh[0]["sessionId"], json!(id));
    fresh[0].as_object_mut().unwrap().remove("sessionId");
    assert_eq!(fresh, expected);

    let infos = |heard: &[Value]| {
        let events = heard.iter().map(|frame| &frame["event"]);
        let infos = events.filter(|event| event["type"] == "session.info");
        infos.map(|event| (event["data"].clone(), event["ephemeral"].clone())).collect::<Vec<_>>()
    };
    let heard = house.turn(&id, json!({ "prompt": "one" })).await;
    assert_eq!(infos(&heard), []);
    let heard = house.turn(&id, json!({ "prompt": "two" })).await;
    let message = "the budget session_usd for this session is nearly spent: $2.00 of $3.00";
    let told = json!({ "infoType": "budget", "message": message });
    assert_eq!(infos(&heard), [(told, json!(true))]);
    let heard = house.turn(&id, json!({ "prompt": "three" })).await;
    assert_eq!(infos(&heard).len(), 1, "of the day's");
    let states = |all: Value| -> Vec<Value> {
        all.as_array().unwrap().iter().map(|one| one["state"].clone()).collect()
    };
    assert_eq!(states(standings(&house).await), ["spent", "warned"]);

    let heard = house.turn(&id, json!({ "prompt": "four" })).await;
    let error = heard.iter().find(|frame| frame["event"]["type"] == "session.error").unwrap();
    let message = "the budget session_usd for this session is spent: $3.00 of $3.00; raise it with \
                   PUT /api/budgets or under [budgets] in config.toml, or go on in a new session";
    let data = json!({ "errorType": "budget", "message": message });
    assert_eq!(error["event"]["data"], data);
    assert_eq!(house.world.model.prompts().len(), 3, "the model was not asked");
    put(&house, json!({ "session_usd": null })).await;
    let heard = house.turn(&id, json!({ "prompt": "five" })).await;
    assert!(shorts(&heard).iter().any(|short| short.contains("session.idle")), "{heard:?}");
}

#[tokio::test]
async fn a_tool_that_was_called_is_run_before_the_budget_ends_the_turn() {
    let house = House::new([vec![call("1", "echo", json!({})), priced(10, 5, 1.0)]]).await;
    let id = house.session().await;
    put(&house, json!({ "month_usd": 1 })).await;
    let heard = house.turn(&id, json!({ "prompt": "go" })).await;
    let events: Vec<_> = heard.iter().filter_map(|frame| frame["event"]["type"].as_str()).collect();
    let at = |name: &str| events.iter().position(|event| *event == name).unwrap();
    assert!(at("tool.execution_complete") < at("session.error"), "{events:?}");
}

#[tokio::test]
async fn other_programs_are_refused_as_their_vendor_would() {
    let house = House::new([]).await;
    house.world.model.otherwise(vec![text("ok"), priced(10, 5, 1.0)]);
    put(&house, json!({ "day_usd": 1, "session_tokens": 1 })).await;
    let ask = |stream: bool| {
        json!({ "model": "test", "input": "hi", "stream": stream,
                "messages": [{ "role": "user", "content": "hi" }] })
    };
    assert_eq!(house.post("/v1/responses", ask(false)).await.0, 200);
    let message = "the budget day_usd for today is spent: $1.00 of $1.00; raise it with PUT \
                   /api/budgets or under [budgets] in config.toml, or wait until tomorrow";
    let refused = json!({ "error": {
        "message": message, "type": "insufficient_quota", "code": "insufficient_quota",
        "param": null,
    } });
    for path in ["/v1/responses", "/v1/chat/completions"] {
        for stream in [false, true] {
            assert_eq!(house.post(path, ask(stream)).await, (429, refused.clone()));
        }
    }
    house.world.model.set_free(true);
    assert_eq!(house.post("/v1/responses", ask(false)).await.0, 200, "nobody pays for it");
}
