//! Changes a window: what it shows, where it is, what stands on it.

use kernel::{
    toolbox::{Call, Reply, Risk},
    windows::{self, Named, WindowChange, Wish},
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Bounds, Data, Renderer, arrange, content, meant, told};
use crate::{
    agents::House,
    typed::{Typed, shorten},
};

/// Changes a window that is open. What is absent stays as it is; everything is done, or nothing.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Input {
    /// The name that it was opened with.
    window_id: String,
    title: Option<String>,
    /// What it shows from now on, or what is added, as `operation` says. To a table rows are added:
    /// `[[...], ...]`.
    content: Option<Data>,
    /// With `content` and without `operation`: when it is shown in another way than before.
    renderer: Option<Renderer>,
    /// What is done with `content`; it replaces what was there when absent. `clear` needs no content.
    operation: Option<Operation>,
    /// With `insertAt`: before which character, or before which row of a table, counted from 0.
    position: Option<u64>,
    bounds: Option<Bounds>,
    /// Brings it to the front.
    focus: Option<bool>,
    state: Option<State>,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum Operation {
    Append,
    Prepend,
    Replace,
    InsertAt,
    Clear,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum State {
    Normal,
    Minimized,
    Maximized,
}

pub struct WindowUpdate {
    pub house: House,
}

impl Typed for WindowUpdate {
    type Input = Input;
    type Output = Reply;
    const NAME: &'static str = "window_update";
    // It changes nothing but what the person sees.
    const RISK: Risk = Risk::Reads;

    fn title(&self, input: &Input) -> String {
        format!("Changing the window {}", shorten(&input.window_id, 80))
    }

    async fn run(&self, input: Input, call: Call) -> Result<Reply, String> {
        let open = match call.session.windows().await {
            Ok(open) => open.map_err(|error| error.to_string())?,
            Err(error) => return Err(error.to_string()),
        };
        let shown = open.find(&input.window_id, None).map_err(|error| error.to_string())?;
        let renderer = shown.window.content.renderer;
        // Let go, or the change would be made in a copy.
        drop(open);
        let name = input.window_id.clone();
        let changes = changes(input, renderer)?;
        if changes.is_empty() {
            let what = "title, content, operation, bounds, focus or state";
            return Err(format!("there is nothing to change; expected one of {what}"));
        }
        let arranged =
            arrange(&self.house, &call, Wish::Change { window: Named::new(name), changes }).await?;
        let pane = &arranged.pane;
        let text = arranged.told(format!("The window \"{}\" is changed.", pane.window.id));
        Ok(Reply { text, data: Some(told(pane).into()), ..Reply::default() })
    }
}

fn changes(input: Input, shown: windows::Renderer) -> Result<Vec<WindowChange>, String> {
    let Input { title, content, renderer, operation, position, bounds, focus, state, .. } = input;
    if position.is_some() && operation != Some(Operation::InsertAt) {
        return Err("position goes with the operation `insertAt` alone".to_owned());
    }
    let renderer = renderer.map(windows::Renderer::from);
    let mut changes = Vec::new();
    changes.extend(title.map(|title| WindowChange::Titled { title }));
    changes.extend(showing(content, renderer, operation, position, shown)?);
    if let Some(windows::Bounds { x, y, w, h }) = bounds.map(windows::Bounds::from) {
        changes.extend([WindowChange::Moved { x, y }, WindowChange::Resized { w, h }]);
    }
    changes.extend(state.map(|state| match state {
        State::Normal => WindowChange::Restored,
        State::Minimized => WindowChange::Minimised,
        State::Maximized => WindowChange::Maximised,
    }));
    changes.extend((focus == Some(true)).then_some(WindowChange::Focused));
    Ok(changes)
}

fn showing(
    data: Option<Data>,
    renderer: Option<windows::Renderer>,
    operation: Option<Operation>,
    position: Option<u64>,
    shown: windows::Renderer,
) -> Result<Option<WindowChange>, String> {
    let Some(operation) = operation else {
        let show = |data| content(renderer.unwrap_or(shown), data);
        return match (data, renderer) {
            (Some(data), _) => Ok(Some(WindowChange::Content { content: show(data) })),
            (None, Some(_)) => Err("renderer needs content to show in that way".to_owned()),
            (None, None) => Ok(None),
        };
    };
    if renderer.is_some_and(|renderer| renderer != shown) {
        let name = shown.name();
        return Err(format!(
            "an operation adds to what the window shows as {name}; leave out renderer, or operation"
        ));
    }
    let data = || {
        let missing = || "this operation needs content".to_owned();
        data.map(|data| meant(shown, data)).ok_or_else(missing)
    };
    let operation = match operation {
        Operation::Clear => windows::Operation::Clear,
        Operation::Append => windows::Operation::Append { data: data()? },
        Operation::Prepend => windows::Operation::Prepend { data: data()? },
        Operation::Replace => windows::Operation::Replace { data: data()? },
        Operation::InsertAt => {
            let missing = "the operation `insertAt` needs a position";
            let position = position.ok_or_else(|| missing.to_owned())?;
            windows::Operation::InsertAt { position, data: data()? }
        }
    };
    Ok(Some(WindowChange::Updated { operation }))
}
