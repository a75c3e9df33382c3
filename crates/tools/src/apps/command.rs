//! Has the app in a window do something.

use kernel::{
    apps::Asked,
    toolbox::{Call, Risk},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{
    Question,
    address::{self, Place},
    arguments::Arguments,
    ask, told_as,
};
use crate::{agents::House, typed::Typed};

const KEY_CHARS: usize = 200;

/// Runs a command of an app that is open in a window. What commands there are, and what they take, is
/// in the manifest: see `app_query`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    /// The window that the app is in.
    #[schemars(with = "Option<String>")]
    window_id: Option<Value>,
    /// The name of the command.
    #[schemars(with = "Option<String>")]
    command: Option<Value>,
    /// What the command takes, as the manifest says.
    #[schemars(with = "Option<Map<String, Value>>")]
    params: Option<Value>,
    /// In place of `windowId` and `command`: yaar://{monitor}/{window}/commands/{name}.
    #[schemars(with = "Option<String>")]
    uri: Option<Value>,
    /// A name of your own for this command. Called again with the same name and params, it is not run
    /// again: you get the first result.
    #[schemars(with = "Option<String>")]
    idempotency_key: Option<Value>,
}

pub struct AppCommand {
    pub house: House,
}

impl Typed for AppCommand {
    type Input = Input;
    type Output = String;
    const NAME: &'static str = "app_command";
    const RISK: Risk = Risk::Shows;

    fn title(&self, Input { window_id, command, uri, .. }: &Input) -> String {
        told_as("Running", uri.as_ref(), command.as_ref(), window_id.as_ref())
    }

    async fn run(&self, input: Input, call: Call) -> Result<String, String> {
        let question = question(input)?;
        ask(&self.house.host()?, &call, question).await
    }
}

fn question(input: Input) -> Result<Question, String> {
    let mut given = Arguments::default();
    let (uri, window, command, key) = (
        given.text("uri", input.uri),
        given.text("windowId", input.window_id),
        given.text("command", input.command),
        given.text("idempotencyKey", input.idempotency_key),
    );
    let params = given.object("params", input.params).map(Value::Object);
    given.check(AppCommand::NAME)?;
    if key.as_ref().is_some_and(|key| key.chars().nth(KEY_CHARS).is_some()) {
        return Err(format!("idempotencyKey must have at most {KEY_CHARS} characters."));
    }
    let (window, command) = match (uri, window, command) {
        (Some(uri), _, _) => named(&uri)?,
        (None, Some(window), Some(command)) => (window, command),
        (None, _, _) => return Err("Provide either uri or windowId + command.".to_owned()),
    };
    Ok(Question { window, asked: Asked::Command { command, params }, key, address: None })
}

/// The window and the command that an address names.
fn named(uri: &str) -> Result<(String, String), &'static str> {
    match address::read(uri) {
        Some((address, Place::Command(command))) => Ok((address.key(), command)),
        _ => Err("Invalid command URI. Expected yaar://{monitor}/{window}/commands/{name}."),
    }
}
