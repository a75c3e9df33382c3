//! Asks the app in a window what it shows, or what it can do.

use kernel::{
    apps::Asked,
    toolbox::{Call, Risk},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{
    Question,
    address::{self, Place},
    arguments::Arguments,
    ask, told_as,
};
use crate::{agents::House, typed::Typed};

/// Always means what an app can do, whatever it calls its states.
const MANIFEST: &str = "manifest";

/// Reads the state of an app that is open in a window, or finds out what the app can do. Begin with
/// the state key "manifest": it lists the app's state keys and commands, with what they take.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    /// The window that the app is in.
    #[schemars(with = "Option<String>")]
    window_id: Option<Value>,
    /// Which state to read. "manifest" lists all state keys and commands.
    #[schemars(with = "Option<String>")]
    state_key: Option<Value>,
    /// In place of both: yaar://{monitor}/{window}/state/{key}, or yaar://{monitor}/{window} for the
    /// manifest.
    #[schemars(with = "Option<String>")]
    uri: Option<Value>,
}

pub struct AppQuery {
    pub house: House,
}

impl Typed for AppQuery {
    type Input = Input;
    type Output = String;
    const NAME: &'static str = "app_query";
    const RISK: Risk = Risk::Reads;
    const PARALLEL: bool = true;

    fn title(&self, Input { window_id, state_key, uri }: &Input) -> String {
        told_as("Looking at", uri.as_ref(), state_key.as_ref(), window_id.as_ref())
    }

    async fn run(&self, input: Input, call: Call) -> Result<String, String> {
        let question = question(input)?;
        ask(&self.house.host()?, &call, question).await
    }
}

fn question(Input { window_id, state_key, uri }: Input) -> Result<Question, String> {
    let mut given = Arguments::default();
    let (uri, window, key) = (
        given.text("uri", uri),
        given.text("windowId", window_id),
        given.text("stateKey", state_key),
    );
    given.check(AppQuery::NAME)?;
    if let Some(uri) = uri {
        let (address, place) = address::read(&uri).ok_or("Invalid URI format.")?;
        let asked = match place {
            Place::State(key) => asked(key),
            Place::Window => Asked::Manifest,
            Place::Command(_) => {
                return Err("URI points to a command. Use app_command instead.".to_owned());
            }
        };
        return Ok(Question { window: address.key(), asked, key: None, address: Some(address) });
    }
    let (Some(window), Some(key)) = (window, key) else {
        return Err("Provide either uri or windowId + stateKey.".to_owned());
    };
    Ok(Question { window, asked: asked(key), key: None, address: None })
}

fn asked(state_key: String) -> Asked {
    if state_key == MANIFEST { Asked::Manifest } else { Asked::Query { state_key } }
}
