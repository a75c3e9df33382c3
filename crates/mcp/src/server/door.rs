//! The way in over HTTP. Knows nothing of keys: whoever mounts it decides who gets here.

use std::{sync::Arc, time::Duration};

use rmcp::{
    ServerHandler,
    transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService},
};

use super::{callers::Callers, guest::Guest, house::House};

/// A service of `http` requests.
pub type Door<H> = StreamableHttpService<H, Callers>;

#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How many clients may keep a connection.
    pub callers: usize,
    /// After so long without a word, one that does not listen is let go.
    pub silence: Duration,
    /// How large a message may be.
    pub bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { callers: 256, silence: Duration::from_mins(30), bytes: 16 << 20 }
    }
}

/// The door to this house. Needs a runtime.
pub fn door(house: Arc<House>, limits: Limits) -> Door<Guest> {
    door_to(move || Guest::new(house.clone()), limits)
}

/// The same door, with somebody else behind it.
pub fn door_to<H>(make: impl Fn() -> H + Send + Sync + 'static, limits: Limits) -> Door<H>
where
    H: ServerHandler,
{
    // Host and Origin are looked at by whoever mounts it, by names that only they know.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_max_request_body_bytes(limits.bytes);
    StreamableHttpService::new(move || Ok(make()), Callers::new(limits), config)
}
