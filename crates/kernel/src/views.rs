//! Views: the widgets beside the results of calls, as the log tells of them.

pub mod fact;
pub mod pages;
mod showing;
pub mod states;
pub mod writing;

use std::collections::{HashMap, HashSet};

use crate::{
    back::{Back, END},
    host::{Host, OpenError},
    ports::{Log, StoreError},
    update::{Fact, Output, Seq, SessionId, ToolRequest},
};
use fact::{Answered, Ending, Noticed, Remembered, Shown, WidgetFact};

pub(crate) use showing::Showing;

/// So much of what a widget did is told of it.
const ACTS: usize = 200;
const LINES: usize = 200;

/// What is known of one call and its widget.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    pub request: ToolRequest,
    pub output: Option<Output>,
    pub shown: Option<Shown>,
    pub verdict: Option<Verdict>,
    /// What the model knows of it, and since when.
    pub memory: Option<(Seq, Remembered)>,
    /// What it did, oldest first.
    pub acts: Vec<Act>,
    /// What went wrong in it although it works, and the model was told of.
    pub noticed: Vec<Verdict>,
    pub lines: Vec<Line>,
    /// Where the call was asked for.
    pub asked: Seq,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub name: String,
    pub detail: String,
}

/// Something that a widget asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Act {
    pub at: Seq,
    pub method: String,
    pub params: serde_json::Value,
    /// None if nobody knows: it was begun, and the house stopped.
    pub ending: Option<Ending>,
    pub code: Option<i64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub level: String,
    pub text: String,
}

impl Host {
    /// Keeps on record what happened in or around widgets of a session.
    pub async fn note_widgets(
        &self,
        session: SessionId,
        facts: Vec<WidgetFact>,
    ) -> Result<Seq, OpenError> {
        loop {
            // One that was let go in between is opened again.
            let handle = self.open(session).await?;
            if let Ok(noted) = handle.note_widgets(facts.clone()).await {
                return Ok(noted?);
            }
        }
    }
}

/// Tells what was told again before any model was asked, on the way back through a log.
#[derive(Default)]
pub(crate) struct Newest(HashSet<String>);

impl Newest {
    /// Whether a fact still counts. What a model was shown once stays as it was.
    pub fn counts(&mut self, fact: &Fact) -> bool {
        match fact {
            Fact::StepStarted { .. } => self.0.clear(),
            Fact::Widget(fact) => {
                if let WidgetFact::Remembered(memory) = fact.as_ref() {
                    return self.0.insert(memory.call.clone());
                }
            }
            _ => (),
        }
        true
    }
}

/// What is gathered of one call on the way back, newest first.
#[derive(Default)]
struct Gathered {
    has_widget: bool,
    output: Option<Output>,
    shown: Option<Shown>,
    verdict: Option<Verdict>,
    memory: Option<(Seq, Remembered)>,
    acts: Vec<Act>,
    ended: Vec<Answered>,
    noticed: Vec<Verdict>,
    lines: Vec<Line>,
}

impl View {
    /// The view of a call; `None` if there is no such call in this session.
    pub async fn find(
        log: &dyn Log,
        session: SessionId,
        call: &str,
    ) -> Result<Option<Self>, StoreError> {
        let mut views = Self::gather(log, session, 1, |id, _| id == call).await?;
        Ok(views.pop())
    }

    /// The calls of a session that have or had widgets, the newest call first, and no more than so many.
    pub async fn newest(
        log: &dyn Log,
        session: SessionId,
        most: usize,
    ) -> Result<Vec<Self>, StoreError> {
        Self::gather(log, session, most, |_, gathered| gathered.has_widget).await
    }

    async fn gather(
        log: &dyn Log,
        session: SessionId,
        most: usize,
        is_wanted: impl Fn(&str, &Gathered) -> bool,
    ) -> Result<Vec<Self>, StoreError> {
        let mut gathered: HashMap<String, Gathered> = HashMap::new();
        let mut views = Vec::new();
        let mut back = Back::from(log, session, END);
        while views.len() < most
            && let Some(entry) = back.next().await?
        {
            match entry.fact {
                Fact::ToolReturned { call, output } => {
                    gathered.entry(call).or_default().output = Some(output);
                }
                Fact::Widget(fact) => {
                    let call = fact.call().to_owned();
                    gathered.entry(call).or_default().take(entry.seq, *fact);
                }
                // All that there is of a call comes after it.
                Fact::Answered(answer) => {
                    for request in answer.calls.into_iter().rev() {
                        let of_it = gathered.remove(&request.id).unwrap_or_default();
                        if is_wanted(&request.id, &of_it) {
                            views.push(of_it.view(request, entry.seq));
                        }
                    }
                }
                _ => (),
            }
        }
        views.truncate(most);
        Ok(views)
    }
}

impl Gathered {
    fn take(&mut self, at: Seq, fact: WidgetFact) {
        self.has_widget = true;
        match fact {
            WidgetFact::Shown(shown) => {
                self.shown.get_or_insert(shown);
            }
            WidgetFact::Judged { verdict: name, detail, .. } => {
                self.verdict.get_or_insert(Verdict { name, detail });
            }
            WidgetFact::Answered(answered) if answered.ask.is_some() => self.ended.push(answered),
            WidgetFact::Answered(Answered { method, params, outcome, code, .. }) => {
                self.act(Act { at, method, params, ending: Some(outcome), code });
            }
            WidgetFact::Asked { ask, method, params, .. } => {
                let ended = self.ended.iter().position(|ended| ended.ask == Some(ask));
                let ended = ended.map(|place| self.ended.swap_remove(place));
                let ending = ended.as_ref().map(|ended| ended.outcome);
                self.act(Act { at, method, params, ending, code: ended.and_then(|it| it.code) });
            }
            WidgetFact::Remembered(memory) => {
                self.memory.get_or_insert((at, memory));
            }
            WidgetFact::Noticed(Noticed { verdict: name, detail, .. }) => {
                self.line("warning".to_owned(), format!("{name}: {detail}"));
                self.noticed.push(Verdict { name, detail });
            }
            WidgetFact::Logged { level, text, .. } => self.line(level, text),
        }
    }

    fn act(&mut self, act: Act) {
        if self.acts.len() < ACTS {
            self.acts.push(act);
        }
    }

    fn line(&mut self, level: String, text: String) {
        if self.lines.len() < LINES {
            self.lines.push(Line { level, text });
        }
    }

    fn view(mut self, request: ToolRequest, asked: Seq) -> View {
        self.acts.reverse();
        self.lines.reverse();
        let Self { output, shown, verdict, memory, acts, noticed, lines, .. } = self;
        View { request, output, shown, verdict, memory, acts, noticed, lines, asked }
    }
}
