//! Which models a session can choose from.

use std::sync::Arc;

use futures::{FutureExt as _, future::BoxFuture};
use kernel::ports::{Model, ModelError, ModelInfo, Models};

use crate::demo::{self, Demo};

/// Every model of this house, and the one that is taken when nobody chooses.
#[derive(Clone, Debug)]
pub struct Lineup {
    default: String,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no model is named `{name}`; known models: {}", .known.join(", "))]
pub struct UnknownModel {
    pub name: String,
    pub known: Vec<String>,
}

impl Default for Lineup {
    fn default() -> Self {
        Self { default: demo::ID.into() }
    }
}

impl Lineup {
    /// The lineup with this model as the default.
    pub fn with_default(id: &str) -> Result<Self, UnknownModel> {
        let lineup = Self { default: id.into() };
        if lineup.find(id).is_none() {
            return Err(UnknownModel { name: id.into(), known: vec![demo::ID.into()] });
        }
        Ok(lineup)
    }
}

impl Models for Lineup {
    fn list(&self) -> BoxFuture<'_, Result<Vec<ModelInfo>, ModelError>> {
        let demo = ModelInfo {
            id: demo::ID.into(),
            name: "Demo (built in)".into(),
            cost: 0.0,
            payer: "nobody: it is built in".into(),
        };
        async { Ok(vec![demo]) }.boxed()
    }

    fn find(&self, id: &str) -> Option<Arc<dyn Model>> {
        (id == demo::ID).then(|| Arc::new(Demo) as Arc<dyn Model>)
    }

    fn default_id(&self) -> String {
        self.default.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_demo_is_always_there() {
        let lineup = Lineup::with_default("demo").unwrap();
        let demo = ModelInfo {
            id: "demo".into(),
            name: "Demo (built in)".into(),
            cost: 0.0,
            payer: "nobody: it is built in".into(),
        };
        assert_eq!(lineup.list().await, Ok(vec![demo]));
        assert_eq!(lineup.default_id(), "demo");
        assert_eq!(Lineup::default().default_id(), "demo");
        assert_eq!(lineup.find("demo").map(|demo| demo.window()), Some(100_000));
        assert!(lineup.find("other").is_none());
    }

    #[test]
    fn an_unknown_default_is_refused_with_the_names_there_are() {
        let error = Lineup::with_default("local/fake").unwrap_err();
        assert_eq!(error.to_string(), "no model is named `local/fake`; known models: demo");
    }
}
