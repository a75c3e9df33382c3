//! Writes a session's log as the session's own task would.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use kernel::{
    outputs::Embed,
    ports::{Batch, Clock as _},
    state::{State, SummedUp},
    update::{
        Answer, Attachment, Compaction, Entry, Fact, Failure, Message, Origin, Outcome, Output,
        Seq, SessionId, ToolRequest, Trace, Usage,
    },
};
use serde_json::json;

use crate::{ManualClock, clock};

/// Makes batches that fit one behind the other.
#[derive(Clone, Debug)]
pub struct Author {
    pub session: SessionId,
    /// What all batches made so far add up to.
    pub state: Arc<State>,
    at: Timestamp,
}

impl Author {
    /// Authors of different numbers write different sessions.
    pub fn new(number: u64) -> Self {
        let session = SessionId(clock::id(number));
        Self { session, state: Arc::default(), at: ManualClock::default().now() }
    }

    /// The next batch. Each fact is a millisecond later than the one before.
    pub fn batch(&mut self, facts: impl IntoIterator<Item = Fact>) -> Batch {
        let mut state = State::clone(&self.state);
        let mut entries = Vec::new();
        let mut ends_draft = false;
        for fact in facts {
            ends_draft |= matches!(fact, Fact::Answered(_) | Fact::TurnEnded(_));
            self.at += SignedDuration::from_millis(1);
            let entry = Entry { seq: state.last.next(), at: self.at, fact };
            state.apply(&entry);
            entries.push(Arc::new(entry));
        }
        self.state = Arc::new(state);
        let (session, spent) = (self.session, Vec::new());
        Batch { session, entries, state: self.state.clone(), spent, ends_draft }
    }

    /// The next batch, of `count` small facts.
    pub fn small(&mut self, count: usize) -> Batch {
        let first = self.state.last.0;
        let names = (first..).take(count).map(|number| format!("name {number}"));
        self.batch(names.map(|name| Fact::Renamed { name }))
    }
}

/// Every kind of fact, in all its shapes, in an order in which they could happen.
pub fn every_fact() -> Vec<Fact> {
    let message = |text: &str, origin, key: Option<&str>| Message {
        text: text.to_owned(),
        origin,
        attachments: vec![Attachment {
            path: "/attachments/ä b.png".into(),
            mime: "image/png".into(),
            name: "ä b.png".into(),
        }],
        flow: "flow".into(),
        key: key.map(str::to_owned),
        replaces: None,
    };
    let call = |id: &str| ToolRequest {
        id: id.to_owned(),
        name: "read".into(),
        args: json!({ "fact": "odd", "seq": u64::MAX, "at": -1, "x": 0.1, "y": [null, true, {}] }),
        title: "Reading \"notes\"\n".into(),
    };
    let applet = Origin::Applet { slug: "calc".into() };
    let agent = Origin::Agent { session: "another".into() };
    let schedule = Origin::Schedule { slug: "daily".into(), errand: None };
    let used = Usage { input_tokens: u64::MAX, cost: Some(0.25), ..Usage::default() };
    let usage = Some(used);
    let app = Origin::App { id: "demo".into() };
    let mut facts = vec![
        Fact::Opened {
            cwd: "/home/me".into(),
            model: "test".into(),
            name: String::new(),
            parent: None,
        },
        Fact::Renamed { name: "name \u{0} 🏛 \u{2028}".into() },
        Fact::EnvHinted { hint: "nix develop".into() },
        Fact::ContextChanged {
            set: "files".into(),
            context: [("files".to_owned(), vec!["a".to_owned()]), ("x".to_owned(), vec![])].into(),
        },
        Fact::Embedded(Embed {
            output: "out_1_abcdef".into(),
            provider: "YouTube".into(),
            title: "A song".into(),
        }),
        Fact::Observed,
        Fact::Said { message: Message::from_user(""), queued: None },
        Fact::Queued(message("later", applet, Some("first"))),
        Fact::Queued(message("even later", agent, None)),
        Fact::Queued(message("from a window", app, None)),
        Fact::StepStarted { index: u32::MAX },
        Fact::Answered(Answer {
            step: Seq(9),
            text: "half a sen".into(),
            reasoning: "hm".into(),
            calls: vec![call("1"), call("2"), call("3")],
            model: "m".into(),
            usage,
            trace: Some(Trace { model: "m".into(), data: json!({ "signature": "s" }) }),
            partial: true,
        }),
    ];
    let returned = [
        ("1", Output::done("ok")),
        ("2", Output::Failed { message: "no".into() }),
        ("3", Output::Interrupted),
    ];
    facts.extend(returned.map(|(call, output)| Fact::ToolReturned { call: call.into(), output }));
    facts.push(Fact::Answered(Answer::to(Seq(9))));
    let model = || "m".to_owned();
    facts.extend([
        Fact::CompactionStarted,
        Fact::CompactionEnded(Compaction::failed("no")),
        Fact::CompactionEnded(Compaction::Failed { reason: "no".into(), model: model(), usage }),
        Fact::CompactionEnded(Compaction::Done {
            summary: "a story".into(),
            upto: Seq(3),
            tokens_before: u64::MAX,
            tokens_after: 1,
            model: model(),
            usage,
        }),
        Fact::ModelLent { to: "files".into(), model: model(), usage: used },
    ]);
    facts
        .push(Fact::Said { message: message("now", schedule, Some("🗝")), queued: Some(Seq(8)) });
    facts
        .extend([Outcome::Finished, Outcome::Cancelled, Outcome::Interrupted].map(Fact::TurnEnded));
    facts.extend(every_failure().map(|kind| {
        let reason = format!("{kind:?}");
        Fact::TurnEnded(Outcome::Failed { kind, reason })
    }));
    facts.push(Fact::Unqueued { queued: Seq(7) });
    let summed_up = Some(SummedUp { upto: Seq(3), at: Seq(18) });
    facts.push(Fact::Rewound { before: Seq(19), filled: Some(7), summed_up, anew: false });
    facts.push(Fact::Rewound { before: Seq(6), filled: None, summed_up: None, anew: true });
    let instead = Message { replaces: Some(Seq(6)), ..Message::from_user("instead") };
    facts.push(Fact::Said { message: instead, queued: None });
    facts
}

fn every_failure() -> [Failure; 11] {
    use Failure::{
        BadKey, ContextTooLong, Internal, Network, NoModel, NoQuota, OverBudget, Overloaded,
        Protocol, RateLimited, Refused,
    };
    [
        BadKey,
        NoQuota,
        RateLimited,
        Overloaded,
        ContextTooLong,
        Refused,
        Network,
        Protocol,
        NoModel,
        OverBudget,
        Internal,
    ]
}
