//! What the shipped app shows: bubbles and cards, with every habit that a server must reckon with.

use crate::decode::{Event, Role, Row, Step, Task};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bubble {
    pub id: String,
    pub role: Role,
    pub content: String,
    /// Shown as being written, until its end is heard.
    pub streaming: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Card {
    pub id: String,
    pub title: String,
    pub progress: f64,
    pub steps: Vec<Step>,
    /// What it ended with.
    pub result: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Screen {
    pub connected: bool,
    pub busy: bool,
    pub bubbles: Vec<Bubble>,
    pub cards: Vec<Card>,
}

impl Screen {
    /// The history takes the place of whatever was shown.
    pub fn load(&mut self, rows: Vec<Row>) {
        let bubble = |Row { id, role, content, .. }| Bubble { id, role, content, streaming: false };
        self.bubbles = rows.into_iter().map(bubble).collect();
        self.cards.clear();
    }

    /// The person typed this; it is shown whether or not it arrives.
    pub fn typed(&mut self, id: &str, content: &str) {
        let (id, content) = (id.to_owned(), content.to_owned());
        self.bubbles.push(Bubble { id, role: Role::User, content, streaming: false });
    }

    pub fn hear(&mut self, event: Event) {
        match event {
            Event::Connected { busy, .. } => (self.connected, self.busy) = (true, busy),
            Event::StatusUpdate { busy, .. } => self.busy = busy,
            Event::Stream { reply_to, delta } => self.stream(&reply_to, &delta),
            Event::Complete { reply_to, id, content, .. } => self.complete(&reply_to, id, content),
            Event::TaskCreated(task) if is_shown(&task) => self.cards.push(Card {
                id: task.id,
                title: task.title,
                progress: task.progress,
                steps: task.steps,
                result: None,
            }),
            Event::TaskUpdated { id, progress, steps } => {
                if let Some(card) = self.card(&id) {
                    (card.progress, card.steps) = (progress, steps);
                }
            }
            Event::TaskCompleted { id, result } => {
                if let Some(card) = self.card(&id) {
                    (card.progress, card.result) = (1.0, Some(result));
                    card.steps.iter_mut().for_each(|step| "completed".clone_into(&mut step.status));
                }
            }
            Event::TaskCreated(_) | Event::Other(_) => (),
        }
    }

    fn stream(&mut self, reply_to: &str, delta: &str) {
        let id = format!("reply_{reply_to}");
        match self.bubbles.iter_mut().find(|bubble| bubble.id == id) {
            Some(bubble) => bubble.content.push_str(delta),
            None => self.bubbles.push(Bubble {
                id,
                role: Role::Agent,
                content: delta.to_owned(),
                streaming: true,
            }),
        }
    }

    fn complete(&mut self, reply_to: &str, id: String, content: String) {
        let open = format!("reply_{reply_to}");
        let whole = Bubble { id, role: Role::Agent, content, streaming: false };
        match self.bubbles.iter_mut().find(|bubble| bubble.id == open) {
            Some(bubble) => *bubble = whole,
            None => self.bubbles.push(whole),
        }
    }

    /// The first of that name: a second one is never reached.
    fn card(&mut self, id: &str) -> Option<&mut Card> {
        self.cards.iter_mut().find(|card| card.id == id)
    }
}

/// Decided once, when the task is made.
fn is_shown(task: &Task) -> bool {
    let by_name = || match task.visibility.as_deref().map(str::to_lowercase).as_deref() {
        Some("hide") => false,
        Some("auto") => task.steps.len() > 1,
        _ => true,
    };
    task.show_progress.unwrap_or_else(by_name)
}
