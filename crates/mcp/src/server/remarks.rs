//! Remarks besides the answer, for clients that want to hear them.
#![expect(deprecated, reason = "most clients of today know nothing newer")]

use std::sync::Mutex;

use rmcp::{
    RoleServer,
    model::{LoggingLevel, LoggingMessageNotificationParam},
    service::RequestContext,
};

use super::house::lock;

pub struct Remarks {
    /// What is less than this is not worth hearing.
    least: Mutex<LoggingLevel>,
}

impl Default for Remarks {
    fn default() -> Self {
        Self { least: Mutex::new(LoggingLevel::Info) }
    }
}

impl Remarks {
    pub fn limit(&self, least: LoggingLevel) {
        *lock(&self.least) = least;
    }

    /// A client without a connection says with each request what it wants to hear.
    pub async fn tell(&self, context: &RequestContext<RoleServer>, connected: bool, text: &str) {
        let kept = connected.then(|| *lock(&self.least));
        let wanted = match context.meta.log_level().or(kept) {
            Some(LoggingLevel::Debug | LoggingLevel::Info | LoggingLevel::Notice) => true,
            Some(_) | None => false,
        };
        if wanted {
            let said = LoggingMessageNotificationParam::new(LoggingLevel::Notice, text.into());
            // Whoever has gone needs no news.
            context.peer.notify_logging_message(said.with_logger("megaron")).await.ok();
        }
    }
}
