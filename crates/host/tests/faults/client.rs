//! What a client does: calls over HTTP, and a socket of frames.

use std::time::Duration;

use futures::{SinkExt as _, StreamExt as _};
use kernel::update::Entry;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use tokio::net::{TcpSocket, TcpStream};
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{Message, client::IntoClientRequest as _, protocol::CloseFrame},
};

use crate::{server::Home, until, within};

/// A server that was killed may leave a request hanging.
const PATIENCE: Duration = Duration::from_secs(20);
const PAGE: usize = 500;

#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    port: u16,
    key: String,
}

impl Client {
    /// The key is there once a server was started.
    pub fn of(home: &Home) -> Self {
        // A client wants one even where nothing is encrypted; another test may have been first.
        rustls::crypto::ring::default_provider().install_default().ok();
        let http = reqwest::Client::builder().no_proxy().timeout(PATIENCE).build().unwrap();
        Self { http, port: home.port, key: home.key() }
    }

    pub async fn get(&self, path: &str) -> Value {
        let (status, body) = self.call(Method::GET, path, None, "").await.unwrap();
        assert_eq!(status, 200, "{path} {body}");
        body
    }

    pub async fn text(&self, path: &str) -> String {
        let answer = self.request(Method::GET, path).send().await.unwrap();
        answer.text().await.unwrap()
    }

    pub async fn create(&self) -> String {
        self.create_with(json!({})).await
    }

    pub async fn create_with(&self, wishes: Value) -> String {
        let made = self.call(Method::POST, "/api/sessions", Some(wishes), "").await;
        let (status, body) = made.unwrap();
        assert_eq!(status, 200, "{body}");
        body["sessionId"].as_str().unwrap().to_owned()
    }

    /// Sends a message once; `None` if no answer came.
    pub async fn say(&self, session: &str, message: Value, key: &str) -> Option<(u16, Value)> {
        let path = format!("/api/sessions/{session}/messages");
        self.call(Method::POST, &path, Some(message), key).await
    }

    /// Sends a message that must be taken.
    pub async fn post(&self, session: &str, prompt: &str) {
        let (status, body) = self.say(session, json!({ "prompt": prompt }), "").await.unwrap();
        assert_eq!(status, 200, "{body}");
    }

    /// Waits until nothing runs and nothing waits.
    pub async fn idle(&self, session: &str) {
        until("the session to rest", async || {
            let state = self.get(&format!("/api/sessions/{session}/state")).await;
            (state["isBusy"] == false && state["queued"] == 0).then_some(())
        })
        .await;
    }

    /// All that is kept of a session.
    pub async fn log(&self, session: &str) -> Vec<Entry> {
        let mut entries: Vec<Entry> = Vec::new();
        loop {
            let after = entries.last().map_or(0, |entry| entry.seq.0);
            let path = format!("/api/log?session={session}&after={after}&limit={PAGE}");
            let mut page = self.get(&path).await;
            let page: Vec<Entry> = serde_json::from_value(page["facts"].take()).unwrap();
            if page.is_empty() {
                return entries;
            }
            entries.extend(page);
        }
    }

    /// Something that must be granted.
    pub async fn must(&self, method: Method, path: &str, body: Value) {
        let (status, answer) = self.call(method, path, Some(body), "").await.unwrap();
        assert_eq!(status, 200, "{path} {answer}");
    }

    /// What waits for the person.
    pub async fn questions(&self) -> Vec<Value> {
        let mut found = self.get("/api/approvals").await;
        serde_json::from_value(found["approvals"].take()).unwrap()
    }

    /// The status tells whether this answer was the first.
    pub async fn decide(&self, question: &Value, decision: &str) -> u16 {
        let path = format!("/api/approvals/{}", question["id"].as_str().unwrap());
        let body = json!({ "decision": decision });
        self.call(Method::POST, &path, Some(body), "").await.unwrap().0
    }

    /// The status and the body, which is always JSON; `None` if no whole answer came.
    pub async fn call(
        &self,
        method: Method,
        path: &str,
        body: Option<Value>,
        key: &str,
    ) -> Option<(u16, Value)> {
        let mut request = self.request(method, path);
        if !key.is_empty() {
            request = request.header("Idempotency-Key", key);
        }
        if let Some(body) = body {
            request = request.json(&body);
        }
        let answer = request.send().await.ok()?;
        let (status, body) = (answer.status().as_u16(), answer.bytes().await.ok()?);
        Some((status, serde_json::from_slice(&body).unwrap()))
    }

    /// Writes a file; `None` if no answer came.
    pub async fn put(&self, path: &str, body: Vec<u8>) -> Option<u16> {
        let request = self.request(Method::PUT, path).header("Content-Type", "text/plain");
        Some(request.body(body).send().await.ok()?.status().as_u16())
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let url = format!("http://127.0.0.1:{}{path}", self.port);
        self.http.request(method, url).bearer_auth(&self.key)
    }

    /// `None` if nobody is there.
    pub async fn connect(&self) -> Option<Socket> {
        self.connect_from(TcpSocket::new_v4().unwrap()).await
    }

    pub async fn connect_from(&self, socket: TcpSocket) -> Option<Socket> {
        let stream = socket.connect(([127, 0, 0, 1], self.port).into()).await.ok()?;
        let url = format!("ws://127.0.0.1:{}/ws", self.port);
        let mut request = url.into_client_request().unwrap();
        let bearer = format!("Bearer {}", self.key).parse().unwrap();
        request.headers_mut().insert("Authorization", bearer);
        let (stream, _) = client_async(request, stream).await.ok()?;
        Some(Socket { stream })
    }
}

pub struct Socket {
    stream: WebSocketStream<TcpStream>,
}

pub enum Heard {
    Frame(Value),
    /// The end, with the reason if one was given.
    Closed(Option<CloseFrame>),
}

impl Socket {
    /// Has room for more at once. A sender waits up to a fifth of a second for each piece that fills a small room.
    pub fn widen(&self) {
        rustix::net::sockopt::set_socket_recv_buffer_size(self.stream.get_ref(), 1 << 20).unwrap();
    }

    /// Whether the other end may have heard it.
    pub async fn say(&mut self, frame: Value) -> bool {
        self.stream.send(Message::text(frame.to_string())).await.is_ok()
    }

    /// Waits until what was said before has been obeyed, and returns what was heard until then.
    pub async fn settle(&mut self) -> Vec<Value> {
        assert!(self.say(json!({"type": "ping", "id": "settled"})).await);
        let mut frames = Vec::new();
        loop {
            match within("a pong", self.hear()).await {
                Heard::Frame(frame) if frame["id"] == "settled" => return frames,
                Heard::Frame(frame) => frames.push(frame),
                Heard::Closed(reason) => panic!("cut off: {reason:?}"),
            }
        }
    }

    pub async fn hear(&mut self) -> Heard {
        loop {
            match self.stream.next().await {
                Some(Ok(Message::Text(text))) => {
                    return Heard::Frame(serde_json::from_str(&text).unwrap());
                }
                Some(Ok(Message::Close(reason))) => return Heard::Closed(reason),
                Some(Ok(_)) => (),
                Some(Err(_)) | None => return Heard::Closed(None),
            }
        }
    }

    /// Says goodbye; dropping it does not.
    pub async fn leave(mut self) {
        // The other end may be gone already.
        self.stream.close(None).await.ok();
    }
}
