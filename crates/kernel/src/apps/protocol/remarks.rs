//! What apps say of themselves without being asked.

use super::{Connection, Effect, Machine, lookup::is_named};
use crate::apps::{Remark, Telling};

impl Machine {
    /// What is nobody's to say, or of nothing that is going on, has no effect.
    pub(super) fn remarked(
        &mut self,
        connection: Connection,
        name: &str,
        monitor: Option<&str>,
        remark: Remark,
    ) {
        let Ok(window) = self.find(name, monitor) else { return };
        let is_app = self.record.window(&window).is_some_and(|past| past.shown.frame.is_some());
        if !is_app || !self.connections.contains(&connection) {
            return;
        }
        match remark.sound() {
            Some(Remark::Progress { request, done, total, note }) => {
                if !self.went_on(connection, &window, &request) {
                    return;
                }
                let tool_call = self.open.get(&request).and_then(|open| open.tool_call.clone());
                let what = Telling::Progress { request, done, total, note };
                self.effects.push(Effect::News { window, what, tool_call });
            }
            Some(Remark::StateChanged { keys, by_person }) => {
                if by_person {
                    self.edited(&window, &keys);
                }
                self.changed(connection, &window, keys);
            }
            Some(Remark::Printed { level, text }) => {
                let connection = connection.to_string();
                self.tell_news(&window, Telling::Printed { connection, level, text });
            }
            None => (),
        }
    }

    /// Whoever tells how far a command is has not gone silent: it is given its time anew. Says whether
    /// it is one that this app works on.
    fn went_on(&mut self, connection: Connection, window: &str, request: &str) -> bool {
        let Some(open) = self.open.get_mut(request).filter(|open| !open.is_late) else {
            return false;
        };
        if open.at.is_none_or(|(asked, _)| asked != connection) || open.window != window {
            return false;
        }
        open.heard = self.now;
        let until = open.until();
        for caller in &mut open.callers {
            caller.until = caller.until.max(until);
        }
        true
    }

    /// Only the app that is asked for it knows what its state is.
    fn changed(&mut self, connection: Connection, window: &str, mut keys: Vec<String>) {
        let Some(live) = self.live.get(window) else { return };
        if live.owner != Some(connection) {
            return;
        }
        if let Some(manifest) = live.manifest() {
            keys.retain(|key| manifest.has_state(key));
        }
        if !keys.is_empty() {
            let (window_id, told) = (window.to_owned(), Some(keys.clone()));
            self.effects.push(Effect::Touch { window: window_id, keys: told });
            self.tell_news(window, Telling::StateChanged { keys });
        }
    }

    pub(super) fn tell_news(&mut self, window: &str, what: Telling) {
        let window = window.to_owned();
        self.effects.push(Effect::News { window, what, tool_call: None });
    }

    /// For the logs of the server, and for whoever looks at this window.
    pub(super) fn wonder_at(&mut self, window: &str, request: Option<&str>, what: String) {
        self.warn(format!("the app in {window}: {what}"));
        self.tell_news(window, Telling::Odd { request: request.map(str::to_owned), what });
    }

    /// The window that an answer is about, as far as that can be known.
    pub(super) fn meant(&self, request: &str, name: Option<&str>) -> Option<String> {
        let asked = self.open.get(request).map(|open| open.window.clone());
        let named = || {
            let name = name?;
            self.record.keys().find(|key| is_named(key, name)).map(str::to_owned)
        };
        asked.or_else(named)
    }
}
