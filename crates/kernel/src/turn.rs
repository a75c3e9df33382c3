//! One turn: the model speaks, tools run, until there is nothing left to run.

mod calls;

use std::{collections::HashSet, mem, path::PathBuf, sync::Arc, time::Duration};

use futures::StreamExt as _;
use tokio::sync::{mpsc, oneshot};

use crate::{
    approvals::Approvals,
    budget::Purse,
    compact::{self, CompactError, Summary},
    ports::{Model, ModelError, Piece, Ports, StoreError},
    prompt::{self, Part, Prompt, Recalled},
    roster::Roster,
    session::Session,
    state::{State, SummedUp},
    tokens,
    update::{Answer, Compaction, Fact, Failure, Seq, Signal, ToolRequest, Trace, Usage},
    views::writing::Pen,
};

/// What a turn tells its session.
pub(crate) enum Report {
    /// Answered with its place once it is safe; the turn waits for that before it goes on, so that
    /// no tool runs for a call that could be lost.
    Fact(Fact, oneshot::Sender<Seq>),
    Signal(Signal),
    /// The model has said what it used, which the answer will say as well, if it comes.
    Used {
        model: String,
        usage: Usage,
    },
}

/// Keeps what a model says it has used, and lets the session know at once: it may be cut short.
pub(crate) struct Meter<'a> {
    model: &'a str,
    reports: &'a mpsc::Sender<Report>,
    usage: Option<Usage>,
    /// By the requests before this one.
    before: Option<Usage>,
}

impl Meter<'_> {
    /// Another request begins, which is counted on its own.
    pub fn go_on(&mut self) {
        self.before = self.usage;
    }

    pub async fn count(&mut self, usage: Usage) {
        let usage = self.before.map_or(usage, |before| before.plus(usage));
        self.usage = Some(usage);
        // An error only means that this turn is being cut short.
        self.reports.send(Report::Used { model: self.model.to_owned(), usage }).await.ok();
    }
}

pub(crate) struct Turn {
    pub ports: Ports,
    pub approvals: Arc<Approvals>,
    pub roster: Arc<Roster>,
    pub purse: Arc<Purse>,
    pub session: Session,
    pub cwd: PathBuf,
    pub flow: String,
    pub attempts: u32,
    pub reports: mpsc::Sender<Report>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum TurnError {
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Nobody waits for what this turn has to say.
    #[error("the turn was abandoned")]
    Abandoned,
}

impl TurnError {
    pub fn kind(&self) -> Failure {
        match self {
            Self::Model(error) => error.kind,
            Self::Store(_) | Self::Abandoned => Failure::Internal,
        }
    }
}

const FIRST_WAIT: Duration = Duration::from_secs(1);
/// A provider that wants to be left alone for longer than this is not worth waiting for.
const LONGEST_WAIT: Duration = Duration::from_mins(2);

/// How full the model's window is: what the provider counted, and what has come since.
struct Fill {
    counted: u64,
    since: u64,
}

impl Fill {
    fn of(prompt: &Prompt) -> Self {
        Self { counted: 0, since: tokens::of_prompt(prompt) }
    }

    fn add(&mut self, part: &Part) {
        self.since += tokens::of_part(part);
    }

    fn count(&mut self, usage: Option<Usage>) {
        if let Some(usage) = usage {
            let counted = usage.input_tokens.saturating_add(usage.output_tokens);
            *self = Self { counted, since: 0 };
        }
    }

    fn exceeds(&self, model: &dyn Model) -> bool {
        self.counted.saturating_add(self.since) > model.window().saturating_sub(model.reserve())
    }
}

impl Turn {
    /// Runs to the end and returns. Cancelling is dropping this future.
    pub async fn run(self, state: Arc<State>) -> Result<(), TurnError> {
        if let Some(agent) = self.ports.agents.find(&state.model) {
            return self.receive(agent, &state).await;
        }
        let mut state = State::clone(&state);
        let model = self.model(&state)?;
        let asked = state.turn.as_ref().map_or(0, |turn| turn.steps);
        let mut used = self.take_up(&mut state).await?;
        // By our guess it may be too much where the provider, who counts, has room for it.
        let (mut prompt, mut whole) = self.prompt(&state, model.window().saturating_mul(2)).await?;
        let mut fill = match (state.filled, prompt.parts.last()) {
            (Some(counted), Some(said)) if asked == 0 => {
                Fill { counted, since: tokens::of_part(said) }
            }
            _ => Fill::of(&prompt),
        };
        for index in asked.. {
            if fill.exceeds(model.as_ref()) || !mem::replace(&mut whole, true) {
                prompt = self.make_room(&mut state, model.as_ref()).await?;
                fill = Fill::of(&prompt);
            }
            self.afford(model.as_ref()).await?;
            let step = self.record(Fact::StepStarted { index }).await?;
            // Until the answer is on record, so that a call is found here or there at any time.
            let pen = Pen { writing: &self.roster.writing, session: self.session.id(), step };
            let mut answer =
                self.sample(model.as_ref(), &mut state, &mut prompt, step, &mut used).await?;
            let calls = answer.calls.clone();
            self.conceal(&mut answer.calls);
            prompt.parts.extend(Part::of(Fact::Answered(answer.clone())));
            prompt.parts.last().into_iter().for_each(|part| fill.add(part));
            fill.count(answer.usage);
            if let Some(call) = calls.last() {
                self.signal(Signal::Intent { text: call.title.clone() }).await?;
            }
            self.record(Fact::Answered(answer)).await?;
            drop(pen);
            self.warn().await?;
            if calls.is_empty() {
                break;
            }
            for result in self.run_tools(calls).await? {
                fill.add(&result);
                prompt.parts.push(result);
            }
            // What can be called may have come and gone with what was called.
            prompt.tools = self.ports.tools.specs_in(self.session.id());
        }
        Ok(())
    }

    /// Sums up the past because somebody asked for it. That it has begun is on record.
    pub async fn sum_up(self, state: Arc<State>) -> Result<(), TurnError> {
        let model = self.model(&state)?;
        if let Err(error) = self.purse.check(Some(self.session.id()), model.as_ref()).await {
            let failed = Compaction::failed(error.to_string());
            return self.record(Fact::CompactionEnded(failed)).await.map(drop);
        }
        self.compact(&mut State::clone(&state), model.as_ref(), 0).await
    }

    /// Whether the model may be asked once more. Asked of nobody but the house.
    async fn afford(&self, model: &dyn Model) -> Result<(), TurnError> {
        Ok(self.purse.check(Some(self.session.id()), model).await?)
    }

    /// Tells those present of budgets that have come near their end.
    async fn warn(&self) -> Result<(), TurnError> {
        for standing in self.purse.news(self.session.id()).await? {
            self.signal(Signal::NearBudget(standing)).await?;
        }
        Ok(())
    }

    fn model(&self, state: &State) -> Result<Arc<dyn Model>, ModelError> {
        self.ports.models.find(&state.model).ok_or_else(|| {
            let name = &state.model;
            let message = format!("no model is named `{name}`; choose another for this session");
            ModelError::new(Failure::NoModel, message)
        })
    }

    /// What the model is shown, and whether that is all since the last summary.
    async fn prompt(&self, state: &State, budget: u64) -> Result<(Prompt, bool), StoreError> {
        let (log, session) = (self.ports.log.as_ref(), self.session.id());
        let Recalled { parts, whole } = prompt::recall(log, session, state, budget).await?;
        let tools = self.ports.tools.specs_in(session);
        Ok((Prompt { system: self.system(state).await, parts, tools }, whole))
    }

    async fn system(&self, state: &State) -> String {
        let told = self.ports.briefing.parts(self.cwd.clone()).await;
        prompt::system(&prompt::briefs(state, told))
    }

    /// What the model is shown once the past is summed up. Should that fail, the oldest of it is
    /// left out instead.
    async fn make_room(&self, state: &mut State, model: &dyn Model) -> Result<Prompt, TurnError> {
        self.afford(model).await?;
        state.last = self.record(Fact::CompactionStarted).await?;
        self.compact(state, model, model.window() / 4).await?;
        let room = model.window().saturating_sub(model.reserve()) / 10 * 8;
        Ok(self.prompt(state, room).await?.0)
    }

    /// Sums up, which has been announced, and tells how it went.
    async fn compact(
        &self,
        state: &mut State,
        model: &dyn Model,
        keep: u64,
    ) -> Result<(), TurnError> {
        let (log, session) = (self.ports.log.as_ref(), self.session.id());
        let system = self.system(state).await;
        let name = state.model.clone();
        let mut meter = Meter { model: &name, reports: &self.reports, usage: None, before: None };
        let made = compact::sum_up(log, session, state, model, system, keep, &mut meter).await;
        let usage = meter.usage;
        let (upto, ended) = match made {
            Ok(Summary { text: summary, upto, tokens_before, tokens_after }) => (
                Some(upto),
                Compaction::Done { summary, upto, tokens_before, tokens_after, model: name, usage },
            ),
            Err(CompactError::Model(error)) => {
                let reason = error.to_string();
                (None, Compaction::Failed { reason, model: name, usage })
            }
            Err(CompactError::Store(error)) => return Err(error.into()),
        };
        state.last = self.record(Fact::CompactionEnded(ended)).await?;
        self.warn().await?;
        let at = state.last;
        state.summed_up = upto.map(|upto| SummedUp { upto, at }).or(state.summed_up);
        Ok(())
    }

    /// One answer, however often the model must be asked. Only a question of which nothing has
    /// been heard is asked again.
    async fn sample(
        &self,
        model: &dyn Model,
        state: &mut State,
        prompt: &mut Prompt,
        step: Seq,
        used: &mut HashSet<String>,
    ) -> Result<Answer, TurnError> {
        let (mut attempt, mut roomy, mut wasted) = (1, false, None);
        loop {
            let model_name = state.model.clone();
            let mut answer = Answer { model: model_name, usage: wasted, ..Answer::to(step) };
            let Err(error) = self.listen(model, prompt, state, &mut answer, used).await? else {
                return Ok(answer);
            };
            if !is_silent(&answer) {
                return Err(error.into());
            }
            wasted = answer.usage;
            if error.kind == Failure::ContextTooLong && !roomy {
                roomy = true;
                *prompt = self.make_room(state, model).await?;
                continue;
            }
            let Some(wait) = self.wait(attempt, &error).filter(|_| error.is_passing()) else {
                return Err(error.into());
            };
            let (reason, attempts) = (error.to_string(), self.attempts);
            attempt += 1;
            self.signal(Signal::Retrying { reason, attempt, attempts, wait }).await?;
            tokio::time::sleep(wait).await;
        }
    }

    /// How long to wait before the next attempt, if there is to be one.
    fn wait(&self, attempt: u32, error: &ModelError) -> Option<Duration> {
        let usual = FIRST_WAIT.saturating_mul(2_u32.saturating_pow(attempt - 1));
        // Not all at once, should many have been turned away together.
        let wait = error.wait.unwrap_or(usual).mul_f64(1.0 + self.ports.clock.chance() / 4.0);
        (attempt < self.attempts && wait <= LONGEST_WAIT).then_some(wait)
    }

    /// Hears one reply out; what the model got wrong is the inner error.
    async fn listen(
        &self,
        model: &dyn Model,
        prompt: &Prompt,
        state: &State,
        answer: &mut Answer,
        used: &mut HashSet<String>,
    ) -> Result<Result<(), ModelError>, TurnError> {
        let mut pieces = model.stream(prompt);
        let (step, wasted) = (answer.step, answer.usage);
        // What an attempt wrote that came to nothing is not the beginning of the next.
        self.roster.writing.end(self.session.id(), step);
        while let Some(piece) = pieces.next().await {
            match piece {
                Err(error) => return Ok(Err(error)),
                Ok(Piece::Text(delta) | Piece::Reasoning(delta)) if delta.is_empty() => (),
                Ok(Piece::Text(delta)) => {
                    answer.text.push_str(&delta);
                    self.signal(Signal::Text { step, delta, size: answer.text.len() }).await?;
                }
                Ok(Piece::Reasoning(delta)) => {
                    answer.reasoning.push_str(&delta);
                    let size = answer.reasoning.len();
                    self.signal(Signal::Reasoning { step, delta, size }).await?;
                }
                Ok(Piece::Calling { index, name, args }) => {
                    let place = (self.session.id(), step, index);
                    let shown = self.ports.tools.has_widget(&name);
                    let first = shown && self.roster.writing.add(place, &name, &args);
                    if first {
                        let name = name.clone();
                        self.signal(Signal::Writing { step, index, name }).await?;
                    }
                    self.signal(Signal::Calling { step, index, name, args }).await?;
                }
                Ok(Piece::Call { mut id, name, args }) => {
                    // A result finds its call by this name, so it must be one of a kind.
                    if id.is_empty() || !used.insert(id.clone()) {
                        id = self.ports.clock.id().to_string();
                    }
                    let title = self.ports.tools.title(self.session.id(), &name, &args);
                    answer.calls.push(ToolRequest { id, name, args, title });
                }
                Ok(Piece::Trace(data)) => {
                    answer.trace = Some(Trace { model: state.model.clone(), data });
                }
                Ok(Piece::Usage(usage)) => {
                    let usage = wasted.map_or(usage, |wasted| wasted.plus(usage));
                    answer.usage = Some(usage);
                    self.report(Report::Used { model: state.model.clone(), usage }).await?;
                }
            }
        }
        Ok(Ok(()))
    }

    pub async fn record(&self, fact: Fact) -> Result<Seq, TurnError> {
        let (stored, seq) = oneshot::channel();
        self.report(Report::Fact(fact, stored)).await?;
        seq.await.map_err(|_| TurnError::Abandoned)
    }

    pub async fn signal(&self, signal: Signal) -> Result<(), TurnError> {
        self.report(Report::Signal(signal)).await
    }

    pub async fn report(&self, report: Report) -> Result<(), TurnError> {
        self.reports.send(report).await.map_err(|_| TurnError::Abandoned)
    }
}

/// Whether nothing has been heard of it yet.
fn is_silent(answer: &Answer) -> bool {
    answer.text.is_empty() && answer.reasoning.is_empty() && answer.calls.is_empty()
}
