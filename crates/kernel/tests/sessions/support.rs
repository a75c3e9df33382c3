//! A house on fakes, and what was heard in it, in short.

use std::sync::Arc;

use kernel::{
    approvals::Mode,
    feed::{Feed, Heard},
    host::{Host, Settings},
    inbox::Waiting,
    ports::Log as _,
    question::{Decision, Scope},
    session::Receipt,
    update::{
        Amendment, Answer, Entry, Fact, Message, Outcome, Output, Seq, SessionId, Signal, Update,
        WhenBusy,
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

/// Listens until there is a fact like this.
pub async fn until_fact(feed: &mut Feed, is: impl Fn(&Fact) -> bool) {
    loop {
        let found = match feed.next().await.unwrap() {
            Heard::Past(entry) => is(&entry.fact),
            Heard::Live(told) => told.facts().any(|entry| is(&entry.fact)),
            Heard::Now { .. } => false,
        };
        if found {
            return;
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
        Fact::ToolReturned { call, output: Output::Failed { message, .. } } => {
            format!("{call} failed: {message}")
        }
        Fact::ToolReturned { call, output: Output::Interrupted } => format!("{call} interrupted"),
        Fact::TurnEnded(Outcome::Failed { kind, reason }) => format!("ended {kind:?}: {reason}"),
        Fact::TurnEnded(outcome) => format!("ended {outcome:?}"),
        Fact::ToolStarted { call } => format!("{call} started"),
        Fact::Asked(question) => format!("asked {}", question.title),
        Fact::Settled { verdict, by, .. } => format!("{} by {by}", verdict.name()),
        Fact::Rewound { before, .. } => format!("rewound to {}", before.0),
        other => format!("{other:?}"),
    }
}

/// What is asked of the person, once it is.
pub async fn asked(host: &Host) -> Waiting {
    let mut news = host.roster.listen();
    loop {
        if let Some(waiting) = host.questions().await.unwrap().pop() {
            return waiting;
        }
        news.recv().await.unwrap();
    }
}

/// Returns when the session has nothing to do.
pub async fn idle(host: &Host, id: SessionId) {
    let mut news = host.roster.listen();
    while host.roster.get(id).unwrap().is_unfinished() {
        news.recv().await.unwrap();
    }
}

pub async fn set_mode(host: &Host, id: SessionId, mode: Mode) {
    host.amend(id, Amendment { mode: Some(mode), ..Amendment::default() }).await.unwrap();
}

pub fn allow(scope: Scope) -> Decision {
    Decision::Allow { scope, pattern: None, lasts: None }
}

pub fn deny() -> Decision {
    Decision::Deny { reason: None }
}

pub async fn log(world: &World, id: SessionId) -> Vec<Entry> {
    let entries = world.store.read(id, Seq(0), usize::MAX >> 1).await.unwrap();
    history::check(&entries).unwrap();
    entries
}

pub async fn shorts(world: &World, id: SessionId) -> Vec<String> {
    log(world, id).await.iter().map(|entry| short(&entry.fact)).collect()
}
