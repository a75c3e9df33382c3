//! Who shows a window's app, and who of them is asked.

use std::collections::BTreeSet;

use super::{Connection, Effect, Live, Machine, Outgoing, Registered, Told, WindowEvent};
use crate::apps::{AppFact, FailedReason, Kind, OwnerReason, texts};

/// Longer names of documents are none.
const INSTANCE_BYTES: usize = 200;

impl Machine {
    pub(super) fn ready(
        &mut self,
        connection: Connection,
        name: String,
        monitor: Option<&str>,
        instance: Option<String>,
        replayed: Option<u64>,
    ) {
        let window = self.find(&name, monitor);
        let window = window.ok().filter(|_| self.connections.contains(&connection));
        let past = window.as_ref().and_then(|window| self.record.window(window));
        let (Some(window), Some(past)) = (&window, past.filter(|past| past.shown.frame.is_some()))
        else {
            return self.warn(format!("{connection} has an app ready in no app's window: {name}"));
        };
        let instance = instance.filter(|name| name.len() <= INSTANCE_BYTES);
        let known = instance.as_deref().and_then(|instance| past.load_of(instance));
        let generation = known.unwrap_or_else(|| past.next_generation());
        let live = self.live.entry(window.clone()).or_default();
        let before = live.ready.iter().find(|ready| ready.connection == connection);
        let was = before.map(|ready| ready.generation);
        let is_again = was == Some(generation) && live.owner == Some(connection);
        let is_reloaded = was.is_some_and(|was| was != generation);
        let fetching = before.filter(|_| is_again).and_then(|ready| ready.fetching.clone());
        let told = live.load(generation).map(|ready| ready.manifest.clone());
        // A document that speaks through this connection speaks through no other.
        live.ready.retain(|it| it.connection != connection && it.generation != generation);
        let manifest = told.filter(|told| !matches!(told, Told::Nothing)).unwrap_or_default();
        live.ready.push(Registered {
            connection,
            generation,
            name,
            instance: instance.clone(),
            remembers: instance.is_some() && replayed.is_some(),
            manifest,
            fetching,
            is_stale: false,
        });
        if !is_again {
            if is_reloaded {
                self.reloaded(connection, window);
            }
            let (named, window) = (connection.to_string(), window.clone());
            let (connection, replayed) = (named, replayed.filter(|at| *at > 0 || known.is_some()));
            self.note(AppFact::Ready { window, connection, instance, generation, replayed });
        }
        self.own(window, connection, OwnerReason::Ready, known.is_none());
    }

    pub(super) fn left(&mut self, connection: Connection) {
        if !self.connections.remove(&connection) {
            return;
        }
        let mut orphaned = Vec::new();
        for (window, live) in &mut self.live {
            live.ready.retain(|ready| ready.connection != connection);
            if live.owner == Some(connection) {
                live.owner = None;
                live.behind = None;
                orphaned.push(window.clone());
            }
        }
        let mut touched = BTreeSet::new();
        for request in self.open_at(connection, None) {
            touched.extend(self.open.get(&request).map(|open| open.window.clone()));
            self.orphan(&request);
        }
        for window in orphaned {
            self.fail_over(&window);
        }
        for window in touched {
            self.bring(&window);
        }
        if self.connections.is_empty() {
            self.holds.deserted(self.now);
            self.stranded();
        }
    }

    pub(super) fn seen(&mut self, event: &WindowEvent) {
        let (WindowEvent::Opened { window, .. }
        | WindowEvent::Changed { window, .. }
        | WindowEvent::Closed { window }) = event
        else {
            return self.record.seen(event);
        };
        let before = self.record.window(window).map(|past| past.generation);
        self.record.seen(event);
        self.release(window);
        let after = self.record.window(window).map(|past| past.generation);
        if before == after {
            return;
        }
        let reason = if after.is_none() { "closed" } else { "content" };
        let was_ready = self.live.remove(window).is_some_and(|live| !live.ready.is_empty());
        if after.is_some() {
            self.live.insert(window.clone(), Live::default());
        }
        let open = self.open.iter().filter(|(_, open)| open.window == *window);
        let open: Vec<(String, Kind)> =
            open.map(|(request, open)| (request.clone(), open.asked.kind())).collect();
        for (request, kind) in open {
            let text = format!("{} {}", texts::silent(kind), texts::CLOSED);
            self.fail(&request, FailedReason::Closed, &text);
        }
        if was_ready {
            self.note(AppFact::Lost { window: window.clone(), reason: reason.to_owned() });
        }
        self.advance(window);
    }

    /// Makes a connection that has the app ready the one that is asked.
    fn own(&mut self, window: &str, connection: Connection, reason: OwnerReason, is_new: bool) {
        let Some(live) = self.live.get_mut(window) else { return };
        let is_owner = live.owner == Some(connection);
        live.owner = Some(connection);
        if !is_owner || is_new {
            live.behind = None;
        }
        if !is_owner {
            let (window, connection) = (window.to_owned(), connection.to_string());
            self.note(AppFact::Owner { window, connection, reason });
        }
        self.refetch(window);
        self.bring(window);
    }

    /// Asks the owner what it can do; if that was just asked, once more when it has said it. However
    /// often an app registers, there is one such request at a time.
    pub(super) fn refetch(&mut self, window: &str) {
        let live = self.live.get_mut(window);
        let owner = live.and_then(|live| live.load(live.owner()?.generation));
        match owner.filter(|owner| owner.fetching.is_some()) {
            Some(owner) => owner.is_stale = true,
            None => drop(self.fetch(window)),
        }
    }

    fn fail_over(&mut self, window: &str) {
        let knows =
            |generation| self.record.window(window).is_some_and(|past| past.knows(generation));
        let live = self.live.get(window);
        let ready = live.map(|live| live.ready.as_slice()).unwrap_or_default();
        let next = ready.iter().rev().find(|ready| knows(ready.generation));
        if let Some(connection) = next.map(|ready| ready.connection) {
            return self.own(window, connection, OwnerReason::Failover, false);
        }
        let (window, reason) = (window.to_owned(), "owner-lost".to_owned());
        self.note(AppFact::Lost { window: window.clone(), reason });
        self.advance(&window);
    }

    /// The document that was asked is gone, and another is in its place.
    fn reloaded(&mut self, connection: Connection, window: &str) {
        if let Some(live) = self.live.get_mut(window) {
            live.behind = None;
        }
        for request in self.open_at(connection, Some(window)) {
            let Some(open) = self.open.get(&request) else { continue };
            let text = format!("{} {}", texts::silent(open.asked.kind()), texts::RELOADED);
            self.fail(&request, FailedReason::Reloaded, &text);
        }
    }

    /// Whoever was asked is gone. What only looks is asked of somebody else; a command may have run.
    fn orphan(&mut self, request: &str) {
        let Some(open) = self.open.get_mut(request) else { return };
        let kind = open.asked.kind();
        if kind != Kind::Command && !open.callers.is_empty() {
            open.at = None;
            return;
        }
        let text = format!("{} {}", texts::silent(kind), texts::OWNER_LOST);
        self.fail(request, FailedReason::OwnerLost, &text);
    }

    /// Asks the owner what another was asked before, who is gone.
    pub(super) fn ask_again(&mut self, window: &str) {
        let Some(live) = self.live.get(window) else { return };
        let Some(owner) = live.owner().cloned() else { return };
        let is_behind = live.behind.is_some();
        for (request, open) in &mut self.open {
            let is_held = is_behind && open.asked.kind() != Kind::Manifest;
            if open.window != window || open.at.is_some() || is_held {
                continue;
            }
            open.at = Some((owner.connection, owner.generation));
            let request = Outgoing {
                request: request.clone(),
                window: owner.name.clone(),
                asked: open.asked.clone(),
                instance: owner.instance.clone(),
                position: None,
            };
            let connection = owner.connection;
            self.effects.push(Effect::Send { connection, request, safe: false });
        }
    }

    /// Nobody is left who could answer anything.
    fn stranded(&mut self) {
        let open = self.open.iter().map(|(request, open)| (request.clone(), open.asked.kind()));
        for (request, kind) in open.collect::<Vec<_>>() {
            let text = format!("{} {}", texts::silent(kind), texts::NO_CLIENT);
            self.fail(&request, FailedReason::OwnerLost, &text);
        }
        let windows: Vec<String> = self.waiting.iter().map(|it| it.window.clone()).collect();
        for window in windows {
            self.advance(&window);
        }
    }
}
