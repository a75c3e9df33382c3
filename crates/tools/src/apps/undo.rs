//! Has the app in a window take back what it has done.

use kernel::{
    apps::Undoing,
    toolbox::{Call, Risk},
    windows::Named,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::read;
use crate::{
    agents::House,
    typed::{Typed, shorten},
    windows::by,
};

/// Takes back the newest command that was run in an app, whoever ran it, if the app can. What was taken
/// back before it does not count; what the person changed by hand is left alone.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Input {
    /// The window that the app is in.
    window_id: String,
}

pub struct AppUndo {
    pub house: House,
}

impl Typed for AppUndo {
    type Input = Input;
    type Output = String;
    const NAME: &'static str = "app_undo";
    const RISK: Risk = Risk::Shows;

    fn title(&self, Input { window_id }: &Input) -> String {
        format!("Undoing something in {}", shorten(window_id, 80))
    }

    async fn run(&self, Input { window_id }: Input, call: Call) -> Result<String, String> {
        let undoing = Undoing {
            window: Named::new(window_id),
            request: None,
            by: by(&call.caller),
            attended: call.attended,
            tool_call: call.id.clone(),
        };
        let answer = self.house.host()?.undo_in_app(call.session.id(), undoing).await;
        read(answer.map_err(|error| error.to_string())?, None)
    }
}
