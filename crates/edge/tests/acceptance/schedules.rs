//! Schedules over HTTP: their shapes and errors, how they run, and what they are allowed.

use jiff::{SignedDuration, Timestamp};
use kernel::{toolbox::Risk, update::Failure};
use serde_json::{Value, json};
use testkit::{
    Gate, TestTool, World,
    model::{Script, call, fail, text, wait},
};

use crate::common::{House, Socket, bad, error};

const PLACE: &str = "/api/schedule/daily-backup";

fn daily() -> Value {
    json!({
        "prompt": "Back up my files",
        "schedule": { "type": "cron", "expression": "0 0 * * *", "timezone": "UTC" },
    })
}

fn every(minutes: u32) -> Value {
    let schedule = json!({ "type": "interval", "intervalMinutes": minutes });
    json!({ "prompt": "Back up my files", "schedule": schedule })
}

fn absent(slug: &str) -> (u16, Value) {
    (404, error("NOT_FOUND", &format!("Schedule not found: {slug}")))
}

fn answers(count: usize) -> impl Iterator<Item = Script> {
    std::iter::repeat_with(|| vec![text("ok")]).take(count)
}

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// Waits until the schedule is as wished; it is looked at whenever anything is heard.
async fn until(house: &House, socket: &mut Socket, is: impl Fn(&Value) -> bool) -> Value {
    loop {
        let (_, item) = house.get(PLACE).await;
        if is(&item) {
            return item;
        }
        socket.until(|frame| frame["event"]["type"] == "schedule.changed").await;
    }
}

async fn rested(house: &House, socket: &mut Socket) -> Value {
    until(house, socket, |it| it["running"] == false && !it["lastRun"].is_null()).await
}

async fn runs(house: &House) -> Vec<Value> {
    let (status, ledger) = house.get(&format!("{PLACE}/runs")).await;
    assert_eq!(status, 200, "{ledger}");
    ledger["runs"].as_array().unwrap().clone()
}

#[tokio::test]
async fn a_schedule_is_made_shown_changed_and_removed() {
    let house = House::new([]).await;
    assert_eq!(house.get("/api/schedule").await, (200, json!({ "schedules": [] })));
    let next = "2026-02-02T00:00:00.000Z";
    let made = json!({ "slug": "daily-backup", "nextRun": next, "created": true });
    assert_eq!(house.put(PLACE, daily()).await, (200, made));
    let item = json!({
        "slug": "daily-backup", "prompt": "Back up my files", "enabled": true,
        "schedule": { "type": "cron", "expression": "0 0 * * *", "timezone": "UTC" },
        "sessionConfig": { "persistSession": true },
        "lastRun": null, "lastResult": null, "lastError": null, "nextRun": next,
        "sessionId": null, "createdAt": "2026-02-01T10:00:00.000Z",
        "updatedAt": "2026-02-01T10:00:00.000Z", "running": false, "missed": "once",
        "onNewNeed": "deny-and-continue",
    });
    assert_eq!(house.get(PLACE).await, (200, item.clone()));
    assert_eq!(house.get("/api/schedule").await, (200, json!({ "schedules": [item] })));

    house.world.clock.advance(SignedDuration::from_mins(5));
    let mut other = every(90);
    other["sessionConfig"] = json!({ "model": "guest", "persistSession": false });
    other["enabled"] = json!(false);
    other["missed"] = json!("skip");
    other["onNewNeed"] = json!("end");
    let replaced = json!({ "slug": "daily-backup", "nextRun": null, "created": false });
    assert_eq!(house.put(PLACE, other).await, (200, replaced));
    let on = json!({
        "slug": "daily-backup", "enabled": true, "nextRun": "2026-02-01T11:35:00.000Z",
    });
    assert_eq!(house.patch(PLACE, json!({ "enabled": true })).await, (200, on.clone()));
    house.world.clock.advance(SignedDuration::from_mins(5));
    assert_eq!(house.patch(PLACE, json!({})).await, (200, on.clone()), "nothing is changed");
    let renamed = house.patch(PLACE, json!({ "prompt": "Other words" })).await;
    assert_eq!(renamed, (200, on), "what is planned stays");
    let (_, item) = house.get(PLACE).await;
    let expected = json!({
        "slug": "daily-backup", "prompt": "Other words", "enabled": true,
        "schedule": { "type": "interval", "intervalMinutes": 90 },
        "sessionConfig": { "model": "guest", "persistSession": false },
        "lastRun": null, "lastResult": null, "lastError": null,
        "nextRun": "2026-02-01T11:35:00.000Z", "sessionId": null,
        "createdAt": "2026-02-01T10:00:00.000Z", "updatedAt": "2026-02-01T10:10:00.000Z",
        "running": false, "missed": "skip", "onNewNeed": "end",
    });
    assert_eq!(item, expected);

    assert_eq!(house.delete(PLACE).await, (200, json!({ "success": true })));
    for gone in [house.get(PLACE).await, house.delete(PLACE).await] {
        assert_eq!(gone, absent("daily-backup"));
    }
    assert_eq!(house.patch(PLACE, json!({ "enabled": true })).await, absent("daily-backup"));
    assert_eq!(house.post(&format!("{PLACE}/run"), json!({})).await, absent("daily-backup"));
    assert_eq!(house.get(&format!("{PLACE}/runs")).await, absent("daily-backup"));
}

#[tokio::test]
async fn schedules_survive_a_restart() {
    let mut house = House::new([]).await;
    house.put(PLACE, daily()).await;
    let before = house.get(PLACE).await;
    house.restart().await;
    assert_eq!(house.get(PLACE).await, before);
}

#[tokio::test]
async fn what_cannot_be_a_schedule_is_refused_with_its_reason_and_in_order() {
    let house = House::new([]).await;
    let lacking = "schedule with type and expression/intervalMinutes is required";
    let cron = |expression: &str| json!({ "type": "cron", "expression": expression });
    for (body, text) in [
        (json!({}), "prompt is required"),
        (json!({ "prompt": "", "schedule": cron("x") }), "prompt is required"),
        (json!({ "prompt": "p" }), lacking),
        (json!({ "prompt": "p", "schedule": null }), lacking),
        (json!({ "prompt": "p", "schedule": "daily" }), lacking),
        (json!({ "prompt": "p", "schedule": {} }), lacking),
        (json!({ "prompt": "p", "schedule": { "type": "cron" } }), lacking),
        (json!({ "prompt": "p", "schedule": { "type": "interval" } }), lacking),
        (
            json!({ "prompt": "p", "schedule": { "type": "interval", "expression": "* * * * *" } }),
            lacking,
        ),
        (
            json!({ "prompt": "p", "schedule": { "type": "moon" } }),
            "Unknown schedule type: moon. Use cron or interval",
        ),
        (every(0), "Minimum interval is 1 minute"),
        (
            json!({ "prompt": "p", "schedule": { "type": "interval", "intervalMinutes": 0.5 } }),
            "Minimum interval is 1 minute",
        ),
        (
            json!({ "prompt": "p", "schedule": { "type": "interval", "intervalMinutes": -5 } }),
            "Minimum interval is 1 minute",
        ),
        (
            json!({ "prompt": "p", "schedule": { "type": "interval", "intervalMinutes": 1.5 } }),
            "schedule.intervalMinutes must be a whole number",
        ),
        (every(u32::MAX), "Maximum interval is 5270400 minutes"),
        (json!({ "prompt": "p", "schedule": cron("") }), "Invalid cron expression"),
        (json!({ "prompt": "p", "schedule": cron("soon") }), "Invalid cron expression"),
        (json!({ "prompt": "p", "schedule": cron("0 24 * * *") }), "Invalid cron expression"),
        (
            json!({ "prompt": "p", "schedule": cron("0 0 31 2 *") }),
            "Invalid cron expression: it never runs",
        ),
        (
            json!({ "prompt": "p", "schedule": cron("*/10 * * * * *") }),
            "Cron expression runs every 10 seconds. Minimum interval is 1 minute",
        ),
        (
            json!({ "prompt": "p", "schedule":
                { "type": "cron", "expression": "@daily", "timezone": "Nowhere/Land" } }),
            "Unknown timezone: Nowhere/Land",
        ),
        (
            json!({ "prompt": "p", "schedule": cron("@daily"), "sessionConfig": { "cwd": "gone" } }),
            "Path does not exist: gone",
        ),
    ] {
        assert_eq!(house.put(PLACE, body.clone()).await, bad(text), "{body}");
    }
    let wrong = house.put(PLACE, json!({ "prompt": 1 })).await;
    assert_eq!(wrong.0, 400, "{}", wrong.1);
    let mut odd = daily();
    odd["missed"] = json!("twice");
    let (status, told) = house.put(PLACE, odd).await;
    assert_eq!(status, 400, "{told}");
    assert_eq!(house.get("/api/schedule").await, (200, json!({ "schedules": [] })));
}

#[tokio::test]
async fn a_name_leads_nowhere_else() {
    let house = House::new([]).await;
    let long = "a".repeat(65);
    for slug in ["..%2fx", "A_b", "%2e%2e", "-a", "a-", "a%00", "a%20b", &long] {
        let place = format!("/api/schedule/{slug}");
        assert_eq!(house.put(&place, daily()).await, bad("Invalid slug"), "{slug}");
        for reply in [
            house.get(&place).await,
            house.patch(&place, json!({})).await,
            house.delete(&place).await,
            house.post(&format!("{place}/run"), json!({})).await,
        ] {
            assert_eq!(reply.0, 404, "{slug}");
        }
    }
    assert_eq!(house.get("/api/schedule/..%2fx").await, absent("../x"));
    let longest = "a".repeat(64);
    assert_eq!(house.put(&format!("/api/schedule/{longest}"), daily()).await.0, 200);
}

#[tokio::test]
async fn a_schedule_fires_and_tells_of_it_and_the_list_shows_where() {
    let house = House::new(answers(1)).await;
    let active = house.session().await;
    let mut socket = house.socket().await;
    house.put(PLACE, every(30)).await;
    house.world.clock.set(at("2026-02-01T10:30:00.200Z"));
    let item = rested(&house, &mut socket).await;
    assert_eq!(item["lastRun"], "2026-02-01T10:30:00.200Z");
    assert_eq!(item["lastResult"], "success");
    assert_eq!(item["lastError"], Value::Null);
    assert_eq!(item["nextRun"], "2026-02-01T11:00:00.000Z");
    let id = item["sessionId"].as_str().unwrap();
    let (_, list) = house.get("/api/sessions").await;
    let sessions = list["grouped"][house.cwd()].as_array().unwrap();
    let shown = sessions.iter().find(|it| it["sessionId"] == id).unwrap();
    assert_eq!(shown["scheduleSlug"], "daily-backup");
    assert_eq!(shown["scheduleNextRun"], "2026-02-01T11:00:00.000Z");
    assert_eq!(shown["name"], "daily-backup");
    assert_eq!(list["activeSessionId"], json!(active), "nobody's active session changes");
    let (_, preferences) = house.get("/api/preferences").await;
    assert_ne!(preferences["lastSessionId"], json!(id));
    let past = house.history(id).await;
    let said = past.iter().find(|it| it["event"]["type"] == "user.message").unwrap();
    assert_eq!(said["event"]["data"]["content"], "Back up my files");
    assert_eq!(said["event"]["data"]["source"], "scheduler");
    assert_eq!(said["event"]["data"]["scheduleSlug"], "daily-backup");
    let ledger = runs(&house).await;
    let expected = json!([{
        "id": ledger[0]["id"], "due": "2026-02-01T10:30:00.000Z",
        "started": "2026-02-01T10:30:00.200Z", "finished": "2026-02-01T10:30:00.200Z",
        "outcome": "success", "error": null, "reason": null, "sessionId": id, "manual": false,
        "needed": [],
    }]);
    assert_eq!(json!(ledger), expected);
}

#[tokio::test]
async fn a_run_by_hand_answers_with_its_session_and_waits_where_that_is_busy() {
    let gate = Gate::default();
    let house =
        House::new([vec![text("ok")], vec![wait(&gate), text("slow")], vec![text("late")]]).await;
    let mut socket = house.socket().await;
    let mut off = daily();
    off["enabled"] = json!(false);
    house.put(PLACE, off).await;
    let run = format!("{PLACE}/run");
    let (status, started) = house.ask("POST", &run).send().await.json();
    let id = started["sessionId"].as_str().unwrap().to_owned();
    let expected = json!({ "slug": "daily-backup", "status": "executed", "sessionId": id });
    assert_eq!((status, &started), (200, &expected));
    rested(&house, &mut socket).await;
    house.say(&id, "me first").await;
    assert_eq!(house.post(&run, json!({})).await, (200, expected));
    let running =
        json!({ "error": "Schedule is running already: daily-backup", "code": "CONFLICT" });
    assert_eq!(house.post(&run, json!({})).await, (409, running));
    assert_eq!(house.get(PLACE).await.1["running"], true);
    let now = &runs(&house).await[0];
    assert_eq!((&now["outcome"], &now["finished"]), (&Value::Null, &Value::Null));
    gate.open();
    rested(&house, &mut socket).await;
    let ledger = runs(&house).await;
    let short: Vec<_> = ledger.iter().map(|run| (&run["outcome"], &run["manual"])).collect();
    assert_eq!(short, [(&json!("success"), &json!(true)); 2]);
    assert_eq!(house.get(&format!("{PLACE}/runs?limit=1")).await.1["runs"], json!([ledger[0]]));
    assert_eq!(
        house.get(&format!("{PLACE}/runs?limit=0")).await,
        bad("limit must be from 1 to 1000")
    );
}

#[tokio::test]
async fn a_run_that_fails_is_on_record_with_its_reason() {
    let house = House::new([vec![fail(Failure::BadKey, "the key was refused")]]).await;
    let mut socket = house.socket().await;
    house.put(PLACE, every(1)).await;
    house.world.clock.set(at("2026-02-01T10:01:00Z"));
    let item = rested(&house, &mut socket).await;
    assert_eq!(item["lastResult"], "error");
    assert_eq!(item["lastError"], "the key was refused");
    let run = &runs(&house).await[0];
    assert_eq!((&run["outcome"], &run["error"]), (&json!("error"), &json!("the key was refused")));
}

#[tokio::test]
async fn after_a_sleep_each_rule_does_what_it_says() {
    for (missed, outcomes) in [
        ("skip", &["skipped"][..]),
        ("once", &["success"]),
        // At most 24, though 47 passed; the rest is on record as skipped.
        ("all", &["success"; 24]),
    ] {
        let mut house = House::new(answers(30)).await;
        let mut wish = every(60);
        wish["missed"] = json!(missed);
        house.put(PLACE, wish).await;
        house.kill().await;
        house.world.clock.set(at("2026-02-03T09:30:00Z"));
        house.start().await;
        let mut socket = house.socket().await;
        until(&house, &mut socket, |it| {
            it["running"] == false && it["nextRun"] == "2026-02-03T10:00:00.000Z"
        })
        .await;
        let ledger = runs(&house).await;
        let of = |run: &Value| run["outcome"].as_str().unwrap().to_owned();
        let mut found: Vec<String> = ledger.iter().map(of).collect();
        if missed == "all" {
            assert_eq!(found.pop().as_deref(), Some("skipped"), "the oldest");
            assert_eq!(ledger[0]["due"], "2026-02-03T09:00:00.000Z");
            assert_eq!(ledger[23]["due"], "2026-02-02T10:00:00.000Z");
        }
        assert_eq!(found, outcomes, "{missed}");
    }
}

#[tokio::test]
async fn a_crash_during_a_run_is_on_record_and_nothing_is_repeated() {
    let gate = Gate::default();
    let mut house = House::new([vec![text("so"), wait(&gate)]]).await;
    house.put(PLACE, every(30)).await;
    house.world.clock.set(at("2026-02-01T10:30:00Z"));
    gate.reached().await;
    house.restart().await;
    let mut socket = house.socket().await;
    let item = rested(&house, &mut socket).await;
    assert_eq!(item["lastResult"], "error");
    assert_eq!(item["lastError"], "interrupted by restart");
    assert_eq!(runs(&house).await.len(), 1);
    assert_eq!(house.world.model.prompts().len(), 1);
}

#[tokio::test]
async fn a_preview_tells_the_next_runs_or_what_is_wrong() {
    let house = House::new([]).await;
    let preview = async |schedule: Value| {
        house.post("/api/schedule/preview", json!({ "schedule": schedule })).await
    };
    let told = preview(json!({
        "type": "cron", "expression": "30 2 * * SUN", "timezone": "Europe/Berlin",
    }))
    .await;
    let expected = json!({ "timezone": "Europe/Berlin", "nextRuns": [
        "2026-02-08T01:30:00.000Z", "2026-02-15T01:30:00.000Z", "2026-02-22T01:30:00.000Z",
        "2026-03-01T01:30:00.000Z", "2026-03-08T01:30:00.000Z",
    ] });
    assert_eq!(told, (200, expected));
    let (_, told) = preview(json!({ "type": "interval", "intervalMinutes": 45 })).await;
    assert_eq!(told["nextRuns"][4], "2026-02-01T13:45:00.000Z");
    assert_eq!(told["timezone"], "UTC");
    let lacking = "schedule with type and expression/intervalMinutes is required";
    assert_eq!(preview(Value::Null).await, bad(lacking));
    let (status, wrong) = preview(json!({ "type": "cron", "expression": "61 * * * *" })).await;
    let text = wrong["error"].as_str().unwrap();
    assert_eq!(status, 400);
    assert!(text.starts_with("Invalid cron expression: "), "{text}");
    assert_eq!(house.get("/api/schedule").await, (200, json!({ "schedules": [] })));
}

fn acting(on: &str) -> [Script; 2] {
    [vec![call("", "act", json!({ "on": on }))], vec![text("Done")]]
}

fn need(on: &str) -> Value {
    let args = json!({ "on": on });
    json!({
        "tool": "act", "title": format!("Running act {args}"), "caller": "model", "risk": "acts",
        "detail": { "type": "arguments", "args": args }, "subjects": [on], "patterns": [on],
    })
}

#[tokio::test]
async fn what_a_schedule_needs_is_rehearsed_granted_to_it_and_taken_back() {
    let tool = TestTool::echo().named("act").risky(Risk::Acts);
    let scripts = [acting("a"), acting("a"), acting("a"), acting("a")].concat();
    let house = House::over(World::new(scripts).tool(&tool)).await;
    let mut socket = house.socket().await;
    let rehearsed = house.post(&format!("{PLACE}/rehearse"), every(30)).await;
    assert_eq!(rehearsed, (200, json!({ "needs": [need("a")] })));
    assert_eq!(house.get("/api/schedule").await, (200, json!({ "schedules": [] })));
    let mut wish = every(30);
    wish["rehearse"] = json!(true);
    let made = house.put(PLACE, wish).await;
    let expected = json!({
        "slug": "daily-backup", "nextRun": "2026-02-01T10:30:00.000Z", "created": true,
        "needs": [need("a")],
    });
    assert_eq!(made, (200, expected));
    assert_eq!(tool.calls(), [] as [Value; 0]);
    let (_, list) = house.get("/api/sessions").await;
    assert_eq!(list["grouped"], json!({}), "no session is left of it");

    let body = json!({ "grants": [{ "tool": "act", "pattern": "a" }] });
    let (status, granted) = house.post(&format!("{PLACE}/grants"), body).await;
    let grant = json!({
        "id": granted["grants"][0]["id"], "tool": "act", "caller": "model",
        "scheduleSlug": "daily-backup", "pattern": "a", "grantedAt": "2026-02-01T10:00:00.000Z",
    });
    assert_eq!((status, granted), (200, json!({ "grants": [grant] })));
    assert_eq!(house.get("/api/grants").await, (200, json!({ "grants": [grant] })));
    house.world.clock.set(at("2026-02-01T10:30:00Z"));
    rested(&house, &mut socket).await;
    assert_eq!(tool.calls(), [json!({ "on": "a" })]);
    assert_eq!(runs(&house).await[0]["needed"], json!([]));

    let place = format!("/api/grants/{}", grant["id"].as_str().unwrap());
    assert_eq!(house.delete(&place).await, (200, json!({ "success": true })));
    house.world.clock.set(at("2026-02-01T11:00:00Z"));
    until(&house, &mut socket, |it| {
        it["running"] == false && it["lastRun"] == "2026-02-01T11:00:00.000Z"
    })
    .await;
    assert_eq!(runs(&house).await[0]["needed"], json!([need("a")]));
    assert_eq!(tool.calls().len(), 1);
    assert_eq!(house.get("/api/approvals").await, (200, json!({ "approvals": [] })));
}

#[tokio::test]
async fn what_cannot_be_granted_is_refused() {
    let house = House::new([]).await;
    let place = format!("{PLACE}/grants");
    let leave = json!({ "grants": [{ "tool": "act" }] });
    assert_eq!(house.post(&place, leave.clone()).await, absent("daily-backup"));
    house.put(PLACE, daily()).await;
    assert_eq!(
        house.post(&place, json!({ "grants": [{ "tool": "" }] })).await,
        bad("grants.tool is required")
    );
    let many = json!({ "grants": vec![json!({ "tool": "act" }); 101] });
    assert_eq!(house.post(&place, many).await, bad("grants are at most 100 at once"));
    assert_eq!(house.get("/api/grants").await, (200, json!({ "grants": [] })));
    let mut guest = daily();
    guest["sessionConfig"] = json!({ "model": "agent/test" });
    let refused = house.post(&format!("{PLACE}/rehearse"), guest).await;
    assert_eq!(refused, bad("agent/test acts on its own and cannot be rehearsed"));
}

#[tokio::test]
async fn many_schedules_and_sessions_are_listed_at_once() {
    let house = House::new([]).await;
    for index in 0..100 {
        house.put(&format!("/api/schedule/number-{index:03}"), daily()).await;
    }
    let (_, list) = house.get("/api/schedule").await;
    let slugs: Vec<&str> = list["schedules"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["slug"].as_str().unwrap())
        .collect();
    assert_eq!(slugs.len(), 100);
    assert!(slugs.is_sorted(), "by name");
}
