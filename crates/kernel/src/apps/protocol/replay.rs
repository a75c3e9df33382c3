//! Brings an app up to date that has not seen all of its window's commands.

use std::sync::Arc;

use jiff::Timestamp;

use super::{
    Live, Machine, PATIENCE, Told,
    calls::{INTRODUCTION, Letter},
    manifest::Manifest,
};
use crate::apps::{AppFact, Asked, Cause};

/// How far it has come.
pub(super) struct Behind {
    /// How long it is waited for what the app says of itself.
    patience: Timestamp,
    /// Whether the journal is known to be of this app.
    is_checked: bool,
    /// The request that is awaited.
    step: Option<(String, u64)>,
    pub steps: u64,
    from: u64,
    to: u64,
    /// What went wrong, of the first few.
    failed: u64,
    failures: Vec<String>,
}

/// How many failures are told in words.
const TOLD: usize = 5;

impl Behind {
    fn new(patience: Timestamp) -> Self {
        Self {
            patience,
            is_checked: false,
            step: None,
            steps: 0,
            from: 0,
            to: 0,
            failed: 0,
            failures: Vec::new(),
        }
    }

    /// When it goes on without being told anything.
    pub fn until(&self) -> Option<Timestamp> {
        (!self.is_checked).then_some(self.patience)
    }
}

impl Machine {
    /// Goes on with a window's owner, as far as it gets, and lets the calls go that were held.
    pub(super) fn bring(&mut self, window: &str) {
        let is_behind = self.live.get(window).is_some_and(|live| live.behind.is_some());
        if !is_behind && (self.lacking(window).is_some() || self.is_busy_elsewhere(window)) {
            let patience = self.now + INTRODUCTION;
            if let Some(live) = self.live.get_mut(window) {
                live.behind = Some(Behind::new(patience));
            }
        }
        self.catch_up(window);
        self.ask_again(window);
        self.advance(window);
    }

    /// A step of a replay has an outcome.
    pub(super) fn stepped(&mut self, request: &str, window: &str, failure: Option<String>) {
        let behind = self.live.get_mut(window).and_then(|live| live.behind.as_mut());
        let Some(behind) = behind else { return };
        let Some((_, position)) = behind.step.take_if(|(step, _)| step == request) else { return };
        if let Some(failure) = failure {
            behind.failed += 1;
            if behind.failures.len() < TOLD {
                behind.failures.push(format!("{position}: {failure}"));
            }
        }
    }

    fn catch_up(&mut self, window: &str) {
        let Some(live) = self.live.get(window) else { return };
        let (Some(behind), Some(owner)) = (&live.behind, live.owner()) else { return };
        if behind.step.is_some() || self.is_busy_elsewhere(window) {
            return;
        }
        let lacking = self.lacking(window);
        let is_unknown = matches!(owner.manifest, Told::NotYet) && self.now < behind.patience;
        if lacking.is_some() && !behind.is_checked && is_unknown {
            return;
        }
        let manifest = owner.manifest();
        let is_retired = lacking.is_some() && !self.is_of(window, manifest.as_ref());
        if is_retired {
            self.note(AppFact::Retired { window: window.to_owned() });
        }
        match lacking.filter(|_| !is_retired) {
            Some(position) => self.play(window, position, manifest.as_ref()),
            None => self.caught_up(window),
        }
    }

    /// The next command that the owner has not seen.
    fn lacking(&self, window: &str) -> Option<u64> {
        let generation = self.live.get(window)?.owner()?.generation;
        self.record.window(window)?.lacking(generation)
    }

    /// Whether a command is under way at another who shows the same app.
    fn is_busy_elsewhere(&self, window: &str) -> bool {
        let Some(owner) = self.live.get(window).and_then(Live::owner) else { return false };
        self.open.values().any(|open| {
            open.window == window
                && open.is_command()
                && !open.is_late
                && open.at.is_some_and(|(connection, _)| connection != owner.connection)
        })
    }

    /// Whether what is in the journal was carried out by this app.
    fn is_of(&self, window: &str, manifest: Option<&Arc<Manifest>>) -> bool {
        let app = manifest.and_then(|manifest| manifest.app.as_ref());
        let past = self.record.window(window);
        let newest = past.and_then(|past| past.journal.newest());
        match (app, newest.and_then(|entry| entry.app.as_ref())) {
            (Some(app), Some(recorded)) => app == recorded,
            _ => true,
        }
    }

    fn play(&mut self, window: &str, position: u64, manifest: Option<&Arc<Manifest>>) {
        let entry = self.record.window(window).and_then(|past| past.journal.get(position)).cloned();
        let Some(entry) = entry else { return };
        let known = manifest.and_then(|manifest| manifest.command(&entry.command));
        let letter = Letter {
            patience: known.map_or(PATIENCE, |known| known.patience),
            asked: Asked::Command { command: entry.command, params: entry.params },
            cause: Cause::Replay,
            key: None,
            position: Some(position),
            keep: entry.keep,
            tool_call: None,
            by: None,
            undoes: None,
        };
        let request = self.send(window, letter, None);
        let behind = self.live.get_mut(window).and_then(|live| live.behind.as_mut());
        if let Some(behind) = behind {
            behind.is_checked = true;
            behind.step = request.map(|request| (request, position));
            if behind.steps == 0 {
                behind.from = position;
            }
            behind.steps += 1;
            behind.to = position;
        }
    }

    fn caught_up(&mut self, window: &str) {
        let behind = self.live.get_mut(window).and_then(|live| live.behind.take());
        let Some(behind) = behind.filter(|behind| behind.steps > 0) else { return };
        let Behind { from, to, failed, .. } = behind;
        self.note(AppFact::Replay { window: window.to_owned(), from, to, failed });
        if failed == 0 {
            return;
        }
        let more = failed.saturating_sub(behind.failures.len() as u64);
        let more = if more > 0 { format!("\n... and {more} more") } else { String::new() };
        let text = format!(
            "The app in window \"{window}\" has loaded anew. {failed} of the {} commands that it \
             was given again have failed:\n{}{more}",
            behind.steps,
            behind.failures.join("\n"),
        );
        self.tell(window, text, false);
    }
}
