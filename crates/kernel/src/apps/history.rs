//! What became of a window lately and who did it, read from the log when somebody asks.

use std::collections::{BTreeMap, VecDeque};

use jiff::Timestamp;
use serde_json::Value;

use super::{
    AppFact, AppRequest, Asked, BackReason, Cause, FailedReason, Inverse, Response,
    protocol::{Deeds, Reversal},
    texts,
};
use crate::{
    host::{ArrangeError, Host, OpenError},
    ports::StoreError,
    update::{Entry, Fact, Message, Origin, Seq, SessionId},
    windows::{By, Named, WindowChange},
};

/// How much is told, and how far back it is looked for.
const MOST: usize = 100;
const FAR: u64 = 20_000;
const PAGE: usize = 256;
/// How far before it is looked for who answered.
const BEFORE: u64 = 50;
const ERROR_CHARS: usize = 500;
const TOLD_CHARS: usize = 500;

/// One thing that happened to a window.
#[derive(Clone, Debug, PartialEq)]
pub struct Happened {
    pub seq: Seq,
    pub at: Timestamp,
    pub who: Who,
    pub what: What,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Who {
    Person,
    Agent {
        /// None where the log does not say.
        model: Option<String>,
    },
    /// A program that uses the house.
    Program,
    App {
        id: String,
    },
    /// A rule of the house.
    House,
}

#[derive(Clone, Debug, PartialEq)]
pub enum What {
    Opened {
        title: String,
    },
    Moved,
    Resized,
    Titled {
        title: String,
    },
    /// It shows something else, or more of the same.
    Content,
    Minimised,
    Maximised,
    Restored,
    Command(Box<Commanded>),
    /// The app said something to the agent.
    Told {
        content: String,
    },
    Edited {
        keys: Vec<String>,
    },
    File {
        path: String,
    },
    HandsTaken,
    HandsBack {
        reason: BackReason,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub struct Commanded {
    pub request: String,
    pub command: String,
    pub params: Option<Value>,
    pub came: Came,
    /// The request that it took back.
    pub undoes: Option<String>,
    /// Whether it can be taken back; none if it never could.
    pub undo: Option<Reversal>,
}

/// What came of a command.
#[derive(Clone, Debug, PartialEq)]
pub enum Came {
    Open,
    Done,
    Failed(String),
}

impl Host {
    /// What became of a window, the newest first.
    pub async fn window_history(
        &self,
        session: SessionId,
        Named { name, monitor }: &Named,
    ) -> Result<Vec<Happened>, ArrangeError> {
        let windows = self.windows(session).await?;
        let pane = windows.find(name, monitor.as_deref())?;
        let (key, since) = (pane.window.key(), pane.since);
        drop(windows);
        let last = self.roster.get(session).ok_or(OpenError::Unknown(session))?.last;
        let since = since.max(Seq(last.0.saturating_sub(FAR)));
        Ok(self.read_history(session, key, since).await.map_err(OpenError::from)?)
    }

    async fn read_history(
        &self,
        session: SessionId,
        key: String,
        since: Seq,
    ) -> Result<Vec<Happened>, StoreError> {
        let mut reading = Reading::of(key, since);
        let mut after = Seq(since.0.saturating_sub(BEFORE));
        loop {
            let page = self.ports.log.read(session, after, PAGE).await?;
            let Some(newest) = page.last() else { return Ok(reading.finish()) };
            after = newest.seq;
            for entry in page {
                reading.read(entry);
            }
        }
    }
}

struct Reading {
    key: String,
    since: Seq,
    model: Option<String>,
    told: VecDeque<Happened>,
    /// Commands that may still have an outcome.
    open: BTreeMap<String, AppRequest>,
    deeds: Deeds,
}

impl Reading {
    fn of(key: String, since: Seq) -> Self {
        let (told, open, deeds) = (VecDeque::new(), BTreeMap::new(), Deeds::default());
        Self { key, since, model: None, told, open, deeds }
    }

    fn read(&mut self, Entry { seq, at, fact }: Entry) {
        let told = match fact {
            Fact::Answered(answer) if !answer.model.is_empty() => {
                self.model = Some(answer.model);
                None
            }
            _ if seq < self.since => None,
            Fact::WindowOpened(window) if window.key() == self.key => {
                self.deeds = Deeds::default();
                Some((self.who(Some(&window.by)), What::Opened { title: window.title }))
            }
            Fact::WindowChanged { window, change, by } if window == self.key => {
                if change.is_of_content() {
                    self.deeds = Deeds::default();
                }
                changed(change).map(|what| (self.who(Some(&by)), what))
            }
            Fact::Queued(message) | Fact::Said { message, queued: None } => self.said(message),
            Fact::App(fact) => self.app(*fact),
            _ => None,
        };
        if let Some((who, what)) = told {
            self.tell(Happened { seq, at, who, what });
        }
    }

    fn app(&mut self, fact: AppFact) -> Option<(Who, What)> {
        match fact {
            AppFact::Request(request) => self.requested(request),
            AppFact::Response { request, response, inverse, .. } => {
                self.answered(&request, &response, inverse);
                None
            }
            AppFact::Failed { request, reason } => {
                self.failed(&request, reason);
                None
            }
            AppFact::Retired { window } if window == self.key => {
                self.deeds = Deeds::default();
                None
            }
            AppFact::Interaction { window, content, app_id, .. } if window == self.key => {
                let who = Who::App { id: app_id.unwrap_or(window) };
                Some((who, What::Told { content: texts::cut(content, TOLD_CHARS) }))
            }
            AppFact::File { window, path } if window == self.key => {
                // The command that took it stands before it, with whoever wanted it.
                let last = self.told.back().map(|last| last.who.clone());
                Some((last.unwrap_or(Who::House), What::File { path }))
            }
            AppFact::Edited { window, keys } if window == self.key => {
                self.deeds.pass();
                Some((Who::Person, What::Edited { keys }))
            }
            AppFact::HandsTaken { window } if window == self.key => {
                Some((Who::Person, What::HandsTaken))
            }
            AppFact::HandsBack { window, reason } if window == self.key => {
                let by_person = reason == BackReason::Person;
                let who = if by_person { Who::Person } else { Who::House };
                Some((who, What::HandsBack { reason }))
            }
            _ => None,
        }
    }

    fn requested(&mut self, request: AppRequest) -> Option<(Who, What)> {
        let Asked::Command { command, params } = &request.asked else { return None };
        let is_wanted = matches!(request.cause, Cause::Tool | Cause::File);
        if request.window != self.key || !is_wanted {
            return None;
        }
        let commanded = Commanded {
            request: request.request.clone(),
            command: command.clone(),
            params: params.clone(),
            came: Came::Open,
            undoes: request.undoes.clone(),
            undo: None,
        };
        let who = self.who(request.by.as_ref());
        self.open.insert(request.request.clone(), request);
        Some((who, What::Command(Box::new(commanded))))
    }

    fn answered(&mut self, id: &str, response: &Response, inverse: Option<Inverse>) {
        let Some(request) = self.open.remove(id) else { return };
        let Asked::Command { command, .. } = request.asked else { return };
        let came = match texts::result(super::Kind::Command, response) {
            Ok(_) => {
                self.deeds.note(id.to_owned(), command, inverse, request.undoes);
                Came::Done
            }
            Err(text) => Came::Failed(texts::cut(text, ERROR_CHARS)),
        };
        self.came(id, came);
    }

    /// What has no reply in time may have one later.
    fn failed(&mut self, id: &str, reason: FailedReason) {
        let text = match reason {
            FailedReason::Timeout => texts::NO_RESPONSE,
            FailedReason::OwnerLost => texts::OWNER_LOST,
            FailedReason::Reloaded => texts::RELOADED,
            FailedReason::Closed => texts::CLOSED,
            FailedReason::Invalid => "The command was not sent.",
        };
        self.came(id, Came::Failed(text.to_owned()));
    }

    fn came(&mut self, id: &str, came: Came) {
        for happened in self.told.iter_mut().rev() {
            if let What::Command(commanded) = &mut happened.what
                && commanded.request == id
            {
                commanded.came = came;
                return;
            }
        }
    }

    fn said(&self, message: Message) -> Option<(Who, What)> {
        let Origin::App { id, window: Some(window) } = message.origin else { return None };
        let content = texts::cut(message.text, TOLD_CHARS);
        (window == self.key).then_some((Who::App { id }, What::Told { content }))
    }

    fn who(&self, by: Option<&By>) -> Who {
        match by {
            None | Some(By::Agent) => Who::Agent { model: self.model.clone() },
            Some(By::Person) => Who::Person,
            Some(By::Program) => Who::Program,
            Some(By::App { window }) => Who::App { id: window.clone() },
        }
    }

    /// What goes on is told once, with when it was last.
    fn tell(&mut self, happened: Happened) {
        let goes_on = |last: &&mut Happened| {
            let lasts = matches!(happened.what, What::Moved | What::Resized | What::Edited { .. });
            lasts && last.who == happened.who && last.what == happened.what
        };
        if let Some(last) = self.told.back_mut().filter(goes_on) {
            *last = happened;
            return;
        }
        self.told.push_back(happened);
        if self.told.len() > MOST {
            self.told.pop_front();
        }
    }

    fn finish(mut self) -> Vec<Happened> {
        for happened in &mut self.told {
            if let What::Command(commanded) = &mut happened.what {
                commanded.undo = self.deeds.standing(&commanded.request);
            }
        }
        self.told.into_iter().rev().collect()
    }
}

fn changed(change: WindowChange) -> Option<What> {
    Some(match change {
        WindowChange::Moved { .. } => What::Moved,
        WindowChange::Resized { .. } => What::Resized,
        WindowChange::Titled { title } => What::Titled { title },
        WindowChange::Content { .. } | WindowChange::Updated { .. } => What::Content,
        WindowChange::Minimised => What::Minimised,
        WindowChange::Maximised => What::Maximised,
        WindowChange::Restored => What::Restored,
        WindowChange::Focused => return None,
    })
}
