//! Closes a window.

use kernel::{
    toolbox::{Call, Risk},
    windows::{Named, Wish},
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::arrange;
use crate::{
    agents::House,
    typed::{Typed, shorten},
};

/// Closes a window that the person no longer needs.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Input {
    /// The name that it was opened with.
    window_id: String,
}

pub struct WindowClose {
    pub house: House,
}

impl Typed for WindowClose {
    type Input = Input;
    type Output = String;
    const NAME: &'static str = "window_close";
    // It changes nothing but what the person sees.
    const RISK: Risk = Risk::Reads;

    fn title(&self, input: &Input) -> String {
        format!("Closing the window {}", shorten(&input.window_id, 80))
    }

    async fn run(&self, Input { window_id }: Input, call: Call) -> Result<String, String> {
        let arranged =
            arrange(&self.house, &call, Wish::Close { window: Named::new(window_id) }).await?;
        Ok(arranged.told(format!("The window \"{}\" is closed.", arranged.pane.window.id)))
    }
}
