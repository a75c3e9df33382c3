//! Writes a session's log as the session's own task would.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use kernel::{
    apps::{
        AppFact, AppRequest, Asked, BackReason, Cause, FailedReason, Inverse, Keep, Kind,
        OwnerReason, Response,
    },
    desktop::{Class, Code, DesktopFact, Leave, Pause, Point, Rect},
    outputs::Embed,
    ports::{Batch, Clock as _},
    state::{State, SummedUp},
    toolbox::Caller,
    update::{
        Answer, Attachment, Compaction, Entry, Fact, Failure, Message, Origin, Outcome, Output,
        Seq, SessionId, ToolRequest, Trace, Usage,
    },
    windows::{
        Bounds, By, Content, DockEdge, Operation, Renderer, Stance, Variant, Window, WindowChange,
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
    let app = Origin::App { id: "demo".into(), window: None };
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
    let returned =
        [("1", Output::done("ok")), ("2", Output::failed("no")), ("3", Output::Interrupted)];
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
    facts.extend(every_window_fact());
    facts
}

fn every_window_fact() -> Vec<Fact> {
    let (key, by) = ("monitor-0/dock", || By::App { window: "monitor-0/dock".into() });
    let data = json!({ "headers": ["ä", "fact"], "rows": [["1", "\u{0} 🏛"]] });
    let content = Content { renderer: Renderer::Table, data };
    let window = Window {
        id: "dock".into(),
        monitor: "monitor-0".into(),
        title: "Dock".into(),
        content: content.clone(),
        bounds: Bounds { x: i32::MIN, y: 0, w: u32::MAX, h: 1 },
        variant: Some(Variant::Panel),
        dock_edge: Some(DockEdge::Bottom),
        frameless: true,
        stance: Stance::Maximised,
        app: Some("dock".into()),
        by: By::Program,
    };
    let plain = Window {
        id: "ä note".into(),
        monitor: "monitor-1".into(),
        variant: None,
        dock_edge: None,
        frameless: false,
        stance: Stance::Normal,
        app: None,
        by: By::Agent,
        ..window.clone()
    };
    let data = || json!([["2", "x"]]);
    let updates = [
        Operation::Append { data: data() },
        Operation::Prepend { data: data() },
        Operation::InsertAt { position: 1, data: data() },
        Operation::Replace { data: json!({ "headers": ["a"], "rows": [] }) },
        Operation::Clear,
    ];
    let changes = [
        WindowChange::Moved { x: -1, y: 2 },
        WindowChange::Resized { w: 3, h: 4 },
        WindowChange::Focused,
        WindowChange::Titled { title: "Another".into() },
        WindowChange::Content { content },
        WindowChange::Minimised,
        WindowChange::Maximised,
        WindowChange::Restored,
    ];
    let updated = updates.map(|operation| WindowChange::Updated { operation });
    let changed = |change| Fact::WindowChanged { window: key.into(), change, by: by() };
    let opened = [window, plain].map(|window| Fact::WindowOpened(Box::new(window)));
    let mut facts: Vec<Fact> = opened.into();
    facts.extend(changes.into_iter().chain(updated).map(changed));
    facts.extend(every_app_fact(key).map(|fact| Fact::App(Box::new(fact))));
    facts.extend(every_desktop_fact().map(|fact| Fact::Desktop(Box::new(fact))));
    let (closed, left) = (key.to_owned(), Some(Seq(7)));
    facts.push(Fact::WindowClosed { window: closed, by: By::Person, left });
    let other = "monitor-1/ä note".to_owned();
    facts.push(Fact::WindowClosed { window: other, by: By::Agent, left: None });
    facts
}

fn every_desktop_fact() -> [DesktopFact; 6] {
    let device = || "studio".to_owned();
    let until = Timestamp::UNIX_EPOCH;
    let area = Some(Rect { x: 1, y: 2, w: 3, h: 4 });
    [
        DesktopFact::Armed { device: device(), classes: Class::ALL.into(), until, area: None },
        DesktopFact::Armed { device: device(), classes: Class::ALL.into(), until, area },
        DesktopFact::Disarmed { device: device(), why: "the owner".into() },
        DesktopFact::Paused { device: device(), why: Pause::Human },
        DesktopFact::HandedBack { device: device() },
        DesktopFact::Acted {
            device: device(),
            command: "cmd_0_0".into(),
            kind: "mouse_move".into(),
            arguments: [("x".to_owned(), json!(5))].into(),
            result: "Mouse move failed".into(),
            code: Some(Code::OutOfBounds),
            before: Some(Point { x: 3, y: 4 }),
            at: Some(Point { x: 1, y: 2 }),
            window: Some("XTerm".into()),
            leave: Some(Leave::Until(Timestamp::UNIX_EPOCH)),
            ms: 3,
            caller: Some(Caller::Owner),
        },
    ]
}

fn every_app_fact(window: &str) -> [AppFact; 17] {
    let (window, connection) = (|| window.to_owned(), || "conn-1".to_owned());
    let request = || "req-1".to_owned();
    let asked = |asked, idempotency_key| {
        AppFact::Request(AppRequest {
            request: request(),
            window: window(),
            generation: u64::MAX,
            asked,
            cause: Cause::Tool,
            deadline_ms: 5000,
            idempotency_key,
            position: Some(1),
            keep: Keep::Last,
            by_app: Some("dock".into()),
            by: Some(By::Agent),
            undoes: Some("req-0".into()),
        })
    };
    let (state_key, command) = ("a/b".to_owned(), || "inc".to_owned());
    let params = Some(json!({ "by": 2, "fact": null }));
    [
        AppFact::Ready {
            window: window(),
            connection: connection(),
            instance: Some("i".into()),
            generation: u64::MAX,
            replayed: Some(7),
        },
        AppFact::Owner {
            window: window(),
            connection: connection(),
            reason: OwnerReason::Failover,
        },
        AppFact::Lost { window: window(), reason: "closed".into() },
        asked(Asked::Manifest, None),
        asked(Asked::Query { state_key }, None),
        asked(Asked::Command { command: command(), params }, Some("key".into())),
        asked(Asked::Command { command: command(), params: None }, None),
        AppFact::Response {
            request: request(),
            response: Response::of(Kind::Command, Some(json!([1.5, null]))),
            elapsed_ms: 8,
            late: true,
            keep: None,
            inverse: Some(Inverse {
                command: "dec".into(),
                params: Some(json!({ "by": 2 })),
                exact: true,
            }),
        },
        AppFact::Failed { request: request(), reason: FailedReason::OwnerLost },
        AppFact::Rejected {
            connection: connection(),
            request: Some(request()),
            window: Some(window()),
            why: "not yours".into(),
        },
        AppFact::Replay { window: window(), from: 0, to: 3, failed: 1 },
        AppFact::Retired { window: window() },
        AppFact::Interaction {
            window: window(),
            content: "clicked".into(),
            instructions: Some("do".into()),
            app_id: Some("sheet".into()),
            inform: true,
        },
        AppFact::File { window: window(), path: "/a.csv".into() },
        AppFact::HandsTaken { window: window() },
        AppFact::Edited { window: window(), keys: vec!["cells".into()] },
        AppFact::HandsBack { window: window(), reason: BackReason::Silence },
    ]
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
