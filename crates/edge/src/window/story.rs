//! A conversation as a phone follows it: a fold over facts, the same for every phone.

use std::collections::BTreeMap;

use jiff::Timestamp;
use kernel::{
    ports::{Log, StoreError},
    tasks::Task,
    update::{Answer, Entry, Fact, Message, Outcome, Output, Seq, SessionId},
};

use super::{
    attachments::MOST,
    cards::{Card, Change, Doings},
    rows::{self, Filed, Role, Row},
    values::row_id,
};

const PAGE: usize = 128;
const KEY: &str = "window/";

/// A phone that said something, and what it calls that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asker {
    pub device: String,
    pub id: String,
}

impl Asker {
    /// The key of such a message. `try_no` tells apart messages that a phone gave one name.
    pub fn key(&self, try_no: u64) -> String {
        format!("{KEY}{}/{try_no}/{}", self.device, self.id)
    }

    /// Who said this, if a phone did.
    pub fn of(message: &Message) -> Option<Self> {
        let mut parts = message.key.as_deref()?.strip_prefix(KEY)?.splitn(3, '/');
        let (device, _, id) = (parts.next()?, parts.next()?, parts.next()?);
        Some(Self { device: device.to_owned(), id: id.to_owned() })
    }
}

/// What a turn answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    pub seq: Seq,
    /// What its row goes by.
    pub row: String,
    pub asker: Option<Asker>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Told {
    /// Somebody said something.
    Said {
        row: Row,
        asker: Option<Asker>,
        door: String,
    },
    Began(Question),
    /// All that was said in one step.
    Text {
        step: Seq,
        text: String,
    },
    Card(Change),
    Ended {
        row: Row,
        question: Question,
    },
    /// Said without being asked.
    Note(Row),
    /// What fills the context was counted anew.
    Counted,
    /// From idle to busy, or back.
    Busy(bool),
}

struct Turn {
    question: Question,
    texts: Vec<String>,
    /// The newest pictures of its tools.
    files: Vec<Filed>,
    doings: Doings,
}

impl Turn {
    fn shown(&mut self, seq: Seq, output: &Output) {
        self.files.extend(rows::filed(seq, output.images()));
        let many = self.files.len().saturating_sub(MOST);
        self.files.drain(..many);
    }
}

pub struct Story {
    session: SessionId,
    turn: Option<Turn>,
    /// Messages that wait, with those who sent them as far as that is known.
    waiting: BTreeMap<Seq, Option<Question>>,
    plan: Option<Card>,
    compacting: bool,
}

impl Story {
    pub fn new(session: SessionId) -> Self {
        let waiting = BTreeMap::new();
        Self { session, turn: None, waiting, plan: None, compacting: false }
    }

    /// How it stood right after this fact, as far as it matters for what follows.
    pub async fn load(log: &dyn Log, session: SessionId, at: Seq) -> Result<Self, StoreError> {
        let mut story = Self::new(session);
        let Some(said) = open_turn(log, session, at).await? else { return Ok(story) };
        let mut after = said.before();
        while after < at {
            let facts = log.read(session, after, PAGE).await?;
            let Some(last) = facts.last() else { break };
            after = last.seq;
            for entry in facts.iter().filter(|entry| entry.seq <= at) {
                story.learn(log, entry).await?;
                story.hear(entry);
            }
        }
        Ok(story)
    }

    /// Looks up whatever [`Self::hear`] will need to know about this fact.
    pub async fn learn(&mut self, log: &dyn Log, entry: &Entry) -> Result<(), StoreError> {
        let (Fact::Said { queued: Some(place), .. } | Fact::Unqueued { queued: place }) =
            &entry.fact
        else {
            return Ok(());
        };
        if matches!(self.waiting.get(place), Some(Some(_))) {
            return Ok(());
        }
        let found = log.read(self.session, place.before(), 1).await?.pop();
        let question = found.and_then(|entry| {
            let message = rows::taken(&entry.fact)?;
            Some(self.question(entry.seq, entry.at, message))
        });
        self.waiting.insert(*place, question);
        Ok(())
    }

    /// How things stand at the end of the log: what waits, and what is planned.
    pub fn arrive(&mut self, waiting: impl IntoIterator<Item = Seq>, plan: Option<&Task>) {
        for place in waiting {
            self.waiting.entry(place).or_default();
        }
        self.plan = plan.map(Card::of);
    }

    /// Whether this task is the plan, as far as we know.
    pub fn plans(&self, id: &str) -> bool {
        self.plan.as_ref().is_some_and(|plan| plan.id == id)
    }

    /// This was the plan before we came.
    pub fn plan(&mut self, task: &Task) {
        self.plan = Some(Card::of(task));
    }

    pub fn is_busy(&self) -> bool {
        self.turn.is_some() || self.compacting || !self.waiting.is_empty()
    }

    /// The question being answered, and what was said so far.
    pub fn running(&self) -> Option<(&Question, &[String])> {
        self.turn.as_ref().map(|turn| (&turn.question, turn.texts.as_slice()))
    }

    /// The tasks that are open.
    pub fn cards(&self) -> Vec<Card> {
        let doings = self.turn.as_ref().and_then(|turn| turn.doings.card());
        self.plan.iter().chain(doings).cloned().collect()
    }

    pub fn hear(&mut self, entry: &Entry) -> Vec<Told> {
        let was_busy = self.is_busy();
        let mut told = self.tell(entry);
        let is_busy = self.is_busy();
        match (was_busy, is_busy) {
            (false, true) => told.insert(0, Told::Busy(true)),
            (true, false) => told.push(Told::Busy(false)),
            _ => (),
        }
        told
    }

    fn tell(&mut self, Entry { seq, at, fact }: &Entry) -> Vec<Told> {
        match fact {
            Fact::Queued(message) => {
                let question = self.question(*seq, *at, message);
                self.waiting.insert(*seq, Some(question));
                said(*seq, *at, message).into_iter().collect()
            }
            Fact::Unqueued { queued } => {
                let question = self.waiting.remove(queued).flatten();
                let row = Row::new(*seq, *at, Role::Agent, rows::CALLED_OFF.to_owned());
                question.map(|question| Told::Ended { row, question }).into_iter().collect()
            }
            Fact::Said { message, queued } => self.begin(*seq, *at, message, *queued),
            Fact::Answered(answer) => self.answered(answer),
            Fact::ToolReturned { call, output } => {
                let turn = self.turn.as_mut();
                let change = turn.and_then(|turn| {
                    turn.shown(*seq, output);
                    turn.doings.returned(call, output)
                });
                change.map(Told::Card).into_iter().collect()
            }
            Fact::TaskOpened(task) | Fact::TaskMoved(task) => {
                if let Some(turn) = &mut self.turn {
                    turn.doings.planned();
                }
                let card = Card::of(task);
                self.plan = Some(card.clone());
                vec![Told::Card(Change::Shown(card))]
            }
            Fact::TaskClosed { task, close, reason } => {
                let id = task.to_string();
                let plan = self.plan.take().filter(|plan| plan.id == id);
                // One that was open before we came is known by its name alone.
                let gone = |result: &str| vec![Change::Closed { id, result: result.to_owned() }];
                let changes = plan.map_or_else(
                    || gone("It has ended."),
                    |plan| plan.closed(*close, reason.as_deref()),
                );
                changes.into_iter().map(Told::Card).collect()
            }
            Fact::Asked(question) => {
                vec![Told::Note(Row::new(*seq, *at, Role::Agent, rows::asked(question)))]
            }
            Fact::TurnEnded(outcome) => self.end(*seq, *at, outcome),
            Fact::CompactionStarted => {
                self.compacting = true;
                Vec::new()
            }
            Fact::CompactionEnded(_) => {
                self.compacting = false;
                vec![Told::Counted]
            }
            Fact::ModelChanged { .. } | Fact::Rewound { .. } => vec![Told::Counted],
            Fact::Opened { .. }
            | Fact::Renamed { .. }
            | Fact::EnvHinted { .. }
            | Fact::ModeChanged { .. }
            | Fact::ContextChanged { .. }
            | Fact::Observed
            | Fact::StepStarted { .. }
            | Fact::ToolStarted { .. }
            | Fact::Embedded(_)
            | Fact::ModelLent { .. }
            | Fact::Settled { .. }
            | Fact::WindowOpened(_)
            | Fact::WindowChanged { .. }
            | Fact::WindowClosed { .. }
            | Fact::App(_)
            | Fact::Desktop(_)
            | Fact::Widget(_) => Vec::new(),
        }
    }

    fn begin(
        &mut self,
        seq: Seq,
        at: Timestamp,
        message: &Message,
        queued: Option<Seq>,
    ) -> Vec<Told> {
        let waited = queued.and_then(|place| self.waiting.remove(&place)).flatten();
        let question = waited.unwrap_or_else(|| self.question(seq, at, message));
        let doings = Doings::new(question.row.trim_start_matches("msg_"), &message.text);
        let (texts, files) = (Vec::new(), Vec::new());
        self.turn = Some(Turn { question: question.clone(), texts, files, doings });
        // What waited was told of when it came.
        let said = queued.is_none().then(|| said(seq, at, message)).flatten();
        said.into_iter().chain([Told::Began(question)]).collect()
    }

    fn answered(&mut self, answer: &Answer) -> Vec<Told> {
        let Some(turn) = &mut self.turn else { return Vec::new() };
        turn.texts.push(answer.text.clone());
        let text = Told::Text { step: answer.step, text: answer.text.clone() };
        let card = turn.doings.called(&answer.calls).map(Told::Card);
        let counted = answer.usage.map(|_| Told::Counted);
        [text].into_iter().chain(card).chain(counted).collect()
    }

    fn end(&mut self, seq: Seq, at: Timestamp, outcome: &Outcome) -> Vec<Told> {
        let Some(Turn { question, texts, files, doings }) = self.turn.take() else {
            return Vec::new();
        };
        let content = rows::answer(texts.iter().map(String::as_str), outcome);
        let row = Row { files, ..Row::new(seq, at, Role::Agent, content) };
        let cards = doings.ended(outcome).into_iter().map(Told::Card);
        cards.chain([Told::Ended { row, question }]).collect()
    }

    fn question(&self, seq: Seq, at: Timestamp, message: &Message) -> Question {
        Question { seq, row: row_id(self.session, seq, at), asker: Asker::of(message) }
    }
}

fn said(seq: Seq, at: Timestamp, message: &Message) -> Option<Told> {
    let row = Row::said(seq, at, message)?;
    let (asker, door) = (Asker::of(message), rows::door(&message.origin));
    Some(Told::Said { row, asker, door })
}

/// Where the turn began that was open right after this fact.
async fn open_turn(log: &dyn Log, session: SessionId, at: Seq) -> Result<Option<Seq>, StoreError> {
    let mut before = at.next();
    loop {
        let facts = log.read_back(session, before, PAGE).await?;
        let Some(oldest) = facts.last() else { return Ok(None) };
        before = oldest.seq;
        for entry in &facts {
            match entry.fact {
                Fact::Said { .. } => return Ok(Some(entry.seq)),
                Fact::TurnEnded(_) => return Ok(None),
                _ => (),
            }
        }
    }
}
