//! Restarts the server, when nobody is in the middle of something.

use std::{sync::Arc, time::Duration};

use kernel::{
    host::Host,
    toolbox::{Call, Risk},
};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::Notify;

use crate::{agents::House, typed::Typed};

const DELAY: u64 = 3;
const DELAYS: std::ops::RangeInclusive<u64> = 1..=30;
/// How long turns may hold a restart up; what still runs then is recorded as interrupted.
const PATIENCE: Duration = Duration::from_mins(2);

/// Tells whoever runs the server that it should be started anew.
pub type Restarts = Arc<Notify>;

/// Restarts the server: running turns may end first, and clients come back by themselves. Needed
/// after its configuration was changed, and for little else.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Seconds to wait first, from 1 to 30; 3 when absent.
    delay: Option<u64>,
}

pub struct RestartServer {
    pub house: House,
    pub restarts: Restarts,
}

impl Typed for RestartServer {
    type Input = Input;
    type Output = String;
    const NAME: &'static str = "restart_server";
    const RISK: Risk = Risk::Acts;

    fn title(&self, _: &Input) -> String {
        "Restarting the server".to_owned()
    }

    async fn run(&self, Input { delay }: Input, _: Call) -> Result<String, String> {
        let delay = delay.unwrap_or(DELAY);
        if !DELAYS.contains(&delay) {
            return Err(format!("delay must be from 1 to 30 seconds, not {delay}"));
        }
        let (host, restarts) = (self.house.host()?, self.restarts.clone());
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(delay)).await;
            // Longer than that nobody is waited for.
            tokio::time::timeout(PATIENCE, idle(&host)).await.ok();
            drop(host);
            restarts.notify_one();
        });
        Ok(format!("The server restarts in {delay} s, once no turn is running."))
    }
}

/// Returns when no session is in the middle of something.
async fn idle(host: &Host) {
    use tokio::sync::broadcast::error::RecvError;
    let mut news = host.roster.listen();
    while host.roster.all().iter().any(|(_, state)| state.is_unfinished()) {
        if let Err(RecvError::Closed) = news.recv().await {
            return;
        }
    }
}
