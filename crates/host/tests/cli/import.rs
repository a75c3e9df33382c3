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
    let from = fixture();
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
    let taken = "2 sessions (21 entries, 1 outputs), 1 applets";
    let dry = import(&home, &["--dry-run"]);
    assert!(dry.starts_with(&format!("would be taken: {taken}\n")), "{dry}");
    assert!(!home.path("home/megaron.db").exists() && !home.path("home/applets").exists());

    let first = import(&home, &[]);
    assert!(first.starts_with(&format!("taken: {taken}\n")), "{first}");
    for told in [
        "session not-a-uuid: its name is no UUID",
        "1 lines that cannot be read were passed over",
        "1 attachments were not taken",
        "applet broken: ",
        "not taken: schedules (1)",
    ] {
        assert!(first.contains(told), "{first}");
    }
    let script = fs::read_to_string(home.path("home/applets/calculator/script.js")).unwrap();
    assert_eq!(script, "// adds\n");
    let again = import(&home, &[]);
    let nothing = "taken: 0 sessions (0 entries, 0 outputs), 0 applets\n\
                   here already: 2 sessions, 1 applets\n";
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
    assert_eq!(server.stop().code, Some(0));
}

#[test]
fn a_folder_that_holds_nothing_of_the_kind_is_refused() {
    let home = Home::new();
    let ran = home.run(&["import", "caco", "--from", "."]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.err.contains("neither .caco nor .copilot"), "{ran:?}");
}
