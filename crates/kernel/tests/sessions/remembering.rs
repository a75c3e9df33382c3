//! What a model is shown of a long past, and how a failing one is asked again.

use std::time::Duration;

use kernel::{
    feed::Feed,
    ports::ModelError,
    prompt::Part,
    tokens,
    update::{Amendment, Compaction, Entry, Fact, Failure, Signal, Update},
};
use serde_json::json;
use testkit::{
    Gate, World,
    model::{Line, call, fail, text, usage, wait},
};

use crate::support::*;

fn compaction(entry: &Entry) -> Option<&Compaction> {
    match &entry.fact {
        Fact::CompactionEnded(compaction) => Some(compaction),
        _ => None,
    }
}

#[tokio::test]
async fn a_long_conversation_goes_on_in_a_small_window() {
    let world = World::new([]);
    world.model.otherwise(vec![text(&"an answer of some length ".repeat(40))]);
    world.model.set_window(4000);
    let (host, id) = house(&world).await;
    let mut feed = feed(&host, id).await;
    for n in 0..60 {
        say(&host, id, &format!("question {n}")).await;
        let heard = until_turn_ends(&mut feed).await;
        assert_eq!(heard.last().unwrap(), "ended Finished");
    }
    let log = log(&world, id).await;
    let said = log.iter().filter(|entry| matches!(entry.fact, Fact::Said { .. })).count();
    assert_eq!(said, 60, "the log keeps all");
    let made: Vec<_> = log.iter().filter_map(compaction).collect();
    assert!(made.len() > 3, "{} times", made.len());
    assert!(made.iter().all(|it| matches!(it, Compaction::Done { .. })));
    for prompt in world.model.prompts() {
        assert!(tokens::of_prompt(&prompt) <= 4000, "it always fits");
    }
    let last = world.model.prompts().pop().unwrap();
    let Part::User { text, .. } = &last.parts[0] else { panic!("{last:?}") };
    assert!(text.starts_with("[What happened before, summed up]\n"), "{text}");
    let Some(Part::User { text, .. }) = last.parts.last() else { panic!("{last:?}") };
    assert_eq!(text, "question 59");
}

#[tokio::test]
async fn one_turn_that_fills_the_window_is_summed_up_in_its_middle() {
    let mut scripts: Vec<Vec<Line>> = Vec::new();
    for n in 0..30 {
        scripts.push(vec![call("", "echo", json!({ "words": format!("{n} ").repeat(400) }))]);
    }
    let world = World::new([]);
    world.model.set_window(4000);
    for script in scripts {
        world.model.push(script);
    }
    // Whatever is asked beyond that, to sum up or to end, is answered in words.
    world.model.otherwise(vec![text("so far so good")]);
    let (host, id) = house(&world).await;
    let mut feed = feed(&host, id).await;
    say(&host, id, "do a great deal").await;
    let heard = until_turn_ends(&mut feed).await;
    assert_eq!(heard.last().unwrap(), "ended Finished");
    let log = log(&world, id).await;
    assert!(log.iter().filter_map(compaction).count() > 0);
    // Without tools it is asked to sum up, perhaps a later piece with the summary of what was before.
    for prompt in world.model.prompts().iter().filter(|prompt| !prompt.tools.is_empty()) {
        let task =
            |part: &Part| matches!(part, Part::User { text, .. } if text == "do a great deal");
        assert!(prompt.parts.iter().any(task), "the task is never forgotten");
    }
}

#[tokio::test]
async fn a_provider_that_counts_differently_is_believed() {
    let world = World::new([
        // We would have guessed far less.
        vec![text("ok"), usage(3900, 50)],
        vec![text("a summary")],
        vec![text("ok again")],
    ]);
    world.model.set_window(4000);
    let (host, id) = house(&world).await;
    let mut feed = feed(&host, id).await;
    say(&host, id, "one").await;
    until_turn_ends(&mut feed).await;
    assert_eq!(host.roster.get(id).unwrap().filled, Some(3950));
    say(&host, id, "two").await;
    until_turn_ends(&mut feed).await;
    let log = log(&world, id).await;
    let made: Vec<_> = log.iter().filter_map(compaction).collect();
    assert!(matches!(made[..], [Compaction::Done { .. }]), "{made:?}");
}

#[tokio::test]
async fn a_prompt_the_provider_finds_too_long_is_summed_up_and_asked_again() {
    let world = World::new([
        vec![text("ok")],
        vec![fail(Failure::ContextTooLong, "too long")],
        vec![text("a summary")],
        vec![text("now it fits")],
    ]);
    let (host, id) = house(&world).await;
    let mut feed = feed(&host, id).await;
    say(&host, id, "one").await;
    until_turn_ends(&mut feed).await;
    say(&host, id, "two").await;
    let heard = until_turn_ends(&mut feed).await;
    assert!(heard.contains(&"answered now it fits".to_owned()), "{heard:?}");
}

#[tokio::test]
async fn when_summing_up_fails_the_turn_goes_on_without_the_oldest() {
    let world = World::new([]);
    let (host, id) = house(&world).await;
    let mut feed = feed(&host, id).await;
    world.model.otherwise(vec![text(&"word ".repeat(500))]);
    for n in 0..6 {
        say(&host, id, &format!("question {n}")).await;
        until_turn_ends(&mut feed).await;
    }
    world.model.set_window(3000);
    world.model.push(vec![fail(Failure::Refused, "no summaries today")]);
    world.model.push(vec![text("anyway")]);
    say(&host, id, "and now?").await;
    let heard = until_turn_ends(&mut feed).await;
    assert_eq!(heard.last().unwrap(), "ended Finished");
    let log = log(&world, id).await;
    let reason = "no summaries today".into();
    let failed = Compaction::Failed { reason, model: "test".into(), usage: None };
    assert_eq!(log.iter().find_map(compaction), Some(&failed));
}

#[tokio::test]
async fn a_person_may_have_the_past_summed_up() {
    let gate = Gate::default();
    let world = World::new([
        vec![text("ok")],
        vec![wait(&gate), text("we greeted each other")],
        vec![text("hello again")],
    ]);
    let (host, id) = house(&world).await;
    let mut feed = feed(&host, id).await;
    assert!(!host.compact(id).await.unwrap(), "there is nothing to sum up");
    say(&host, id, "hi").await;
    until_turn_ends(&mut feed).await;
    assert!(host.compact(id).await.unwrap());
    gate.reached().await;
    assert!(host.roster.get(id).unwrap().is_busy());
    assert!(!host.compact(id).await.unwrap(), "once is enough");
    let receipt = say(&host, id, "are you there?").await;
    assert_eq!(receipt.queued, Some(1));
    gate.open();
    let heard = until_turn_ends(&mut feed).await;
    assert!(heard.contains(&"said are you there?".to_owned()), "{heard:?}");
    let prompt = world.model.prompts().pop().unwrap();
    let texts: Vec<_> = prompt.parts.iter().map(|part| format!("{part:?}")).collect();
    assert!(texts[0].contains("we greeted each other"), "{texts:?}");
    assert!(!texts.concat().contains("\"hi\""), "the past itself is not shown: {texts:?}");
}

#[tokio::test]
async fn cancelling_ends_a_summary_that_is_being_made() {
    let gate = Gate::default();
    let world = World::new([vec![text("ok")], vec![wait(&gate)]]);
    let (host, id) = house(&world).await;
    let mut feed = feed(&host, id).await;
    say(&host, id, "hi").await;
    until_turn_ends(&mut feed).await;
    host.compact(id).await.unwrap();
    gate.reached().await;
    assert!(host.cancel(id).await.unwrap());
    let log = log(&world, id).await;
    let failed = Compaction::failed("it was cancelled");
    assert_eq!(log.last().and_then(compaction), Some(&failed));
    assert!(!host.roster.get(id).unwrap().is_busy());
}

/// The waits announced until the turn ends, and how it ends.
async fn waits(feed: &mut Feed) -> (Vec<(u32, Duration)>, String) {
    let mut waits = Vec::new();
    loop {
        let kernel::feed::Heard::Live(told) = feed.next().await.unwrap() else { continue };
        for update in &told.updates {
            match update {
                Update::Signal { signal: Signal::Retrying { attempt, wait, .. }, .. } => {
                    waits.push((*attempt, *wait));
                }
                Update::Fact(entry) if matches!(entry.fact, Fact::TurnEnded(_)) => {
                    return (waits, short(&entry.fact));
                }
                _ => (),
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_passing_failure_is_tried_again_with_growing_waits() {
    let busy = || vec![fail(Failure::Overloaded, "busy")];
    let asked = ModelError {
        wait: Some(Duration::from_secs(30)),
        ..ModelError::new(Failure::RateLimited, "slow down")
    };
    let world = World::new([busy(), vec![Line::Fail(asked)], busy(), vec![text("at last")]]);
    let (host, id) = house(&world).await;
    let mut feed = feed(&host, id).await;
    say(&host, id, "hi").await;
    let seconds = Duration::from_secs;
    let expected =
        (vec![(2, seconds(1)), (3, seconds(30)), (4, seconds(4))], "ended Finished".into());
    assert_eq!(waits(&mut feed).await, expected);
}

#[tokio::test(start_paused = true)]
async fn it_is_given_up_after_some_attempts_and_at_once_if_asking_again_is_no_use() {
    let world = World::new([]);
    world.model.otherwise(vec![fail(Failure::Network, "gone")]);
    let (host, id) = house(&world).await;
    let mut feed = feed(&host, id).await;
    say(&host, id, "hi").await;
    let (tried, end) = waits(&mut feed).await;
    assert_eq!((tried.len(), end.as_str()), (4, "ended Network: gone"));
    for kind in [Failure::BadKey, Failure::NoQuota, Failure::Refused, Failure::Protocol] {
        world.model.push(vec![fail(kind, "no")]);
        say(&host, id, "hi").await;
        assert_eq!(waits(&mut feed).await, (vec![], format!("ended {kind:?}: no")));
    }
    let long = ModelError {
        wait: Some(Duration::from_hours(1)),
        ..ModelError::new(Failure::RateLimited, "come back tomorrow")
    };
    world.model.push(vec![Line::Fail(long)]);
    say(&host, id, "hi").await;
    assert_eq!(waits(&mut feed).await.0, [], "an hour is not worth waiting for");
}

#[tokio::test(start_paused = true)]
async fn what_has_been_heard_is_not_asked_for_again() {
    let world = World::new([vec![text("half"), fail(Failure::Network, "cut")]]);
    let (host, id) = house(&world).await;
    let mut feed = feed(&host, id).await;
    say(&host, id, "hi").await;
    assert_eq!(waits(&mut feed).await, (vec![], "ended Network: cut".into()));
    assert!(shorts(&world, id).await.contains(&"answered half (partial)".to_owned()));
}

#[tokio::test]
async fn another_model_takes_over_with_the_same_past() {
    let world = World::new([vec![text("ok"), usage(10, 2)], vec![text("ok")]]);
    let (host, id) = house(&world).await;
    let mut feed = feed(&host, id).await;
    say(&host, id, "hi").await;
    until_turn_ends(&mut feed).await;
    let change = |model: &str| Amendment { model: Some(model.into()), ..Amendment::default() };
    host.amend(id, change("other")).await.unwrap();
    let state = host.roster.get(id).unwrap();
    assert_eq!((state.model.as_str(), state.filled), ("other", None));
    say(&host, id, "again").await;
    let heard = until_turn_ends(&mut feed).await;
    assert!(heard.last().unwrap().starts_with("ended NoModel"), "{heard:?}");
    host.amend(id, change("test")).await.unwrap();
    say(&host, id, "once more").await;
    assert_eq!(until_turn_ends(&mut feed).await.last().unwrap(), "ended Finished");
    assert_eq!(host.roster.get(id).unwrap().spent.input_tokens, 10);
}
