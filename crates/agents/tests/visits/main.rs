//! Real processes that speak the protocol, well and badly, in a house on fakes.
#![expect(clippy::unwrap_used, clippy::panic, reason = "all of it is a test")]

mod behaving;
mod hostile;
mod official;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use agents::{Guests, Offer, Settings};
use kernel::{
    approvals::Mode,
    feed::{Feed, Heard},
    host::{Host, Settings as House},
    inbox::Waiting,
    ports::{Log as _, Ports},
    question::Decision,
    toolbox::Toolbox,
    update::{
        Amendment, Answer, Entry, Fact, Message, Outcome, Output, Seq, SessionId, Signal, Update,
        WhenBusy,
    },
};
use tempfile::TempDir;
use testkit::{World, history};

/// How long anything may take that must happen in the end; most of it takes milliseconds.
const DEADLINE: Duration = Duration::from_mins(1);

async fn within<T>(what: &str, work: impl Future<Output = T>) -> T {
    let done = tokio::time::timeout(DEADLINE, work).await;
    done.unwrap_or_else(|_| panic!("waited in vain for {what}"))
}

/// A house with one agent, and a session that it answers in.
struct Scene {
    dir: TempDir,
    world: World,
    host: Arc<Host>,
    id: SessionId,
    feed: Feed,
}

fn scripted(mode: &str) -> Settings {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/visits/agent.py");
    let args = vec![script.display().to_string(), mode.to_owned()];
    Settings { command: "python3".into(), args, ..Settings::default() }
}

impl Scene {
    async fn new(settings: Settings) -> Self {
        Self::with(settings, &[]).await
    }

    async fn with(settings: Settings, offers: &[Offer]) -> Self {
        let (dir, world) = (tempfile::tempdir().unwrap(), World::new([]));
        fs::create_dir(dir.path().join("room")).unwrap();
        let host = house(&world, dir.path(), settings, offers).await;
        let id = host.create(&dir.path().join("room"), "agent/guest", "").await.unwrap();
        let feed = host.feed(id, Some(Seq(0))).await.unwrap();
        Self { dir, world, host, id, feed }
    }

    /// The same house and session with a new agent, as after a restart.
    async fn again(self, settings: Settings) -> Self {
        self.host.shut(Duration::ZERO).await;
        let Self { dir, world, id, .. } = self;
        let host = house(&world, dir.path(), settings, &[]).await;
        let feed = host.feed(id, None).await.unwrap();
        Self { dir, world, host, id, feed }
    }

    fn room(&self) -> PathBuf {
        self.dir.path().join("room")
    }

    async fn mode(&self, mode: Mode) {
        let amendment = Amendment { mode: Some(mode), ..Amendment::default() };
        self.host.amend(self.id, amendment).await.unwrap();
    }

    async fn say(&self, text: &str) {
        let message = Message::from_user(text);
        self.host.post(self.id, message, WhenBusy::Queue).await.unwrap();
    }

    /// Says something, and returns what was answered and how the turn ended.
    async fn ask(&mut self, text: &str) -> (String, String) {
        self.say(text).await;
        self.ended().await
    }

    /// What was said in this turn, and how it ends.
    async fn ended(&mut self) -> (String, String) {
        let how = loop {
            let end = self.next().await.into_iter().find_map(|fact| match fact {
                Fact::TurnEnded(Outcome::Failed { kind, reason }) => {
                    Some(format!("{kind:?}: {reason}"))
                }
                Fact::TurnEnded(outcome) => Some(outcome.name().to_owned()),
                _ => None,
            });
            if let Some(how) = end {
                break how;
            }
        };
        let log = self.log().await;
        let said = log.iter().rposition(|entry| matches!(entry.fact, Fact::Said { .. })).unwrap();
        let words = log[said..].iter().filter_map(|entry| match &entry.fact {
            Fact::Answered(Answer { text, .. }) => Some(text.as_str()),
            _ => None,
        });
        (words.collect(), how)
    }

    async fn next(&mut self) -> Vec<Fact> {
        match within("a fact", self.feed.next()).await.unwrap() {
            Heard::Past(entry) => vec![entry.fact],
            Heard::Now { .. } => Vec::new(),
            Heard::Live(told) => {
                let facts = told.updates.iter().filter_map(|update| match update {
                    Update::Fact(entry) => Some(entry.fact.clone()),
                    Update::Signal { .. } => None,
                });
                facts.collect()
            }
        }
    }

    /// Waits until this has been said, in pieces or as a whole.
    async fn until_said(&mut self, words: &str) {
        let mut text = String::new();
        while !text.contains(words) {
            if let Heard::Live(told) = within(words, self.feed.next()).await.unwrap() {
                for update in &told.updates {
                    if let Update::Signal { signal: Signal::Text { delta, .. }, .. } = update {
                        text.push_str(delta);
                    }
                }
            }
        }
    }

    /// The next question that is put to the person.
    async fn question(&mut self) -> Waiting {
        loop {
            let facts = self.next().await;
            if facts.iter().any(|fact| matches!(fact, Fact::Asked(_))) {
                return self.host.questions().await.unwrap().pop().unwrap();
            }
        }
    }

    async fn decide(&mut self, decision: Decision) -> Waiting {
        let waiting = self.question().await;
        self.host.decide(waiting.question.id, decision, "a test").await.unwrap();
        waiting
    }

    /// A valid history, all of it.
    async fn log(&self) -> Vec<Entry> {
        let entries = self.world.store.read(self.id, Seq(0), usize::MAX >> 1).await.unwrap();
        history::check(&entries).unwrap();
        entries
    }

    /// The calls on record, each with how it came out.
    async fn calls(&self) -> Vec<(String, String, Option<Output>)> {
        let log = self.log().await;
        let mut calls = Vec::new();
        for entry in &log {
            let Fact::Answered(answer) = &entry.fact else { continue };
            for call in &answer.calls {
                let output = log.iter().find_map(|entry| match &entry.fact {
                    Fact::ToolReturned { call: id, output } if *id == call.id => Some(output),
                    _ => None,
                });
                calls.push((call.name.clone(), call.title.clone(), output.cloned()));
            }
        }
        calls
    }
}

async fn house(world: &World, dir: &Path, settings: Settings, offers: &[Offer]) -> Arc<Host> {
    let settings = BTreeMap::from([("guest".to_owned(), settings)]);
    let guests = Guests::new(settings, offers, Some(&dir.join("logs")));
    let ports = world.ports();
    let toolbox = Toolbox::default();
    tools::add_all(
        &toolbox,
        ports.clock.clone(),
        ports.briefing.clone(),
        tools::Workshop::default(),
    );
    tools::shell::add(&toolbox, shell());
    let ports = Ports { agents: Arc::new(guests), tools: Arc::new(toolbox), ..ports };
    Host::start(ports, House::default()).await.unwrap()
}

/// Commands as they are, with nobody between.
fn shell() -> tools::shell::Settings {
    let arguments = ["-c", r#"shift; exec "$@""#, "sh"].map(Into::into).to_vec();
    tools::shell::Settings {
        sandboxing: tools::shell::Sandboxing::Never,
        longest: DEADLINE,
        jobs: 2,
        processes: 100,
        environment: tools::shell::clean(std::env::vars_os(), &[]),
        hidden: Vec::new(),
        home: None,
        helper: tools::sandbox::Helper { program: "/bin/sh".into(), arguments },
        ability: tools::sandbox::Ability::given(Err("this is a test".into())),
    }
}

/// Whether a process of this id runs; one that is dead and not yet buried does not.
fn runs(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
}

async fn until_gone(pid: &str) {
    let gone = async {
        while runs(pid) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    within("the process to be gone", gone).await;
}
