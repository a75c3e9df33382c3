//! Opens a window beside the conversation.

use kernel::{
    toolbox::{Call, Reply, Risk},
    windows::{Opening, Wish},
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Bounds, Data, Renderer, arrange, content, told};
use crate::{
    agents::House,
    typed::{Typed, shorten},
};

/// Opens a window beside the conversation, for what the person should have before their eyes: a text,
/// a table, a picture, a page, an app. It stays until somebody closes it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Input {
    /// A name for it, without a slash. A window of the same name is replaced.
    window_id: String,
    /// What stands on it.
    title: String,
    renderer: Renderer,
    /// What it shows. For markdown, html and text: a string. For table: `{"headers": [...], "rows":
    /// [[...], ...]}`. For image: an address or a data URL. For iframe: the address of an app of
    /// this house, `/api/apps/ID/index.html`; the person sees any other address as a link.
    content: Data,
    /// Where it is put; somewhere sensible when absent.
    bounds: Option<Bounds>,
}

pub struct WindowCreate {
    pub house: House,
}

impl Typed for WindowCreate {
    type Input = Input;
    type Output = Reply;
    const NAME: &'static str = "window_create";
    // It changes nothing but what the person sees, and to do it twice is to do it once.
    const RISK: Risk = Risk::Reads;

    fn title(&self, input: &Input) -> String {
        format!("Opening the window {}", shorten(&input.title, 80))
    }

    async fn run(&self, input: Input, call: Call) -> Result<Reply, String> {
        let Input { window_id, title, renderer, content: data, bounds } = input;
        let opening = Opening {
            bounds: bounds.map(Into::into),
            ..Opening::new(window_id, title, content(renderer.into(), data))
        };
        let arranged = arrange(&self.house, &call, Wish::Open(Box::new(opening))).await?;
        let pane = &arranged.pane;
        let text = arranged.told(format!("The window \"{}\" is open.", pane.window.id));
        Ok(Reply { text, data: Some(told(pane).into()), ..Reply::default() })
    }
}
