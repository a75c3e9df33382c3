//! A model that says what the test has written down for it, one answer for each time it is asked.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use axum::{Json, Router, extract::State, http::StatusCode, routing::post};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::server::Home;

/// Shared with the server that plays it, which ends with the test.
#[derive(Clone, Default)]
pub struct Script(Arc<Mutex<Parts>>);

#[derive(Default)]
struct Parts {
    next: VecDeque<Value>,
    heard: Vec<Value>,
}

impl Script {
    /// Plays it on a port of its own, and makes it the model of the house.
    pub async fn play(home: &Home, more: &str) -> Self {
        let script = Self::default();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        home.configure(&format!(
            "default_model = \"local/m\"\n[providers.local]\nkind = \"openai-chat\"\n\
             base_url = \"http://{}/v1\"\nmodels = [\"m\"]\n[models]\nattempts = 1\n{more}",
            listener.local_addr().unwrap()
        ));
        let router = Router::new().route("/v1/chat/completions", post(answer));
        let router = router.with_state(script.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        script
    }

    pub fn calls(&self, id: &str, tool: &str, args: &Value) {
        let function = json!({ "name": tool, "arguments": args.to_string() });
        let call = json!({ "index": 0, "id": id, "type": "function", "function": function });
        self.add(&json!({ "tool_calls": [call] }), "tool_calls");
    }

    pub fn says(&self, text: &str) {
        self.add(&json!({ "content": text }), "stop");
    }

    fn add(&self, delta: &Value, reason: &str) {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": reason });
        self.0.lock().unwrap().next.push_back(json!({ "choices": [choice] }));
    }

    /// How often it was asked.
    pub fn asked(&self) -> usize {
        self.0.lock().unwrap().heard.len()
    }

    /// All that it was ever sent.
    pub fn heard(&self) -> String {
        Value::from(self.0.lock().unwrap().heard.clone()).to_string()
    }

    /// What it was told last.
    pub fn told(&self) -> String {
        let parts = self.0.lock().unwrap();
        let messages = parts.heard.last().unwrap()["messages"].as_array().unwrap();
        messages.last().unwrap()["content"].to_string()
    }
}

async fn answer(State(script): State<Script>, Json(body): Json<Value>) -> (StatusCode, String) {
    let mut parts = script.0.lock().unwrap();
    parts.heard.push(body);
    match parts.next.pop_front() {
        Some(chunk) => (StatusCode::OK, format!("data: {chunk}\n\ndata: [DONE]\n\n")),
        None => (StatusCode::BAD_REQUEST, "the script is at its end".into()),
    }
}
