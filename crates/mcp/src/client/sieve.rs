//! Any transport, with what needs no answer taken out on the way: in order, at once, and without a queue
//! that a flood could fill.

#![expect(deprecated, reason = "servers of the older versions log like this")]

use std::sync::Arc;

use rmcp::{
    RoleClient,
    model::{JsonRpcMessage, LoggingMessageNotificationParam, ServerNotification},
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use serde_json::Value;
use tokio::sync::Notify;

use super::{calls::Calls, logbook::Logbook};

pub struct Sieve<T> {
    pub inner: T,
    pub calls: Arc<Calls>,
    pub log: Arc<Logbook>,
    /// Told when the server has other tools than before.
    pub news: Arc<Notify>,
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Sieve<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        if let JsonRpcMessage::Request(request) = &item {
            self.calls.note(request);
        }
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let message = self.inner.receive().await?;
            let JsonRpcMessage::Notification(mut told) = message else { return Some(message) };
            match told.notification {
                ServerNotification::ProgressNotification(it) => self.calls.progressed(it.params),
                ServerNotification::LoggingMessageNotification(it) => {
                    self.log.note(&line(it.params));
                }
                ServerNotification::ToolListChangedNotification(_) => self.news.notify_one(),
                other @ (ServerNotification::CancelledNotification(_)
                | ServerNotification::SubscriptionsAcknowledgedNotification(_)) => {
                    told.notification = other;
                    return Some(JsonRpcMessage::Notification(told));
                }
                // Nobody here has asked for anything else.
                _ => (),
            }
        }
    }

    fn close(&mut self) -> impl Future<Output = Result<(), T::Error>> + Send {
        self.inner.close()
    }
}

fn line(
    LoggingMessageNotificationParam { level, logger, data, .. }: LoggingMessageNotificationParam,
) -> String {
    let level = serde_json::to_value(level).ok();
    let level = level.as_ref().and_then(Value::as_str).unwrap_or("info").to_owned();
    let said = data.as_str().map_or_else(|| data.to_string(), str::to_owned);
    match logger {
        Some(logger) => format!("[{level}] {logger}: {said}"),
        None => format!("[{level}] {said}"),
    }
}
