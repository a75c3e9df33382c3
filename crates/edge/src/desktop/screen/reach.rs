//! From the gestures of somebody who looks to what a device does, one after another.

use std::sync::Arc;

use kernel::{
    desktop::{DesktopError, Outcome},
    host::Host,
};
use remote::{
    command::Request,
    reply::{self, Envelope},
};
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};

use super::Gesture;
use crate::desktop::command;

pub struct Reach {
    pub host: Arc<Host>,
    pub device: String,
    /// Told whenever something was done, as it may be seen.
    pub touched: watch::Sender<()>,
}

impl Reach {
    pub async fn run(
        self,
        mut gestures: mpsc::Receiver<Gesture>,
        done: mpsc::UnboundedSender<Value>,
    ) {
        while let Some(Gesture { id, command }) = gestures.recv().await {
            let result = self.touch(Value::Object(command)).await;
            self.touched.send_replace(());
            let envelope = Envelope { extended: true, ..Envelope::PLAIN };
            let result = Value::Object(reply::written(&result, envelope));
            // Who has left needs no answer.
            done.send(json!({ "type": "done", "id": id, "result": result })).ok();
        }
    }

    async fn touch(&self, command: Value) -> Result<Outcome, DesktopError> {
        match command::read(command)?.request {
            Request::Do(order) => self.host.touch(&self.device, *order).await.1,
            Request::Cancel { .. }
            | Request::HandBack
            | Request::Acknowledged { .. }
            | Request::Nothing => Err(DesktopError::bad("that is not something hands can do")),
        }
    }
}
