//! The tools of a turn: called together where they may be, on record before they change anything.

use std::{collections::HashSet, panic::AssertUnwindSafe};

use futures::{FutureExt as _, StreamExt as _, stream::FuturesUnordered};
use serde_json::Value;

use super::{Turn, TurnError};
use crate::{
    prompt::{self, Part},
    state::State,
    toolbox::{Call, Caller, Picture, Reply, Risk, ToolError},
    update::{Attachment, Fact, Output, ToolRequest},
    views::Showing,
};

impl Turn {
    /// Makes the calls that a restart left open, if it did; returns their names.
    pub(super) async fn take_up(&self, state: &mut State) -> Result<HashSet<String>, TurnError> {
        let turn = state.turn.clone().unwrap_or_default();
        let Some(asked) = turn.asked.filter(|_| !turn.calls.is_empty()) else {
            return Ok(HashSet::new());
        };
        let found = self.ports.log.read(self.session.id(), asked.before(), 1).await?.pop();
        let calls = match found.map(|entry| entry.fact) {
            Some(Fact::Answered(answer)) => answer.calls,
            _ => Vec::new(),
        };
        let names = calls.iter().map(|call| call.id.clone()).collect();
        let open = calls.into_iter().filter(|call| turn.calls.contains(&call.id));
        self.run_tools(open.collect()).await?;
        if let Some(now) = self.roster.get(self.session.id()) {
            state.last = now.last;
        }
        Ok(names)
    }

    /// Takes out what is secret: on record it would stay for good.
    pub fn conceal(&self, calls: &mut [ToolRequest]) {
        for call in calls {
            let args = call.args.take();
            call.args = self.ports.tools.told(self.session.id(), &call.name, args);
        }
    }

    /// Neighbours that may overlap run together; the others one by one, in the order asked for.
    pub(super) async fn run_tools(&self, calls: Vec<ToolRequest>) -> Result<Vec<Part>, TurnError> {
        let mut results = Vec::with_capacity(calls.len());
        let session = self.session.id();
        let overlaps = |call: &ToolRequest| self.ports.tools.parallel(session, &call.name);
        let mut calls = calls.into_iter().peekable();
        while let Some(first) = calls.next() {
            let together = overlaps(&first);
            let group = FuturesUnordered::new();
            group.push(self.run_own(first));
            while together && let Some(next) = calls.next_if(overlaps) {
                group.push(self.run_own(next));
            }
            let mut group = group;
            while let Some(returned) = group.next().await {
                let (call, output) = returned?;
                let fact = Fact::ToolReturned { call, output };
                results.extend(Part::of(fact.clone()));
                self.record(fact).await?;
            }
        }
        let images = results.iter().flat_map(|part| match part {
            Part::Result { output, .. } => output.images().to_vec(),
            Part::User { .. } | Part::Assistant { .. } | Part::Pictures { .. } => Vec::new(),
        });
        let pictures = prompt::pictures_of(images.collect());
        Ok(results.into_iter().chain(pictures).collect())
    }

    /// A call of this turn, as things stand now.
    pub fn calling(&self, caller: Caller, id: &str, args: Value) -> Call {
        let state = self.roster.get(self.session.id()).unwrap_or_default();
        Call {
            caller,
            session: self.session.clone(),
            id: Some(id.to_owned()),
            cwd: self.cwd.clone(),
            flow: self.flow.clone(),
            mode: self.approvals.mode(&state),
            attended: !state.turn.as_ref().is_some_and(|turn| turn.unattended),
            agreed: false,
            companion: None,
            args,
        }
    }

    /// What the model itself wants to be run.
    async fn run_own(&self, request: ToolRequest) -> Result<(String, Output), TurnError> {
        let ToolRequest { id, name, args, .. } = request;
        let call = self.calling(Caller::Model, &id, args);
        Ok((id, self.run_tool(&name, call).await?))
    }

    pub async fn run_tool(&self, name: &str, call: Call) -> Result<Output, TurnError> {
        // A tool that breaks down is a tool that failed; the turn goes on.
        let called = AssertUnwindSafe(self.call(name, call)).catch_unwind().await;
        Ok(match called {
            Ok(Ok(Ok(reply))) => self.keep(reply).await,
            Ok(Ok(Err(error))) => Output::failed(error.to_string()),
            Ok(Err(error)) => return Err(error),
            Err(_) => Output::failed(format!("Tool '{name}' broke down.")),
        })
    }

    /// Calls a tool. One that changes something is on record before it begins.
    async fn call(&self, name: &str, call: Call) -> Result<Result<Reply, ToolError>, TurnError> {
        let id = call.id.clone().unwrap_or_default();
        let companion = call.companion.clone();
        let permit = match self.ports.tools.permit(&self.approvals, name, call).await {
            Ok(permit) => permit,
            Err(error) => return Ok(Err(error)),
        };
        if permit.risk != Risk::Reads {
            self.record(Fact::ToolStarted { call: id.clone() }).await?;
        }
        if let Some(companion) = companion {
            companion.begun();
        }
        let showing = permit.widget();
        let showing = showing.map(|it| Showing::begin(&self.ports, &self.session, &id, it));
        let reply = permit.run().await;
        Ok(match showing {
            Some(showing) => showing.beside(reply).await,
            None => reply,
        })
    }

    /// What a tool gave back, with its pictures put where they can be found again.
    pub async fn keep(&self, Reply { text, pictures, data, failed }: Reply) -> Output {
        if failed {
            return Output::Failed { message: ToolError::Failed(text).to_string(), data };
        }
        let mut images = Vec::with_capacity(pictures.len());
        for (index, Picture { mime, bytes }) in pictures.into_iter().enumerate() {
            let extension = mime.strip_prefix("image/").unwrap_or("bin");
            let kept = self.ports.attic.keep(self.session.id(), extension, bytes).await;
            match kept {
                Ok(path) => {
                    let name = format!("picture-{}.{extension}", index + 1);
                    images.push(Attachment { path, mime, name });
                }
                Err(error) => tracing::warn!(%error, "cannot keep a picture that a tool returned"),
            }
        }
        Output::Done { text, images, data }
    }
}
