//! Requests from the moment they are sent until they have an outcome.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use serde_json::Value;

use super::{
    Answer, CallId, Connection, Effect, Live, Machine, Noted, Registered, Told,
    lookup::is_named,
    manifest::{MOST_PATIENCE, Manifest},
};
use crate::{
    apps::{AppFact, Asked, Cause, FailedReason, Inverse, Keep, Kind, Response, texts},
    windows::By,
};

/// How long a late result is waited for.
const LATE: Duration = Duration::from_mins(10);

pub(super) struct Open {
    pub window: String,
    /// Who was asked, and which load of the app; none while a query looks for somebody else.
    pub at: Option<(Connection, u64)>,
    pub asked: Asked,
    pub cause: Cause,
    pub sent: Timestamp,
    /// When anything was last heard of it.
    pub heard: Timestamp,
    pub patience: Duration,
    /// Whether it is kept, as far as that was known.
    pub keep: Keep,
    /// Its time is up, and it may have an outcome all the same.
    pub is_late: bool,
    pub callers: Vec<Caller>,
    pub tool_call: Option<String>,
    /// Who wanted it, if that was anybody but us.
    pub by: Option<By>,
    pub undoes: Option<String>,
}

pub(super) struct Caller {
    pub call: CallId,
    pub until: Timestamp,
}

impl Open {
    /// When something has to be done about it.
    pub fn until(&self) -> Timestamp {
        let over = self.over();
        if !self.is_late {
            return over;
        }
        self.callers.iter().map(|caller| caller.until).chain([over + LATE]).min().unwrap_or(over)
    }

    /// A command that is not the replay of one.
    pub fn is_command(&self) -> bool {
        self.asked.kind() == Kind::Command && self.cause != Cause::Replay
    }

    fn is_gone(&self, now: Timestamp) -> bool {
        self.over() + LATE <= now
    }

    /// When it has taken too long: so long without a word, and ten minutes whatever it says.
    fn over(&self) -> Timestamp {
        (self.heard + self.patience).min(self.sent + MOST_PATIENCE)
    }
}

impl Machine {
    pub(super) fn answered(
        &mut self,
        connection: Connection,
        request: &str,
        window: Option<&str>,
        response: &Response,
    ) {
        let why = match self.open.get(request) {
            None => "no such request is open",
            Some(open) if open.at.is_none_or(|(asked, _)| asked != connection) => {
                "it was asked of another connection"
            }
            Some(open) if window.is_some_and(|name| !is_named(&open.window, name)) => {
                "it was asked of another window"
            }
            Some(_) => return self.accept(request, response),
        };
        let window = self.meant(request, window);
        let (connection, request) = (connection.to_string(), Some(request.to_owned()));
        self.note(AppFact::Rejected { connection, request, window, why: why.to_owned() });
    }

    fn accept(&mut self, request: &str, response: &Response) {
        let Some(open) = self.open.remove(request) else { return };
        let elapsed = self.now.duration_since(open.sent).as_millis();
        let mut kept = response.clone();
        if open.cause == Cause::Replay {
            // What it gives back was told once.
            kept.value = None;
        }
        let fact = AppFact::Response {
            request: request.to_owned(),
            response: kept,
            elapsed_ms: u64::try_from(elapsed).unwrap_or_default(),
            late: open.is_late,
            keep: self.keep(&open).filter(|keep| *keep != open.keep),
            inverse: self.inverse(&open, response),
        };
        let note = self.note_for(&open);
        let noted = self.note(fact);
        if noted == Some(Noted::Full) {
            self.tell_full(&open.window);
        }
        match (&open.asked, open.cause) {
            (Asked::Manifest, _) => self.introduced(request, &open, response),
            (_, Cause::Replay) => {
                let failure = texts::result(Kind::Command, response).err();
                self.stepped(request, &open.window, failure);
            }
            _ => self.wonder(request, &open, response),
        }
        let (kind, window) = (open.asked.kind(), open.window.clone());
        if kind == Kind::Command {
            // Which of its states a command has changed, only its app knows.
            self.effects.push(Effect::Touch { window: window.clone(), keys: None });
        }
        if open.is_late {
            self.tell_late(request, &open, response);
        }
        for caller in open.callers {
            let (window, response) = (window.clone(), response.clone());
            let answer = Answer::Said { window, kind, response, note: note.clone() };
            let safe = kind == Kind::Command;
            self.effects.push(Effect::Reply { call: caller.call, answer, safe });
        }
        self.bring(&window);
    }

    /// It will have no reply, or none that counts.
    pub(super) fn fail(&mut self, request: &str, reason: FailedReason, text: &str) {
        let Some(open) = self.open.remove(request) else { return };
        if !open.is_late {
            self.note(AppFact::Failed { request: request.to_owned(), reason });
        }
        match (&open.asked, open.cause) {
            (Asked::Manifest, Cause::Manifest) => self.unintroduced(request, &open),
            (_, Cause::Replay) => self.stepped(request, &open.window, Some(text.to_owned())),
            _ => (),
        }
        for caller in open.callers {
            let answer = Answer::Refused(text.to_owned());
            let safe = open.asked.kind() == Kind::Command;
            self.effects.push(Effect::Reply { call: caller.call, answer, safe });
        }
    }

    /// Everything open at a connection in a window, for commands of its own or for ours.
    pub(super) fn open_at(&self, connection: Connection, window: Option<&str>) -> Vec<String> {
        let here = |open: &Open| {
            open.at.is_some_and(|(at, _)| at == connection)
                && window.is_none_or(|window| open.window == window)
        };
        let open = self.open.iter().filter(|(_, open)| here(open));
        open.map(|(request, _)| request.clone()).collect()
    }

    pub(super) fn unrecorded(&mut self, request: &str, why: &str) {
        let Some(window) = self.open.get(request).map(|open| open.window.clone()) else { return };
        self.fail(request, FailedReason::Invalid, &texts::unrecorded(why));
        self.bring(&window);
    }

    /// Does what is due.
    pub(super) fn expire(&mut self) {
        let due = self.open.iter().filter(|(_, open)| open.until() <= self.now);
        let due: Vec<String> = due.map(|(request, _)| request.clone()).collect();
        for request in due {
            self.overdue(&request);
        }
        self.hands_due();
        self.advance_due();
        let behind = self.live.iter().filter(|(_, live)| live.behind.is_some());
        let behind: Vec<String> = behind.map(|(window, _)| window.clone()).collect();
        for window in behind {
            self.bring(&window);
        }
    }

    fn overdue(&mut self, request: &str) {
        let now = self.now;
        let Some(open) = self.open.get_mut(request) else { return };
        if !open.is_command() {
            let (text, window) = (texts::silent(open.asked.kind()), open.window.clone());
            self.fail(request, FailedReason::Timeout, text);
            return self.bring(&window);
        }
        if open.is_late && open.is_gone(now) {
            return self.fail(request, FailedReason::Timeout, texts::NO_RESPONSE);
        }
        let was_late = std::mem::replace(&mut open.is_late, true);
        let window = open.window.clone();
        let gone: Vec<Caller> = open.callers.extract_if(.., |it| it.until <= now).collect();
        if !was_late {
            let request = request.to_owned();
            self.note(AppFact::Failed { request, reason: FailedReason::Timeout });
        }
        for Caller { call, .. } in gone {
            let answer = Answer::Open { request: request.to_owned() };
            self.effects.push(Effect::Reply { call, answer, safe: true });
        }
        self.bring(&window);
    }

    /// An app has said what it can do, or that it cannot say.
    fn introduced(&mut self, request: &str, open: &Open, response: &Response) {
        let good = response.kind == Some(Kind::Manifest) && response.error.is_none();
        let value = response.value.as_ref().filter(|_| good);
        let mut odd = Vec::new();
        let read = value.and_then(|value| Manifest::read(value, &mut odd));
        for odd in odd {
            self.wonder_at(&open.window, Some(request), odd);
        }
        let Some(app) = self.asked(open) else { return };
        match read {
            Some(manifest) => app.manifest = Told::Manifest(Arc::new(manifest)),
            None if app.manifest().is_none() => app.manifest = Told::Nothing,
            // It has said it once, and may only be busy now.
            None => (),
        }
        self.fetched(request, open);
    }

    /// What an app can do is asked again if it has registered since.
    fn fetched(&mut self, request: &str, open: &Open) -> bool {
        let Some(app) = self.asked(open) else { return false };
        let is_ours = app.fetching.take_if(|fetching| fetching == request).is_some();
        let is_stale = is_ours && std::mem::take(&mut app.is_stale);
        let generation = app.generation;
        let owner = self.live.get(&open.window).and_then(Live::owner);
        if is_stale && owner.is_some_and(|owner| owner.generation == generation) {
            self.fetch(&open.window);
        }
        is_ours
    }

    fn unintroduced(&mut self, request: &str, open: &Open) {
        if self.fetched(request, open)
            && let Some(app) = self.asked(open)
            && app.manifest().is_none()
        {
            app.manifest = Told::Nothing;
        }
    }

    /// Whoever was asked, if they are still there.
    fn asked(&mut self, open: &Open) -> Option<&mut Registered> {
        let (_, generation) = open.at?;
        self.live.get_mut(&open.window)?.load(generation)
    }

    /// Which commands are kept is said by the app, perhaps only since it was asked.
    fn keep(&mut self, open: &Open) -> Option<Keep> {
        let Asked::Command { command, .. } = &open.asked else { return None };
        let manifest = self.asked(open).filter(|_| open.is_command())?.manifest()?;
        manifest.command(command).map(|command| command.keep)
    }

    /// What takes back a command that was carried out.
    fn inverse(&mut self, open: &Open, response: &Response) -> Option<Inverse> {
        let Asked::Command { command, params } = &open.asked else { return None };
        if response.error.is_some() || response.kind != Some(Kind::Command) {
            return None;
        }
        let manifest = self.asked(open).filter(|_| open.is_command())?.manifest()?;
        let result = response.value.as_ref().unwrap_or(&Value::Null);
        manifest.inverse(command, params.as_ref(), result)
    }

    /// Notes what does not look as its app has said.
    fn wonder(&mut self, request: &str, open: &Open, response: &Response) {
        let name = match &open.asked {
            Asked::Query { state_key } => state_key,
            Asked::Command { command, .. } => command,
            Asked::Manifest => return,
        };
        let manifest = self.asked(open).and_then(|app| app.manifest());
        let (Some(manifest), Some(value), None) = (manifest, &response.value, &response.error)
        else {
            return;
        };
        for (place, what) in manifest.oddities(open.asked.kind(), name, value) {
            let what = format!("`{name}` at `{place}`: {what}");
            self.wonder_at(&open.window, Some(request), what);
        }
    }

    fn tell_late(&mut self, request: &str, open: &Open, response: &Response) {
        let Asked::Command { command, .. } = &open.asked else { return };
        let call = open.tool_call.as_deref().map(|call| format!("tool call {call}, "));
        let said = match texts::result(Kind::Command, response) {
            Ok(text) => format!("It has succeeded now. The app says:\n{text}"),
            Err(text) => format!("It has failed now. The app says:\n{text}"),
        };
        let text = format!(
            "The command \"{command}\" in window \"{}\" ({}request {request}) had no reply in time. \
             {said}",
            open.window,
            call.unwrap_or_default()
        );
        self.tell(&open.window, text, true);
    }

    fn tell_full(&mut self, window: &str) {
        let Some(live) = self.live.get_mut(window) else { return };
        if std::mem::replace(&mut live.is_full, true) {
            return;
        }
        let text = format!(
            "The app in window \"{window}\" has carried out more commands than are kept. What it is \
             told from now on will be missing when it loads anew."
        );
        self.tell(window, text, false);
    }
}
