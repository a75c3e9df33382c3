//! A house on fakes, and what was heard in it, in short.

use std::sync::Arc;

use kernel::{
    feed::{Feed, Heard},
    host::{Host, Settings},
    ports::Log as _,
    session::Receipt,
    update::{
        Answer, Entry, Fact, Message, Outcome, Output, Seq, SessionId, Signal, Update, WhenBusy,
    },
};
use testkit::{World, history};

pub async fn house(world: &World) -> (Arc<Host>, SessionId) {
    let host = Host::start(world.ports(), Settings::default()).await.unwrap();
    let id = host.create("/".as_ref(), "test", "").await.unwrap();
    (host, id)
}

pub async fn say(host: &Host, id: SessionId, words: &str) -> Receipt {
    host.post(id, Message::from_user(words), WhenBusy::Queue).await.unwrap()
}

pub async fn feed(host: &Host, id: SessionId) -> Feed {
    host.feed(id, Some(Seq(0))).await.unwrap()
}

/// The facts and texts heard until a turn ends, in short.
pub async fn until_turn_ends(feed: &mut Feed) -> Vec<String> {
    let mut heard = Vec::new();
    loop {
        match feed.next().await.unwrap() {
            Heard::Past(entry) => heard.push(short(&entry.fact)),
            Heard::Now { .. } => (),
            Heard::Live(told) => {
                heard.extend(told.updates.iter().filter_map(|update| match update {
                    Update::Fact(entry) => Some(short(&entry.fact)),
                    Update::Signal { signal: Signal::Text { delta, .. }, .. } => {
                        Some(format!("~{delta}"))
                    }
                    Update::Signal { .. } => None,
                }));
            }
        }
        if heard.last().is_some_and(|last| last.starts_with("ended")) {
            return heard;
        }
    }
}

/// Listens until something passes that is like this.
pub async fn until_signal(feed: &mut Feed, is: impl Fn(&Signal) -> bool) {
    loop {
        if let Heard::Live(told) = feed.next().await.unwrap() {
            let like =
                |update: &Update| matches!(update, Update::Signal { signal, .. } if is(signal));
            if told.updates.iter().any(like) {
                return;
            }
        }
    }
}

pub fn short(fact: &Fact) -> String {
    match fact {
        Fact::Opened { .. } => "opened".into(),
        Fact::Said { message, .. } => format!("said {}", message.text),
        Fact::Queued(message) => format!("queued {}", message.text),
        Fact::StepStarted { index } => format!("step {index}"),
        Fact::Answered(Answer { text, calls, partial, .. }) => {
            let calls: Vec<_> = calls.iter().map(|call| format!(" {}", call.id)).collect();
            format!("answered {text}{}{}", calls.concat(), if *partial { " (partial)" } else { "" })
        }
        Fact::ToolReturned { call, output: Output::Done { text, .. } } => format!("{call} {text}"),
        Fact::ToolReturned { call, output: Output::Failed { message } } => {
            format!("{call} failed: {message}")
        }
        Fact::ToolReturned { call, output: Output::Interrupted } => format!("{call} interrupted"),
        Fact::TurnEnded(Outcome::Failed { kind, reason }) => format!("ended {kind:?}: {reason}"),
        Fact::TurnEnded(outcome) => format!("ended {outcome:?}"),
        other => format!("{other:?}"),
    }
}

pub async fn log(world: &World, id: SessionId) -> Vec<Entry> {
    let entries = world.store.read(id, Seq(0), usize::MAX >> 1).await.unwrap();
    history::check(&entries).unwrap();
    entries
}

pub async fn shorts(world: &World, id: SessionId) -> Vec<String> {
    log(world, id).await.iter().map(|entry| short(&entry.fact)).collect()
}
