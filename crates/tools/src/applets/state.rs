//! What an applet says of itself, and what an agent shows to it.

use kernel::{
    applets::AppletKey,
    toolbox::{Call, Risk},
    update::SessionId,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{
    agents::House,
    typed::{Typed, shorten},
};

/// Reads what the applet that is open in this session has told about itself with setAppletState, and
/// where the person is in it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetInput {
    /// One key of the state; all of it when absent.
    key: Option<String>,
}

pub struct GetAppletState {
    pub house: House,
}

impl Typed for GetAppletState {
    type Input = GetInput;
    type Output = String;
    const NAME: &'static str = "get_applet_state";
    const RISK: Risk = Risk::Reads;
    const PARALLEL: bool = true;

    fn title(&self, input: &GetInput) -> String {
        match &input.key {
            Some(key) => format!("Looking at {} of the applet", shorten(key, 40)),
            None => "Looking at the applet".to_owned(),
        }
    }

    async fn run(&self, input: GetInput, call: Call) -> Result<String, String> {
        let host = self.house.host()?;
        let session = call.session.id();
        let unreadable = |error: &dyn std::error::Error| error.to_string();
        let slug = host.applets.current(session).await.map_err(|error| unreadable(&error))?;
        let key = AppletKey { session: Some(session), slug };
        let state = host.applets.state(&key).await.map_err(|error| unreadable(&error))?;
        let trail = host.applets.navigation(&key).await.map_err(|error| unreadable(&error))?;
        Ok(format!("{}\n\nNavigation: {}", told(&state, input.key), navigation(&trail)))
    }
}

fn told(state: &Map<String, Value>, key: Option<String>) -> String {
    let keys = || state.keys().cloned().collect::<Vec<_>>().join(", ");
    match key {
        _ if state.is_empty() => "No applet has told anything about itself yet.".to_owned(),
        None => format!("Applet state: {:#}", Value::Object(state.clone())),
        Some(key) => match state.get(&key) {
            Some(value) => format!("Applet state[{}]: {value}", json!(key)),
            None => format!("Applet state has no key {}; it has {}.", json!(key), keys()),
        },
    }
}

fn navigation(trail: &Map<String, Value>) -> Value {
    let part = |name: &str, empty: Value| trail.get(name).cloned().unwrap_or(empty);
    json!({ "stack": part("stack", json!([])), "urlParams": part("urlParams", json!({})) })
}

/// Shows something to the running applet, which hears it through onStateUpdate. It changes nothing
/// of what `get_applet_state` returns.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SetInput {
    /// What the applet is shown.
    data: Map<String, Value>,
    /// The session whose applets are meant; those of every session when absent.
    session_id: Option<String>,
}

pub struct SetAppletState {
    pub house: House,
}

impl Typed for SetAppletState {
    type Input = SetInput;
    type Output = String;
    const NAME: &'static str = "set_applet_state";
    // The person sees what it does, and it is kept nowhere.
    const RISK: Risk = Risk::Reads;

    fn title(&self, _: &SetInput) -> String {
        "Showing something to the applet".to_owned()
    }

    async fn run(
        &self,
        SetInput { data, session_id }: SetInput,
        _: Call,
    ) -> Result<String, String> {
        let host = self.house.host()?;
        let session = match session_id.filter(|id| !id.is_empty()) {
            None => None,
            Some(text) => {
                let known = SessionId::parse(&text).filter(|id| host.roster.get(*id).is_some());
                Some(known.ok_or_else(|| format!("Session {text} not found"))?)
            }
        };
        let shown = Value::Object(data.clone());
        Ok(if host.applets.show(session, data) {
            format!("State pushed to applet: {shown}")
        } else {
            "No applet is connected, so nobody has seen this.".to_owned()
        })
    }
}
