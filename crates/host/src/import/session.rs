//! One session of another program, as a history of our own.

use std::{collections::BTreeMap, fs};

use anyhow::Context as _;
use jiff::Timestamp;
use kernel::{
    outputs::Output,
    state::State,
    update::{Context, Entry, Fact, SessionId},
};
use serde_json::{Map, Value};

use super::{
    attached::{Files, Picture},
    history::{Event, Historian},
    outputs,
    source::Source,
};

/// How many items a set of things worth remembering has at most.
const ITEMS: usize = 10;

pub struct Found {
    pub entries: Vec<Entry>,
    pub state: State,
    pub outputs: Vec<Output>,
    /// What came with messages, which name it by its place here until it is kept.
    pub pictures: Vec<Picture>,
    /// What of it could not be taken.
    pub notes: Vec<String>,
}

impl Found {
    pub fn read(
        source: &Source,
        name: &str,
        session: SessionId,
        model: &str,
    ) -> anyhow::Result<Self> {
        let text = fs::read(source.events(name)).context("its events cannot be read")?;
        let (events, broken) = parse(&String::from_utf8_lossy(&text));
        let first = events.first().context("it has no events")?;
        let about = About::read(source, name);
        let (kept, mut notes) = outputs::read(&source.outputs(name), session);

        let start = |pointer: &str| first.data.pointer(pointer).and_then(Value::as_str);
        let cwd = start("/context/cwd").map(str::to_owned).or_else(|| folder(source, name));
        let used = about.text("model").or(start("/selectedModel")).unwrap_or(model).to_owned();
        let at = first.timestamp.unwrap_or(Timestamp::UNIX_EPOCH);
        let opened = Fact::Opened {
            cwd: cwd.unwrap_or_default(),
            model: used.clone(),
            name: about.text("name").unwrap_or_default().to_owned(),
            parent: None,
        };
        let mut historian = Historian::open(opened, used, at);
        let find = |id: &str| kept.get(id).and_then(outputs::embed);
        let mut files = Files::default();
        for event in &events {
            historian.read(event, find, |named| files.take(named));
        }
        historian.close();
        about.facts().into_iter().for_each(|fact| historian.write(fact));
        if historian.state.unobserved && !about.is_unobserved() {
            historian.write(Fact::Observed);
        }
        for (count, what) in [
            (broken, "lines that cannot be read were passed over"),
            (historian.strays, "events that belong to no turn were passed over"),
            (files.gone, "attachments are no longer where they were"),
            (files.others, "attachments are no pictures, and were not taken"),
        ] {
            if count > 0 {
                notes.push(format!("{count} {what}"));
            }
        }
        let Historian { entries, state, .. } = historian;
        let (outputs, pictures) = (kept.into_values().collect(), files.found);
        Ok(Self { entries, state, outputs, pictures, notes })
    }
}

/// The events, and how many lines are none. The last line may be torn, which is no wonder.
fn parse(text: &str) -> (Vec<Event>, usize) {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let (mut events, mut broken) = (Vec::new(), 0);
    for (index, line) in lines.iter().enumerate() {
        match serde_json::from_str(line) {
            Ok(event) => events.push(event),
            Err(_) if index + 1 == lines.len() => (),
            Err(_) => broken += 1,
        }
    }
    (events, broken)
}

/// Newer versions wrote it beside the events.
fn folder(source: &Source, name: &str) -> Option<String> {
    let text = fs::read_to_string(source.workspace(name)).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("cwd:"))?;
    Some(line.trim().trim_matches(['"', '\'']).to_owned())
}

/// What was noted of a session beside its events. Anything in it may be of the wrong kind.
struct About(Map<String, Value>);

impl About {
    fn read(source: &Source, name: &str) -> Self {
        let text = fs::read(source.meta(name)).unwrap_or_default();
        Self(serde_json::from_slice(&text).unwrap_or_default())
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str().filter(|text| !text.is_empty())
    }

    fn time(&self, name: &str) -> Option<Timestamp> {
        self.text(name)?.parse().ok()
    }

    fn is_unobserved(&self) -> bool {
        let observed = self.time("lastObservedAt");
        self.time("lastIdleAt").is_some_and(|idle| observed.is_none_or(|seen| seen < idle))
    }

    fn facts(&self) -> Vec<Fact> {
        let mut facts = Vec::new();
        if let Some(hint) = self.text("envHint") {
            facts.push(Fact::EnvHinted { hint: hint.to_owned() });
        }
        let sets = self.0.get("context").and_then(Value::as_object);
        let mut context: Context = BTreeMap::new();
        for (set, items) in sets.into_iter().flatten() {
            let Some(items) = items.as_array() else { continue };
            let items = items.iter().filter_map(Value::as_str).map(str::to_owned).take(ITEMS);
            context.insert(set.clone(), items.collect());
            facts.push(Fact::ContextChanged { set: set.clone(), context: context.clone() });
        }
        facts
    }
}
