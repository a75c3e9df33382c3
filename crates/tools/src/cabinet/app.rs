//! Opens an app in a window.

use kernel::{
    cabinet::Card,
    toolbox::{Call, Reply, Risk},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::{
    agents::House,
    typed::{Typed, shorten},
    windows::by,
};

/// Opens an app of this house in a window beside the conversation, or brings it to the front where
/// one shows it already. Then `app_query` with the state key `manifest` tells what it can do. Without
/// an app it tells which apps there are.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Input {
    /// The app, by its id; absent to learn which there are.
    app_id: Option<String>,
    /// A name for the window, to have a second one of the same app.
    window_id: Option<String>,
}

pub struct AppOpen {
    pub house: House,
}

impl Typed for AppOpen {
    type Input = Input;
    type Output = Reply;
    const NAME: &'static str = "app_open";
    // It changes nothing but what the person sees, and to do it twice is to do it once.
    const RISK: Risk = Risk::Reads;

    fn title(&self, input: &Input) -> String {
        match &input.app_id {
            Some(id) => format!("Opening the app {}", shorten(id, 60)),
            None => "Looking up the apps".to_owned(),
        }
    }

    async fn run(&self, Input { app_id, window_id }: Input, call: Call) -> Result<Reply, String> {
        let host = self.house.host()?;
        let Some(id) = app_id else {
            let cards = host.ports.cabinet.list().await;
            return Ok(listed(&cards).into());
        };
        let session = call.session.id();
        let opened = host.open_app(session, &id, window_id.as_deref(), by(&call.caller)).await;
        let window = opened.map_err(|error| error.to_string())?.window;
        let text = format!("The app \"{id}\" is open in the window \"{}\".", window.id);
        let data = Some(json!({ "appId": id, "windowId": window.id }));
        Ok(Reply { text, data, ..Reply::default() })
    }
}

fn listed(cards: &[Card]) -> String {
    let lines: Vec<String> = cards.iter().filter(|card| !card.hidden).map(line).collect();
    if lines.is_empty() {
        return "There are no apps.".to_owned();
    }
    lines.join("\n")
}

fn line(card: &Card) -> String {
    let about = card.description.as_deref().unwrap_or("no description");
    let extensions: Vec<&str> =
        card.associations.iter().flat_map(|it| &it.extensions).map(String::as_str).collect();
    let opens = if extensions.is_empty() {
        String::new()
    } else {
        format!("; opens {}", extensions.join(", "))
    };
    format!("{}: {} ({}){opens}", card.id, card.name, shorten(about, 200))
}
