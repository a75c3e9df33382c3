//! Servers of tools: those that the configuration names, and those that are only tried or looked at.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use anyhow::Context as _;
use kernel::{host::Host, ports::Clock};

use crate::{
    clock::SystemClock,
    config::{Config, lender::Lender},
};

/// What trying a server of tools came to.
pub use mcp::client::Probed;
/// What a server of tools has, seen from outside any house.
pub use mcp::client::{Survey, SurveyedTool};

/// Servers of tools, which the configuration names, now and whenever it is read again.
pub(super) async fn servers(
    host: &Arc<Host>,
    config: &Config,
    data_dir: &Path,
    callback: String,
) -> anyhow::Result<Arc<mcp::client::House>> {
    let servers = mcp::client::House::open(host, lenders(config)?, data_dir, callback).await?;
    let data_dir = data_dir.to_owned();
    servers.reads(move || {
        let config = Config::load(&data_dir).map_err(|error| format!("{error:#}"))?;
        lenders(&config).map_err(|error| format!("{error:#}"))
    });
    Ok(servers)
}

/// The servers of tools of this configuration, each as its room reads it.
fn lenders(config: &Config) -> anyhow::Result<BTreeMap<String, mcp::client::Settings>> {
    let read = |(name, table): (&String, &Lender)| Ok((name.clone(), lender(name, table)?));
    config.mcp.servers.iter().map(read).collect()
}

fn lender(name: &str, table: &Lender) -> anyhow::Result<mcp::client::Settings> {
    let place = || format!("mcp.servers.{name}");
    let settings = serde_json::to_value(table).and_then(serde_json::from_value);
    let settings: mcp::client::Settings = settings.with_context(place)?;
    let named = mcp::client::check_name(name);
    let checked = named.and_then(|()| settings.check().map(drop));
    checked.map_err(anyhow::Error::msg).with_context(place)?;
    Ok(settings)
}

/// Whether a server of tools could be configured like this.
pub fn check_lender(name: &str, table: &Lender) -> anyhow::Result<()> {
    lender(name, table).map(drop)
}

pub async fn probe(data_dir: &Path, name: &str, table: &Lender) -> anyhow::Result<Probed> {
    models::choose_tls();
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let probed = mcp::client::probe(name, lender(name, table)?, clock, data_dir).await;
    probed.map_err(anyhow::Error::msg)
}

pub async fn survey(data_dir: &Path, name: &str, table: &Lender) -> anyhow::Result<Survey> {
    models::choose_tls();
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let survey = Survey::begin(name, lender(name, table)?, clock, data_dir).await;
    survey.map_err(anyhow::Error::msg)
}

/// The servers in another program's list, and what is wrong with the others.
pub fn import(text: &str) -> anyhow::Result<(BTreeMap<String, Lender>, Vec<String>)> {
    let (servers, problems) = mcp::client::import(text).map_err(anyhow::Error::msg)?;
    let read = |(name, settings): (String, mcp::client::Settings)| {
        let mut table = serde_json::to_value(settings)?;
        let defaults = serde_json::to_value(mcp::client::Settings::default())?;
        if let (Some(table), Some(defaults)) = (table.as_object_mut(), defaults.as_object()) {
            // What goes without saying need not be written.
            table.retain(|key, value| defaults.get(key) != Some(value));
        }
        anyhow::Ok((name, serde_json::from_value(table)?))
    };
    Ok((servers.into_iter().map(read).collect::<anyhow::Result<_>>()?, problems))
}
