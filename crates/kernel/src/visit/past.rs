//! What an agent is told of a session's past: as much as it has not heard itself, in words.

use std::fmt::Write as _;

use super::Visit;
use crate::{
    back::Back,
    ports::StoreError,
    prompt::{self, marked},
    state::State,
    turn::Turn,
    update::{Answer, Entry, Fact, Message, Output},
};

/// How much is told at most, in bytes.
const MOST: usize = 48 * 1024;
/// How much of what a tool returned.
const RESULT: usize = 600;
/// How far back its own last answer is looked for, in facts.
const FAR: usize = 10_000;

/// The past, read backwards.
#[derive(Default)]
struct Past {
    /// Newest first.
    told: Vec<String>,
    size: usize,
    full: bool,
    memory: Option<serde_json::Value>,
    /// What it remembers from before this includes what was taken back.
    rewound: bool,
    /// How much of what is told came after the agent's last answer.
    since: usize,
}

impl Turn {
    /// What the agent is asked, with what it needs to know of the past.
    pub(super) async fn visit(&self, state: &State) -> Result<Visit, StoreError> {
        let (log, session) = (self.ports.log.as_ref(), self.session.id());
        let said = state.turn.as_ref().map_or(state.last, |turn| turn.said);
        let message = match log.read(session, said.before(), 1).await?.pop() {
            Some(Entry { fact: Fact::Said { message, .. }, .. }) => message,
            _ => Message::from_user(""),
        };
        let mut past = Past::default();
        let mut back = Back::from(log, session, said);
        for _ in 0..FAR {
            let Some(entry) = back.next().await? else { break };
            if state.summed_up.is_some_and(|it| it.upto == entry.seq) && !past.full {
                let summary = prompt::summary(log, session, state).await?;
                past.tell(summary.map(|it| format!("[summed up] {it}")));
                past.full = true;
            }
            past.read(entry.fact, &state.model);
            if past.is_done() {
                break;
            }
        }
        let since = past.told.get(..past.since).unwrap_or_default();
        let forwards = |told: &[String]| told.iter().rev().cloned().collect::<Vec<_>>().join("\n");
        Ok(Visit {
            session,
            cwd: self.cwd.clone(),
            text: marked(&message),
            images: message.attachments,
            since: if past.memory.is_some() { forwards(since) } else { String::new() },
            past: forwards(&past.told),
            memory: past.memory,
        })
    }
}

impl Past {
    fn is_done(&self) -> bool {
        self.full && (self.memory.is_some() || self.rewound)
    }

    fn read(&mut self, fact: Fact, model: &str) {
        match fact {
            Fact::Said { message, .. } => self.tell(Some(format!("User: {}", marked(&message)))),
            Fact::ToolReturned { call: _, output } => self.tell(Some(returned(&output))),
            Fact::Answered(answer) => {
                let own = answer.trace.as_ref().filter(|trace| trace.model == model);
                let own = own.filter(|_| !self.rewound);
                if let (None, Some(own)) = (&self.memory, own) {
                    self.memory = Some(own.data.clone());
                    self.since = self.told.len();
                }
                self.tell(answered(&answer));
            }
            Fact::Rewound { .. } => self.rewound |= self.memory.is_none(),
            _ => (),
        }
    }

    fn tell(&mut self, line: Option<String>) {
        let Some(line) = line.filter(|_| !self.full) else { return };
        if self.size + line.len() > MOST {
            self.full = true;
            let left = MOST.saturating_sub(self.size);
            let cut = &line[..line.floor_char_boundary(left)];
            self.told.push(format!("{cut} [cut; what came before is left out]"));
            return;
        }
        self.size += line.len() + 1;
        self.told.push(line);
    }
}

fn answered(Answer { text, calls, model, .. }: &Answer) -> Option<String> {
    if text.is_empty() && calls.is_empty() {
        return None;
    }
    let mut line = format!("Assistant ({model}): {text}");
    for call in calls {
        // Cannot fail: it is a text that is written to.
        write!(line, "\n[did: {}]", call.title).ok();
    }
    Some(line)
}

fn returned(output: &Output) -> String {
    let text = output.text();
    let cut = text.floor_char_boundary(RESULT);
    let more = if cut < text.len() { " [...]" } else { "" };
    format!("[which gave: {}{more}]", &text[..cut])
}
