//! Agents that break down, lie, flood, or do not listen: a clear word, and nobody else is harmed.

use crate::*;

#[tokio::test]
async fn a_crash_in_the_middle_keeps_what_was_said_and_the_next_one_starts_anew() {
    let mut scene = Scene::new(scripted("")).await;
    let (pid, _) = scene.ask("pid").await;
    let (said, how) = scene.ask("crash").await;
    assert_eq!(said, "Half an ans");
    let log = scene.dir.path().join("logs/agent-guest.log");
    let expected = format!(
        "Protocol: guest has ended: exit status: 3; what it complained of is in {}",
        log.display()
    );
    assert_eq!(how, expected);
    let (next, how) = scene.ask("pid").await;
    assert!(next != pid && how == "finished", "{next} {how}");
    assert_eq!(fs::read_to_string(log).unwrap(), "out of cheese\n");
    scene.log().await;
}

#[tokio::test]
async fn an_agent_that_is_killed_between_turns_is_replaced() {
    let mut scene = Scene::new(scripted("")).await;
    let (pid, _) = scene.ask("pid").await;
    let raw = rustix::process::Pid::from_raw(pid.parse().unwrap()).unwrap();
    rustix::process::kill_process(raw, rustix::process::Signal::KILL).unwrap();
    until_gone(&pid).await;
    let (mut next, mut how) = scene.ask("pid").await;
    if how != "finished" {
        // It was asked before its end was heard of.
        (next, how) = scene.ask("pid").await;
    }
    assert!(next != pid && how == "finished", "{next} {how}");
}

#[tokio::test]
async fn one_that_does_not_stop_is_ended_with_all_that_it_started() {
    let mut scene = Scene::new(scripted("")).await;
    let (pid, _) = scene.ask("pid").await;
    let (child, _) = scene.ask("child").await;
    assert!(runs(&child));
    scene.say("stubborn").await;
    scene.until_said("Waiting.").await;
    assert!(scene.host.cancel(scene.id).await.unwrap());
    assert_eq!(scene.ended().await.1, "cancelled");
    until_gone(&pid).await;
    until_gone(&child).await;
    let (next, how) = scene.ask("pid").await;
    assert!(next != pid && how == "finished", "{next} {how}");
}

#[tokio::test]
async fn floods_and_garbage_end_the_turn_and_nothing_else() {
    let mut scene = Scene::new(scripted("")).await;
    let much = "Protocol: guest said more than can be taken, and was ended";
    for (word, complaint) in [
        ("garbage", "Protocol: guest does not speak the Agent Client Protocol"),
        ("endless", much),
        ("flood", much),
        ("many", much),
    ] {
        // Each in a house of its own: one that fails again and again is made to wait.
        let (_, how) = scene.ask(word).await;
        assert!(how.starts_with(complaint), "{word}: {how}");
        scene.log().await;
        scene = Scene::new(scripted("")).await;
    }
    assert_eq!(scene.ask("say fine").await.0, "fine");
}

#[tokio::test]
async fn noise_between_messages_is_overlooked() {
    let mut scene = Scene::new(scripted("")).await;
    assert_eq!(scene.ask("noise").await, ("Fine.".into(), "finished".into()));
    assert_eq!(scene.ask("say still").await, ("still".into(), "finished".into()));
}

#[tokio::test]
async fn what_an_agent_says_is_wrong_is_passed_on() {
    let mut scene = Scene::new(scripted("")).await;
    assert_eq!(scene.ask("fault no such luck").await.1, "Protocol: guest says: no such luck");
    assert_eq!(scene.ask("refuse").await.1, "Refused: guest refused to go on");
    assert_eq!(scene.ask("say fine").await.1, "finished", "it is the same one still");
}

#[tokio::test]
async fn one_that_needs_sign_in_says_how() {
    let mut scene = Scene::new(scripted("signed-out")).await;
    let expected = "BadKey: guest needs sign-in, with its own program: Log in (run `agent login`)";
    assert_eq!(scene.ask("say hello").await.1, expected);
}

#[tokio::test]
async fn one_that_cannot_be_started_or_understood_is_named() {
    let settings = Settings { command: "/no/such/agent".into(), ..Settings::default() };
    let (_, how) = Scene::new(settings).await.ask("say hello").await;
    let expected = "NoModel: guest cannot be started: `/no/such/agent`: No such file";
    assert!(how.starts_with(expected), "{how}");
    let (_, how) = Scene::new(scripted("foreign")).await.ask("say hello").await;
    assert_eq!(how, "Protocol: guest speaks version 7 of the protocol, not 1");
    let settings = Settings { command: "/bin/true".into(), ..Settings::default() };
    let (_, how) = Scene::new(settings).await.ask("say hello").await;
    assert!(how.starts_with("Protocol: guest has ended: before it was ready"), "{how}");
}

#[tokio::test]
async fn one_that_never_gets_ready_can_be_cancelled() {
    let scene = Scene::new(scripted("mute")).await;
    scene.say("say hello").await;
    let started = async {
        loop {
            if let Ok(pid) = fs::read_to_string(scene.room().join("pid")) {
                return pid;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let pid = within("the agent to start", started).await;
    assert!(runs(&pid));
    assert!(scene.host.cancel(scene.id).await.unwrap());
    until_gone(&pid).await;
}
