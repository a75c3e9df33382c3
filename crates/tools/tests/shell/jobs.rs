//! Commands in the background: read, typed to, ended, and nobody else's.

use kernel::toolbox::{Caller, ToolError};
use serde_json::json;

use super::{Plan, Yard, locks, running::until_nobody_reads};

async fn text(yard: &Yard, name: &str, args: serde_json::Value) -> Result<String, ToolError> {
    yard.call(name, args).await.map(|reply| reply.text)
}

fn failed(message: &str) -> Result<String, ToolError> {
    Err(ToolError::Failed(message.into()))
}

async fn start(yard: &Yard, command: &str, tty: bool) -> String {
    let args = json!({ "command": command, "background": true, "tty": tty });
    let started = text(yard, "shell", args).await.unwrap();
    started.lines().last().unwrap().to_owned()
}

/// Reads until the job has printed this and nothing else.
async fn read_until(yard: &Yard, job: u32, expected: &str) -> String {
    let mut all = String::new();
    let mut state = String::new();
    while all != expected || !state.starts_with("ended") {
        let read =
            text(yard, "shell_output", json!({ "job": job, "wait_seconds": 60 })).await.unwrap();
        let (now, printed) = read.split_once('\n').unwrap_or((&read, ""));
        now.clone_into(&mut state);
        all.push_str(printed);
        assert!(expected.starts_with(&all), "{all:?}");
        if state.starts_with("ended") {
            break;
        }
    }
    assert_eq!(all, expected);
    state
}

/// Reads until a job that goes on has printed this and nothing else: a terminal hands a line over in pieces.
async fn reads(yard: &Yard, job: u32, expected: &str) {
    let mut all = String::new();
    while all != expected {
        let output = json!({ "job": job, "wait_seconds": 60 });
        let read = text(yard, "shell_output", output).await.unwrap();
        all.push_str(read.strip_prefix("running\n").unwrap_or_else(|| panic!("{read:?}")));
        assert!(expected.starts_with(&all), "{all:?}");
    }
}

#[tokio::test]
async fn a_job_is_read_piece_by_piece_until_it_ends() {
    let yard = Yard::new(Plan::default()).await;
    assert_eq!(
        start(&yard, "mkfifo fifo; echo one; cat < fifo; exit 3", false).await,
        "job 1 is running"
    );
    let output = json!({ "job": 1, "wait_seconds": 60 });
    assert_eq!(text(&yard, "shell_output", output.clone()).await.unwrap(), "running\none\n");
    assert_eq!(text(&yard, "shell_output", json!({ "job": 1 })).await.unwrap(), "running");
    std::fs::write(yard.path("room/fifo"), "two\n").unwrap();
    assert_eq!(read_until(&yard, 1, "two\n").await, "ended: exit code 3");
    assert_eq!(text(&yard, "shell_output", output).await.unwrap(), "ended: exit code 3");
}

#[tokio::test]
async fn a_job_with_a_terminal_can_be_typed_to() {
    for lock in [None].into_iter().chain(locks().await.into_iter().map(Some)) {
        let yard = Yard::new(lock.map_or_else(Plan::default, Plan::locked)).await;
        start(&yard, "stty -echo; echo ready; read word; echo \"got $word\"; cat", true).await;
        reads(&yard, 1, "ready\n").await;
        let typed = json!({ "job": 1, "text": "hello\n" });
        assert_eq!(text(&yard, "shell_input", typed).await.unwrap(), "typed to job 1");
        reads(&yard, 1, "got hello\n").await;
        let interrupt = json!({ "job": 1, "text": "\u{3}" });
        text(&yard, "shell_input", interrupt).await.unwrap();
        let end = read_until(&yard, 1, "").await;
        assert_eq!(end, "ended: exit code 130", "{lock:?}");
    }
}

#[tokio::test]
async fn a_job_is_ended_on_request() {
    for lock in [None].into_iter().chain(locks().await.into_iter().map(Some)) {
        let yard = Yard::new(lock.map_or_else(Plan::default, Plan::locked)).await;
        start(&yard, "mkfifo fifo; echo made; exec cat <> fifo", false).await;
        let output = json!({ "job": 1, "wait_seconds": 60 });
        assert_eq!(text(&yard, "shell_output", output.clone()).await.unwrap(), "running\nmade\n");
        let kill = json!({ "job": 1 });
        assert_eq!(text(&yard, "shell_kill", kill.clone()).await.unwrap(), "job 1: killed");
        until_nobody_reads(&yard).await;
        assert_eq!(text(&yard, "shell_output", output).await.unwrap(), "killed");
        let again = text(&yard, "shell_kill", kill).await.unwrap();
        assert_eq!(again, "job 1: it had ended already");
    }
}

#[tokio::test]
async fn a_job_is_known_to_its_session_alone_and_ends_with_it() {
    let yard = Yard::new(Plan::default()).await;
    start(&yard, "mkfifo fifo; echo made; exec cat <> fifo", false).await;
    text(&yard, "shell_output", json!({ "job": 1, "wait_seconds": 60 })).await.unwrap();
    let other = yard.host.create(&yard.path("room"), "test", "").await.unwrap();
    for name in ["shell_output", "shell_kill", "shell_input"] {
        let args = if name == "shell_input" {
            json!({ "job": 1, "text": "" })
        } else {
            json!({ "job": 1 })
        };
        let error = yard.host.call(other, Caller::Owner, name, args).await.unwrap_err();
        assert_eq!(error.to_string(), "this session has no job 1; those it has: there are none");
    }
    yard.host.delete(yard.session).await.unwrap();
    until_nobody_reads(&yard).await;
}

#[tokio::test]
async fn jobs_end_with_the_house() {
    let yard = Yard::new(Plan::default()).await;
    start(&yard, "mkfifo fifo; echo made; exec cat <> fifo", false).await;
    text(&yard, "shell_output", json!({ "job": 1, "wait_seconds": 60 })).await.unwrap();
    let Yard { temp, host, session } = yard;
    host.shut(std::time::Duration::ZERO).await;
    drop(host);
    // Another house over the same folder, to look at it.
    let left = Yard { temp, host: Yard::new(Plan::default()).await.host, session };
    until_nobody_reads(&left).await;
}

#[tokio::test]
async fn there_are_only_so_many_jobs() {
    let yard = Yard::new(Plan::default()).await;
    assert_eq!(start(&yard, "exec sleep 1000", false).await, "job 1 is running");
    assert_eq!(start(&yard, "exec sleep 1000", false).await, "job 2 is running");
    let third = json!({ "command": "sleep 1000", "background": true });
    let full = "2 jobs are running already; end one with shell_kill";
    assert_eq!(text(&yard, "shell", third.clone()).await, failed(full));
    text(&yard, "shell_kill", json!({ "job": 1 })).await.unwrap();
    assert!(text(&yard, "shell", third).await.unwrap().ends_with("job 3 is running"));
    let without = "this job has no terminal; start it with `tty: true` to type to it";
    let typed = text(&yard, "shell_input", json!({ "job": 2, "text": "x" })).await;
    assert_eq!(typed, failed(without));
    let unknown = text(&yard, "shell_output", json!({ "job": 9 })).await;
    assert_eq!(unknown, failed("this session has no job 9; those it has: 1, 2, 3"));
}
