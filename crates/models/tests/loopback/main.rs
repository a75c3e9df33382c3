//! Providers over real sockets: streams, failures, cancelling, lists, and keys that stay hidden.

#![expect(clippy::unwrap_used, reason = "all of it is a test")]

mod failures;
mod lists;
mod server;
mod streams;
mod switching;

use std::{collections::BTreeMap, sync::Arc};

use futures::StreamExt as _;
use kernel::{
    ports::{Model, ModelError, Models as _, Piece},
    prompt::{Part, Prompt},
};
use models::{Kind, Lineup, ProviderSettings};

use crate::server::{Server, soon};

/// What must be seen by the provider and by nobody else.
const KEY: &str = "sk-never-show-me-0123456789";

fn settings(kind: Kind, server: &Server) -> ProviderSettings {
    let mut settings = ProviderSettings::new(kind);
    settings.base_url = Some(format!("http://{}", server.address));
    settings.api_key_env = Some("HOUSE_KEY".into());
    settings.models = Some(vec!["best".into()]);
    settings
}

fn lineup(providers: impl IntoIterator<Item = (&'static str, ProviderSettings)>) -> Lineup {
    let providers: BTreeMap<String, ProviderSettings> =
        providers.into_iter().map(|(name, settings)| (name.to_owned(), settings)).collect();
    let env = |name: &str| (name == "HOUSE_KEY").then(|| KEY.to_owned());
    Lineup::build("demo", providers, env).unwrap()
}

fn model(settings: ProviderSettings) -> Arc<dyn Model> {
    lineup([("house", settings)]).find("house/best").unwrap()
}

fn prompt() -> Prompt {
    let user = Part::User { text: "Hello".into(), images: Vec::new() };
    Prompt { system: "Be kind.".into(), parts: vec![user], tools: Vec::new() }
}

/// Everything that is said, and how it ended.
async fn hear(model: &dyn Model) -> (Vec<Piece>, Option<ModelError>) {
    let mut stream = model.stream(&prompt());
    let mut pieces = Vec::new();
    while let Some(piece) = soon(stream.next()).await {
        match piece {
            Ok(piece) => pieces.push(piece),
            Err(error) => {
                assert!(soon(stream.next()).await.is_none(), "an error is the end");
                return (pieces, Some(error));
            }
        }
    }
    (pieces, None)
}

async fn fail(model: &dyn Model) -> ModelError {
    hear(model).await.1.unwrap()
}
