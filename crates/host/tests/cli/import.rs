//! Taking over a Caco home: what comes of it, and that it stays as it was.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use crate::home::Home;

const MUSIC: &str = "018f0000-0000-7000-8000-00000000000a";
const HELLO: &str = "018f0000-0000-7000-8000-00000000000b";

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/caco")
}

/// Every file below, with what it holds.
fn contents(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    let mut open = vec![dir.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                all.push((path.clone(), fs::read(&path).unwrap()));
            }
        }
    }
    all.sort();
    all
}

fn import(home: &Home, more: &[&str]) -> String {
    import_from(&fixture(), home, more)
}

fn import_from(from: &Path, home: &Home, more: &[&str]) -> String {
    let mut args = vec!["import", "caco", "--from", from.to_str().unwrap()];
    args.extend(more);
    let ran = home.run(&args);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran.out
}

#[test]
fn a_home_is_taken_over_once_and_left_as_it_was() {
    let home = Home::new();
    let before = contents(&fixture());
    let taken =
        "2 sessions (21 entries, 1 outputs, 0 pictures), 1 applets, 2 schedules, preferences";
    let dry = import(&home, &["--dry-run"]);
    assert!(dry.starts_with(&format!("would be taken: {taken}\n")), "{dry}");
    assert!(!home.path("home/megaron.db").exists() && !home.path("home/applets").exists());

    let first = import(&home, &[]);
    assert!(first.starts_with(&format!("taken: {taken}\n")), "{first}");
    for told in [
        "session not-a-uuid: its name is no UUID",
        "1 lines that cannot be read were passed over",
        "1 attachments are no longer where they were",
        "applet broken: ",
        "  schedule daily\n  schedule odd\n",
        "schedule daily: it asks for the model claude-opus",
        "schedule timeless: it says nothing of when it runs",
        "schedule Not_a_slug: its name is no slug",
        "not taken: temporary files (1), sign-ins",
    ] {
        assert!(first.contains(told), "{first}");
    }
    let script = fs::read_to_string(home.path("home/applets/calculator/script.js")).unwrap();
    assert_eq!(script, "// adds\n");
    let again = import(&home, &[]);
    let nothing = "taken: 0 sessions (0 entries, 0 outputs, 0 pictures), 0 applets, 0 schedules\n\
                   here already: 2 sessions, 1 applets, 2 schedules, preferences\n";
    assert!(again.starts_with(nothing), "{again}");
    assert_eq!(contents(&fixture()), before);
}

#[test]
fn what_was_taken_over_is_served_in_its_order() {
    let home = Home::new();
    import(&home, &[]);
    let server = home.serve(&[]);
    let key = home.run(&["key"]).out.trim().to_owned();
    let get = |path: &str| -> Value { server.ask("GET", path, &key, None).1 };
    let log = get(&format!("/api/log?session={MUSIC}"));
    let facts = log["facts"].as_array().unwrap();
    let kinds: Vec<_> = facts.iter().map(|it| it["fact"].as_str().unwrap()).collect();
    let expected = [
        "opened",
        "said",
        "step_started",
        "answered",
        "tool_returned",
        "embedded",
        "tool_returned",
        "step_started",
        "answered",
        "turn_ended",
        "said",
        "step_started",
        "answered",
        "tool_returned",
        "turn_ended",
        "env_hinted",
        "context_changed",
        "observed",
    ];
    assert_eq!(kinds, expected);
    assert_eq!(facts[0]["name"], "Music");
    assert_eq!(facts[3]["reasoning"], "They want music.");
    assert_eq!(facts[4]["output"], json!({ "result": "done", "text": "Message sent" }));
    assert_eq!(facts[1]["key"], "00000000-0000-4000-8000-000000000002", "as it was known there");
    assert_eq!(facts[10]["text"], "add them");
    assert_eq!(facts[10]["origin"], json!({ "from": "applet", "slug": "calculator" }));
    assert_eq!(facts[13]["output"], json!({ "result": "interrupted" }));
    let output = get("/api/outputs/out_1769508005000_abc123?format=json");
    let player = "https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ";
    assert_eq!(output["metadata"]["playerUrl"], player);
    let hello = get(&format!("/api/sessions/{HELLO}/state"));
    assert_eq!(hello["cwd"], "/home/me/other");
    let sessions = get("/api/sessions");
    assert_eq!(sessions["unobservedCount"], 0);
    let preferences = json!({ "lastCwd": "/", "lastModel": "demo", "lastSessionId": MUSIC });
    assert_eq!(get("/api/preferences"), preferences);
    assert_eq!(server.stop().code, Some(0));
}

#[test]
fn schedules_go_on_where_they_were_and_make_up_for_nothing() {
    let home = Home::new();
    import(&home, &[]);
    let server = home.serve(&[]);
    let key = home.run(&["key"]).out.trim().to_owned();
    let get = |path: &str| -> Value { server.ask("GET", path, &key, None).1 };
    let mut daily = get("/api/schedule/daily");
    let next = daily["nextRun"].take();
    let next: jiff::Timestamp = next.as_str().unwrap().parse().unwrap();
    let expected = json!({
        "slug": "daily",
        "prompt": "go",
        "enabled": true,
        "schedule": { "type": "cron", "expression": "0 7 * * *" },
        "sessionConfig": { "model": "claude-opus", "persistSession": false },
        "lastRun": "2026-01-27T07:00:01.000Z",
        "lastResult": "error",
        "lastError": "Session busy",
        "nextRun": null,
        "sessionId": MUSIC,
        "createdAt": "2026-01-20T08:00:00.000Z",
        "updatedAt": "2026-01-21T08:00:00.000Z",
        "running": false,
        "missed": "once",
        "onNewNeed": "deny-and-continue",
    });
    assert_eq!(daily, expected);
    let runs = get("/api/schedule/daily/runs");
    let runs = runs["runs"].as_array().unwrap();
    assert_eq!((runs.len(), &runs[0]["due"]), (1, &json!("2026-01-27T07:00:01.000Z")));
    assert!(next > "2026-01-28T12:00:00Z".parse().unwrap(), "{next}");
    let odd = get("/api/schedule/odd");
    assert_eq!(odd["schedule"], json!({ "type": "interval", "intervalMinutes": 60 }));
    assert_eq!(
        (&odd["enabled"], &odd["lastRun"], &odd["nextRun"]),
        (&json!(false), &Value::Null, &Value::Null)
    );
    assert_eq!(server.stop().code, Some(0));
}

/// The smallest picture there is.
const PIXEL: &[u8] =
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\
    \0\0\0\rIDATx\xdac\xfc\xcf\xc0P\x0f\0\x04\x85\x01\x80\x84\xa9\x8c!\0\0\0\0IEND\xaeB`\x82";

#[test]
fn pictures_that_are_still_there_come_with_their_messages() {
    let home = Home::new();
    let from = home.path("source");
    for (path, bytes) in contents(&fixture()) {
        let to = from.join(path.strip_prefix(fixture()).unwrap());
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        let there = from.join("a.png").display().to_string();
        let text = String::from_utf8(bytes).unwrap().replace("/nowhere/a.png", &there);
        fs::write(to, text).unwrap();
    }
    fs::write(from.join("a.png"), PIXEL).unwrap();
    let told = import_from(&from, &home, &[]);
    assert!(told.starts_with("taken: 2 sessions (21 entries, 1 outputs, 1 pictures)"), "{told}");
    fs::remove_dir_all(&from).unwrap();
    let server = home.serve(&[]);
    let key = home.run(&["key"]).out.trim().to_owned();
    let log = server.ask("GET", &format!("/api/log?session={MUSIC}"), &key, None).1;
    let attached = &log["facts"][10]["attachments"][0];
    assert_eq!((&attached["name"], &attached["mime"]), (&json!("a.png"), &json!("image/png")));
    let path = attached["path"].as_str().unwrap();
    assert_eq!(fs::read(path).unwrap(), PIXEL);
    assert!(Path::new(path).starts_with(home.path("home")), "{path}");
    assert_eq!(server.stop().code, Some(0));
}

#[test]
fn a_folder_that_holds_nothing_of_the_kind_is_refused() {
    let home = Home::new();
    let ran = home.run(&["import", "caco", "--from", "."]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.err.contains("neither .caco nor .copilot"), "{ran:?}");
}
