//! Which models a session can choose from.

use std::{collections::BTreeMap, sync::Arc};

use futures::{FutureExt as _, future, future::BoxFuture};
use kernel::ports::{Known, Model, ModelError, ModelInfo, Models};
use tokio::runtime::Handle;

use crate::{
    config::ProviderSettings,
    demo::{self, Demo},
    listing::{self, Listed, Listings},
    provider::{Key, Problem, Provider, SettingsError},
    remote::Remote,
};

/// Every model of this house, and the one that is taken when nobody chooses.
#[derive(Clone, Debug)]
pub struct Lineup {
    default: String,
    providers: Arc<BTreeMap<String, Arc<Provider>>>,
    listings: Arc<Listings>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no model is named `{name}`; known models: {}", .known.join(", "))]
pub struct UnknownModel {
    pub name: String,
    pub known: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    #[error(transparent)]
    Default(#[from] UnknownModel),
    #[error("providers.{provider}: {error}")]
    Provider {
        provider: String,
        #[source]
        error: SettingsError,
    },
}

impl Default for Lineup {
    fn default() -> Self {
        Self { default: demo::ID.into(), providers: Arc::default(), listings: Arc::default() }
    }
}

impl Lineup {
    /// The lineup of the demo alone, with this model as the default.
    pub fn with_default(id: &str) -> Result<Self, UnknownModel> {
        Self::default().defaulting_to(id)
    }

    /// The lineup of these providers. Asks nobody anything; keys are taken from where the settings
    /// say, and a missing one is no error yet: see [`Lineup::problems`].
    pub fn build(
        default: &str,
        providers: BTreeMap<String, ProviderSettings>,
        env: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, BuildError> {
        let mut built = BTreeMap::new();
        for (name, settings) in providers {
            let provider = Provider::new(&name, settings, &env)
                .map_err(|error| BuildError::Provider { provider: name.clone(), error })?;
            built.insert(name, Arc::new(provider));
        }
        let lineup = Self { providers: Arc::new(built), ..Self::default() };
        Ok(lineup.defaulting_to(default)?)
    }

    fn defaulting_to(mut self, id: &str) -> Result<Self, UnknownModel> {
        if self.find(id).is_none() {
            let configured = self.providers.values().flat_map(|provider| {
                let models = provider.models.clone().unwrap_or_else(|| vec!["...".into()]);
                models.into_iter().map(|model| full(provider, &model))
            });
            let known = [demo::ID.to_owned()].into_iter().chain(configured).collect();
            return Err(UnknownModel { name: id.into(), known });
        }
        self.default = id.into();
        Ok(self)
    }

    /// What keeps providers from being used, as far as is known: a missing key always, and what
    /// happened when they were last asked for their models.
    pub fn problems(&self) -> Vec<Problem> {
        let problem = |provider: &Arc<Provider>| {
            let heard = || provider.trouble(&self.listings.failure(&provider.name)?);
            provider.keyless().or_else(heard)
        };
        self.providers.values().filter_map(problem).collect()
    }

    /// Where the key of every provider comes from, for a person.
    pub fn keys(&self) -> Vec<(String, String)> {
        let key = |provider: &Arc<Provider>| {
            let words = match &provider.key {
                Key::Known { from, .. } => from.clone(),
                Key::Missing { error, .. } => format!("missing: {error}"),
                Key::None => "none is configured, and it may need none".to_owned(),
            };
            (provider.name.clone(), words)
        };
        self.providers.values().map(key).collect()
    }

    /// Asks a provider what it has, now, and says what is wrong if it does not tell.
    pub async fn ask(&self, provider: &str) -> Option<Result<Vec<String>, ModelError>> {
        let provider = self.providers.get(provider)?;
        let asked = listing::ask(provider).await;
        Some(match asked {
            Ok(listed) => Ok(listed.into_iter().map(|listed| listed.model).collect()),
            Err(error) => Err(provider.tell("", error)),
        })
    }

    /// Asks the servers of this machine, and those whose models are not configured, what they have,
    /// so that windows and short names are known from then on. Worth doing at the start.
    pub async fn learn(&self) {
        let asked = self.providers.values();
        let asked = asked.filter(|provider| provider.is_here() || provider.models.is_none());
        future::join_all(asked.map(|provider| self.listings.of(provider))).await;
    }

    async fn offered(&self, provider: &Arc<Provider>) -> Vec<ModelInfo> {
        let models = match &provider.models {
            Some(models) => models.iter().map(|model| unlisted(model)).collect(),
            None => self.listings.of(provider).await,
        };
        models.into_iter().map(|listed| info(&remote(provider, listed))).collect()
    }

    /// The one provider that has a model of this name, with what is known of it.
    fn sole(&self, model: &str) -> Option<Remote> {
        let having = self.providers.values().filter_map(|provider| {
            let listed = match &provider.models {
                Some(models) => models
                    .iter()
                    .any(|known| known == model)
                    .then(|| self.listed(provider, model).unwrap_or_else(|| unlisted(model))),
                None => self.listed(provider, model),
            };
            Some(remote(provider, listed?))
        });
        let having: Vec<Remote> = having.collect();
        match <[Remote; 1]>::try_from(having) {
            Ok([sole]) => Some(sole),
            Err(_) => None,
        }
    }

    fn listed(&self, provider: &Provider, model: &str) -> Option<Listed> {
        let known = self.listings.known(&provider.name)?;
        known.into_iter().find(|listed| listed.model == model)
    }

    /// A model of this provider; none if the provider has told what it has and this is not in it.
    fn named(&self, provider: &Arc<Provider>, model: &str) -> Option<Remote> {
        let known = self.listings.known(&provider.name).unwrap_or_default();
        let is_told = provider.models.is_none() && !known.is_empty();
        let exactly = known.iter().find(|listed| listed.model == model);
        let alike = || known.iter().find(|listed| listed.answers_to(model));
        let Some(Listed { window, .. }) = exactly.or_else(alike) else {
            if is_told {
                self.ask_anew(provider);
                return None;
            }
            return Some(remote(provider, unlisted(model)));
        };
        Some(remote(provider, Listed { model: model.to_owned(), window: *window }))
    }

    /// What is not in a list may have come since.
    fn ask_anew(&self, provider: &Arc<Provider>) {
        let Ok(runtime) = Handle::try_current() else { return };
        if self.listings.doubt(&provider.name) {
            let (listings, provider) = (self.listings.clone(), provider.clone());
            runtime.spawn(async move { listings.of(&provider).await });
        }
    }
}

impl Models for Lineup {
    fn list(&self) -> BoxFuture<'_, Result<Vec<ModelInfo>, ModelError>> {
        async {
            let demo = ModelInfo {
                id: demo::ID.into(),
                name: "Demo (built in)".into(),
                cost: 0.0,
                payer: "nobody: it is built in".into(),
                known: Known { window: Some(Demo.window()), vision: Some(false), price: None },
            };
            let offered = self.providers.values().map(|provider| self.offered(provider));
            let offered = future::join_all(offered).await;
            Ok([demo].into_iter().chain(offered.into_iter().flatten()).collect())
        }
        .boxed()
    }

    fn find(&self, id: &str) -> Option<Arc<dyn Model>> {
        if id == demo::ID {
            return Some(Arc::new(Demo));
        }
        let named = id.split_once('/').filter(|(_, model)| !model.is_empty());
        let named =
            named.and_then(|(provider, model)| Some((self.providers.get(provider)?, model)));
        let found = match named {
            Some((provider, model)) => self.named(provider, model),
            None => self.sole(id),
        };
        found.map(|remote| Arc::new(remote) as Arc<dyn Model>)
    }

    fn default_id(&self) -> String {
        self.default.clone()
    }
}

fn unlisted(model: &str) -> Listed {
    Listed { model: model.to_owned(), window: None }
}

fn remote(provider: &Arc<Provider>, listed: Listed) -> Remote {
    let Listed { model, window } = listed;
    Remote { provider: provider.clone(), model, listed_window: window }
}

fn full(provider: &Provider, model: &str) -> String {
    format!("{}/{model}", provider.name)
}

fn info(remote: &Remote) -> ModelInfo {
    let Remote { provider, model, .. } = remote;
    let unknown = if provider.is_here() { 0.0 } else { 1.0 };
    ModelInfo {
        id: full(provider, model),
        name: format!("{model} ({})", provider.name),
        cost: remote.price().map_or(unknown, |price| price.output),
        payer: provider.payer(),
        known: remote.known(),
    }
}

#[cfg(test)]
mod tests;
