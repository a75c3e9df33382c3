//! The line to the server: posts letters, passes on what comes back, and finds the server again.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::StreamExt as _;
use reqwest::{RequestBuilder, Response, StatusCode, header};
use serde_json::Value;
use sse_stream::SseStream;
use tokio::sync::{mpsc, oneshot, watch};

use super::{
    Find, Place,
    letter::{self, Kind, Letter},
};
use crate::server::house::lock;

/// Where letters to the client go.
pub type Mail = mpsc::Sender<Value>;

const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";
const BOTH: &str = "application/json, text/event-stream";
/// What went wrong between here and the server, and not in it.
const UNREACHABLE: i32 = -32000;
/// Before a stream that was cut off is taken up again.
const PAUSE: Duration = Duration::from_millis(500);

/// Clones are the same line.
#[derive(Clone)]
pub struct Line {
    web: reqwest::Client,
    find: Arc<Find>,
    place: Arc<Mutex<Option<Place>>>,
    connection: Arc<watch::Sender<Option<Connection>>>,
    /// Held by whoever makes the connection anew.
    mending: Arc<tokio::sync::Mutex<()>>,
}

/// What the server knows this client by.
#[derive(Clone, Debug, PartialEq)]
struct Connection {
    session: String,
    version: String,
    /// How it was made, should it have to be made again.
    initialize: Letter,
}

impl Line {
    pub fn new(web: reqwest::Client, find: Find) -> Self {
        let (place, connection, mending) = (Arc::default(), Arc::default(), Arc::default());
        Self { web, find: Arc::new(find), place, connection, mending }
    }

    pub fn is_connected(&self) -> bool {
        self.connection.borrow().is_some()
    }

    /// Posts a letter and passes on all that comes back. `sent` hears when the server has it.
    pub async fn carry(self, letter: Letter, mail: Mail, sent: Option<oneshot::Sender<()>>) {
        let carried = match self.post(&letter).await {
            Ok(answer) => {
                if let Some(sent) = sent {
                    // Whoever does not wait for it does not mind.
                    sent.send(()).ok();
                }
                self.hand_over(answer, &letter, &mail).await
            }
            Err(error) => Err(error),
        };
        match (carried, letter.id()) {
            (Err(error), Some(id)) => {
                // Whoever does not read does not mind.
                mail.send(letter::fault(id, UNREACHABLE, &error)).await.ok();
            }
            (Err(error), None) => tracing::warn!(error, "a message was not delivered"),
            (Ok(()), _) => (),
        }
    }

    /// Passes on what the server says unasked, over every connection there comes to be.
    pub async fn listen(self, mail: Mail) {
        let mut connections = self.connection.subscribe();
        loop {
            let connection = connections.borrow_and_update().clone();
            let heard = match &connection {
                Some(connection) => self.overhear(connection, &mail).await,
                None => None,
            };
            if heard.is_some() {
                // Cut off in the middle: the same connection may still be good.
                tokio::time::sleep(PAUSE).await;
            } else if connections.changed().await.is_err() {
                return;
            }
        }
    }

    /// `None` if there is nothing to hear on this connection.
    async fn overhear(&self, connection: &Connection, mail: &Mail) -> Option<()> {
        let place = self.place().await.ok()?;
        let request = signed(self.web.get(address(&place)), &place, Some(connection));
        let answer = request.header(header::ACCEPT, "text/event-stream").send().await.ok()?;
        let answer = answer.error_for_status().ok()?;
        let mut events = SseStream::from_bytes_stream(answer.bytes_stream());
        while let Some(Ok(event)) = events.next().await {
            let message = event.data.and_then(|data| serde_json::from_str(&data).ok());
            if let Some(message) = message {
                mail.send(message).await.ok()?;
            }
        }
        Some(())
    }

    /// Tells the server that nobody will come back.
    pub async fn hang_up(&self) {
        let connection = self.connection.send_replace(None);
        let place = lock(&self.place).clone();
        if let (Some(connection), Some(place)) = (connection, place) {
            let request = self.web.delete(address(&place));
            // It notices by itself, later.
            signed(request, &place, Some(&connection)).send().await.ok();
        }
    }

    /// Posts it, once more should the server have been started anew meanwhile.
    async fn post(&self, letter: &Letter) -> Result<Response, String> {
        let connection = match letter.kind {
            Kind::Initialize => None,
            _ => self.connection.borrow().clone(),
        };
        let place = self.place().await?;
        let answer = self.attempt(letter, &place, connection.as_ref()).await;
        let lost = match &answer {
            Ok(answer) => connection.is_some() && answer.status() == StatusCode::NOT_FOUND,
            Err(error) => error.is_connect(),
        };
        if !lost {
            return answer.map_err(|error| unreachable(&error));
        }
        let connection = self.mend(&place, connection).await?;
        let place = self.place().await?;
        let answer = self.attempt(letter, &place, connection.as_ref()).await;
        answer.map_err(|error| unreachable(&error))
    }

    /// Finds the server again, and makes the connection anew if there was one.
    async fn mend(
        &self,
        old: &Place,
        broken: Option<Connection>,
    ) -> Result<Option<Connection>, String> {
        let _mending = self.mending.lock().await;
        // Somebody else may have mended it by now.
        if lock(&self.place).as_ref() == Some(old) {
            *lock(&self.place) = None;
        }
        let Some(broken) = broken else { return Ok(None) };
        let now = self.connection.borrow().clone();
        if now.as_ref() != Some(&broken) {
            return Ok(now);
        }
        let place = self.place().await?;
        let answer = self.attempt(&broken.initialize, &place, None).await;
        let answer = answer.map_err(|error| unreachable(&error))?;
        let (nobody, mut unread) = mpsc::channel(8);
        // The client has had its answer.
        let drain = async { while unread.recv().await.is_some() {} };
        let take = async {
            let taken = self.hand_over(answer, &broken.initialize, &nobody).await;
            drop(nobody);
            taken
        };
        let (taken, ()) = futures::join!(take, drain);
        taken?;
        let connection = self.connection.borrow().clone();
        let initialized = serde_json::json!({
            "jsonrpc": "2.0",
            "method": "notifications/initialized",
        });
        let initialized = Letter::read(initialized);
        let answer = self.attempt(&initialized, &place, connection.as_ref()).await;
        answer.map_err(|error| unreachable(&error))?;
        Ok(connection)
    }

    async fn attempt(
        &self,
        letter: &Letter,
        place: &Place,
        connection: Option<&Connection>,
    ) -> reqwest::Result<Response> {
        let mut request = signed(self.web.post(address(place)), place, connection);
        for (name, value) in letter.headers() {
            request = request.header(name, value);
        }
        request.header(header::ACCEPT, BOTH).json(&letter.message).send().await
    }

    /// Passes on an answer, whole or as it comes.
    async fn hand_over(
        &self,
        answer: Response,
        letter: &Letter,
        mail: &Mail,
    ) -> Result<(), String> {
        let text = |name: &str| answer.headers().get(name).and_then(|it| it.to_str().ok());
        let session = text(SESSION).map(str::to_owned);
        let kind = text(header::CONTENT_TYPE.as_str()).unwrap_or_default().to_owned();
        let status = answer.status();
        let mut answered = letter.id().is_none();
        if kind.starts_with("text/event-stream") {
            let mut events = SseStream::from_bytes_stream(answer.bytes_stream());
            while let Some(event) = events.next().await {
                let event = event.map_err(|error| format!("the server was cut off: {error}"))?;
                let message = event.data.and_then(|data| serde_json::from_str(&data).ok());
                if let Some(message) = message {
                    answered |= letter.is_answered_by(&message);
                    self.take(message, letter, session.as_ref(), mail).await;
                }
            }
            return if answered {
                Ok(())
            } else {
                Err("the server ended before it answered".into())
            };
        }
        let body = answer.bytes().await.map_err(|error| unreachable(&error))?;
        match serde_json::from_slice::<Value>(&body) {
            Ok(message) if message.get("jsonrpc").is_some() => {
                self.take(message, letter, session.as_ref(), mail).await;
                Ok(())
            }
            _ if status.is_success() && answered => Ok(()),
            said => Err(refusal(status, said.ok().as_ref(), &body)),
        }
    }

    /// The answer to the first letter makes the connection.
    async fn take(&self, message: Value, letter: &Letter, session: Option<&String>, mail: &Mail) {
        let version = message.pointer("/result/protocolVersion").and_then(Value::as_str);
        if let (Kind::Initialize, Some(session), Some(version)) = (&letter.kind, session, version) {
            let (session, version) = (session.clone(), version.to_owned());
            let connection = Connection { session, version, initialize: letter.clone() };
            self.connection.send_replace(Some(connection));
        }
        // Whoever does not read does not mind.
        mail.send(message).await.ok();
    }

    async fn place(&self) -> Result<Place, String> {
        if let Some(place) = lock(&self.place).clone() {
            return Ok(place);
        }
        let found = (self.find)().await?;
        *lock(&self.place) = Some(found.clone());
        Ok(found)
    }
}

/// As the server knows this client, and lets it in.
fn signed(
    request: RequestBuilder,
    place: &Place,
    connection: Option<&Connection>,
) -> RequestBuilder {
    let request = match &place.key {
        Some(key) => request.bearer_auth(key),
        None => request,
    };
    match connection {
        Some(Connection { session, version, .. }) => {
            request.header(SESSION, session).header(VERSION, version)
        }
        None => request,
    }
}

fn address(place: &Place) -> String {
    format!("{}/mcp", place.url)
}

fn unreachable(error: &reqwest::Error) -> String {
    // The address is of no use to the client, and names of hosts are none of its business.
    if error.is_connect() {
        "the server cannot be reached".into()
    } else {
        "the server was cut off".into()
    }
}

fn refusal(status: StatusCode, said: Option<&Value>, body: &[u8]) -> String {
    let words = said.and_then(|said| said.get("error")).and_then(Value::as_str);
    let words = words.map_or_else(|| String::from_utf8_lossy(body).into_owned(), str::to_owned);
    match status {
        StatusCode::UNAUTHORIZED => {
            format!("{words}: the server does not accept the key of this data directory")
        }
        _ if words.trim().is_empty() => format!("the server answered {status}"),
        _ => words,
    }
}
