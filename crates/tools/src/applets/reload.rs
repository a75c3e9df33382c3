//! Makes the person's browser load the page anew.

use kernel::{
    feed::{Feed, Heard},
    toolbox::{Call, Risk},
    update::{Fact, Signal},
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::typed::Typed;

/// Makes the browsers that show this session load the page anew.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {}

pub struct ReloadPage;

impl Typed for ReloadPage {
    type Input = Input;
    type Output = String;
    const NAME: &'static str = "reload_page";
    const RISK: Risk = Risk::Reads;

    fn title(&self, _: &Input) -> String {
        "Reloading the page".to_owned()
    }

    async fn run(&self, _: Input, call: Call) -> Result<String, String> {
        let session = call.session;
        let feed = Feed::open(session.clone(), None).await;
        let feed = feed.map_err(|closed| closed.to_string())?;
        tokio::spawn(async move {
            if let Some(id) = call.id {
                returned(feed, &id).await;
            }
            // A session that is closed has nobody who could reload.
            session.tell(Signal::ReloadWanted).await.ok();
        });
        Ok("The page reloads as soon as this has arrived.".to_owned())
    }
}

/// Returns when the result of this call is known: whoever reloads before would not see it.
async fn returned(mut feed: Feed, id: &str) {
    while let Some(heard) = feed.next().await {
        let is_it = |fact: &Fact| matches!(fact, Fact::ToolReturned { call, .. } if call == id);
        let found = match &heard {
            Heard::Past(entry) => is_it(&entry.fact),
            Heard::Live(told) => told.facts().any(|entry| is_it(&entry.fact)),
            Heard::Now { .. } => false,
        };
        if found {
            return;
        }
    }
}
