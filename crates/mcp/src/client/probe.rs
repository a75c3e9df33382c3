//! A server tried out: connected to, asked for its tools, and let go.

use std::{
    path::Path,
    sync::{Arc, Weak},
    time::Duration,
};

use kernel::ports::Clock;
use tokio::time::Instant;

use super::{
    calls::Calls,
    guest::Guest,
    house,
    link::{Connection, LinkError, Road},
    listing::{self, ListError},
    logbook::Logbook,
    settings::Settings,
    signin::SignIn,
};

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probed {
    pub protocol: String,
    /// Name, and what is wrong with it.
    pub tools: Vec<(String, Option<String>)>,
    pub connected: Duration,
    pub listed: Duration,
}

pub async fn probe(
    name: &str,
    settings: Settings,
    clock: Arc<dyn Clock>,
    data_dir: &Path,
) -> Result<Probed, String> {
    settings.check()?;
    let begun = Instant::now();
    let connection = connect(name, Arc::new(settings), clock, data_dir).await?;
    let connected = begun.elapsed();
    let tools = listing::fetch(connection.link.peer.clone()).await;
    let listed = begun.elapsed().saturating_sub(connected);
    let info = connection.link.info.clone();
    connection.close().await;
    let tools = tools.map_err(ListError::reason)?;
    let tools = tools.iter().map(|tool| (tool.name.clone(), tool.warning.clone())).collect();
    let protocol = info.map(|info| info.protocol_version.to_string()).unwrap_or_default();
    Ok(Probed { protocol, tools, connected, listed })
}

/// Reaches a server on behalf of nobody in particular.
pub async fn connect(
    name: &str,
    settings: Arc<Settings>,
    clock: Arc<dyn Clock>,
    data_dir: &Path,
) -> Result<Connection, String> {
    let log = Arc::new(Logbook::new(clock, settings.clone()));
    let calls = Arc::new(Calls::default());
    let guest = Arc::new(Guest::new(name, settings, Weak::new(), calls, log));
    // Nobody comes back to here: it only shows what is kept.
    let signin = SignIn::new(name, house::vault(data_dir), "http://127.0.0.1/".into());
    let web = house::web().map_err(|error| error.to_string())?;
    let folder = std::env::current_dir().map_err(|error| error.to_string())?;
    let road = Road { guest, web, signin: Some(&signin), folder };
    road.connect().await.map_err(|error| match error {
        LinkError::Failed(reason) => reason,
        LinkError::SignIn(_) => "it needs a sign-in: do that with the server running".into(),
    })
}
