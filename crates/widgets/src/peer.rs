//! What we ask of a view, and the answers that are still awaited.

use std::collections::HashMap;

use serde_json::{Map, Value, json};
use tokio::sync::oneshot;

use crate::fault::Fault;

pub type Answer = Result<Value, Fault>;

#[derive(Debug, Default)]
pub struct Peer {
    next: u64,
    waiting: HashMap<u64, oneshot::Sender<Answer>>,
}

impl Peer {
    /// The message to send, its id, and where the answer comes.
    pub fn ask(
        &mut self,
        method: &str,
        params: &Map<String, Value>,
    ) -> (u64, Value, oneshot::Receiver<Answer>) {
        let id = self.next;
        self.next += 1;
        let (reply, answer) = oneshot::channel();
        self.waiting.insert(id, reply);
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        (id, message, answer)
    }

    /// Takes in an answer; false if nobody waits for it.
    pub fn answered(&mut self, id: &Value, message: &Map<String, Value>) -> bool {
        let Some(reply) = id.as_u64().and_then(|id| self.waiting.remove(&id)) else { return false };
        let answer = match (message.get("result"), message.get("error")) {
            (_, Some(error)) => {
                let code = error.get("code").and_then(Value::as_i64).unwrap_or_default();
                let text = error.get("message").and_then(Value::as_str).unwrap_or("it failed");
                Err(Fault::new(code, text))
            }
            (result, None) => Ok(result.cloned().unwrap_or_default()),
        };
        // Whoever asked may have given up.
        reply.send(answer).ok();
        true
    }

    pub fn forget(&mut self, id: u64) {
        self.waiting.remove(&id);
    }

    /// Nobody will answer any more.
    pub fn close(&mut self) {
        self.waiting.clear();
    }
}
