//! What waits for the person, answered from another terminal.

use std::fs;

use rustix::process::Signal;
use serde_json::Value;

use crate::home::{Home, Process};

const WRITE: &str = r#"/tool write_file {"path":"a/b.txt","content":"new"}"#;

/// Asks, without a terminal, until it is said where to answer; returns what to type there.
fn ask(home: &Home, args: &[&str]) -> (Process, Vec<String>) {
    let mut asking = Process::start(home.command(&[&["ask"], args, &[WRITE]].concat()));
    let told = asking.remark("megaron approvals");
    let (_, command) = told.split_once("or: megaron ").unwrap();
    (asking, command.split(' ').map(str::to_owned).collect())
}

fn run(home: &Home, command: &[String], more: &[&str]) -> crate::home::Ran {
    let args: Vec<&str> = command.iter().map(String::as_str).chain(more.iter().copied()).collect();
    home.run(&args)
}

#[test]
fn what_waits_is_listed_and_allowed_from_another_terminal() {
    let home = Home::new();
    let server = home.serve(&[]);
    assert_eq!(home.run(&["approvals"]).out, "nothing waits for you\n");
    let (asking, command) = ask(&home, &[]);
    let id = command.last().unwrap();
    let listed = home.run(&["approvals"]);
    assert!(listed.out.starts_with(&format!("{id}\n  Writing a/b.txt (write_file)")), "{listed:?}");
    let listed: Value = serde_json::from_str(&home.run(&["approvals", "--json"]).out).unwrap();
    assert_eq!(listed["approvals"][0]["id"], *id);
    assert!(!home.path("a/b.txt").exists());
    let allowed = run(&home, &command, &["--session", "--for", "2h"]);
    assert_eq!((allowed.code, &*allowed.err), (Some(0), "allowed\n"), "{allowed:?}");
    let asked = asking.wait();
    assert_eq!(asked.code, Some(0), "{asked:?}");
    assert_eq!(fs::read_to_string(home.path("a/b.txt")).unwrap(), "new");
    let late = run(&home, &command, &[]);
    assert_eq!(late.code, Some(1));
    assert_eq!(late.err, "megaron: this was answered already, or given up\n");

    let again = home.run(&["ask", "--session", asked.session(), WRITE]);
    assert_eq!(again.code, Some(0), "{again:?}");
    let grants = home.run(&["approvals", "grants"]).out;
    assert!(grants.contains("  write_file: whatever it does\n  by model, in "), "{grants}");
    let grant = grants.split(' ').next().unwrap();
    assert_eq!(home.run(&["approvals", "revoke", grant]).err, "revoked\n");
    let gone = home.run(&["approvals", "revoke", grant]);
    assert_eq!(gone.err, format!("megaron: Grant not found: {grant}\n"));
    drop(server);
}

#[test]
fn a_refusal_reaches_the_agent_and_ctrl_c_withdraws_the_question() {
    let home = Home::new();
    let server = home.serve(&[]);
    let (asking, command) = ask(&home, &[]);
    let id = command.last().unwrap();
    let denied = home.run(&["approvals", "deny", id, "--reason", "not today"]);
    assert_eq!((denied.code, &*denied.err), (Some(0), "denied\n"));
    let asked = asking.wait();
    assert!(asked.err.contains("The person refused this: not today"), "{asked:?}");
    let (asking, _) = ask(&home, &[]);
    asking.signal(Signal::INT);
    assert_eq!(asking.wait().code, Some(130));
    assert_eq!(home.run(&["approvals"]).out, "nothing waits for you\n");
    assert!(!home.path("a").exists());
    drop(server);
}

#[test]
fn a_server_for_one_answer_says_how_it_is_reached() {
    let home = Home::new();
    let nobody = home.run(&["approvals"]);
    assert_eq!(nobody.code, Some(1));
    assert!(nobody.err.contains("`megaron serve` starts one"), "{nobody:?}");
    let (asking, command) = ask(&home, &[]);
    assert_eq!(command[1], "--server");
    assert_eq!(run(&home, &command, &[]).err, "allowed\n");
    assert_eq!(asking.wait().code, Some(0));
    assert!(home.path("a/b.txt").exists());
}

#[test]
fn a_mode_that_allows_it_needs_no_answer() {
    let home = Home::new();
    let ran = home.run(&["ask", "--mode", "auto-safe", WRITE]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(home.path("a/b.txt").exists());
    assert_eq!(home.run(&["ask", "--mode", "yolo", WRITE]).code, Some(2));
}

#[test]
fn what_cannot_be_an_answer_is_refused() {
    let home = Home::new();
    let server = home.serve(&[]);
    let nothing = "0190f5fe-7c00-7a00-8000-000000000001";
    for (args, code, words) in [
        (&["allow", "x"][..], 1, "Approval not found: x"),
        (&["allow", nothing], 1, "Approval not found: 0190f5fe"),
        (&["answer", nothing, "x"], 1, "Approval not found: 0190f5fe"),
        (&["revoke", "x"], 1, "Grant not found: x"),
        (&["allow", nothing, "--session", "--for", "soon"], 2, "no length of time"),
        (&["allow", nothing, "--session", "--always"], 2, "cannot be used with"),
        (&["allow", nothing, "--for", "2h"], 1, "--for needs --session"),
        (&["allow"], 2, "<ID>"),
    ] {
        let ran = home.run(&[&["approvals"], args].concat());
        assert_eq!(ran.code, Some(code), "{args:?} {ran:?}");
        assert!(ran.err.contains(words), "{args:?} {ran:?}");
    }
    drop(server);
}
