//! Waits until another agent has answered.

use std::{sync::Arc, time::Duration};

use kernel::{
    host::Host,
    ports::StoreError,
    state::State,
    toolbox::{Call, Risk},
    update::{Fact, Outcome, Seq, SessionId},
};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::broadcast::error::RecvError;

use super::{House, find};
use crate::typed::{Typed, shorten};

const USUAL: u64 = 600;
const LONGEST: u64 = 3600;
const PAGE: usize = 64;

/// Waits until the agent of another session has nothing more to do, and returns its last answer.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Input {
    /// The session.
    session_id: String,
    /// How long to wait at most; 600 if absent, 3600 at most.
    timeout_seconds: Option<u64>,
}

pub struct WaitForAgent {
    pub house: House,
}

impl Typed for WaitForAgent {
    type Input = Input;
    type Output = String;
    const NAME: &'static str = "wait_for_agent";
    const RISK: Risk = Risk::Reads;
    const PARALLEL: bool = true;

    fn title(&self, input: &Input) -> String {
        format!("Waiting for session {}", shorten(&input.session_id, 40))
    }

    async fn run(&self, input: Input, call: Call) -> Result<String, String> {
        let host = self.house.host()?;
        let absent = || format!("Session {} not found", input.session_id);
        let (id, _) = find(&host, &input.session_id).ok_or_else(absent)?;
        if id == call.session.id() {
            return Err("a session cannot wait for itself".to_owned());
        }
        let seconds = input.timeout_seconds.unwrap_or(USUAL);
        if !(1..=LONGEST).contains(&seconds) {
            return Err(format!("timeoutSeconds must be from 1 to {LONGEST}, not {seconds}"));
        }
        match tokio::time::timeout(Duration::from_secs(seconds), rest(&host, id)).await {
            Ok(Some(_)) => last_answer(&host, id).await.map_err(|error| error.to_string()),
            Ok(None) => Err(absent()),
            Err(_) => {
                let state = host.roster.get(id).ok_or_else(absent)?;
                Ok(busy(id, seconds, &state))
            }
        }
    }
}

/// Returns when it has nothing more to do; `None` if it is gone.
async fn rest(host: &Host, id: SessionId) -> Option<Arc<State>> {
    let mut news = host.roster.listen();
    loop {
        let state = host.roster.get(id)?;
        if !state.is_unfinished() {
            return Some(state);
        }
        match news.recv().await {
            Ok(_) | Err(RecvError::Lagged(_)) => (),
            Err(RecvError::Closed) => return None,
        }
    }
}

fn busy(id: SessionId, seconds: u64, state: &State) -> String {
    let why = match &state.intent {
        _ if state.awaits_person() => "; it waits for the person".to_owned(),
        Some(intent) => format!("; last seen: {intent}"),
        None => String::new(),
    };
    format!("Session {id} is still busy after {seconds} s{why}. You can wait again.")
}

/// What was said last in the turn that ended last, and how that went.
async fn last_answer(host: &Host, id: SessionId) -> Result<String, StoreError> {
    let mut before = Seq(u64::MAX >> 1);
    let (mut outcome, mut text) = (None, None);
    loop {
        let page = host.ports.log.read_back(id, before, PAGE).await?;
        let Some(oldest) = page.last() else { break };
        before = oldest.seq;
        let mut begun = false;
        for entry in page {
            match entry.fact {
                Fact::TurnEnded(ended) if outcome.is_none() => outcome = Some(ended),
                Fact::Answered(answer) if !answer.text.is_empty() => {
                    text = text.or(Some(answer.text));
                }
                Fact::Said { .. } => begun = true,
                _ => (),
            }
            if begun {
                break;
            }
        }
        if begun {
            break;
        }
    }
    let said = text.unwrap_or_default();
    Ok(match outcome {
        None => "Nothing has been said in that session yet.".to_owned(),
        Some(Outcome::Finished) if said.is_empty() => "It ended without a word.".to_owned(),
        Some(Outcome::Finished) => said,
        Some(Outcome::Failed { reason, .. }) => format!("It failed: {reason}\n\n{said}"),
        Some(Outcome::Cancelled) => format!("It was cancelled.\n\n{said}"),
        Some(Outcome::Interrupted) => format!("It was interrupted.\n\n{said}"),
    })
}
