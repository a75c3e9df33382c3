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
