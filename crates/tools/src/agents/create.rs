//! Makes a session with an agent of its own.

use std::path::{Path, PathBuf};

use kernel::{
    host::Host,
    toolbox::{Call, Deed, Reply, Risk},
    update::{Amendment, Message, Origin, SessionId, WhenBusy},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{House, deed, is_bounded, real, spelt};
use crate::typed::{Typed, shorten};

/// Makes a new session with another agent, which works on its own and may do no more than you.
/// `wait_for_agent` returns what it answers.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Input {
    /// The folder it works in, relative to yours or absolute. Yours if absent; one outside of
    /// yours needs the person's leave.
    cwd: Option<String>,
    /// The model that answers there, as `list_models` names it. Yours if absent.
    model: Option<String>,
    /// What it is told first. Nothing if absent; `send_agent_message` says more.
    initial_message: Option<String>,
}

pub struct CreateAgentSession {
    pub house: House,
}

impl Typed for CreateAgentSession {
    type Input = Input;
    type Output = Reply;
    const NAME: &'static str = "create_agent_session";
    const RISK: Risk = Risk::RunsBoxed;

    fn title(&self, input: &Input) -> String {
        match input.cwd.as_deref().filter(|cwd| !cwd.is_empty()) {
            Some(cwd) => format!("Making an agent in {}", shorten(cwd, 80)),
            None => "Making an agent".to_owned(),
        }
    }

    async fn foresee(&self, input: Input, call: &Call) -> Result<Deed, String> {
        let host = self.house.host()?;
        let wish = Wish::read(&host, input, call).map_err(|it| failed(&it))?;
        let cwd = wish.cwd.to_string_lossy().into_owned();
        Ok(deed(call, cwd, is_bounded(call, call.mode, &wish.cwd)))
    }

    async fn run(&self, input: Input, call: Call) -> Result<Reply, String> {
        let host = self.house.host()?;
        make(&host, input, &call).await.map_err(|it| failed(&it))
    }
}

fn failed(problem: &str) -> String {
    format!("Failed to create session: {problem}")
}

struct Wish {
    cwd: PathBuf,
    model: String,
    message: Option<String>,
}

impl Wish {
    fn read(host: &Host, input: Input, call: &Call) -> Result<Self, String> {
        let Input { cwd, model, initial_message } = input;
        let own = || host.roster.get(call.session.id()).map(|state| state.model.clone());
        let model = model.filter(|it| !it.is_empty()).or_else(own).unwrap_or_default();
        if host.ports.models.find(&model).is_none() {
            return Err(format!("Unknown model: {model}"));
        }
        let cwd = folder(&call.cwd, &cwd.unwrap_or_default())?;
        Ok(Self { cwd, model, message: initial_message.filter(|it| !it.is_empty()) })
    }
}

/// An existing folder. What is spelt as if it lay inside must do so, or a link that is changed in
/// time would lead out of what was foreseen.
fn folder(own: &Path, text: &str) -> Result<PathBuf, String> {
    let path = own.join(text);
    let found = path.canonicalize().map_err(|_| format!("Path does not exist: {text}"))?;
    if !found.is_dir() {
        return Err(format!("Path is not a directory: {text}"));
    }
    let own = [spelt(own), real(own)];
    if own.iter().any(|own| spelt(&path).starts_with(own)) && !found.starts_with(&own[1]) {
        return Err(format!("Path leads out of your folder by a link; name it itself: {text}"));
    }
    Ok(found)
}

async fn make(host: &Host, input: Input, call: &Call) -> Result<Reply, String> {
    let Wish { cwd, model, message } = Wish::read(host, input, call)?;
    let parent = call.session.id();
    let made = host.create_for(Some(parent), &cwd, &model, "").await;
    let id = made.map_err(|error| error.to_string())?;
    if let Err(problem) = begin(host, id, call, message).await {
        // Nobody was told of it, so nobody misses it.
        host.delete(id).await.ok();
        return Err(problem);
    }
    let text = format!("Created session {id} in {}.", cwd.display());
    let data = json!({ "sessionId": id, "cwd": cwd, "model": model });
    Ok(Reply { text, data: Some(data), ..Reply::default() })
}

/// It may do what its maker may do now, and is told what to do.
async fn begin(
    host: &Host,
    id: SessionId,
    call: &Call,
    message: Option<String>,
) -> Result<(), String> {
    let amendment = Amendment { mode: Some(call.mode), ..Amendment::default() };
    host.amend(id, amendment).await.map_err(|error| error.to_string())?;
    let Some(text) = message else { return Ok(()) };
    let origin = Origin::Agent { session: call.session.id().to_string() };
    let message = Message { origin, flow: call.flow.clone(), ..Message::from_user(text) };
    let posted = host.post(id, message, WhenBusy::Refuse).await;
    posted.map(drop).map_err(|error| error.to_string())
}
