//! Agents with minds of their own, as the real program meets them over its API: answered, cancelled, killed, started anew.

use std::path::Path;

use kernel::update::{Answer, Entry, Fact, Outcome, Output};
use reqwest::Method;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use testkit::history;

use crate::{
    client::{Client, Heard, Socket},
    server::Home,
    until, within,
};

/// A home where the scripted agent, and the example of the SDK if it is there, may do all they like.
fn furnished() -> Home {
    let home = Home::new();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../agents/tests/visits/agent.py");
    let guest = format!(
        "[approvals]\nmode = \"full\"\n[agents.guest]\ncommand = \"python3\"\nargs = [{:?}, \"\"]\n",
        script.display().to_string()
    );
    let example =
        example().map(|path| format!("[agents.example]\ncommand = \"node\"\nargs = [{path:?}]\n"));
    home.configure(&(guest + &example.unwrap_or_default()));
    home
}

fn example() -> Option<String> {
    std::env::var("MEGARON_ACP_AGENT").ok()
}

async fn create(client: &Client, model: &str) -> String {
    let made = client.call(Method::POST, "/api/sessions", Some(json!({ "model": model })), "");
    let (status, body) = made.await.unwrap();
    assert_eq!(status, 200, "{body}");
    body["sessionId"].as_str().unwrap().to_owned()
}

async fn listen(client: &Client, session: &str) -> Socket {
    let mut socket = client.connect().await.unwrap();
    assert!(socket.say(json!({ "type": "subscribe", "sessionId": session })).await);
    socket.settle().await;
    socket
}

async fn until_frame(socket: &mut Socket, words: &str) {
    loop {
        match within(words, socket.hear()).await {
            Heard::Frame(frame) if frame.to_string().contains(words) => return,
            Heard::Frame(_) => (),
            Heard::Closed(reason) => panic!("cut off: {reason:?}"),
        }
    }
}

/// The answer to this message.
async fn ask(client: &Client, session: &str, prompt: &str) -> String {
    client.post(session, prompt).await;
    client.idle(session).await;
    let log = client.log(session).await;
    history::check(&log).unwrap();
    let said = log.iter().rposition(|it| matches!(it.fact, Fact::Said { .. })).unwrap();
    let words = log[said..].iter().filter_map(|entry| match &entry.fact {
        Fact::Answered(Answer { text, .. }) => Some(text.as_str()),
        _ => None,
    });
    words.collect()
}

fn outcomes(log: &[Entry]) -> Vec<Outcome> {
    let outcome = |entry: &Entry| match &entry.fact {
        Fact::TurnEnded(outcome) => Some(outcome.clone()),
        _ => None,
    };
    log.iter().filter_map(outcome).collect()
}

fn kill(pid: &str) {
    kill_process(Pid::from_raw(pid.parse().unwrap()).unwrap(), Signal::KILL).unwrap();
}

async fn until_gone(pid: &str) {
    until("the agent to be gone", async || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        (stat.is_empty() || stat.contains(") Z ")).then_some(())
    })
    .await;
}

#[tokio::test]
async fn an_agent_answers_is_cancelled_and_is_replaced_when_it_is_killed() {
    let home = furnished();
    let mut server = home.serve(&[]).await;
    let client = Client::of(&home);
    let models = client.get("/api/models").await;
    let listed = |id: &str| -> Value {
        let all = models["models"].as_array().unwrap();
        all.iter().find(|model| model["id"] == id).cloned().unwrap_or_default()
    };
    assert_eq!(listed("agent/guest")["payer"], "its own sign-in", "{models}");

    let session = create(&client, "agent/guest").await;
    let mut socket = listen(&client, &session).await;
    assert_eq!(ask(&client, &session, "say hello").await, "hello");
    until_frame(&mut socket, "hello").await;
    let pid = ask(&client, &session, "pid").await;

    client.post(&session, "wait").await;
    until_frame(&mut socket, "Waiting.").await;
    let path = format!("/api/sessions/{session}/cancel");
    assert_eq!(client.call(Method::POST, &path, Some(json!({})), "").await.unwrap().0, 200);
    client.idle(&session).await;
    assert_eq!(ask(&client, &session, "pid").await, pid, "it is still there");

    client.post(&session, "wait for the end").await;
    until_frame(&mut socket, "\"for the end").await;
    kill(&pid);
    client.idle(&session).await;
    let next = ask(&client, &session, "pid").await;
    assert_ne!(next, pid);
    let ends = outcomes(&client.log(&session).await);
    assert_eq!(ends[2], Outcome::Cancelled);
    let Outcome::Failed { reason, .. } = &ends[4] else { panic!("{ends:?}") };
    assert!(reason.starts_with("guest has ended: signal: 9"), "{reason}");

    server.terminate();
    assert_eq!(server.ended().await.code(), Some(0));
    until_gone(&next).await;
}

#[tokio::test]
async fn a_server_that_is_killed_takes_its_agents_along_and_tells_the_next_what_was_said() {
    let home = furnished();
    let server = home.serve(&[]).await;
    let client = Client::of(&home);
    let session = create(&client, "agent/guest").await;
    let pid = ask(&client, &session, "pid").await;
    let mut socket = listen(&client, &session).await;
    client.post(&session, "wait").await;
    until_frame(&mut socket, "Waiting.").await;
    server.kill().await;
    until_gone(&pid).await;

    let _server = home.serve(&[]).await;
    client.idle(&session).await;
    let ends = outcomes(&client.log(&session).await);
    assert_eq!(ends, [Outcome::Finished, Outcome::Interrupted]);
    let told = ask(&client, &session, "prompt").await;
    assert!(told.contains("User: pid") && told.contains("User: wait"), "{told}");
}

#[tokio::test]
async fn the_example_of_the_sdk_answers_through_the_real_program() {
    if example().is_none() {
        eprintln!("skipped: `make agents` installs the example, and MEGARON_ACP_AGENT names it");
        return;
    }
    let home = furnished();
    let _server = home.serve(&[]).await;
    let client = Client::of(&home);
    let session = create(&client, "agent/example").await;
    let said = ask(&client, &session, "hello").await;
    assert!(said.starts_with("I'll help you with that.") && said.ends_with("applied."), "{said}");
    assert_eq!(outcomes(&client.log(&session).await), [Outcome::Finished]);
}

#[tokio::test]
async fn calls_alike_that_were_cut_off_together_are_asked_about_one_by_one() {
    let home = furnished();
    let server = home.serve(&[]).await;
    let client = Client::of(&home);
    let session = create(&client, "agent/guest").await;
    // The first two never end by themselves.
    let command = "echo x >> ran; [ $(wc -l < ran) -gt 2 ] || sleep 1000";
    let lines = || std::fs::read_to_string(home.path("ran")).unwrap_or_default().lines().count();
    client.post(&session, &format!("twice {command}")).await;
    until("both to be at work", async || (lines() == 2).then_some(())).await;
    server.kill().await;

    let _server = home.serve(&[]).await;
    client.idle(&session).await;
    let log = client.log(&session).await;
    assert_eq!(history::check(&log), Ok(()));
    let unknown = |entry: &&Entry| {
        matches!(entry.fact, Fact::ToolReturned { output: Output::Interrupted, .. })
    };
    assert_eq!(log.iter().filter(unknown).count(), 2, "each is marked");
    let again = format!("run {}", json!({ "command": command }));
    for (decision, ran) in [("deny", 2), ("once", 3), ("once", 4)] {
        client.post(&session, &again).await;
        let asked = until("a question", async || client.questions().await.into_iter().next()).await;
        let why = "the same call was cut off before; it may have had its effect already";
        assert_eq!((asked["why"].as_str(), lines()), (Some(why), if ran == 4 { 3 } else { 2 }));
        assert_eq!(client.decide(&asked, decision).await, 200);
        client.idle(&session).await;
        assert_eq!(lines(), ran, "{decision}");
    }
    client.post(&session, &again).await;
    client.idle(&session).await;
    assert_eq!(lines(), 5, "nothing is in doubt any more");
    assert_eq!(history::check(&client.log(&session).await), Ok(()));
}
