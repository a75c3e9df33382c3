//! Whatever is said, cancelled, followed and killed, in any order, the log is a valid history.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use jiff::SignedDuration;
use kernel::{
    approvals::Mode,
    feed::{Feed, Heard},
    host::{Host, PostError, Settings},
    ports::{Catalog as _, Log as _},
    question::{Decision, Scope},
    session::SayError,
    state::State,
    toolbox::{Caller, Risk},
    update::{Amendment, Entry, Fact, Failure, Message, Origin, Seq, SessionId, WhenBusy},
    windows::{By, Content, Named, Opening, Renderer, WindowChange, Windows, Wish},
};
use proptest::{collection::vec, prelude::*};
use serde_json::json;
use testkit::{
    Gate, TestTool, World, history,
    model::{Script, call, fail, hang, reasoning, text},
};

#[derive(Clone, Debug)]
enum Act {
    Say {
        queue: bool,
        key: Option<u8>,
        attended: bool,
        /// Instead of one of the messages that were taken.
        instead: Option<u8>,
    },
    /// Answers one of the open questions.
    Decide {
        which: u8,
        decision: Decision,
    },
    Mode(Mode),
    /// Somebody outside any turn calls a tool that needs leave.
    Call,
    /// Time passes, more than an unattended question waits.
    Age,
    Cancel,
    /// Calls off one of the messages that wait.
    Unqueue(u8),
    Rename,
    Compact,
    Observe,
    /// Something is done with a window.
    Arrange(Wish),
    /// A listener comes, from a point in the past.
    Follow {
        after: u64,
    },
    /// Listeners hear what they can without waiting.
    Listen,
    /// The others get to run, for so many turns of the wheel.
    Yield(u8),
    DiskFull(bool),
    Crash,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => said(),
        4 => (any::<u8>(), decision())
            .prop_map(|(which, decision)| Act::Decide { which, decision }),
        2 => prop_oneof![Just(Mode::Ask), Just(Mode::AutoSafe), Just(Mode::Full)]
            .prop_map(Act::Mode),
        1 => Just(Act::Call),
        1 => Just(Act::Age),
        2 => Just(Act::Cancel),
        1 => any::<u8>().prop_map(Act::Unqueue),
        1 => Just(Act::Rename),
        1 => Just(Act::Compact),
        1 => Just(Act::Observe),
        2 => wish().prop_map(Act::Arrange),
        2 => (0..40_u64).prop_map(|after| Act::Follow { after }),
        2 => Just(Act::Listen),
        5 => (1..5_u8).prop_map(Act::Yield),
        5 => (1..40_u8).prop_map(Act::Yield),
        1 => any::<bool>().prop_map(Act::DiskFull),
        1 => Just(Act::Crash),
    ]
}

fn wish() -> impl Strategy<Value = Wish> {
    let window = || prop_oneof![Just("a"), Just("b")];
    let change = prop_oneof![Just(WindowChange::Minimised), Just(WindowChange::Focused)];
    let shown = || Content { renderer: Renderer::Text, data: json!("words") };
    prop_oneof![
        window().prop_map(move |id| Wish::Open(Box::new(Opening::new(id, "t", shown())))),
        (window(), change).prop_map(|(window, change)| Wish::Change {
            window: Named::new(window),
            changes: vec![change],
        }),
        window().prop_map(|window| Wish::Close { window: Named::new(window) }),
    ]
}

fn said() -> impl Strategy<Value = Act> {
    let key = prop::option::weighted(0.3, 0..3_u8);
    let instead = prop::option::weighted(0.3, any::<u8>());
    (any::<bool>(), key, any::<bool>(), instead)
        .prop_map(|(queue, key, attended, instead)| Act::Say { queue, key, attended, instead })
}

fn decision() -> impl Strategy<Value = Decision> {
    let scope = prop_oneof![Just(Scope::Once), Just(Scope::Session), Just(Scope::Always)];
    let lasts = prop_oneof![Just(None), Just(Some(Duration::from_mins(5)))];
    prop_oneof![
        4 => (scope, any::<bool>(), lasts).prop_map(|(scope, patterned, lasts)| {
            Decision::Allow { scope, pattern: patterned.then(|| "a*".to_owned()), lasts }
        }),
        2 => Just(Decision::Deny { reason: None }),
        1 => Just(Decision::Answer("words".into())),
    ]
}

/// Replies of every kind: words, thoughts, calls to tools good and bad, failures, silence.
fn script() -> impl Strategy<Value = Script> {
    let line = prop_oneof![
        4 => Just(text("word ")),
        1 => Just(reasoning("hm ")),
        2 => Just(call("", "echo", json!({ "a": 1 }))),
        1 => Just(call("same", "none", json!({}))),
        1 => Just(call("same", "panic", json!({}))),
        1 => Just(call("never", "wait", json!({}))),
        2 => prop_oneof![Just("ab"), Just("b")].prop_map(|on| call("", "act", json!({ "on": on }))),
        1 => Just(call("", "edit", json!({}))),
        1 => Just(call("", "stuck", json!({}))),
    ];
    let end = prop_oneof![
        6 => Just(None),
        1 => Just(Some(fail(Failure::Network, "cut"))),
        1 => Just(Some(hang())),
    ];
    (vec(line, 0..6), end).prop_map(|(mut lines, end)| {
        lines.extend(end);
        lines
    })
}

/// One who follows a session: what they heard must be the log, from where they began.
struct Listener {
    feed: Feed,
    heard: Vec<Entry>,
}

impl Listener {
    fn listen(&mut self) {
        while let Some(heard) = self.feed.next_now() {
            self.hear(heard);
        }
    }

    fn hear(&mut self, heard: Heard) {
        match heard {
            Heard::Past(entry) => self.heard.push(*entry),
            Heard::Live(told) => self.heard.extend(told.facts().map(|entry| Entry::clone(entry))),
            Heard::Now { .. } => (),
        }
    }
}

struct Story {
    world: World,
    id: SessionId,
    /// What was acknowledged, by its place.
    accepted: BTreeMap<Seq, String>,
    heard: Vec<Vec<Entry>>,
    said: usize,
    /// Tools that change something, and are called in turns alone.
    risky: [TestTool; 2],
}

impl Story {
    fn life(&mut self, acts: &mut std::vec::IntoIter<Act>) -> bool {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        let runtime = runtime.unwrap();
        runtime.block_on(async {
            let host = Host::start(self.world.ports(), Settings::default()).await.unwrap();
            let mut listeners = Vec::new();
            let crashed = loop {
                match acts.next() {
                    None => break false,
                    Some(Act::Crash) => break true,
                    Some(act) => self.carry_out(&host, act, &mut listeners).await,
                }
            };
            self.heard.extend(listeners.into_iter().map(|listener: Listener| listener.heard));
            crashed
        })
        // Here the runtime is dropped, and with it every task, wherever it was.
    }

    async fn carry_out(&mut self, host: &Arc<Host>, act: Act, listeners: &mut Vec<Listener>) {
        match act {
            Act::Say { queue, key, attended, instead } => {
                // Under one key it is always the same that is said.
                let places: Vec<Seq> = self.accepted.keys().copied().collect();
                let place = |which: u8| places.get(usize::from(which) % places.len().max(1));
                let replaces = instead.and_then(place).filter(|_| key.is_none()).copied();
                self.say(host, queue, key, attended, replaces).await;
            }
            Act::Decide { which, decision } => {
                let open = host.questions().await.unwrap();
                if let Some(waiting) = open.get(usize::from(which) % open.len().max(1)) {
                    drop(host.decide(waiting.question.id, decision, "test").await);
                }
            }
            Act::Mode(mode) => {
                let amendment = Amendment { mode: Some(mode), ..Amendment::default() };
                drop(host.amend(self.id, amendment).await);
            }
            Act::Call => {
                let (host, id) = (host.clone(), self.id);
                tokio::spawn(async move { host.call(id, Caller::Client, "act", json!({})).await });
            }
            Act::Age => {
                self.world.clock.advance(SignedDuration::from_mins(11));
                tokio::time::sleep(Duration::from_mins(11)).await;
            }
            Act::Cancel => drop(host.cancel(self.id).await),
            Act::Unqueue(which) => {
                let state = host.roster.get(self.id).unwrap();
                let place = state.queue.get(usize::from(which) % state.queue.len().max(1));
                if let Some(place) = place {
                    drop(host.unqueue(self.id, *place).await);
                }
            }
            Act::Rename => {
                let amendment = Amendment { name: Some("n".into()), ..Amendment::default() };
                drop(host.amend(self.id, amendment).await);
            }
            Act::Compact => drop(host.compact(self.id).await),
            Act::Observe => drop(host.observe(self.id).await),
            Act::Arrange(wish) => drop(host.arrange(self.id, wish, By::Person).await),
            Act::Follow { after } => {
                if let Ok(feed) = host.feed(self.id, Some(Seq(after))).await {
                    listeners.push(Listener { feed, heard: Vec::new() });
                }
            }
            Act::Listen => listeners.iter_mut().for_each(Listener::listen),
            Act::Yield(times) => {
                for _ in 0..times {
                    tokio::task::yield_now().await;
                }
            }
            Act::DiskFull(full) => self.world.store.fail_appends(full),
            Act::Crash => panic!("a crash ends a life"),
        }
    }

    async fn say(
        &mut self,
        host: &Arc<Host>,
        queue: bool,
        key: Option<u8>,
        attended: bool,
        replaces: Option<Seq>,
    ) {
        self.said += 1;
        let words =
            key.map_or_else(|| format!("message {}", self.said), |key| format!("keyed {key}"));
        let key = key.map(|key| key.to_string());
        let schedule = Origin::Schedule { slug: "daily".into(), errand: None };
        let origin = if attended { Origin::User } else { schedule };
        let message = Message { key, origin, replaces, ..Message::from_user(words.clone()) };
        let when_busy = if queue { WhenBusy::Queue } else { WhenBusy::Refuse };
        match host.post(self.id, message, when_busy).await {
            Ok(receipt) => drop(self.accepted.insert(receipt.seq, words)),
            Err(PostError::Say(SayError::KeyReused)) => panic!("the same words under the same key"),
            Err(_) => (),
        }
    }

    async fn check(&self, host: &Host) {
        let log = self.world.store.read(self.id, Seq(0), 1_000_000).await.unwrap();
        history::check(&log).unwrap();
        let mut state = State::default();
        for entry in &log {
            state.apply(entry);
        }
        let stored = self.world.store.sessions().await.unwrap();
        assert_eq!(
            stored,
            [(self.id, state.clone())],
            "what is stored is what the facts add up to"
        );
        let mut windows = Windows::default();
        for entry in &log {
            windows.apply(entry);
        }
        let open = host.windows(self.id).await.unwrap();
        assert_eq!(*open, windows, "windows are what the facts add up to");
        assert!(!state.is_unfinished(), "nothing is left undone");
        assert_eq!(state.questions, [], "nor unanswered");
        let started = log.iter().filter(|it| matches!(it.fact, Fact::ToolStarted { .. })).count();
        let ran: usize = self.risky.iter().map(|tool| tool.calls().len()).sum();
        assert!(ran <= started, "what changes something is on record before it runs");
        for (seq, words) in &self.accepted {
            let index = usize::try_from(seq.0 - 1).unwrap();
            let json = serde_json::to_value(&log[index]).unwrap();
            assert_eq!(json["text"], json!(words), "what was acknowledged is there");
        }
        for heard in &self.heard {
            let Some(first) = heard.first() else { continue };
            let start = usize::try_from(first.seq.0 - 1).unwrap();
            assert_eq!(heard[..], log[start..start + heard.len()], "no gap, nothing twice");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_interleaving_leaves_a_valid_history(
        acts in vec(act(), 1..60),
        scripts in vec(script(), 0..12),
    ) {
        let never = TestTool::waiting(&Gate::default());
        let stuck = TestTool::waiting(&Gate::default()).named("stuck").risky(Risk::Edits);
        let edit = TestTool::echo().named("edit").risky(Risk::Edits);
        let act = TestTool::echo().named("act").risky(Risk::Acts).parallel(true);
        let world = World::new(scripts).tool(&TestTool::panicking()).tool(&never);
        let world = world.tool(&stuck).tool(&edit).tool(&act);
        let risky = [stuck, edit];
        world.model.otherwise(vec![text("done")]);
        let begin = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let id = begin.block_on(async {
            let host = Host::start(world.ports(), Settings::default()).await.unwrap();
            host.create("/".as_ref(), "test", "").await.unwrap()
        });
        drop(begin);
        let mut story = Story { world, id, accepted: BTreeMap::new(), heard: Vec::new(), said: 0, risky };
        let mut acts = acts.into_iter();
        while story.life(&mut acts) {}
        // A last life on a working disk puts everything in order.
        story.world.store.fail_appends(false);
        let end = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        end.unwrap().block_on(async {
            let host = Host::start(story.world.ports(), Settings::default()).await.unwrap();
            host.recover().await;
            while host.roster.get(id).unwrap().is_unfinished() {
                host.cancel(id).await.unwrap();
                tokio::task::yield_now().await;
            }
            story.check(&host).await;
        });
    }
}
