//! Tasks as the phone shows them: plans of the agent, and turns of several steps that have none.

use kernel::{
    tasks::{Close, Progress, Task, Visibility},
    update::{Outcome, Output, ToolRequest},
};

use super::frames::{Frame, Step};

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

    /// That it is there.
    pub fn created(&self) -> Frame<'_> {
        Frame::TaskCreated {
            task_id: &self.id,
            title: &self.title,
            visibility: self.visibility.name(),
            status: ACTIVE,
            progress: self.progress(),
            steps: &self.steps,
        }
    }

    /// How it stands.
    pub fn updated(&self) -> Frame<'_> {
        Frame::TaskUpdated { task_id: &self.id, progress: self.progress(), steps: &self.steps }
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

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use kernel::{
        tasks::{Plan, Step as Planned},
        update::Fact,
    };
    use proptest::prelude::*;

    use super::*;

    /// What may become of a turn's tools: more are called, or one of them returns.
    #[derive(Clone, Debug)]
    enum Deed {
        Called(Vec<u8>),
        Returned { which: usize, well: bool },
    }

    fn deed() -> impl Strategy<Value = Deed> {
        let which = (0..12usize, any::<bool>());
        prop_oneof![
            prop::collection::vec(0..3u8, 1..4).prop_map(Deed::Called),
            which.prop_map(|(which, well)| Deed::Returned { which, well }),
        ]
    }

    fn plan() -> impl Strategy<Value = Vec<(u8, Progress)>> {
        let progress = prop_oneof![
            Just(Progress::Pending),
            Just(Progress::Active),
            Just(Progress::Done),
            Just(Progress::Failed),
            Just(Progress::Skipped),
        ];
        prop::collection::vec((0..3u8, progress), 0..6)
    }

    fn request(id: usize, name: u8) -> ToolRequest {
        let (id, name) = (id.to_string(), format!("tool{name}"));
        ToolRequest { id, name, args: serde_json::Value::Null, title: String::new() }
    }

    /// Never less than before, and nothing is finished before the end.
    fn check(reached: &mut f64, card: &Card) -> Result<(), TestCaseError> {
        prop_assert!(card.progress() >= *reached && card.progress() < 1.0);
        *reached = card.progress();
        let names: HashSet<&String> = card.steps.iter().map(|step| &step.name).collect();
        prop_assert_eq!(names.len(), card.steps.len());
        Ok(())
    }

    proptest! {
        #[test]
        fn progress_never_falls_and_no_two_steps_share_a_name(
            deeds in prop::collection::vec(deed(), 0..30),
            plans in prop::collection::vec(plan(), 0..8),
        ) {
            let (mut doings, mut reached, mut count) = (Doings::new("1", "do"), 0.0, 0);
            let mut before: Vec<Step> = Vec::new();
            for deed in deeds {
                let change = match deed {
                    Deed::Called(names) => {
                        let calls: Vec<_> =
                            names.iter().zip(count..).map(|(name, id)| request(id, *name)).collect();
                        count += calls.len();
                        doings.called(&calls)
                    }
                    Deed::Returned { which, well } => {
                        let output = if well { Output::done("ok") } else { Output::Interrupted };
                        doings.returned(&which.to_string(), &output)
                    }
                };
                let Some(Change::Shown(card)) = change else { continue };
                check(&mut reached, &card)?;
                // Steps are added and never renamed.
                let kept = before.iter().zip(&card.steps).all(|(old, new)| old.name == new.name);
                prop_assert!(kept && before.len() <= card.steps.len());
                before = card.steps;
            }
            let (mut open, mut reached) = (None, 0.0);
            for steps in plans {
                let step = |(name, progress)| Planned { text: format!("step {name}"), progress };
                let steps = steps.into_iter().map(step).collect();
                let plan = Plan { title: "plan".to_owned(), steps, visibility: None };
                for fact in plan.facts(open.as_ref(), uuid::Uuid::nil) {
                    match fact {
                        Fact::TaskOpened(task) | Fact::TaskMoved(task) => {
                            check(&mut reached, &Card::of(&task))?;
                            open = Some(task);
                        }
                        _ => (open, reached) = (None, 0.0),
                    }
                }
            }
        }
    }
}
