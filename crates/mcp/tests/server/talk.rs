//! A client that says and hears the bare messages, in a house of fakes.

use std::sync::Arc;

use kernel::host::{Host, Settings};
use mcp::server::{Guest, House};
use rmcp::ServiceExt as _;
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::World;
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf,
};

pub struct Talk {
    pub host: Arc<Host>,
    _workspace: TempDir,
    input: BufReader<ReadHalf<DuplexStream>>,
    output: WriteHalf<DuplexStream>,
    /// Heard while waiting for something else.
    early: Vec<Value>,
}

impl Talk {
    /// A client that calls itself `visitor` and has said hello.
    pub async fn new(world: &World) -> Self {
        let workspace = tempfile::tempdir().unwrap();
        let mut ports = world.ports();
        ports.workspace = workspace.path().canonicalize().unwrap();
        let host = Host::start(ports, Settings::default()).await.unwrap();
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let guest = Guest::new(House::new(host.clone()));
        tokio::spawn(async move { Box::pin(guest.serve(theirs)).await.unwrap().waiting().await });
        let (input, output) = tokio::io::split(ours);
        let input = BufReader::new(input);
        let mut talk = Self { host, _workspace: workspace, input, output, early: Vec::new() };
        let info = json!({ "name": "visitor", "version": "1" });
        let params =
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info });
        talk.request(0, "initialize", params).await;
        talk.answer(0).await;
        talk.say(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        talk
    }

    pub async fn say(&mut self, message: Value) {
        self.output.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    pub async fn request(&mut self, id: u32, method: &str, params: Value) {
        self.say(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
    }

    /// Calls a tool, and wants to hear how that goes.
    pub async fn call(&mut self, id: u32, name: &str, args: Value) {
        let params = json!({ "name": name, "arguments": args, "_meta": { "progressToken": id } });
        self.request(id, "tools/call", params).await;
    }

    pub async fn cancel(&mut self, id: u32) {
        let params = json!({ "requestId": id });
        self.say(
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }),
        )
        .await;
    }

    /// The result of a request, or its error.
    pub async fn answer(&mut self, id: u32) -> Value {
        let mut said = self.wait_for(|message| message["id"] == id).await;
        let result = said.get_mut("result").map(Value::take);
        result.unwrap_or_else(|| said["error"].take())
    }

    /// What the next notification of this kind says.
    pub async fn told(&mut self, method: &str) -> Value {
        let method = format!("notifications/{method}");
        self.wait_for(|message| message["method"] == *method).await["params"].take()
    }

    async fn wait_for(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.early.iter().position(&wanted) {
            return self.early.remove(at);
        }
        loop {
            let mut line = String::new();
            assert!(
                self.input.read_line(&mut line).await.unwrap() > 0,
                "it ended: {:?}",
                self.early
            );
            let message = serde_json::from_str(&line).unwrap();
            if wanted(&message) {
                return message;
            }
            self.early.push(message);
        }
    }
}
