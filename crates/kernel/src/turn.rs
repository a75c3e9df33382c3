//! One turn: the model speaks, tools run, until there is nothing left to run.

use std::{collections::HashSet, panic::AssertUnwindSafe, path::PathBuf, sync::Arc};

use futures::{FutureExt as _, StreamExt as _, stream::FuturesUnordered};
use tokio::sync::{mpsc, oneshot};

use crate::{
    ports::{Model, ModelError, Piece, Ports, StoreError},
    prompt::{self, Part, Prompt},
    session::Session,
    state::State,
    toolbox::{Call, Caller},
    update::{Answer, Fact, Failure, Output, Seq, Signal, ToolRequest},
};

/// What a turn tells its session.
pub(crate) enum Report {
    /// Answered with its place once it is safe; the turn waits for that before it goes on, so that
    /// no tool runs for a call that could be lost.
    Fact(Fact, oneshot::Sender<Seq>),
    Signal(Signal),
}

pub(crate) struct Turn {
    pub ports: Ports,
    pub session: Session,
    pub cwd: PathBuf,
    pub flow: String,
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

impl Turn {
    /// Runs to the end and returns. Cancelling is dropping this future.
    pub async fn run(self, state: Arc<State>) -> Result<(), TurnError> {
        let model = self.ports.models.find(&state.model).ok_or_else(|| ModelError {
            kind: Failure::NoModel,
            message: format!(
                "no model is named `{}`; choose another for this session",
                state.model
            ),
        })?;
        let log = self.ports.log.as_ref();
        let mut prompt = Prompt {
            system: prompt::system(&state),
            parts: prompt::recall(log, self.session.id(), &state, model.budget()).await?,
            tools: self.ports.tools.specs(&Caller::Model),
        };
        let mut used = HashSet::new();
        for index in 0.. {
            let step = self.record(Fact::StepStarted { index }).await?;
            let answer = self.sample(model.as_ref(), &prompt, step, &mut used).await?;
            let calls = answer.calls.clone();
            prompt.parts.extend(Part::of(Fact::Answered(answer.clone())));
            if let Some(call) = calls.last() {
                self.signal(Signal::Intent { text: call.title.clone() }).await?;
            }
            self.record(Fact::Answered(answer)).await?;
            if calls.is_empty() {
                break;
            }
            prompt.parts.extend(self.run_tools(calls).await?);
        }
        Ok(())
    }

    async fn sample(
        &self,
        model: &dyn Model,
        prompt: &Prompt,
        step: Seq,
        used: &mut HashSet<String>,
    ) -> Result<Answer, TurnError> {
        let mut pieces = model.stream(prompt);
        let mut answer = Answer {
            step,
            text: String::new(),
            reasoning: String::new(),
            calls: Vec::new(),
            usage: None,
            partial: false,
        };
        while let Some(piece) = pieces.next().await {
            match piece? {
                Piece::Text(delta) | Piece::Reasoning(delta) if delta.is_empty() => (),
                Piece::Text(delta) => {
                    answer.text.push_str(&delta);
                    self.signal(Signal::Text { step, delta, size: answer.text.len() }).await?;
                }
                Piece::Reasoning(delta) => {
                    answer.reasoning.push_str(&delta);
                    let size = answer.reasoning.len();
                    self.signal(Signal::Reasoning { step, delta, size }).await?;
                }
                Piece::Call { mut id, name, args } => {
                    // A result finds its call by this name, so it must be one of a kind.
                    if id.is_empty() || !used.insert(id.clone()) {
                        id = self.ports.clock.id().to_string();
                    }
                    let title = self.ports.tools.title(&name, &args);
                    answer.calls.push(ToolRequest { id, name, args, title });
                }
                Piece::Usage(usage) => answer.usage = Some(usage),
            }
        }
        Ok(answer)
    }

    /// Neighbours that may overlap run together; the others one by one, in the order asked for.
    async fn run_tools(&self, calls: Vec<ToolRequest>) -> Result<Vec<Part>, TurnError> {
        let mut results = Vec::with_capacity(calls.len());
        let overlaps = |call: &ToolRequest| self.ports.tools.parallel(&call.name);
        let mut calls = calls.into_iter().peekable();
        while let Some(first) = calls.next() {
            let together = overlaps(&first);
            let group = FuturesUnordered::new();
            group.push(self.run_tool(first));
            while together && let Some(next) = calls.next_if(overlaps) {
                group.push(self.run_tool(next));
            }
            let mut group = group;
            while let Some((call, output)) = group.next().await {
                results.push(Part::Result { call: call.clone(), output: output.clone() });
                self.record(Fact::ToolReturned { call, output }).await?;
            }
        }
        Ok(results)
    }

    async fn run_tool(&self, ToolRequest { id, name, args, .. }: ToolRequest) -> (String, Output) {
        let call = Call {
            caller: Caller::Model,
            session: self.session.clone(),
            cwd: self.cwd.clone(),
            flow: self.flow.clone(),
            args,
        };
        // A tool that breaks down is a tool that failed; the turn goes on.
        let called = AssertUnwindSafe(self.ports.tools.call(&name, call)).catch_unwind().await;
        let output = match called {
            Ok(Ok(text)) => Output::Done { text },
            Ok(Err(error)) => Output::Failed { message: error.to_string() },
            Err(_) => Output::Failed { message: format!("Tool '{name}' broke down.") },
        };
        (id, output)
    }

    async fn record(&self, fact: Fact) -> Result<Seq, TurnError> {
        let (stored, seq) = oneshot::channel();
        self.report(Report::Fact(fact, stored)).await?;
        seq.await.map_err(|_| TurnError::Abandoned)
    }

    async fn signal(&self, signal: Signal) -> Result<(), TurnError> {
        self.report(Report::Signal(signal)).await
    }

    async fn report(&self, report: Report) -> Result<(), TurnError> {
        self.reports.send(report).await.map_err(|_| TurnError::Abandoned)
    }
}
