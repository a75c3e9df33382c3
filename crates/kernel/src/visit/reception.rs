//! A turn that an agent answers: it speaks and acts, the session keeps the record and asks the person.

use std::{collections::HashMap, sync::Arc};

use futures::{FutureExt as _, StreamExt as _, future::BoxFuture, stream::FuturesUnordered};
use serde_json::Value;
use tokio::sync::oneshot;

use super::{Choice, Doing, Wish, leave::Claimed};
use crate::{
    ports::{Agent, ModelError},
    state::State,
    toolbox::{Call, Caller, Deed, Reply},
    turn::{Report, Turn, TurnError},
    update::{Answer, Fact, Failure, Output, Seq, Signal, ToolRequest, Trace},
};

/// How many of its calls may be open at once.
const OPEN: usize = 256;

impl Turn {
    /// Lets the agent answer, to the end. Cancelling is dropping this future.
    pub async fn receive(self, agent: Arc<dyn Agent>, state: &State) -> Result<(), TurnError> {
        let mut doings = agent.visit(self.visit(state).await?);
        let mut reception = Reception {
            turn: &self,
            agent: agent.name(),
            model: &state.model,
            memory: None,
            index: state.turn.as_ref().map_or(0, |turn| turn.steps),
            answer: None,
            open: HashMap::new(),
            errands: FuturesUnordered::new(),
        };
        loop {
            tokio::select! {
                doing = doings.next() => match doing {
                    Some(doing) => reception.hear(doing?).await?,
                    None => return reception.end().await,
                },
                Some(done) = reception.errands.next() => reception.settle(done?).await?,
            }
        }
    }
}

/// One visit, as far as it has come.
struct Reception<'a> {
    turn: &'a Turn,
    agent: &'a str,
    model: &'a str,
    memory: Option<Value>,
    /// Of the next step.
    index: u32,
    /// What is being said.
    answer: Option<Answer>,
    /// Its calls that have not ended, by its own names.
    open: HashMap<String, Open>,
    /// What is done for it meanwhile.
    errands: FuturesUnordered<BoxFuture<'a, Result<Errand, TurnError>>>,
}

struct Open {
    request: ToolRequest,
    started: bool,
    /// Whether it was given leave when it last asked for it.
    agreed: bool,
    printed: usize,
}

/// What was done for the agent. It hears of it once that is on record.
enum Errand {
    Ran { id: String, output: Output, answer: oneshot::Sender<Result<Reply, String>> },
    Asked { call: String, choice: Option<Choice>, answer: oneshot::Sender<Option<String>> },
}

impl Reception<'_> {
    async fn hear(&mut self, doing: Doing) -> Result<(), TurnError> {
        match doing {
            Doing::Text(delta) | Doing::Reasoning(delta) if delta.is_empty() => Ok(()),
            Doing::Text(delta) => {
                let answer = self.speaking().await?;
                answer.text.push_str(&delta);
                let (step, size) = (answer.step, answer.text.len());
                self.turn.signal(Signal::Text { step, delta, size }).await
            }
            Doing::Reasoning(delta) => {
                let answer = self.speaking().await?;
                answer.reasoning.push_str(&delta);
                let (step, size) = (answer.step, answer.reasoning.len());
                self.turn.signal(Signal::Reasoning { step, delta, size }).await
            }
            Doing::Memory(memory) => {
                self.memory = Some(memory);
                Ok(())
            }
            Doing::Used(usage) => {
                let answer = self.speaking().await?;
                let usage = answer.usage.unwrap_or_default().plus(usage);
                answer.usage = Some(usage);
                let model = self.model.to_owned();
                self.turn.report(Report::Used { model, usage }).await
            }
            Doing::Plan(plan) => match self.turn.session.plan(plan).await {
                Ok(planned) => Ok(planned?),
                Err(_) => Err(TurnError::Abandoned),
            },
            Doing::Began { call, tool, args, title } => self.begin(call, tool, args, title).await,
            Doing::Started { call } => self.start(&call).await,
            Doing::Printed { call, delta } => self.print(&call, delta).await,
            Doing::Ended { call, result } => self.finish(&call, result).await,
            Doing::Asks { call, deed, options, answer } => {
                self.ask(call, deed, options, answer);
                Ok(())
            }
            Doing::Wants { wish, answer } => self.lend(wish, answer).await,
        }
    }

    /// The sentence being spoken; begins one if need be.
    async fn speaking(&mut self) -> Result<&mut Answer, TurnError> {
        if self.answer.is_none() {
            let step = self.turn.record(Fact::StepStarted { index: self.index }).await?;
            self.index = self.index.saturating_add(1);
            let model = self.model.to_owned();
            self.answer = Some(Answer { model, ..Answer::to(step) });
        }
        Ok(self.answer.get_or_insert_with(|| Answer::to(Seq::default())))
    }

    /// Puts on record what was said, and that this is to be done.
    async fn conclude(&mut self, calls: Vec<ToolRequest>) -> Result<(), TurnError> {
        self.speaking().await?;
        let Some(mut answer) = self.answer.take() else { return Ok(()) };
        answer.calls = calls;
        self.turn.conceal(&mut answer.calls);
        let trace = |data| Trace { model: self.model.to_owned(), data };
        answer.trace = self.memory.clone().map(trace);
        if let Some(call) = answer.calls.last() {
            self.turn.signal(Signal::Intent { text: call.title.clone() }).await?;
        }
        self.turn.record(Fact::Answered(answer)).await?;
        Ok(())
    }

    async fn begin(
        &mut self,
        call: String,
        tool: String,
        args: Value,
        title: String,
    ) -> Result<(), TurnError> {
        if self.open.contains_key(&call) {
            return Ok(());
        }
        if self.open.len() >= OPEN {
            let message = format!("{} has begun more than {OPEN} things at once", self.agent);
            return Err(ModelError::new(Failure::Protocol, message).into());
        }
        // Its own names may come again in another turn.
        let id = self.turn.ports.clock.id().to_string();
        let request = ToolRequest { id, name: tool, args, title };
        self.conclude(vec![request.clone()]).await?;
        self.open.insert(call, Open { request, started: false, agreed: false, printed: 0 });
        Ok(())
    }

    async fn start(&mut self, call: &str) -> Result<(), TurnError> {
        let Some(open) = self.open.get_mut(call).filter(|open| !open.started) else {
            return Ok(());
        };
        open.started = true;
        self.turn.record(Fact::ToolStarted { call: open.request.id.clone() }).await?;
        Ok(())
    }

    async fn print(&mut self, call: &str, delta: String) -> Result<(), TurnError> {
        let Some(open) = self.open.get_mut(call) else { return Ok(()) };
        open.printed += delta.len();
        let (call, size) = (open.request.id.clone(), open.printed);
        self.turn.signal(Signal::Printed { call, delta, size }).await
    }

    async fn finish(&mut self, call: &str, result: Result<Reply, String>) -> Result<(), TurnError> {
        let Some(open) = self.open.remove(call) else { return Ok(()) };
        let output = match result {
            Ok(reply) => self.turn.keep(reply).await,
            Err(message) => Output::failed(message),
        };
        self.turn.record(Fact::ToolReturned { call: open.request.id, output }).await?;
        Ok(())
    }

    fn caller(&self) -> Caller {
        Caller::Agent { name: self.agent.to_owned() }
    }

    /// Has the rules, or the person, say which option it is.
    fn ask(
        &mut self,
        call: String,
        deed: Deed,
        options: Vec<Choice>,
        answer: oneshot::Sender<Option<String>>,
    ) {
        // Unasked for anything it has begun, nothing is allowed: the answer's end is dropped.
        let Some(Open { request, .. }) = self.open.get(&call) else { return };
        let (turn, request) = (self.turn, request.clone());
        let asked = turn.calling(self.caller(), &request.id, request.args.clone());
        self.errands.push(
            async move {
                let choice = turn.choose(&Claimed::new(&request), &asked, deed, options).await;
                Ok(Errand::Asked { call, choice, answer })
            }
            .boxed(),
        );
    }

    /// Uses a tool of the house in the agent's name.
    async fn lend(
        &mut self,
        Wish { tool: name, args, under, companion }: Wish,
        answer: oneshot::Sender<Result<Reply, String>>,
    ) -> Result<(), TurnError> {
        let (turn, caller) = (self.turn, self.caller());
        let title = turn.ports.tools.title(turn.session.id(), &name, &args);
        let id = turn.ports.clock.id().to_string();
        let request = ToolRequest { id: id.clone(), name: name.clone(), args, title };
        self.conclude(vec![request.clone()]).await?;
        let agreed = under.and_then(|it| self.open.get(&it)).is_some_and(|open| open.agreed);
        let run = async move {
            let call = turn.calling(caller, &id, request.args);
            let output = turn.run_tool(&name, Call { agreed, companion, ..call }).await?;
            Ok(Errand::Ran { id, output, answer })
        };
        self.errands.push(run.boxed());
        Ok(())
    }

    async fn settle(&mut self, done: Errand) -> Result<(), TurnError> {
        // Whoever asked may have lost interest; that is theirs to say.
        match done {
            Errand::Ran { id, output, answer } => {
                let told = match &output {
                    Output::Done { text, data, .. } => {
                        Ok(Reply { text: text.clone(), data: data.clone(), ..Reply::default() })
                    }
                    Output::Failed { .. } | Output::Interrupted => Err(output.text().to_owned()),
                };
                self.turn.record(Fact::ToolReturned { call: id, output }).await?;
                answer.send(told).ok();
            }
            Errand::Asked { call, choice, answer } => {
                let agreed = choice.as_ref().is_some_and(|it| it.means.allows());
                if agreed {
                    self.start(&call).await?;
                }
                if let Some(open) = self.open.get_mut(&call) {
                    open.agreed = agreed;
                }
                answer.send(choice.map(|it| it.id)).ok();
            }
        }
        Ok(())
    }

    /// The agent has said all it had to say.
    async fn end(mut self) -> Result<(), TurnError> {
        // Nobody waits for what was still being done for it.
        self.errands.clear();
        if self.answer.is_some() || self.index == 0 {
            self.conclude(Vec::new()).await?;
        }
        Ok(())
    }
}
