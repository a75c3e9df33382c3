//! What runs by the clock, seen and steered from a terminal.

use serde_json::{Value, json};

use crate::home::Home;

#[test]
fn schedules_are_listed_run_switched_and_removed() {
    let home = Home::new();
    let server = home.serve(&[]);
    assert_eq!(home.run(&["schedules"]).out, "nothing is scheduled\n");
    let key = home.run(&["key", "show"]).out.trim().to_owned();
    let timing = json!({ "type": "interval", "intervalMinutes": 60 });
    let wish = json!({ "prompt": "hello", "schedule": timing });
    assert_eq!(server.ask("PUT", "/api/schedule/hourly", &key, Some(&wish)).0, 200);
    let listed = home.run(&["schedules", "list"]).out;
    assert!(listed.starts_with("hourly  every 60 minutes, next at 20"), "{listed}");
    let off = home.run(&["schedules", "disable", "hourly"]);
    assert_eq!((off.code, &*off.err), (Some(0), "off\n"));
    let session = home.run(&["schedules", "run", "hourly"]).out;
    let listed: Value = serde_json::from_str(&home.run(&["schedules", "--json"]).out).unwrap();
    assert_eq!(listed["schedules"][0]["sessionId"], session.trim());
    assert_eq!(listed["schedules"][0]["enabled"], false);
    let on = home.run(&["schedules", "enable", "hourly"]);
    assert!(on.err.starts_with("on; runs next at 20"), "{on:?}");
    assert_eq!(home.run(&["schedules", "remove", "hourly"]).err, "removed\n");
    for name in ["hourly", "../x"] {
        let gone = home.run(&["schedules", "remove", name]);
        assert_eq!(gone.err, format!("megaron: Schedule not found: {name}\n"));
    }
    drop(server);
}

#[test]
fn a_run_that_a_kill_cut_short_is_on_record_and_not_repeated() {
    let home = Home::new();
    let server = home.serve(&[]);
    let key = home.run(&["key", "show"]).out.trim().to_owned();
    let timing = json!({ "type": "cron", "expression": "@yearly" });
    let wish = json!({ "prompt": "/slow 60000\n/long 100", "schedule": timing });
    assert_eq!(server.ask("PUT", "/api/schedule/slow", &key, Some(&wish)).0, 200);
    let session = home.run(&["schedules", "run", "slow"]).out;
    let runs = "/api/schedule/slow/runs";
    assert_eq!(server.ask("GET", runs, &key, None).1["runs"][0]["outcome"], Value::Null);
    // As a signal that nobody can catch.
    drop(server);
    let server = home.serve(&[]);
    let ledger = loop {
        let (_, ledger) = server.ask("GET", runs, &key, None);
        if !ledger["runs"][0]["outcome"].is_null() {
            break ledger;
        }
    };
    assert_eq!(ledger["runs"].as_array().unwrap().len(), 1);
    let run = &ledger["runs"][0];
    assert_eq!(
        (&run["outcome"], &run["error"]),
        (&json!("error"), &json!("interrupted by restart"))
    );
    assert_eq!(run["sessionId"], session.trim());
    let (_, log) = server.ask("GET", &format!("/api/log?session={}", session.trim()), &key, None);
    let said = log.to_string().matches("\"fact\":\"said\"").count();
    assert_eq!(said, 1, "it was said once: {log}");
}
