//! Questions of agents and the answers they get.

use jiff::SignedDuration;
use kernel::{
    question::Decision,
    update::{Fact, Message, Origin, Output, Seq, WhenBusy},
};
use serde_json::json;
use testkit::{
    World,
    model::{call, text},
};

use super::*;
use crate::{add_social, agents::tests::Home};

/// What the agent is told when it asks this and the person decides that.
async fn told(args: Value, decision: Decision) -> Result<String, String> {
    let home = Home::new([]).await;
    let answer = async {
        let waiting = home.asked().await;
        home.host.decide(waiting.question.id, decision, "test").await.unwrap();
        waiting.question
    };
    let (told, question) = tokio::join!(home.text("ask_person", args), answer);
    assert_eq!((question.tool.as_str(), question.title.as_str()), ("ask_person", "Asking: Which?"));
    told
}

#[tokio::test]
async fn the_agent_is_told_what_the_person_says() {
    let choices = || json!({ "question": "Which?", "choices": ["red", "blue"] });
    let answer = |text: &str| Decision::Answer(text.into());
    assert_eq!(told(choices(), answer("blue")).await.as_deref(), Ok("blue"));
    let own = told(json!({ "question": "Which?" }), answer("green")).await;
    assert_eq!(own.as_deref(), Ok("green"));
    let free = json!({ "question": "Which?", "choices": ["red"], "free": true });
    assert_eq!(told(free, answer("green")).await.as_deref(), Ok("green"));
    let refused = told(choices(), Decision::Deny { reason: None }).await;
    assert_eq!(refused.as_deref(), Ok("The person did not want to answer."));
    let refused = told(choices(), Decision::Deny { reason: Some("guess".into()) }).await;
    assert_eq!(refused.as_deref(), Ok("The person did not want to answer: guess"));
}

#[tokio::test]
async fn what_cannot_be_asked_is_explained() {
    let home = Home::new([]).await;
    let many: Vec<String> = (0..21).map(|n| n.to_string()).collect();
    for (args, problem) in [
        (json!({ "question": " " }), "the question must have 1 to 4000 characters"),
        (json!({ "question": "x".repeat(4001) }), "the question must have 1 to 4000 characters"),
        (json!({ "question": "?", "choices": [""] }), "a choice must have 1 to 200 characters"),
        (json!({ "question": "?", "choices": ["a", "a"] }), "the choice `a` is there twice"),
        (json!({ "question": "?", "choices": many }), "there are 21 choices; at most 20 fit"),
    ] {
        assert_eq!(home.text("ask_person", args).await, Err(problem.to_owned()));
    }
    assert_eq!(home.host.questions().await.unwrap(), []);
}

#[tokio::test(start_paused = true)]
async fn an_unattended_turn_goes_on_when_nobody_answers() {
    let ask = call("c", "ask_person", json!({ "question": "Which?" }));
    let home = Home::new([vec![ask], vec![text("I assumed red")]]).await;
    let origin = Origin::Schedule { slug: "daily".into(), errand: None };
    let message = Message { origin, ..Message::from_user("go") };
    home.host.post(home.session, message, WhenBusy::Refuse).await.unwrap();
    let waiting = home.asked().await;
    let patience = waiting.question.expires.unwrap().duration_since(waiting.since);
    assert_eq!(patience, SignedDuration::from_mins(10));
    home.world.clock.advance(patience);
    let mut news = home.host.roster.listen();
    while home.host.roster.get(home.session).unwrap().is_busy() {
        news.recv().await.unwrap();
    }
    let log = home.host.ports.log.read(home.session, Seq(0), 100).await.unwrap();
    let returned = log.into_iter().find_map(|entry| match entry.fact {
        Fact::ToolReturned { output, .. } => Some(output),
        _ => None,
    });
    assert_eq!(returned, Some(Output::done(UNANSWERED)));
}

#[test]
fn a_question_survives_a_crash_under_its_name() {
    let ask = call("c", "ask_person", json!({ "question": "Which?" }));
    let world = World::new([vec![ask], vec![text("Thanks")]]);
    let (session, before) = world.until_crash(async |host| {
        add_social(&host);
        let session = host.create("/".as_ref(), "test", "").await.unwrap();
        host.post(session, Message::from_user("go"), WhenBusy::Refuse).await.unwrap();
        let mut news = host.roster.listen();
        while host.questions().await.unwrap().is_empty() {
            news.recv().await.unwrap();
        }
        (session, host.questions().await.unwrap())
    });
    world.until_crash(async |host| {
        add_social(&host);
        host.recover().await;
        assert_eq!(host.questions().await.unwrap(), before);
        let mut news = host.roster.listen();
        let answer = Decision::Answer("red".into());
        host.decide(before[0].question.id, answer, "test").await.unwrap();
        while host.roster.get(session).unwrap().is_busy() {
            news.recv().await.unwrap();
        }
        let log = host.ports.log.read(session, Seq(0), 100).await.unwrap();
        let asked = log.iter().filter(|it| matches!(it.fact, Fact::Asked(_))).count();
        assert_eq!(asked, 1, "it is asked once");
        let red = Fact::ToolReturned { call: "c".into(), output: Output::done("red") };
        assert!(log.iter().any(|entry| entry.fact == red), "{log:#?}");
    });
}
