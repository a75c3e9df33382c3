//! What is sent to the app of a window: on record first, then on its way, then awaited.

use std::{sync::Arc, time::Duration};

use super::{Effect, Machine, Outgoing, PATIENCE, manifest::Manifest, replies::Open};
use crate::{
    apps::{AppFact, AppRequest, Asked, Cause, Keep, Kind},
    windows::By,
};

/// How requests begin that bring an app up to date.
pub(super) const REPLAY: &str = "replay-";

/// Something to be sent to the owner of a window.
pub(super) struct Letter {
    pub asked: Asked,
    pub cause: Cause,
    pub patience: Duration,
    pub key: Option<String>,
    pub position: Option<u64>,
    pub keep: Keep,
    pub tool_call: Option<String>,
    pub by: Option<By>,
    pub undoes: Option<String>,
}

impl Letter {
    pub fn fetch() -> Self {
        Self {
            asked: Asked::Manifest,
            cause: Cause::Manifest,
            patience: PATIENCE,
            key: None,
            position: None,
            keep: Keep::default(),
            tool_call: None,
            by: None,
            undoes: None,
        }
    }
}

impl Machine {
    /// Records a request and sends it to the window's owner; says what it is called.
    pub(super) fn send(
        &mut self,
        window: &str,
        letter: Letter,
        manifest: Option<&Arc<Manifest>>,
    ) -> Option<String> {
        let owner = self.live.get(window)?.owner()?.clone();
        let id = self.name(window, letter.cause);
        // What is played again is in the journal already.
        let recorded = match (&letter.asked, letter.cause) {
            (Asked::Command { command, .. }, Cause::Replay) => {
                Asked::Command { command: command.clone(), params: None }
            }
            (asked, _) => asked.clone(),
        };
        self.note(AppFact::Request(AppRequest {
            request: id.clone(),
            window: window.to_owned(),
            generation: owner.generation,
            asked: recorded,
            cause: letter.cause,
            deadline_ms: u64::try_from(letter.patience.as_millis()).unwrap_or(u64::MAX),
            idempotency_key: letter.key,
            position: letter.position,
            keep: letter.keep,
            by_app: manifest.and_then(|manifest| manifest.app.clone()),
            by: letter.by.clone(),
            undoes: letter.undoes.clone(),
        }));
        let (connection, generation) = (owner.connection, owner.generation);
        let is_replay = letter.cause == Cause::Replay;
        // A client that remembers what it gave a document tells it, should this fact be lost.
        let safe = letter.asked.kind() == Kind::Command && !(is_replay && owner.remembers);
        let request = Outgoing {
            request: id.clone(),
            window: owner.name,
            asked: letter.asked.clone(),
            instance: owner.instance,
            position: letter.position.filter(|_| is_replay && owner.remembers),
        };
        self.effects.push(Effect::Send { connection, request, safe });
        let open = Open {
            window: window.to_owned(),
            at: Some((connection, generation)),
            asked: letter.asked,
            cause: letter.cause,
            sent: self.now,
            heard: self.now,
            patience: letter.patience,
            keep: letter.keep,
            is_late: false,
            callers: Vec::new(),
            tool_call: letter.tool_call,
            by: letter.by,
            undoes: letter.undoes,
        };
        self.open.insert(id.clone(), open);
        Some(id)
    }

    /// Asks the owner what it can do, for ourselves.
    pub(super) fn fetch(&mut self, window: &str) -> Option<String> {
        let request = self.send(window, Letter::fetch(), None);
        let generation = self.live.get(window)?.owner()?.generation;
        if let Some(owner) = self.live.get_mut(window)?.load(generation) {
            owner.fetching.clone_from(&request);
            owner.is_stale = false;
        }
        request
    }

    fn name(&mut self, window: &str, cause: Cause) -> String {
        let bits = self.chance.bits();
        if cause != Cause::Replay {
            return format!("req-{bits:032x}");
        }
        let raw = window.split_once('/').map_or(window, |(_, raw)| raw);
        let steps = self.live.get(window).and_then(|live| live.behind.as_ref());
        format!("{REPLAY}{raw}-{bits:032x}-{}", steps.map_or(0, |behind| behind.steps))
    }
}
