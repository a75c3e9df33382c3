//! Tasks as the phone shows them: plans of the agent, and turns of several steps that have none.

use kernel::{
    tasks::{Close, Progress, Task, Visibility},
    update::{Outcome, Output, ToolRequest},
};

use super::frames::Step;

const PENDING: &str = "pending";
const ACTIVE: &str = "in_progress";
const DONE: &str = "completed";
const FAILED: &str = "failed";
/// How much of a question makes a title.
const TITLE_CHARS: usize = 60;
/// What a task has come to at most while it is open, in thousandths.
const OPEN: u16 = 990;

#[derive(Clone, Debug, PartialEq)]
pub struct Card {
    pub id: String,
    pub title: String,
    pub steps: Vec<Step>,
    /// In thousandths, and never less than it was.
    reached: u16,
    pub visibility: Visibility,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// This is how it stands now.
    Shown(Card),
    Closed {
        id: String,
        result: String,
    },
}

impl Card {
    pub fn of(task: &Task) -> Self {
        let mut card = Self {
            id: task.id.to_string(),
            title: task.title.clone(),
            steps: Vec::new(),
            reached: task.reached.min(OPEN),
            visibility: task.visibility,
        };
        for step in &task.steps {
            let status = match step.progress {
                Progress::Pending => PENDING,
                Progress::Active => ACTIVE,
                // The phone knows no such thing as a step that was left out.
                Progress::Done | Progress::Skipped => DONE,
                Progress::Failed => FAILED,
            };
            card.add(&step.text, status);
        }
        card
    }

    pub fn progress(&self) -> f64 {
        f64::from(self.reached) / 1000.0
    }

    /// Where nobody has decided it, the phone judges once whether a card is worth showing, by how many
    /// steps it has.
    pub fn is_worth_showing(&self) -> bool {
        self.visibility != Visibility::Auto || self.steps.len() > 1
    }

    /// The phone tells steps apart by their names.
    fn add(&mut self, name: &str, status: &'static str) {
        let taken = |name: &str| self.steps.iter().any(|step| step.name == name);
        let mut unique = name.to_owned();
        let mut count = 1;
        while taken(&unique) {
            count += 1;
            unique = format!("{name} ({count})");
        }
        self.steps.push(Step { name: unique, status });
    }

    /// A card that is not worth showing has come nowhere yet.
    fn count(&mut self) {
        if !self.is_worth_showing() {
            return;
        }
        let finished =
            self.steps.iter().filter(|step| matches!(step.status, DONE | FAILED)).count();
        let share = (finished * 1000).checked_div(self.steps.len()).unwrap_or_default();
        let share = u16::try_from(share).unwrap_or(OPEN).min(OPEN);
        self.reached = self.reached.max(share);
    }

    /// What was being done when it ended badly.
    fn fail(&mut self) {
        for step in self.steps.iter_mut().filter(|step| step.status == ACTIVE) {
            step.status = FAILED;
        }
    }

    /// How it ends. The phone paints every ended card green, so the words must say it.
    pub fn closed(mut self, close: Close, reason: Option<&str>) -> Vec<Change> {
        let failed = self.steps.iter().find(|step| step.status == FAILED);
        let failed = failed.map(|step| step.name.clone());
        let id = self.id.clone();
        let result = match (close, reason) {
            (Close::Done, _) => "Done.".to_owned(),
            (Close::Failed, Some(reason)) => format!("Failed: {reason}"),
            (Close::Failed, None) => format!("Failed: {}", failed.unwrap_or_default()),
            (Close::Cancelled, reason) => {
                format!("Stopped: {}", reason.unwrap_or("it was given up"))
            }
        };
        if close == Close::Done {
            return vec![Change::Closed { id, result }];
        }
        self.fail();
        vec![Change::Shown(self), Change::Closed { id, result }]
    }
}

/// The tool calls of a turn, which make a card from the second on.
#[derive(Clone, Debug)]
pub struct Doings {
    card: Card,
    /// The calls, in the order of the steps.
    calls: Vec<String>,
    /// The agent has a plan of its own.
    planned: bool,
}

impl Doings {
    pub fn new(id: &str, question: &str) -> Self {
        let line = question.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("Task");
        let title = line.chars().take(TITLE_CHARS).collect::<String>();
        // The phone would rewrite such a title when the task ends.
        let title = match title.strip_prefix("Processing:") {
            Some(rest) => rest.trim().to_owned(),
            None => title,
        };
        let card = Card {
            id: format!("turn_{id}"),
            title,
            steps: Vec::new(),
            reached: 0,
            visibility: Visibility::Auto,
        };
        Self { card, calls: Vec::new(), planned: false }
    }

    /// A plan is shown instead, unless the card is there already.
    pub fn planned(&mut self) {
        self.planned |= !self.is_open();
    }

    pub fn is_open(&self) -> bool {
        !self.planned && self.card.is_worth_showing()
    }

    pub fn card(&self) -> Option<&Card> {
        self.is_open().then_some(&self.card)
    }

    pub fn called(&mut self, calls: &[ToolRequest]) -> Option<Change> {
        if calls.is_empty() {
            return None;
        }
        for call in calls {
            let name = if call.title.is_empty() { &call.name } else { &call.title };
            self.card.add(name, ACTIVE);
            self.calls.push(call.id.clone());
        }
        self.card.count();
        self.shown()
    }

    pub fn returned(&mut self, call: &str, output: &Output) -> Option<Change> {
        let place = self.calls.iter().position(|it| it == call)?;
        self.card.steps.get_mut(place)?.status = match output {
            Output::Done { .. } => DONE,
            Output::Failed { .. } | Output::Interrupted => FAILED,
        };
        self.card.count();
        self.shown()
    }

    pub fn ended(self, outcome: &Outcome) -> Vec<Change> {
        if !self.is_open() {
            return Vec::new();
        }
        match outcome {
            Outcome::Finished => self.card.closed(Close::Done, None),
            Outcome::Cancelled => self.card.closed(Close::Cancelled, Some("it was stopped")),
            Outcome::Failed { reason, .. } => self.card.closed(Close::Failed, Some(reason)),
            Outcome::Interrupted => self.card.closed(Close::Failed, Some("the server restarted")),
        }
    }

    fn shown(&self) -> Option<Change> {
        self.is_open().then(|| Change::Shown(self.card.clone()))
    }
}
