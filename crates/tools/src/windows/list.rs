//! Tells which windows are open, and what is in one of them.

use kernel::toolbox::{Call, Risk};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::told;
use crate::typed::Typed;

/// Tells which windows are open, the one opened first first; the person may have moved or closed some.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Input {
    /// This one alone, with all that it shows.
    window_id: Option<String>,
}

pub struct WindowList;

impl Typed for WindowList {
    type Input = Input;
    type Output = String;
    const NAME: &'static str = "window_list";
    const RISK: Risk = Risk::Reads;
    const PARALLEL: bool = true;

    fn title(&self, _: &Input) -> String {
        "Looking at the windows".to_owned()
    }

    async fn run(&self, Input { window_id }: Input, call: Call) -> Result<String, String> {
        let open = match call.session.windows().await {
            Ok(open) => open.map_err(|error| error.to_string())?,
            Err(error) => return Err(error.to_string()),
        };
        if let Some(name) = window_id.filter(|name| !name.is_empty()) {
            let pane = open.find(&name, None).map_err(|error| error.to_string())?;
            let mut told = told(pane);
            told.insert("content".into(), pane.window.content.data.clone());
            return pretty(&Value::Object(told));
        }
        if open.is_empty() {
            return Ok("No window is open.".to_owned());
        }
        let front = open.focused().map(|pane| pane.raised);
        let windows = open.list().into_iter().map(|pane| {
            let mut told = told(pane);
            told.insert("focused".into(), json!(front == Some(pane.raised)));
            Value::Object(told)
        });
        pretty(&json!({ "windows": windows.collect::<Vec<_>>() }))
    }
}

fn pretty(value: &Value) -> Result<String, String> {
    serde_json::to_string_pretty(value).map_err(|error| error.to_string())
}
