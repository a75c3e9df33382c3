//! A command that is waited for: what comes back, what is shown meanwhile, and that it can be stopped.

use std::{fs, process::Command, time::Duration};

use kernel::{
    approvals::Mode,
    feed::Heard,
    question::{About, Decision, Scope},
    toolbox::{Caller, Deed, Detail, Risk, ToolError},
    update::{Fact, Message, Signal, Update, WhenBusy},
};
use serde_json::json;
use testkit::model;
use tools::{sandbox::Lock, shell::Sandboxing};

use super::{Plan, Yard, done, locks};

const OPEN: &str = "not sandboxed: this is a test";

#[tokio::test]
async fn a_command_runs_in_the_folder_and_says_how_it_ended() {
    let yard = Yard::new(Plan::default()).await;
    let room = yard.path("room").display().to_string();
    assert_eq!(yard.run(json!({ "command": "pwd" })).await, done(OPEN, &format!("{room}\n")));
    let both = json!({ "command": "echo out; echo err >&2; echo out; exit 3" });
    let expected = (OPEN.into(), "exit code 3".into(), "out\nerr\nout\n".into());
    assert_eq!(yard.run(both).await, expected);
    let killed = yard.run(json!({ "command": "kill -9 $$" })).await;
    assert_eq!(killed, (OPEN.into(), "exit code 137".into(), String::new()));
    let reply = yard.call("shell", json!({ "command": "exit 4" })).await.unwrap();
    let data = reply.data.unwrap();
    assert_eq!((&data["exit_code"], &data["timed_out"]), (&json!(4), &json!(false)));
}

#[tokio::test]
async fn there_is_no_input_and_little_environment() {
    let yard = Yard::new(Plan::default()).await;
    assert_eq!(yard.run(json!({ "command": "cat" })).await, done(OPEN, ""));
    let (_, _, names) = yard.run(json!({ "command": "env | cut -d= -f1 | sort | xargs" })).await;
    assert_eq!(names, "HOME NAMED PATH PWD SHLVL TERM _\n");
}

#[tokio::test]
async fn what_is_left_running_does_not_keep_the_call() {
    let yard = Yard::new(Plan::default()).await;
    let printed = yard.run(json!({ "command": "sleep 1000 & echo started" })).await;
    assert_eq!(printed, done(OPEN, "started\n"));
}

#[tokio::test]
async fn a_terminal_is_one() {
    for lock in [None].into_iter().chain(locks().await.into_iter().map(Some)) {
        let yard = Yard::new(lock.map_or_else(Plan::default, Plan::locked)).await;
        let script = "test -t 0 && test -t 1 && test -t 2 && stty size < /dev/tty; \
                      printf '\\033[31mred\\033[0m'; echo > /dev/stderr";
        let (_, end, printed) = yard.run(json!({ "command": script, "tty": true })).await;
        assert_eq!((end.as_str(), printed.as_str()), ("exit code 0", "40 120\nred\n"), "{lock:?}");
    }
}

#[tokio::test]
async fn a_flood_is_bounded() {
    let yard = Yard::new(Plan::default()).await;
    let flood = "echo first; head -c 50000000 /dev/zero | tr '\\0' x; echo; echo last";
    let (_, end, printed) = yard.run(json!({ "command": flood })).await;
    assert_eq!(end, "exit code 0");
    assert!(printed.starts_with("first\nxx") && printed.ends_with("xx\nlast\n"));
    assert!(printed.contains("bytes left out]") && printed.len() < 3_000_000, "{}", printed.len());
}

#[tokio::test]
async fn one_that_takes_too_long_is_ended_with_all_that_it_started() {
    for lock in [None].into_iter().chain(locks().await.into_iter().map(Some)) {
        let yard = Yard::new(lock.map_or_else(Plan::default, Plan::locked)).await;
        nix_fifo(&yard);
        let command = "echo begun; (exec cat < fifo) & exec cat < fifo";
        let args = json!({ "command": command, "timeout_seconds": 1 });
        let (_, end, printed) = yard.run(args).await;
        assert_eq!(end, "ended because it took longer than 1 s");
        // On a busy machine it may not have come as far as that.
        assert!("begun\n".starts_with(&printed), "{printed}");
        until_nobody_reads(&yard).await;
    }
}

#[tokio::test]
async fn to_drop_the_call_is_to_end_the_command() {
    for lock in [None].into_iter().chain(locks().await.into_iter().map(Some)) {
        let yard = Yard::new(lock.map_or_else(Plan::default, Plan::locked)).await;
        nix_fifo(&yard);
        let detached = if lock.is_some() { "setsid " } else { "" };
        let command = format!("{detached}cat < fifo & echo x > begun; exec cat < fifo");
        let call = yard.run(json!({ "command": command }));
        let begun = async {
            while !yard.path("room/begun").exists() {
                tokio::task::yield_now().await;
            }
            // Both wait for somebody who writes; then they read.
            fs::OpenOptions::new().write(true).open(yard.path("room/fifo")).unwrap()
        };
        let begun = async {
            let fifo = begun.await;
            tokio::task::yield_now().await;
            fifo
        };
        tokio::select! {
            ended = call => panic!("{ended:?}"),
            fifo = begun => drop(fifo),
        }
        until_nobody_reads(&yard).await;
    }
}

fn nix_fifo(yard: &Yard) {
    let made = Command::new("mkfifo").arg(yard.path("room/fifo")).status().unwrap();
    assert!(made.success());
}

/// Waits until no process has the pipe open for reading.
pub async fn until_nobody_reads(yard: &Yard) {
    use std::os::unix::fs::OpenOptionsExt as _;
    let path = yard.path("room/fifo");
    let nonblocking = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let gone = async {
        while fs::OpenOptions::new().write(true).custom_flags(nonblocking).open(&path).is_ok() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), gone).await.unwrap();
}

#[tokio::test]
async fn what_is_wrong_with_a_call_is_said() {
    let yard = Yard::new(Plan::default()).await;
    for (args, message) in [
        (json!({ "command": " " }), "the command is empty"),
        (json!({ "command": "a\0b" }), "a command cannot contain a NUL character"),
        (
            json!({ "command": "ls", "timeout_seconds": 0 }),
            "timeout_seconds must be from 1 to 600, not 0",
        ),
        (
            json!({ "command": "ls", "timeout_seconds": 601 }),
            "timeout_seconds must be from 1 to 600, not 601",
        ),
        (json!({ "command": "ls", "sandbox": true }), "this cannot be sandboxed: this is a test"),
    ] {
        let failed = yard.call("shell", args).await;
        assert_eq!(failed, Err(ToolError::Failed(message.into())));
    }
}

#[tokio::test]
async fn the_configuration_decides_about_the_sandbox() {
    let always = Plan { sandboxing: Sandboxing::Always, ..Plan::default() };
    let never = Plan { sandboxing: Sandboxing::Never, ..Plan::locked(Lock::Namespaces) };
    for (plan, args, message) in [
        (always, json!({ "command": "ls" }), "this cannot be sandboxed: this is a test"),
        (
            never,
            json!({ "command": "ls", "sandbox": true }),
            "the sandbox is switched off here; leave `sandbox` out",
        ),
        (
            Plan { sandboxing: Sandboxing::Always, ..Plan::locked(Lock::Namespaces) },
            json!({ "command": "ls", "sandbox": false }),
            "every command is sandboxed here; leave `sandbox` out",
        ),
    ] {
        let failed = Yard::new(plan).await.call("shell", args).await;
        assert_eq!(failed, Err(ToolError::Failed(message.into())));
    }
    let never = Plan { sandboxing: Sandboxing::Never, ..Plan::locked(Lock::Namespaces) };
    let ran = Yard::new(never).await.run(json!({ "command": "echo" })).await;
    assert_eq!(ran, done("not sandboxed", "\n"));
}

#[tokio::test]
async fn what_is_asked_for_is_what_would_be_done() {
    use Mode::{Ask, AutoSafe};
    let boxed = Ok(Lock::Landlock);
    for (mode, lock, args, risk) in [
        (Ask, boxed.clone(), json!({ "command": "git log | wc -l" }), Risk::Runs),
        (
            Ask,
            boxed.clone(),
            json!({ "command": "git log | wc -l", "sandbox": true }),
            Risk::RunsBoxed,
        ),
        (AutoSafe, boxed, json!({ "command": "git log | wc -l", "sandbox": false }), Risk::Runs),
        (AutoSafe, Err("no".into()), json!({ "command": "git log | wc -l" }), Risk::Runs),
    ] {
        let why_not = lock.clone().err();
        let yard = Yard::new(Plan { mode, lock, ..Plan::default() }).await;
        let asked = ask(&yard, args, Decision::Deny { reason: None }).await;
        let cwd = yard.path("room").display().to_string();
        let sandboxed = risk == Risk::RunsBoxed;
        let command = "git log | wc -l".to_owned();
        let detail = Detail::Command { command, cwd, sandboxed, why_not };
        let subjects = vec!["git log".to_owned(), "wc -l".to_owned()];
        assert_eq!(asked, Deed { risk, detail, subjects, within: None });
    }
}

/// What the person is asked before this is run, and the answer given.
async fn ask(yard: &Yard, args: serde_json::Value, decision: Decision) -> Deed {
    let call = yard.call_as(Caller::Model, "shell", args);
    let answer = async {
        loop {
            if let Some(waiting) = yard.host.questions().await.unwrap().pop() {
                let About::Leave { deed, .. } = waiting.question.about else { panic!() };
                yard.host.decide(waiting.question.id, decision, "a test").await.unwrap();
                return deed;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::join!(call, answer).1
}

#[tokio::test]
async fn in_ask_mode_nothing_runs_without_a_yes() {
    let yard = Yard::new(Plan { mode: Mode::Ask, ..Plan::default() }).await;
    let args = json!({ "command": "touch ran" });
    ask(&yard, args.clone(), Decision::Deny { reason: None }).await;
    assert!(!yard.path("room/ran").exists());
    let pattern = Some("touch *".to_owned());
    let always = Decision::Allow { scope: Scope::Always, pattern, lasts: None };
    ask(&yard, args, always).await;
    assert!(yard.path("room/ran").exists());
    let again = yard.call_as(Caller::Model, "shell", json!({ "command": "touch again" })).await;
    assert!(again.is_ok() && yard.path("room/again").exists());
    let more = json!({ "command": "touch more > other" });
    let asked = ask(&yard, more, Decision::Deny { reason: None }).await;
    assert_eq!(asked.subjects, ["$ touch more > other"]);
    assert!(!yard.path("room/other").exists());
}

#[tokio::test]
async fn what_is_printed_is_shown_while_it_runs() {
    let script = "echo one; cat < fifo; echo two";
    let scripts = vec![
        vec![model::call("c1", "shell", json!({ "command": script }))],
        vec![model::text("done")],
    ];
    let yard = Yard::new(Plan { scripts, ..Plan::default() }).await;
    nix_fifo(&yard);
    let mut feed = yard.host.feed(yard.session, None).await.unwrap();
    let message = Message::from_user("go");
    yard.host.post(yard.session, message, WhenBusy::Refuse).await.unwrap();
    let (mut shown, mut returned) = (String::new(), None);
    while returned.is_none() {
        let Heard::Live(told) = feed.next().await.unwrap() else { continue };
        for update in &told.updates {
            match update {
                Update::Signal { signal: Signal::Printed { call, delta, size }, .. } => {
                    shown.push_str(delta);
                    assert_eq!((call.as_str(), *size), ("c1", shown.len()));
                    if shown == "one\n" {
                        fs::write(yard.path("room/fifo"), "").unwrap();
                    }
                }
                Update::Fact(entry) => {
                    if let Fact::ToolReturned { output, .. } = &entry.fact {
                        returned = Some(output.clone());
                    }
                }
                Update::Signal { .. } => {}
            }
        }
    }
    assert_eq!(shown, "one\ntwo\n");
}
