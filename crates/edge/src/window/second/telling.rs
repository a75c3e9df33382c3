//! From facts to frames of version 2. The last frame of a fact carries its number, those before it the
//! one before: a cut between them repeats, and never loses.

use kernel::{
    ports::StoreError,
    question::{About, Question as Asked, Scope, Verdict},
    tasks::Close,
    toolbox::Detail,
    update::{Entry, Fact, Message, Origin, Outcome},
};

use super::{
    Second,
    frames::{File, Frame, placed, written},
};
use crate::window::{
    attachments,
    cards::{Card, Change},
    frames::{self as first, DELTA_BYTES, fitting},
    pump::Out,
    reply::Reply,
    rows::{self, Row},
    story::{Asker, Question, Told},
    values::{row_id, time},
};

/// How far back the beginning of a task is looked for.
const LOOK_BACK: usize = 4096;
const PAGE: usize = 256;
/// How much of what a tool would do is shown.
const DETAIL_BYTES: usize = 32 << 10;

impl Second {
    pub(super) async fn fact(&mut self, entry: &Entry) -> Result<(), StoreError> {
        let log = self.app.host.ports.log.clone();
        self.story.learn(log.as_ref(), entry).await?;
        self.recall(entry).await?;
        let mut frames = Vec::new();
        match &entry.fact {
            Fact::Asked(question) => frames.push(asked(question)),
            Fact::Settled { question, verdict, by } => {
                let (approval_id, decision) = (&question.to_string(), decision(verdict));
                frames.push(written(&Frame::Resolved { approval_id, decision, by }));
            }
            fact => {
                if let Some(message) = rows::taken(fact) {
                    frames.extend(self.said(entry, message).await?);
                }
            }
        }
        let mut counted = false;
        for told in self.story.hear(entry) {
            counted |= told == Told::Counted;
            self.tell(entry, told, &mut frames).await?;
        }
        let last = frames.len().saturating_sub(1);
        for (index, frame) in frames.into_iter().enumerate() {
            let seq = if index == last { entry.seq } else { self.told };
            self.out.push_back(Out::Frame(placed(frame, seq)));
        }
        self.told = entry.seq;
        if !self.past {
            self.count(counted);
        }
        Ok(())
    }

    async fn tell(
        &mut self,
        entry: &Entry,
        told: Told,
        frames: &mut Vec<String>,
    ) -> Result<(), StoreError> {
        match told {
            // Words and questions are told from their facts, how busy it is when all else was said.
            Told::Said { .. } | Told::Note(_) | Told::Busy(_) | Told::Counted => (),
            Told::Began(question) => {
                self.reply = (!self.past).then(|| Reply::new(question));
            }
            Told::Text { step, text } => {
                if let Some(reply) = &mut self.reply {
                    reply.whole(step, &text);
                }
            }
            Told::Card(Change::Shown(card)) => frames.extend(self.shown(&card)),
            Told::Card(Change::Closed { id, result }) => {
                let well = match &entry.fact {
                    Fact::TaskClosed { close, .. } => *close == Close::Done,
                    Fact::TurnEnded(outcome) => *outcome == Outcome::Finished,
                    _ => true,
                };
                frames.extend(self.closed(&id, &result, well));
            }
            Told::Ended { row, question } => {
                let outcome = match &entry.fact {
                    Fact::TurnEnded(outcome) => outcome_name(outcome),
                    _ => outcome_name(&Outcome::Cancelled),
                };
                self.ended(&row, &question, outcome, frames).await?;
            }
        }
        Ok(())
    }

    /// The socket that said it hears that it was taken, where it was.
    async fn said(
        &mut self,
        entry: &Entry,
        message: &Message,
    ) -> Result<Option<String>, StoreError> {
        let Some(row) = Row::said(entry.seq, entry.at, message) else { return Ok(None) };
        let (id, timestamp) = (&row_id(self.session, row.seq, row.at), &time(row.at));
        let asker = Asker::of(message);
        let ours = asker.as_ref().filter(|asker| asker.device == self.device.id);
        if let Some((reply_to, position)) = ours.and_then(|it| self.own.remove_entry(&it.id)) {
            let (reply_to, duplicate) = (&reply_to, false);
            return Ok(Some(written(&Frame::Accepted {
                reply_to,
                id,
                timestamp,
                position,
                duplicate,
            })));
        }
        let origin = match (&asker, &message.origin) {
            (Some(_), _) => "window",
            (None, Origin::User) => "browser",
            (None, Origin::Applet { .. } | Origin::App { .. } | Origin::Widget { .. }) => "api",
            (None, Origin::Schedule { .. }) => "schedule",
            (None, Origin::Agent { .. }) => "agent",
        };
        let files = self.files(&row).await?;
        Ok(Some(written(&Frame::User {
            id,
            content: &row.content,
            timestamp,
            origin,
            device: asker.as_ref().map(|asker| asker.device.as_str()),
            attachments: &files,
        })))
    }

    pub(super) async fn files(&self, row: &Row) -> Result<Vec<File>, StoreError> {
        let attic = self.app.host.ports.attic.as_ref();
        attachments::listed(attic, self.session, &row.files).await
    }

    async fn ended(
        &mut self,
        row: &Row,
        question: &Question,
        outcome: &str,
        frames: &mut Vec<String>,
    ) -> Result<(), StoreError> {
        let files = self.files(row).await?;
        if self.reply.as_ref().is_some_and(|reply| reply.question.seq == question.seq) {
            frames.extend(self.piece());
            self.reply = None;
        }
        frames.push(written(&Frame::Complete {
            reply_to: self.name(question),
            id: &row_id(self.session, row.seq, row.at),
            content: &row.content,
            timestamp: &time(row.at),
            outcome,
            attachments: &files,
        }));
        Ok(())
    }

    /// What waits of the reply, as much as one piece holds.
    pub(super) fn piece(&mut self) -> Option<String> {
        let reply = self.reply.as_mut().filter(|reply| reply.is_pending())?;
        let (delta, question) = (reply.take(DELTA_BYTES), reply.question.clone());
        let replace = std::mem::take(&mut self.replace);
        let reply_to = self.name(&question);
        Some(written(&Frame::Stream { reply_to, delta: &delta, replace }))
    }

    /// What this phone knows a question by.
    fn name<'a>(&self, question: &'a Question) -> &'a str {
        match &question.asker {
            Some(asker) if asker.device == self.device.id => &asker.id,
            _ => &question.row,
        }
    }

    pub(super) fn shown(&mut self, card: &Card) -> Option<String> {
        if !card.is_worth_showing() {
            return None;
        }
        let known = self.cards.insert(card.id.clone(), card.steps.clone()).is_some();
        let frame = if known { card.updated() } else { card.created() };
        Some(written(&Frame::Same(frame)))
    }

    fn closed(&mut self, id: &str, result: &str, well: bool) -> Option<String> {
        let steps = self.cards.remove(id)?;
        let (task_id, progress) = (id, 1.0);
        Some(written(&if well {
            Frame::Same(first::Frame::TaskCompleted { task_id, progress, result })
        } else {
            Frame::TaskFailed { task_id, progress, steps: &steps, error: result }
        }))
    }

    /// A plan from before we came: how it stood decides whether the phone knows it.
    async fn recall(&mut self, entry: &Entry) -> Result<(), StoreError> {
        let id = match &entry.fact {
            Fact::TaskMoved(task) => task.id,
            Fact::TaskClosed { task, .. } => *task,
            _ => return Ok(()),
        };
        if self.story.plans(&id.to_string()) {
            return Ok(());
        }
        let (mut before, mut read) = (entry.seq, 0);
        while read < LOOK_BACK {
            let log = &self.app.host.ports.log;
            let facts = log.read_back(self.session, before, PAGE).await?;
            let Some(oldest) = facts.last() else { return Ok(()) };
            (before, read) = (oldest.seq, read + facts.len());
            let found = facts.into_iter().find_map(|entry| match entry.fact {
                Fact::TaskOpened(task) | Fact::TaskMoved(task) if task.id == id => Some(task),
                _ => None,
            });
            if let Some(task) = found {
                self.story.plan(&task);
                let card = Card::of(&task);
                if card.is_worth_showing() {
                    self.cards.insert(card.id, card.steps);
                }
                return Ok(());
            }
        }
        Ok(())
    }
}

/// What is asked of the person, and how it can be answered from here.
pub fn asked(question: &Asked) -> String {
    let Asked { id, tool, title, about, expires, .. } = question;
    let (detail, options, choices): (String, &[&str], &[String]) = match about {
        About::Leave { deed, why, .. } => {
            (format!("{why}\n\n{}", detail(&deed.detail)), &["once", "session", "deny"], &[])
        }
        About::Choice { text, choices, .. } => (text.clone(), &["answer", "deny"], choices),
        About::Form { text, .. } | About::Visit { text, .. } => {
            (format!("{text}\n\nThis is answered in the page of Megaron."), &["deny"], &[])
        }
    };
    written(&Frame::Approval {
        approval_id: &id.to_string(),
        title,
        detail: fitting(detail.trim(), DETAIL_BYTES),
        tool,
        options,
        choices,
        expires_at: expires.map(time),
    })
}

fn detail(detail: &Detail) -> String {
    match detail {
        Detail::Command { command, cwd, .. } => format!("{command}\n\nin {cwd}"),
        Detail::Change { path, diff } => format!("{path}\n\n{diff}"),
        Detail::Address { url } => url.clone(),
        Detail::Arguments { args } if args.is_null() => String::new(),
        Detail::Arguments { args } => args.to_string(),
    }
}

fn decision(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Allowed { scope: Scope::Once } => "once",
        Verdict::Allowed { scope: Scope::View } => "view",
        Verdict::Allowed { scope: Scope::Session } => "session",
        Verdict::Allowed { scope: Scope::Always } => "always",
        Verdict::Denied { .. } => "deny",
        Verdict::Answered { .. } => "answer",
        Verdict::Expired => "expired",
        Verdict::Withdrawn => "withdrawn",
    }
}

pub fn outcome_name(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Finished => "ok",
        Outcome::Cancelled => "cancelled",
        Outcome::Failed { .. } => "failed",
        Outcome::Interrupted => "interrupted",
    }
}
