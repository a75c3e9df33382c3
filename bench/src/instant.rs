//! A provider that has said everything before it was asked, and somebody who only listens to it.

use std::{net::SocketAddr, path::Path, thread};

use anyhow::{Context as _, ensure};
use axum::{Json, Router, body::Bytes, http::header::CONTENT_TYPE, routing::post};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// A model of each of these names says so many words.
pub const MODELS: [(&str, usize); 2] = [("one", 1), ("thousand", 1000)];

pub struct Instant {
    address: SocketAddr,
    client: reqwest::Client,
}

impl Instant {
    /// Serves on a thread of its own until the process ends.
    pub fn start() -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
        let address = listener.local_addr()?;
        let answers = MODELS.map(|(name, words)| (name, Bytes::from(answer(words))));
        let handler = async move |Json(asked): Json<Value>| {
            let found = answers.into_iter().find(|(name, _)| asked["model"] == *name);
            ([(CONTENT_TYPE, "text/event-stream")], found.map(|(_, body)| body).unwrap_or_default())
        };
        let routes = Router::new().route("/v1/chat/completions", post(handler));
        thread::spawn(move || runtime.block_on(async { axum::serve(listener, routes).await }));
        let client = reqwest::Client::builder().no_proxy().tcp_nodelay(true).build()?;
        Ok(Self { address, client })
    }

    /// Tells a server of it.
    pub fn configure(&self, data_dir: &Path) -> anyhow::Result<()> {
        let config = format!(
            "[providers.mind]\nkind = \"openai-chat\"\nbase_url = \"http://{}/v1\"\n",
            self.address
        );
        std::fs::create_dir_all(data_dir)?;
        let models = MODELS.map(|(name, _)| name);
        std::fs::write(data_dir.join("config.toml"), format!("{config}models = {models:?}\n"))?;
        Ok(())
    }

    /// Asks and listens with nothing in between: the least that any program must do.
    pub async fn listen(&self, model: &str) -> anyhow::Result<usize> {
        let url = format!("http://{}/v1/chat/completions", self.address);
        let messages = json!([{ "role": "user", "content": "go" }]);
        let asked = json!({ "model": model, "messages": messages, "stream": true });
        let mut response = self.client.post(url).json(&asked).send().await?;
        let (mut buffer, mut words) = (Vec::new(), 0);
        while let Some(chunk) = response.chunk().await? {
            buffer.extend_from_slice(&chunk);
            let mut read = 0;
            while let Some(end) = crate::client::find(&buffer[read..], b"\n\n") {
                let event = buffer[read..read + end].strip_prefix(b"data: ").context("no data")?;
                read += end + 2;
                if event != b"[DONE]" {
                    let event: Value = serde_json::from_slice(event)?;
                    words += usize::from(event["choices"][0]["delta"]["content"].is_string());
                }
            }
            buffer.drain(..read);
        }
        ensure!(words > 0, "the instant model said nothing");
        Ok(words)
    }
}

fn answer(words: usize) -> String {
    let delta = json!({ "choices": [{ "index": 0, "delta": { "content": "word " } }] });
    let usage = json!({ "prompt_tokens": 10, "completion_tokens": words });
    let choice = json!({ "index": 0, "delta": {}, "finish_reason": "stop" });
    let end = json!({ "choices": [choice], "usage": usage });
    format!("{}data: {end}\n\ndata: [DONE]\n\n", format!("data: {delta}\n\n").repeat(words))
}
