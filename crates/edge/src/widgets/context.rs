//! The house as one widget sees it: the tools of its own server, and nothing else.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures::future::BoxFuture;
use kernel::{
    host::Host,
    inbox::CallError,
    servers::Servers,
    toolbox::{Caller, ToolError},
    update::SessionId,
};
use serde_json::Value;
use tokio::time::{Instant, timeout};
use widgets::{Context, Ports, ToolCall, Trouble};

use crate::frames::tenant::Speaker;

pub struct House {
    pub host: Arc<Host>,
    pub servers: Arc<dyn Servers>,
    pub session: SessionId,
    pub server: String,
    pub begun: Instant,
    /// Whoever speaks with the frame, once it is shown.
    speaker: Mutex<Option<Speaker>>,
}

impl House {
    pub fn new(
        host: Arc<Host>,
        servers: Arc<dyn Servers>,
        session: SessionId,
        server: String,
    ) -> Self {
        Self { host, servers, session, server, begun: Instant::now(), speaker: Mutex::default() }
    }

    pub fn speak_by(&self, speaker: &Speaker) {
        *self.speaker.lock().unwrap_or_else(PoisonError::into_inner) = Some(speaker.clone());
    }

    /// What a tool of the widget's own server is called here.
    fn offered(&self, name: &str) -> Result<String, Trouble> {
        let mut elsewhere = false;
        for server in self.servers.list() {
            let tool = server.tools.into_iter().find(|tool| tool.name == name);
            match tool {
                Some(tool) if server.name == self.server => {
                    return tool.offered.ok_or(Trouble::NotAvailable);
                }
                Some(_) => elsewhere = true,
                None => (),
            }
        }
        Err(if elsewhere { Trouble::NotAvailable } else { Trouble::NotFound })
    }

    async fn call(&self, call: ToolCall) -> Result<Value, Trouble> {
        let name = self.offered(&call.name)?;
        let caller = Caller::Widget { server: self.server.clone() };
        let calling = self.host.call(self.session, caller, &name, Value::Object(call.arguments));
        let called = match call.patience {
            None => calling.await,
            Some(patience) => timeout(patience, calling).await.map_err(|_| {
                Trouble::Cancelled("nobody agreed in time, so it was not done".into())
            })?,
        };
        match called {
            Ok(reply) => Ok(reply.data.unwrap_or_default()),
            Err(CallError::Tool(ToolError::Unknown(_))) => Err(Trouble::NotFound),
            Err(CallError::Tool(ToolError::Refused(_))) => Err(Trouble::NotAvailable),
            Err(CallError::Tool(ToolError::Denied(why))) => Err(Trouble::Denied(why)),
            Err(CallError::Tool(ToolError::Failed(why))) => Err(Trouble::Failed(why)),
            Err(CallError::Open(error)) => Err(Trouble::Other(error.to_string())),
        }
    }
}

impl Context for House {
    fn ports(&self) -> Ports {
        Ports::default()
    }

    fn post(&self, message: Value) {
        let speaker = self.speaker.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(speaker) = speaker {
            speaker.tell(&message);
        }
    }

    fn now(&self) -> Duration {
        self.begun.elapsed()
    }

    fn call_tool(&self, call: ToolCall) -> BoxFuture<'_, Result<Value, Trouble>> {
        Box::pin(self.call(call))
    }
}
