//! The program as a person or a script meets it.
#![expect(clippy::unwrap_used, reason = "all of it is a test")]

mod approvals;
mod cabinet;
mod commands;
mod driven;
mod home;
mod import;
mod keyring;
mod lenders;
mod models;
mod phone;
mod played;
mod provider;
mod schedules;
mod secrets;
mod usage;
mod windows;

use std::{
    fs,
    io::{BufRead as _, Write as _},
    os::unix::fs::PermissionsExt as _,
    process::Stdio,
};

use rustix::process::Signal;

use home::{Home, Process};

#[test]
fn a_server_says_where_it_is_and_tidies_up_when_stopped() {
    let home = Home::new();
    let server = home.serve(&[]);
    let login = format!("log in at http://{}/login?code=", server.addr);
    assert!(server.login.starts_with(&login), "{}", server.login);
    assert_eq!(server.get("/healthz", ""), 200);
    let note = home.path("home/server.json");
    assert!(fs::read_to_string(&note).unwrap().contains(&server.addr));
    assert_eq!(fs::metadata(&note).unwrap().permissions().mode() & 0o777, 0o600);
    let ran = server.stop();
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(!note.exists());
}

#[test]
fn only_the_key_opens_the_door_and_a_new_one_closes_it_to_the_old() {
    let home = Home::new();
    let server = home.serve(&[]);
    let old = home.run(&["key"]).out.trim().to_owned();
    assert_eq!(server.get("/api/preferences", &old), 200);
    assert_eq!(server.get("/api/preferences", "mgr_wrong"), 401);
    let new = home.run(&["key", "new"]).out.trim().to_owned();
    assert_eq!(server.get("/api/preferences", &old), 401);
    assert_eq!(server.get("/api/preferences", &new), 200);
    assert_eq!(home.run(&["key", "revoke"]).code, Some(0));
    assert_eq!(server.get("/api/preferences", &new), 401);
    assert_eq!(home.run(&["key"]).code, Some(1));
    let ran = home.run(&["ask", "hello"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.err.contains("megaron key"), "{ran:?}");
}

#[test]
fn whoever_is_on_this_machine_is_let_in_when_it_is_trusted() {
    let home = Home::new();
    let server = home.serve(&["--trust-loopback"]);
    assert_eq!(server.get("/api/preferences", ""), 200);
    assert!(server.stop().err.contains("--trust-loopback"));
}

#[test]
fn a_running_server_is_asked_and_the_conversation_goes_on() {
    let home = Home::new();
    let server = home.serve(&[]);
    fs::write(home.path("notes.md"), "remember the milk").unwrap();
    let first = home.run(&["ask", r#"/tool read_file {"path":"notes.md"}"#]);
    assert_eq!(first.code, Some(0), "{first:?}");
    assert!(first.out.contains("remember the milk"), "{first:?}");
    assert!(first.err.contains("· read_file"), "{first:?}");
    let second = home.run(&["ask", "--session", first.session(), "hello"]);
    assert_eq!(second.code, Some(0), "{second:?}");
    assert_eq!(second.session(), first.session());
    assert_eq!(server.stop().code, Some(0));
}

#[test]
fn without_a_server_one_runs_for_the_length_of_the_answer() {
    let home = Home::new();
    let first = home.run(&["ask", "/long 3"]);
    assert_eq!(first.code, Some(0), "{first:?}");
    assert_eq!(first.out, "word1 word2 word3\n");
    assert!(!home.path("home/server.json").exists());
    let second = home.run(&["ask", "--session", first.session(), "/long 2"]);
    assert_eq!((second.code, second.out.as_str()), (Some(0), "word1 word2\n"));
}

#[test]
fn a_question_can_be_piped_in() {
    let home = Home::new();
    for args in [&["ask"][..], &["ask", "-"]] {
        let mut command = home.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(b"/long 2\n").unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "word1 word2\n");
    }
}

#[test]
fn the_exit_code_tells_what_went_wrong() {
    let home = Home::new();
    for (args, code) in [
        (&["ask", "/fail overloaded"][..], 1),
        (&["ask", ""], 2),
        (&["ask", "--no-such-flag", "x"], 2),
        (&["ask", "--session", "nonsense", "x"], 3),
        (&["ask", "--session", "0190f5fe-7c00-7a00-8000-000000000001", "x"], 3),
        (&["ask", "--model", "none", "x"], 3),
    ] {
        let ran = home.run(args);
        assert_eq!(ran.code, Some(code), "{args:?} {ran:?}");
        assert!(!ran.err.is_empty() && ran.out.is_empty(), "{ran:?}");
    }
}

#[test]
fn events_come_as_lines_of_json() {
    let ran = Home::new().run(&["ask", "--json", "/long 2"]);
    let events: Vec<serde_json::Value> =
        ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(events.iter().all(|event| event["type"] == "event"), "{events:?}");
    let kind = |at: usize| events[at]["event"]["type"].as_str();
    assert_eq!(kind(0), Some("user.message"));
    assert_eq!(kind(events.len() - 1), Some("session.idle"));
}

#[test]
fn ctrl_c_cancels_the_turn_with_or_without_a_server() {
    for with_server in [false, true] {
        let home = Home::new();
        let server = with_server.then(|| home.serve(&[]));
        let mut asking = Process::start(home.command(&["ask", "/slow 20\n/long 100000"]));
        let mut out = asking.stdout();
        let mut begin = [0; 5];
        std::io::Read::read_exact(&mut out, &mut begin).unwrap();
        asking.signal(Signal::INT);
        let mut rest = String::new();
        while out.read_line(&mut rest).unwrap() > 0 {}
        let ran = asking.wait();
        assert_eq!(ran.code, Some(130), "{ran:?}");
        assert!(rest.ends_with('\n'), "what was said is kept: {rest:?}");
        assert!(ran.err.contains("cancelled by user"), "{ran:?}");
        drop(server);
    }
}

#[test]
fn a_server_killed_in_the_middle_is_found_again() {
    let home = Home::new();
    let server = home.serve(&[]);
    let mut asking = Process::start(home.command(&["ask", "/slow 20\n/long 100000"]));
    let mut out = asking.stdout();
    let mut begin = [0; 30];
    std::io::Read::read_exact(&mut out, &mut begin).unwrap();
    server.process.signal(Signal::KILL);
    server.process.wait();
    let server = home.serve(&[]);
    let mut text = String::from_utf8(begin.to_vec()).unwrap();
    std::io::Read::read_to_string(&mut out, &mut text).unwrap();
    let ran = asking.wait();
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.err.contains("stopped before this answer was finished"), "{ran:?}");
    let words: Vec<&str> = text.split_whitespace().collect();
    for (index, word) in words.iter().enumerate() {
        assert_eq!(*word, format!("word{}", index + 1), "nothing missing, nothing twice: {text}");
    }
    drop(server);
}

#[test]
fn a_stopped_server_lets_a_turn_end_and_a_second_signal_does_not() {
    let home = Home::new();
    let server = home.serve(&["--drain", "30"]);
    let mut asking = Process::start(home.command(&["ask", "/slow 50\n/long 10"]));
    let mut out = asking.stdout();
    let mut begin = [0; 5];
    std::io::Read::read_exact(&mut out, &mut begin).unwrap();
    assert_eq!(server.stop().code, Some(0));
    // Whoever was cut off before the end learns of it from the next server.
    let server = home.serve(&["--drain", "30"]);
    let ran = asking.wait();
    assert_eq!(ran.code, Some(0), "{ran:?}");

    let mut asking = Process::start(home.command(&["ask", "/slow 50\n/long 100000"]));
    // Kept: who asks and cannot tell what it hears gives up, and its turn ends.
    let mut out = asking.stdout();
    std::io::Read::read_exact(&mut out, &mut begin).unwrap();
    server.process.signal(Signal::TERM);
    while home.path("home/server.json").exists() {
        std::thread::yield_now();
    }
    server.process.signal(Signal::TERM);
    assert_eq!(server.process.wait().code, Some(130), "it did not wait for the drain");
    drop(out);
}

#[test]
fn a_second_server_is_refused() {
    let home = Home::new();
    let server = home.serve(&[]);
    let ran = home.run(&["serve", "--no-open", "--listen", "127.0.0.1:0"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.err.contains("uses the data directory"), "{ran:?}");
    let ran = home.run(&["serve", "--no-open", "--listen", &server.addr]);
    assert!(ran.err.contains(&format!("runs at http://{}", server.addr)), "{ran:?}");
    assert_eq!(server.get("/healthz", ""), 200);
    assert!(home.path("home/server.json").exists(), "the note of the first stays");
}

#[test]
fn what_is_wrong_with_the_configuration_is_said() {
    let home = Home::new();
    fs::create_dir(home.path("home")).unwrap();
    fs::write(home.path("home/config.toml"), "[server]\nlissten = \"x\"").unwrap();
    for args in [&["serve", "--no-open"][..], &["config"], &["doctor"]] {
        let ran = home.run(args);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        let all = ran.out + &ran.err;
        assert!(all.contains("line 2: there is no key `server.lissten`"), "{all}");
        assert!(all.contains("the nearest is `server.listen`"), "{all}");
    }
}

#[test]
fn the_doctor_finds_a_healthy_house_healthy() {
    let home = Home::new();
    let server = home.serve(&[]);
    let ran = home.run(&["doctor"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.out.contains("runs and takes the key") && !ran.out.contains('✗'), "{ran:?}");
    drop(server);
    let findings = home.run(&["doctor", "--json"]).out;
    let findings: Vec<serde_json::Value> = serde_json::from_str(&findings).unwrap();
    assert!(
        findings.iter().any(|one| one["found"] == "the database can be opened"),
        "{findings:?}"
    );
}

#[test]
fn the_doctor_names_applets_that_cannot_be_used() {
    let home = Home::new();
    let folder = home.path("home/applets/broken");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("meta.json"), "[]").unwrap();
    let ran = home.run(&["doctor"]);
    let told = format!("! the applet in {}: meta.json must be an object", folder.display());
    assert!(ran.out.contains(&told), "{ran:?}");
}

#[test]
fn help_teaches() {
    let home = Home::new();
    for (args, part) in [
        (&["--help"][..], "First steps"),
        (&["serve", "--help"], "MEGARON_LISTEN"),
        (&["serve", "--help"], "an origin of its own"),
        (&["ask", "--help"], "130  cancelled"),
        (&["mcp", "--help"], "mcpServers"),
        (&["config", "--help"], "calls_per_minute = 10"),
        (&["config", "--help"], "[providers.ollama]"),
        (&["approvals", "--help"], "--always --pattern 'git *'"),
        (&["models", "--help"], "detect --write"),
        (&["config", "--help"], "day_usd = 5.0"),
        (&["usage", "--help"], "megaron usage --days 1"),
        (&["key", "--help"], "megaron key set anthropic"),
        (&["mcp", "--help"], "megaron mcp import"),
        (&["config", "--help"], "[mcp.servers.files]"),
        (&["completions", "bash"], "megaron"),
    ] {
        let ran = home.run(args);
        assert!(ran.code == Some(0) && ran.out.contains(part), "{args:?} {ran:?}");
    }
}
