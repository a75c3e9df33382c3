//! Sessions over HTTP: found, made, listed, resumed, seen, changed and removed.

use jiff::SignedDuration;
use serde_json::{Value, json};
use testkit::{
    Gate,
    model::{text, wait},
};

use crate::common::{House, bad, error, no_session, shorts};

const NOBODY: &str = "019c18a5-1d00-7000-8000-00000000ffff";

#[tokio::test]
async fn without_sessions_there_is_only_the_workspace() {
    let house = House::new([]).await;
    let nothing = json!({
        "sessionId": null, "cwd": house.cwd(), "isActive": false, "hasMessages": false,
    });
    assert_eq!(house.get("/api/session").await, (200, nothing.clone()));
    assert_eq!(house.get("/api/session?sessionId=").await, (200, nothing));
    for unknown in [NOBODY, "nonsense"] {
        let echo = json!({
            "sessionId": unknown, "cwd": house.cwd(), "isActive": false, "hasMessages": false,
        });
        let path = format!("/api/session?sessionId={unknown}");
        assert_eq!(house.get(&path).await, (200, echo));
    }
    let list = json!({
        "activeSessionId": null, "currentCwd": house.cwd(), "grouped": {}, "unobservedCount": 0,
        "models": [{ "id": "test", "name": "test", "cost": 1.0, "payer": "nobody" }],
    });
    assert_eq!(house.get("/api/sessions").await, (200, list));
}

#[tokio::test]
async fn a_session_is_made_with_defaults_or_as_told() {
    let house = House::new([]).await;
    let mut socket = house.socket().await;
    let (status, created) = house.post("/api/sessions", json!({})).await;
    let id = created["sessionId"].as_str().unwrap();
    let expected = json!({ "sessionId": id, "cwd": house.cwd(), "model": "test" });
    assert_eq!((status, &created), (200, &expected));
    let news = json!({ "type": "globalEvent", "event": {
        "type": "session.listChanged", "data": { "reason": "created", "sessionId": id },
    }});
    assert_eq!(socket.waiting().await, [news]);
    let preferences = json!({ "lastCwd": house.cwd(), "lastModel": "test", "lastSessionId": id });
    assert_eq!(house.get("/api/preferences").await, (200, preferences));

    let folder = house.workspace().join("inner");
    std::fs::create_dir(&folder).unwrap();
    let folder = folder.to_str().unwrap();
    for cwd in ["inner", folder] {
        let body = json!({ "cwd": cwd, "model": "test", "description": "My work" });
        let (_, created) = house.post("/api/sessions", body).await;
        let id = created["sessionId"].as_str().unwrap();
        let expected = json!({ "sessionId": id, "cwd": folder, "model": "test" });
        assert_eq!(created, expected);
        let state = json!({
            "sessionId": id, "status": "idle", "cwd": folder, "model": "test", "isActive": true,
            "isBusy": false, "mode": "ask", "queued": 0, "queuedMessages": [], "contextUsed": null, "contextWindow": 1 << 20,
            "contextRemaining": null,
            "usage": { "inputTokens": 0, "outputTokens": 0, "cost": 0.0 },
            "turnUsage": { "inputTokens": 0, "outputTokens": 0, "cost": 0.0 },
        });
        assert_eq!(house.get(&format!("/api/sessions/{id}/state")).await, (200, state));
        let (_, list) = house.get("/api/sessions").await;
        assert_eq!(list["grouped"][folder][0]["name"], "My work");
        assert_eq!(list["activeSessionId"], id);
        let (_, preferences) = house.get("/api/preferences").await;
        assert_eq!(preferences["lastCwd"], folder);
    }
}

#[tokio::test]
async fn a_session_needs_a_folder_and_a_model_that_exist() {
    let house = House::new([]).await;
    std::fs::write(house.workspace().join("file"), "").unwrap();
    let before = house.get("/api/sessions").await;
    for (body, text) in [
        (json!({ "cwd": "/no/such" }), "Path does not exist: /no/such"),
        (json!({ "cwd": "file", "model": "other" }), "Path is not a directory: file"),
        (json!({ "model": "other" }), "Unknown model: other"),
        (
            json!({ "cwd": 5 }),
            "Invalid JSON body: cwd: invalid type: integer `5`, expected a string",
        ),
    ] {
        assert_eq!(house.post("/api/sessions", body).await, bad(text));
    }
    assert_eq!(house.get("/api/sessions").await, before);
}

#[tokio::test]
async fn the_list_shows_every_session_by_folder_the_latest_first() {
    let house = House::new([vec![text("Hello")]]).await;
    std::fs::create_dir(house.workspace().join("other")).unwrap();
    let old = house.session().await;
    house.world.clock.advance(SignedDuration::from_secs(1));
    let new = house.session().await;
    house.world.clock.advance(SignedDuration::from_secs(1));
    let (_, other) = house.post("/api/sessions", json!({ "cwd": "other" })).await;
    let other = other["sessionId"].as_str().unwrap().to_owned();
    house.world.clock.advance(SignedDuration::from_millis(1500));
    house.turn(&old, json!({ "prompt": "list my files" })).await;
    let item = |id: &str, cwd: &str, summary: Value, at: &str, seen: bool| {
        json!({
            "sessionId": id, "cwd": cwd, "model": "test", "mode": "ask", "name": "", "summary": summary,
            "updatedAt": format!("2026-02-01T10:00:0{at}Z"), "isBusy": false,
            "isUnobserved": !seen, "currentIntent": null, "scheduleSlug": null,
            "scheduleNextRun": null,
        })
    };
    let cwd = house.cwd();
    let elsewhere = format!("{cwd}/other");
    let list = json!({
        "activeSessionId": other, "currentCwd": cwd, "unobservedCount": 1,
        "grouped": {
            (&cwd): [
                item(&old, &cwd, json!("list my files"), "3.500", false),
                item(&new, &cwd, Value::Null, "1.000", true),
            ],
            (&elsewhere): [item(&other, &elsewhere, Value::Null, "2.000", true)],
        },
        "models": [{ "id": "test", "name": "test", "cost": 1.0, "payer": "nobody" }],
    });
    assert_eq!(house.get("/api/sessions").await, (200, list.clone()));

    house.world.models.fail_listing(true);
    let (_, without_models) = house.get("/api/sessions").await;
    assert_eq!(without_models["models"], json!([]));
    assert_eq!(without_models["grouped"], list["grouped"], "a provider that is down hides nothing");
}

#[tokio::test]
async fn each_client_has_an_active_session_of_its_own() {
    let mut house = House::new([]).await;
    let first = house.session().await;
    let ask = |house: &House, method: &str, path: &str| {
        house.ask(method, path).header("x-client-id", "tablet")
    };
    let created = ask(&house, "POST", "/api/sessions").json(&json!({})).send().await.json().1;
    let second = created["sessionId"].as_str().unwrap().to_owned();
    for restarted in [false, true] {
        if restarted {
            house.restart().await;
        }
        assert_eq!(house.get("/api/session").await.1["sessionId"], first);
        assert_eq!(house.get("/api/sessions").await.1["activeSessionId"], first);
        let tablet = ask(&house, "GET", "/api/session").send().await.json().1;
        assert_eq!(tablet["sessionId"], second);
        let tablet = ask(&house, "GET", "/api/sessions").send().await.json().1;
        assert_eq!(tablet["activeSessionId"], second);
    }
    let gone = house.delete(&format!("/api/sessions/{second}")).await;
    assert_eq!(gone, (200, json!({ "success": true, "wasActive": false })));
    let tablet = ask(&house, "GET", "/api/session").send().await.json().1;
    assert_eq!(tablet["sessionId"], Value::Null, "what is gone is nobody's active session");
    let gone = house.delete(&format!("/api/sessions/{first}")).await;
    assert_eq!(gone, (200, json!({ "success": true, "wasActive": true })));

    let name = "x".repeat(129);
    let long = house.ask("GET", "/api/session").header("x-client-id", &name).send().await;
    assert_eq!(long.json(), bad("X-Client-ID is longer than 128 characters"));
}

#[tokio::test]
async fn resuming_makes_active_and_tells_the_sessions_own_folder() {
    let gate = Gate::default();
    let mut house = House::new([vec![text("a"), wait(&gate), text("b")]]).await;
    std::fs::create_dir(house.workspace().join("own")).unwrap();
    let (_, created) = house.post("/api/sessions", json!({ "cwd": "own" })).await;
    let own = format!("{}/own", house.cwd());
    let id = created["sessionId"].as_str().unwrap().to_owned();
    let latest = house.session().await;
    house.restart().await;
    let path = format!("/api/sessions/{id}/resume");
    let resumed = json!({ "success": true, "sessionId": id, "cwd": own, "isBusy": false });
    assert_eq!(house.get("/api/session").await.1["sessionId"], latest);
    // As the original page sends it: a type, and nothing of that type.
    let answer = house.ask("POST", &path).body("application/json", "").send().await;
    assert_eq!(answer.json(), (200, resumed));
    let current = json!({ "sessionId": id, "cwd": own, "isActive": true, "hasMessages": false });
    assert_eq!(house.get("/api/session").await, (200, current));
    assert_eq!(house.get("/api/preferences").await.1["lastSessionId"], id);

    house.say(&id, "speak").await;
    gate.reached().await;
    std::fs::remove_dir(house.workspace().join("own")).unwrap();
    let resumed = json!({
        "success": true, "sessionId": id, "cwd": house.cwd(), "isBusy": true, "cwdFallback": true,
    });
    assert_eq!(house.post(&path, json!({})).await, (200, resumed));
    for unknown in [NOBODY, "nonsense"] {
        let answer = house.post(&format!("/api/sessions/{unknown}/resume"), json!({})).await;
        let text = format!("Session {unknown} not found");
        assert_eq!(answer, (400, error("NOT_FOUND", &text)));
    }
}

#[tokio::test]
async fn a_session_is_observed_once() {
    let house = House::new([vec![text("one")], vec![text("two")]]).await;
    let (first, second) = (house.session().await, house.session().await);
    house.turn(&first, json!({ "prompt": "go" })).await;
    house.turn(&second, json!({ "prompt": "go" })).await;
    let mut socket = house.socket().await;
    let path = format!("/api/sessions/{first}/observe");
    let observe = || async { house.ask("POST", &path).send().await.json() };
    let answer = |was| json!({ "success": true, "wasUnobserved": was, "unobservedCount": 1 });
    assert_eq!(observe().await, (200, answer(true)));
    assert_eq!(observe().await, (200, answer(false)));
    let news = json!({ "type": "globalEvent", "event": {
        "type": "session.listChanged",
        "data": { "reason": "observed", "sessionId": first, "unobservedCount": 1 },
    }});
    assert_eq!(socket.waiting().await, [news], "told once");
    assert_eq!(house.get("/api/sessions").await.1["unobservedCount"], 1);
    for unknown in [NOBODY, "nonsense"] {
        let answer = house.post(&format!("/api/sessions/{unknown}/observe"), json!({})).await;
        assert_eq!(answer, no_session(unknown));
    }
}

#[tokio::test]
async fn names_are_given_and_taken_away() {
    let house = House::new([]).await;
    let id = house.session().await;
    let path = format!("/api/sessions/{id}");
    let mut socket = house.socket().await;
    for name in ["Work", ""] {
        let answer = house.patch(&path, json!({ "name": name })).await;
        assert_eq!(answer, (200, json!({ "success": true })));
        let (_, list) = house.get("/api/sessions").await;
        assert_eq!(list["grouped"][house.cwd()][0]["name"], name);
        assert_eq!(shorts(&socket.waiting().await), ["list renamed"]);
    }
    let hint = json!({ "envHint": "nix develop" });
    assert_eq!(house.patch(&path, hint).await, (200, json!({ "success": true })));
    assert_eq!(house.patch(&path, json!({})).await, (200, json!({ "success": true })));
    assert_eq!(socket.waiting().await, Vec::<Value>::new(), "a hint is no news");
    assert_eq!(house.patch("/api/sessions/nonsense", json!({})).await, no_session("nonsense"));
    let elsewhere = format!("/api/sessions/{NOBODY}");
    assert_eq!(house.patch(&elsewhere, json!({ "name": "x" })).await, no_session(NOBODY));
}

#[tokio::test]
async fn context_is_replaced_merged_cut_to_ten_and_told() {
    let house = House::new([]).await;
    let id = house.session().await;
    let mut socket = house.listener(&id).await;
    let numbers = |range: std::ops::Range<u32>| -> Vec<String> {
        range.map(|number| number.to_string()).collect()
    };
    let mut context = json!({});
    for (set, mode, items, kept) in [
        ("files", Some("replace"), numbers(0..3), numbers(0..3)),
        ("files", Some("merge"), vec!["1".into(), "x".into()], {
            vec!["0".into(), "1".into(), "2".into(), "x".into()]
        }),
        ("files", None, numbers(0..12), numbers(0..10)),
        ("files", Some("merge"), vec!["more".into()], numbers(0..10)),
        ("whatever", None, numbers(0..1), numbers(0..1)),
        ("files", None, Vec::new(), Vec::new()),
    ] {
        let mut change = json!({ "setName": set, "items": items });
        if let Some(mode) = mode {
            change["mode"] = json!(mode);
        }
        let path = format!("/api/sessions/{id}");
        let answer = house.patch(&path, json!({ "setContext": change })).await;
        assert_eq!(answer, (200, json!({ "success": true })));
        context[set] = json!(kept);
        let told = socket.waiting().await;
        assert_eq!(shorts(&told), ["caco.context"]);
        let data = json!({ "reason": "changed", "context": context, "setName": set });
        assert_eq!(told[0]["event"]["data"], data);
    }
    let history = house.history(&id).await;
    let load = &history[history.len() - 2]["event"];
    assert_eq!(load["data"], json!({ "reason": "load", "context": context }));
}

#[tokio::test]
async fn a_session_is_deleted_fresh_or_used_but_not_while_busy() {
    let gate = Gate::default();
    let scripts = [vec![text("one")], vec![text("half"), wait(&gate)]];
    let mut house = House::new(scripts).await;
    let (fresh, used, busy) = (house.session().await, house.session().await, house.session().await);
    house.turn(&used, json!({ "prompt": "go" })).await;
    house.say(&busy, "go").await;
    gate.reached().await;
    let mut socket = house.socket().await;
    let path = |id: &str| format!("/api/sessions/{id}");
    let text = "Cannot delete session while it is processing";
    assert_eq!(house.delete(&path(&busy)).await, (400, error("SESSION_BUSY", text)));
    assert_eq!(house.get("/api/sessions").await.1["unobservedCount"], 1);
    for id in [&fresh, &used] {
        let answer = house.delete(&path(id)).await;
        assert_eq!(answer, (200, json!({ "success": true, "wasActive": false })));
        let news = json!({ "type": "globalEvent", "event": {
            "type": "session.listChanged", "data": { "reason": "deleted", "sessionId": id },
        }});
        assert_eq!(socket.waiting().await, [news]);
    }
    for restarted in [false, true] {
        if restarted {
            house.restart().await;
        }
        let (_, list) = house.get("/api/sessions").await;
        assert_eq!(list["unobservedCount"], 0, "the badge falls");
        assert_eq!(list["grouped"][house.cwd()].as_array().unwrap().len(), 1);
        for id in [fresh.as_str(), used.as_str(), "nonsense"] {
            let text = format!("Failed to delete session {id}: Session file not found for {id}");
            assert_eq!(house.delete(&path(id)).await, (400, error("NOT_FOUND", &text)));
            assert_eq!(house.get(&format!("{}/state", path(id))).await, no_session(id));
            assert_eq!(house.message(id, json!({ "prompt": "hi" })).await, no_session(id));
        }
    }
}

#[tokio::test]
async fn the_state_tells_whether_it_is_in_memory_and_busy() {
    let gate = Gate::default();
    let mut house = House::new([vec![text("a"), wait(&gate)], vec![text("next")]]).await;
    let id = house.session().await;
    house.restart().await;
    let path = format!("/api/sessions/{id}/state");
    let state = |active: bool, busy: bool, queued: u32| {
        let later = |_| json!({ "seq": 4, "text": "later", "key": null });
        json!({
            "sessionId": id, "status": if active { "idle" } else { "inactive" },
            "cwd": house.cwd(), "model": "test", "isActive": active, "isBusy": busy,
            "mode": "ask", "queued": queued,
            "queuedMessages": (0..queued).map(later).collect::<Vec<_>>(), "contextUsed": null, "contextWindow": 1 << 20,
            "contextRemaining": null,
            "usage": { "inputTokens": 0, "outputTokens": 0, "cost": 0.0 },
            "turnUsage": { "inputTokens": 0, "outputTokens": 0, "cost": 0.0 },
        })
    };
    assert_eq!(house.get(&path).await, (200, state(false, false, 0)));
    let mut socket = house.listener(&id).await;
    assert_eq!(house.get(&path).await, (200, state(true, false, 0)));
    house.say(&id, "go").await;
    gate.reached().await;
    house.message(&id, json!({ "prompt": "later", "queue": true })).await;
    assert_eq!(house.get(&path).await, (200, state(true, true, 1)));
    gate.open();
    socket.turn().await;
    socket.turn().await;
    assert_eq!(house.get(&path).await, (200, state(true, false, 0)));
    assert_eq!(house.get(&format!("/api/sessions/{NOBODY}/state")).await, no_session(NOBODY));
}

#[tokio::test]
async fn what_the_agent_is_told_can_be_looked_at() {
    let house = House::new([]).await;
    let id = house.session().await;
    house.patch(&format!("/api/sessions/{id}"), json!({ "envHint": "nix develop" })).await;
    let (status, told) = house.get(&format!("/api/sessions/{id}/prompt")).await;
    assert_eq!((status, &told["parts"][0]["title"]), (200, &json!("This session")));
    assert!(told["parts"][0]["text"].as_str().unwrap().ends_with("environment: nix develop"));
    assert_eq!(told["tools"][0]["name"], "echo");
    let missing = house.get("/api/sessions/nobody/prompt").await;
    assert_eq!(
        missing,
        (404, json!({ "error": "Session not found: nobody", "code": "NOT_FOUND" }))
    );
    let long = json!({ "text": "x".repeat(40_000) });
    let reply = house.ask("PUT", "/api/instructions").json(&long).send().await;
    assert_eq!(reply.status, 400);
    let reply =
        house.ask("PUT", "/api/instructions").json(&json!({ "text": "be kind" })).send().await;
    assert_eq!(reply.json(), (200, json!({ "ok": true })));
}
