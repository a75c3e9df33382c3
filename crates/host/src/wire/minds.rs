//! Who can answer: models of providers, and agents with minds of their own.

use std::{path::Path, sync::Arc};

use anyhow::Context as _;
use kernel::{ports::Agents, visit::names_agent};

use super::{Lineup, did_you_mean, near};
use crate::{
    config::{Config, agent::Agent, provider::Provider},
    detect, secrets, vault,
};

/// The models of this configuration; an error if the default is not among them.
pub fn models(data_dir: &Path, config: &Config) -> anyhow::Result<Arc<Lineup>> {
    models::choose_tls();
    let in_keyring = config.providers.iter().filter(|(_, it)| it.api_key_keyring);
    let in_keyring = vault::read(data_dir, &in_keyring.map(|(name, _)| name).collect::<Vec<_>>());
    let settings = |(name, provider): (&String, &Provider)| {
        let mut located = secrets::located(data_dir, name, provider);
        located.api_key_keyring = false;
        // The same table, read by the room that uses it: it may know better what is wrong.
        let settings = serde_json::to_value(located).and_then(serde_json::from_value);
        let mut settings: models::ProviderSettings =
            settings.with_context(|| format!("providers.{name}"))?;
        settings.api_key = in_keyring.get(name).map(|found| {
            let found = found.as_ref().map(String::as_str).map_err(String::clone);
            models::Given::new(found, vault::NAME)
        });
        anyhow::Ok((name.clone(), settings))
    };
    let providers = config.providers.iter().map(settings).collect::<anyhow::Result<_>>()?;
    let env = |name: &str| std::env::var(name).ok();
    let default = &config.default_model;
    let default = if names_agent(default) { "demo" } else { default };
    Ok(Arc::new(Lineup::build(default, providers, env)?))
}

/// The agents of this configuration and of this machine; an error if the default is one and not
/// among them.
pub async fn guests(data_dir: &Path, config: &Config) -> anyhow::Result<Arc<dyn Agents>> {
    invited(data_dir, config, &[]).await
}

/// Our own tools, for agents with minds of their own. As a program, so that no key is given away.
pub(super) fn offers(data_dir: &Path) -> anyhow::Result<Vec<agents::Offer>> {
    let text = |path: &Path| path.to_str().map(str::to_owned);
    let ours = text(&std::env::current_exe().context("cannot tell where this program is")?);
    let (Some(command), Some(data_dir)) = (ours, text(data_dir)) else { return Ok(Vec::new()) };
    let args = vec!["mcp".to_owned(), "--data-dir".to_owned(), data_dir];
    let program = Some(agents::Settings { command, args, ..agents::Settings::default() });
    Ok(vec![agents::Offer { name: "megaron".to_owned(), http: None, program }])
}

pub(super) async fn invited(
    data_dir: &Path,
    config: &Config,
    offers: &[agents::Offer],
) -> anyhow::Result<Arc<dyn Agents>> {
    let mut agents = detect::guests().await;
    agents.extend(config.agents.named.clone());
    let settings = |(name, Agent { command, args, env, options }): (String, Agent)| {
        (name, agents::Settings { command, args, env, options })
    };
    let settings = agents.into_iter().map(settings).collect();
    let guests = agents::Guests::new(settings, offers, Some(&data_dir.join("logs")));
    let default = &config.default_model;
    if names_agent(default) && guests.find(default).is_none() {
        let known = guests.list();
        let near = near(default, known.iter().map(|it| it.id.as_str()));
        let hint = did_you_mean(&near);
        anyhow::bail!("default_model: no agent is named `{default}`{hint}");
    }
    Ok(Arc::new(guests))
}
