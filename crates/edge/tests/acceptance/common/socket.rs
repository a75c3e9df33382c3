//! A client of the Caco socket that remembers what it heard, and tells it when a test fails.

use std::{net::SocketAddr, time::Duration};

use futures::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::{net::TcpStream, time::timeout};
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{
        Error, Message,
        client::IntoClientRequest as _,
        http::{HeaderName, HeaderValue},
        protocol::CloseFrame,
    },
};

/// Only a fault waits for it, and the runner gives up a little later.
const PATIENCE: Duration = Duration::from_secs(50);

pub struct Socket {
    stream: WebSocketStream<TcpStream>,
    seen: Vec<Value>,
    pings: u64,
}

impl Socket {
    /// The status and the body if the door stays shut.
    pub async fn open(
        address: SocketAddr,
        path: &str,
        headers: &[(&str, String)],
    ) -> Result<Self, (u16, Value)> {
        let mut request = format!("ws://{address}{path}").into_client_request().unwrap();
        for (name, value) in headers {
            let name: HeaderName = name.parse().unwrap();
            request.headers_mut().insert(name, HeaderValue::try_from(value).unwrap());
        }
        let stream = TcpStream::connect(address).await.unwrap();
        match timeout(PATIENCE, client_async(request, stream)).await.unwrap() {
            Ok((stream, _)) => Ok(Self { stream, seen: Vec::new(), pings: 0 }),
            Err(Error::Http(refusal)) => {
                let body = refusal.body().as_deref().unwrap_or_default();
                Err((refusal.status().as_u16(), serde_json::from_slice(body).unwrap_or_default()))
            }
            Err(error) => panic!("no handshake: {error}"),
        }
    }

    pub async fn send(&mut self, frame: Value) {
        self.send_raw(Message::text(frame.to_string())).await;
    }

    pub async fn send_raw(&mut self, message: Message) {
        self.stream.send(message).await.unwrap();
    }

    pub async fn next(&mut self) -> Value {
        let Ok(message) = timeout(PATIENCE, self.message()).await else {
            panic!("nothing more came after {:#?}", self.seen);
        };
        match message {
            Some(Ok(Message::Text(text))) => {
                let frame: Value = serde_json::from_str(&text).unwrap();
                self.seen.push(frame.clone());
                frame
            }
            other => panic!("{other:?} came after {:#?}", self.seen),
        }
    }

    /// How the server ends this: an error if it just goes away.
    pub async fn closed(&mut self) -> Result<Option<CloseFrame>, Error> {
        loop {
            match timeout(PATIENCE, self.message()).await.unwrap() {
                Some(Ok(Message::Close(frame))) => return Ok(frame),
                Some(Ok(_)) => (),
                Some(Err(error)) => return Err(error),
                None => return Err(Error::ConnectionClosed),
            }
        }
    }

    pub async fn message(&mut self) -> Option<Result<Message, Error>> {
        loop {
            match self.stream.next().await {
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => (),
                other => return other,
            }
        }
    }

    /// Everything up to the first frame like this, that one included.
    pub async fn until(&mut self, is_last: impl Fn(&Value) -> bool) -> Vec<Value> {
        let mut frames = Vec::new();
        loop {
            frames.push(self.next().await);
            if frames.last().is_some_and(&is_last) {
                return frames;
            }
        }
    }

    /// Everything up to the first event of this kind.
    pub async fn until_event(&mut self, kind: &str) -> Vec<Value> {
        self.until(|frame| frame["event"]["type"] == kind).await
    }

    /// Everything up to the end of a turn.
    pub async fn turn(&mut self) -> Vec<Value> {
        self.until(|frame| frame["event"]["data"]["isBusy"] == false).await
    }

    pub async fn subscribe(&mut self, id: &str) {
        self.subscribe_with(id, json!({})).await;
    }

    /// Returns when the subscription holds, with what came until then.
    pub async fn subscribe_with(&mut self, id: &str, more: Value) -> Vec<Value> {
        let mut frame = json!({ "type": "subscribe", "sessionId": id });
        frame.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.send(frame).await;
        self.ping().await
    }

    /// The frames of a history, the `historyComplete` included.
    pub async fn history(&mut self, id: &str, more: Value) -> Vec<Value> {
        let mut frame = json!({ "type": "requestHistory", "sessionId": id });
        frame.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.send(frame).await;
        self.until(|frame| frame["type"] == "historyComplete").await
    }

    /// Everything that had been on its way to us.
    pub async fn waiting(&mut self) -> Vec<Value> {
        let mut frames = self.ping().await;
        // What was found waiting when the first was answered comes before the second.
        frames.extend(self.ping().await);
        frames
    }

    async fn ping(&mut self) -> Vec<Value> {
        self.pings += 1;
        let pong = json!({ "type": "pong", "id": format!("ping {}", self.pings) });
        self.send(json!({ "type": "ping", "id": pong["id"] })).await;
        let mut frames = self.until(|frame| *frame == pong).await;
        frames.pop();
        frames
    }
}

/// What a frame is, in a few words.
fn short(frame: &Value) -> String {
    let (event, text) = (&frame["event"], |value: &Value| value.as_str().map(str::to_owned));
    let kind = text(&event["type"]).unwrap_or_default();
    match (text(&frame["type"]).unwrap().as_str(), kind.as_str()) {
        ("globalEvent", "session.busy") => format!("busy {}", event["data"]["isBusy"]),
        ("globalEvent", "approvals.changed") => format!("open {}", event["data"]["open"]),
        ("globalEvent", _) => format!("list {}", text(&event["data"]["reason"]).unwrap()),
        ("event", _) => kind,
        (other, _) => other.to_owned(),
    }
}

pub fn shorts(frames: &[Value]) -> Vec<String> {
    frames.iter().map(short).collect()
}

/// The events among these that are kept.
pub fn persisted(frames: &[Value]) -> Vec<Value> {
    let kept = |frame: &&Value| frame["type"] == "event" && frame["event"]["ephemeral"].is_null();
    frames.iter().filter(kept).cloned().collect()
}

pub fn ids(frames: &[Value]) -> Vec<String> {
    frames.iter().map(|frame| frame["event"]["id"].as_str().unwrap().to_owned()).collect()
}
