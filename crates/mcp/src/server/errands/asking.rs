//! Saying something to a session, and waiting for what comes of it.

use std::time::Duration;

use kernel::update::{Message, Outcome, WhenBusy};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Done, Errand, Visit,
    keeping::{Detailed, ModeName, detailed},
};
use crate::server::{
    hearing::{self, Hearing},
    house::Wish,
};

/// How long one call waits at most.
const LONGEST_WAIT: u64 = 3600;
const USUAL_WAIT: u64 = 600;

/// Says something to an agent's session and waits for its answer. Without `sessionId` a new session
/// is begun; go on with the one that is returned. What the agent wants to do may need the person's
/// leave, which they give elsewhere: the call waits for that.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AskSessionInput {
    /// What to say.
    prompt: String,
    /// The session to say it to; a new one if absent.
    session_id: Option<String>,
    /// The folder of a new session, absolute or within the workspace; the workspace if absent.
    cwd: Option<String>,
    /// The model of a new session; the default if absent.
    model: Option<String>,
    /// What a new session may do without asking the person; no more than is usual here.
    mode: Option<ModeName>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Answered {
    session_id: String,
    /// What the agent said last, whole.
    answer: String,
    /// `finished`, `failed`, `cancelled` or `interrupted`.
    outcome: String,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

pub struct AskSession;

impl Errand for AskSession {
    type Input = AskSessionInput;
    type Output = Answered;
    const NAME: &'static str = "ask_session";
    const TITLE: &'static str = "Ask a session";
    const READS: bool = false;

    async fn run(input: AskSessionInput, visit: &mut Visit<'_>) -> Result<Done<Answered>, String> {
        let AskSessionInput { prompt, session_id, cwd, model, mode } = input;
        said_something(&prompt)?;
        let id = match session_id {
            Some(_) if cwd.is_some() || model.is_some() || mode.is_some() => {
                return Err("`cwd`, `model` and `mode` are for a new session".to_owned());
            }
            Some(text) => visit.house.session(&text)?.0,
            None => {
                let mode = mode.map(Into::into);
                let wish = Wish { name: String::new(), cwd, model, mode };
                visit.house.create(wish).await?
            }
        };
        let host = &visit.house.host;
        let feed = host.feed(id, None).await.map_err(|error| error.to_string())?;
        let message = Message::from_user(prompt);
        let receipt = host.post(id, message, WhenBusy::Queue).await;
        let receipt = receipt.map_err(|error| error.to_string())?;
        if let Some(place) = receipt.queued {
            visit.progress.say(format!("The session is busy; this waits at place {place}")).await;
        }
        let mut hearing = Hearing::new(host, feed, receipt.seq);
        let outcome = tokio::select! {
            outcome = hearing.end(&mut visit.progress) => outcome?,
            () = visit.context.ct.cancelled() => {
                // A message that still waits cannot be taken back; it is answered in its turn.
                if hearing.begun {
                    host.cancel(id).await.map_err(|error| error.to_string())?;
                }
                Outcome::Cancelled
            }
        };
        let error = match &outcome {
            Outcome::Failed { reason, .. } => Some(reason.clone()),
            Outcome::Finished | Outcome::Cancelled | Outcome::Interrupted => None,
        };
        let text = error.clone().unwrap_or_else(|| hearing.answer.clone());
        let failed = outcome != Outcome::Finished;
        let (session_id, outcome) = (id.to_string(), outcome.name().to_owned());
        let data = Answered { session_id, answer: hearing.answer, outcome, error };
        Ok(Done { text: Some(text), data, failed })
    }
}

/// Says something to a session and returns at once. `wait_for_session` or `get_session` tell what
/// came of it.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SendMessageInput {
    session_id: String,
    /// What to say.
    prompt: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Sent {
    session_id: String,
    /// How many will have been answered when it has, if the session is busy.
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<usize>,
}

pub struct SendMessage;

impl Errand for SendMessage {
    type Input = SendMessageInput;
    type Output = Sent;
    const NAME: &'static str = "send_message";
    const TITLE: &'static str = "Send a message";
    const READS: bool = false;

    async fn run(input: SendMessageInput, visit: &mut Visit<'_>) -> Result<Done<Sent>, String> {
        let SendMessageInput { session_id, prompt } = input;
        said_something(&prompt)?;
        let (id, _) = visit.house.session(&session_id)?;
        let message = Message::from_user(prompt);
        let receipt = visit.house.host.post(id, message, WhenBusy::Queue).await;
        let position = receipt.map_err(|error| error.to_string())?.queued;
        Ok(Sent { session_id, position }.into())
    }
}

/// Waits until a session has nothing left to do, and tells how it stands then. If that takes too
/// long, it tells how the session stands all the same; call it again to wait on.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WaitForSessionInput {
    session_id: String,
    /// How long to wait at most, from 0 to 3600; 600 if absent.
    #[schemars(range(max = 3600))]
    seconds: Option<u64>,
}

pub struct WaitForSession;

impl Errand for WaitForSession {
    type Input = WaitForSessionInput;
    type Output = Detailed;
    const NAME: &'static str = "wait_for_session";
    const TITLE: &'static str = "Wait for a session";
    const READS: bool = true;

    async fn run(
        input: WaitForSessionInput,
        visit: &mut Visit<'_>,
    ) -> Result<Done<Detailed>, String> {
        let WaitForSessionInput { session_id, seconds } = input;
        let seconds = seconds.unwrap_or(USUAL_WAIT);
        if seconds > LONGEST_WAIT {
            return Err(format!("`seconds` must be at most {LONGEST_WAIT}, and is {seconds}"));
        }
        let (id, _) = visit.house.session(&session_id)?;
        let host = &visit.house.host;
        let mut feed = host.feed(id, None).await.map_err(|error| error.to_string())?;
        let progress = &mut visit.progress;
        let rest = async {
            while host.roster.get(id).is_some_and(|state| state.is_unfinished()) {
                for piece in hearing::pieces(hearing::next(host, &mut feed).await?) {
                    hearing::tell(&piece, progress).await;
                }
            }
            Ok::<(), String>(())
        };
        tokio::select! {
            rested = tokio::time::timeout(Duration::from_secs(seconds), rest) => {
                rested.unwrap_or(Ok(()))?;
            }
            () = visit.context.ct.cancelled() => (),
        }
        Ok(detailed(visit.house, &session_id).await?.into())
    }
}

fn said_something(prompt: &str) -> Result<(), String> {
    if prompt.trim().is_empty() { Err("`prompt` is empty".to_owned()) } else { Ok(()) }
}
