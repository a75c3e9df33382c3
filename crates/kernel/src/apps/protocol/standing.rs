//! How things stand with the app in a window, for whoever looks.

use serde_json::Value;

use super::{Connection, Live, Machine};

/// Windows by their scoped ids, connections as they are called in facts.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    pub window: String,
    pub app: Option<String>,
    pub readiness: Readiness,
    /// Who is asked.
    pub owner: Option<String>,
    /// Everybody who has the app ready, the latest last.
    pub loads: Vec<Loaded>,
    /// What the owner says that it can do.
    pub manifest: Option<Value>,
    /// How many show the windows of the session.
    pub connections: usize,
    /// How many commands would be played again if the app loaded anew.
    pub journal: usize,
    /// How many calls are not sent yet, and how many have no answer.
    pub waiting: usize,
    pub open: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// Its window holds no app.
    None,
    /// It has not registered since it was put there.
    Loading,
    /// It is given again what it lacks.
    CatchingUp,
    Ready,
    /// It was ready, and nobody has it any more.
    Lost,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded {
    pub connection: String,
    pub generation: u64,
    /// What the document calls itself, where the client says so.
    pub instance: Option<String>,
}

impl Machine {
    /// Or in words why there is no such window.
    pub fn standing(&self, name: &str, monitor: Option<&str>) -> Result<Standing, String> {
        let window = self.find(name, monitor)?;
        let (past, live) = (self.record.window(&window), self.live.get(&window));
        let ready = live.map(|live| live.ready.as_slice()).unwrap_or_default();
        let loaded = |connection: Connection, generation| Loaded {
            connection: connection.to_string(),
            generation,
            instance: past.and_then(|past| past.instance(generation)).map(str::to_owned),
        };
        let manifest = live.and_then(Live::manifest);
        Ok(Standing {
            app: past.and_then(|past| past.shown.app.clone()),
            readiness: self.readiness(&window),
            owner: live.and_then(|live| live.owner).map(|owner| owner.to_string()),
            loads: ready.iter().map(|it| loaded(it.connection, it.generation)).collect(),
            manifest: manifest.map(|manifest| manifest.whole.clone()),
            connections: self.connections.len(),
            journal: past.map_or(0, |past| past.journal.len()),
            waiting: self.waiting.iter().filter(|waiting| waiting.window == window).count(),
            open: self.open.values().filter(|open| open.window == window).count(),
            window,
        })
    }

    fn readiness(&self, window: &str) -> Readiness {
        let Some(past) = self.record.window(window).filter(|past| past.shown.frame.is_some())
        else {
            return Readiness::None;
        };
        match self.live.get(window).filter(|live| live.owner.is_some()) {
            Some(live) if live.behind.is_some() => Readiness::CatchingUp,
            Some(_) => Readiness::Ready,
            None if past.registered => Readiness::Lost,
            None => Readiness::Loading,
        }
    }
}
