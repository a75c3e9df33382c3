//! What agents run, with the real program between them and the machine.

use std::{fs, os::unix::fs::OpenOptionsExt as _, process::Command};

use rustix::process::Signal;

use crate::home::{Home, Process};

fn configured(text: &str) -> Home {
    let home = Home::new();
    fs::create_dir(home.path("home")).unwrap();
    fs::write(home.path("home/config.toml"), text).unwrap();
    home
}

#[test]
fn an_agent_runs_commands_and_never_sees_our_secrets() {
    let home = configured("[approvals]\nmode = \"full\"\n");
    fs::write(home.path("home/key"), "mgr_secret").unwrap();
    let script = "echo begun; env; cat home/key; echo over";
    let mut ask =
        home.command(&["ask", &format!("/tool shell {{\"command\": \"{script}\"}}"), "--json"]);
    ask.env("SOME_API_KEY", "a-secret").env("MEGARON_SESSION_TOKEN", "a-secret");
    let ran = Process::start(ask).wait();
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.out.contains("begun") && ran.out.contains("over"), "{ran:?}");
    assert!(!ran.out.contains("a-secret"), "{ran:?}");
    if ran.out.contains("not sandboxed: ") {
        println!("this machine has no sandbox: {}", ran.out);
    } else {
        assert!(!ran.out.contains("mgr_secret"), "{ran:?}");
    }
}

#[test]
fn programs_on_the_list_run_unasked() {
    let home = configured("[shell]\nallow = [\"touch\"]\n");
    let ran = home.run(&["ask", "/tool shell {\"command\": \"touch one && touch two\"}"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(home.path("one").exists() && home.path("two").exists());
}

#[test]
fn a_command_does_not_outlive_a_server_that_is_killed() {
    let home = configured("[approvals]\nmode = \"full\"\n");
    assert!(Command::new("mkfifo").arg(home.path("fifo")).status().unwrap().success());
    let server = home.serve(&[]);
    let script = "/tool shell {\"command\": \"cat < fifo\"}";
    let asking = Process::start(home.command(&["ask", script]));
    // Opened as soon as the command reads.
    let writing = fs::OpenOptions::new().write(true).open(home.path("fifo")).unwrap();
    server.process.signal(Signal::KILL);
    drop(server);
    drop(asking);
    let nonblocking = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let reads = || {
        fs::OpenOptions::new().write(true).custom_flags(nonblocking).open(home.path("fifo")).is_ok()
    };
    while reads() {
        std::thread::yield_now();
    }
    drop(writing);
}
