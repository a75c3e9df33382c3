//! The server as one who asks sees it: a few HTTP calls, and a socket of events.

use std::{path::PathBuf, time::Duration};

use anyhow::Context as _;
use futures::{SinkExt as _, StreamExt as _};
use kernel::update::SessionId;
use reqwest::{Method, RequestBuilder, StatusCode};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream, connect_async,
    tungstenite::{self, Message, client::IntoClientRequest as _, http::HeaderValue},
};

use super::frames::{EventFrame, Frame, Request};
use crate::{asked::Asked, place, wire};

/// Our own slot, so that asking does not change what another client is looking at.
const CLIENT_ID: &str = "megaron-ask";
/// Who answers questions here, for those who wonder afterwards.
const PERSON: &str = "the terminal";
const CONNECTING: Duration = Duration::from_secs(5);
const ANSWERING: Duration = Duration::from_mins(1);
/// Its process lives, so that one that says nothing is most often only busy.
const BEING_ALIVE: Duration = Duration::from_secs(15);
/// The server pings twice a minute; one that is silent for so long is gone.
const SILENCE: Duration = Duration::from_secs(75);

/// The server understood, and said no.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Refused(pub String);

pub struct Client {
    http: reqwest::Client,
    url: String,
    key: Option<String>,
    /// Where to look for the server should it move.
    data_dir: Option<PathBuf>,
}

#[derive(Debug, Deserialize)]
pub struct Receipt {
    /// How many come first, counting itself.
    pub position: Option<usize>,
}

impl Client {
    pub fn new(
        url: String,
        key: Option<String>,
        data_dir: Option<PathBuf>,
    ) -> anyhow::Result<Self> {
        // A proxy is for other machines; this server is on ours.
        let http = wire::web().no_proxy().connect_timeout(CONNECTING).build()?;
        Ok(Self { http, url, key, data_dir })
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// Looks where the server is now: it may have been started again elsewhere.
    pub fn look_again(&mut self) {
        if let Some(note) = self.data_dir.as_deref().and_then(place::find) {
            self.url = note.url;
        }
    }

    pub async fn is_answered(&self) -> bool {
        let asked = self.http.get(format!("{}/healthz", self.url)).timeout(BEING_ALIVE).send();
        asked.await.is_ok_and(|answer| answer.status().is_success())
    }

    /// Whether the key opens the door.
    pub async fn is_let_in(&self) -> anyhow::Result<()> {
        self.call::<Value>(self.request(Method::GET, "/api/preferences")).await.map(drop)
    }

    /// A new session in this folder.
    pub async fn create(
        &self,
        cwd: &str,
        model: Option<&str>,
        mode: Option<&str>,
    ) -> anyhow::Result<String> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Created {
            session_id: String,
        }
        let mut wish = json!({"cwd": cwd});
        if let Some(model) = model {
            wish["model"] = model.into();
        }
        if let Some(mode) = mode {
            wish["mode"] = mode.into();
        }
        let request = self.request(Method::POST, "/api/sessions").json(&wish);
        Ok(self.call::<Created>(request).await?.session_id)
    }

    /// The model of a session that exists.
    pub async fn model(&self, session: &str) -> anyhow::Result<Option<String>> {
        #[derive(Deserialize)]
        struct State {
            model: Option<String>,
        }
        if SessionId::parse(session).is_none() {
            return Err(Refused(format!("Session not found: {session}")).into());
        }
        let request = self.request(Method::GET, &format!("/api/sessions/{session}/state"));
        Ok(self.call::<State>(request).await?.model)
    }

    /// Lets this model answer from now on. Says whether another did before.
    pub async fn use_model(&self, session: &str, model: &str) -> anyhow::Result<bool> {
        if self.model(session).await?.as_deref() == Some(model) {
            return Ok(false);
        }
        let request = self.request(Method::PATCH, &format!("/api/sessions/{session}"));
        self.call::<Value>(request.json(&json!({"model": model}))).await?;
        Ok(true)
    }

    /// Says it. Safe to repeat with the same key: it is said once.
    pub async fn post(&self, session: &str, prompt: &str, key: &str) -> anyhow::Result<Receipt> {
        let request = self
            .request(Method::POST, &format!("/api/sessions/{session}/messages"))
            .header("Idempotency-Key", key)
            .json(&json!({"prompt": prompt, "queue": true}));
        self.call(request).await
    }

    /// What was used, with so many days one by one.
    pub async fn usage<T: DeserializeOwned>(&self, days: u16) -> anyhow::Result<T> {
        self.call(self.request(Method::GET, &format!("/api/usage?days={days}"))).await
    }

    /// Servers of tools, as they stand.
    pub async fn lenders(&self) -> anyhow::Result<Value> {
        self.call(self.request(Method::GET, "/api/mcp/servers")).await
    }

    /// Tools whose results are shown in widgets.
    pub async fn widgets(&self) -> anyhow::Result<Value> {
        self.call(self.request(Method::GET, "/api/widgets")).await
    }

    /// Whether a turn is running in a session.
    pub async fn is_busy(&self, session: &str) -> anyhow::Result<bool> {
        let request = self.request(Method::GET, &format!("/api/sessions/{session}/state"));
        let state: Value = self.call(request).await?;
        Ok(state["isBusy"] == true)
    }

    /// Has the server take up what config.toml says about servers of tools by now.
    pub async fn reload_lenders(&self) -> anyhow::Result<()> {
        self.call::<Value>(self.request(Method::POST, "/api/mcp/reload")).await.map(drop)
    }

    /// Removes a server of tools that was added while the server ran.
    pub async fn remove_lender(&self, name: &str) -> anyhow::Result<()> {
        let request = self.request(Method::DELETE, &format!("/api/mcp/servers/{name}"));
        self.call::<Value>(request).await.map(drop)
    }

    /// Makes a key for a device; returns it with what belongs to it.
    pub async fn pair(&self, wish: &Value) -> anyhow::Result<Value> {
        self.call(self.request(Method::POST, "/api/keys").json(wish)).await
    }

    /// The devices that were paired, as the server tells it.
    pub async fn devices(&self) -> anyhow::Result<Value> {
        self.call(self.request(Method::GET, "/api/keys")).await
    }

    pub async fn revoke_device(&self, name: &str) -> anyhow::Result<()> {
        let mut url = reqwest::Url::parse(&self.url)?;
        if let Ok(mut path) = url.path_segments_mut() {
            path.extend(["api", "keys", name]);
        }
        let request = self.request(Method::DELETE, url.path());
        self.call::<Value>(request).await.map(drop)
    }

    pub async fn cancel(&self, session: &str) -> anyhow::Result<()> {
        let request = self.request(Method::POST, &format!("/api/sessions/{session}/cancel"));
        self.call::<Value>(request).await.map(drop)
    }

    /// What waits for the person, as the server tells it.
    pub async fn approvals(&self) -> anyhow::Result<Value> {
        self.call(self.request(Method::GET, "/api/approvals")).await
    }

    /// Answers what waits; returns what came of it.
    pub async fn decide(&self, id: &str, body: &Value) -> anyhow::Result<String> {
        #[derive(Deserialize)]
        struct Resolved {
            verdict: String,
        }
        let path = format!("/api/approvals/{}", name(id, "Approval")?);
        let request = self.request_as(PERSON, Method::POST, &path).json(body);
        Ok(self.call::<Resolved>(request).await?.verdict)
    }

    /// What to type elsewhere to answer this.
    pub fn command(&self, asked: &Asked) -> String {
        // A server that runs for us alone is not found otherwise.
        let server = match self.data_dir {
            Some(_) => String::new(),
            None => format!(" --server {}", self.url),
        };
        format!("megaron approvals{server} {} {}", asked.verb(), asked.id)
    }

    /// What is allowed for longer, as the server tells it.
    pub async fn grants(&self) -> anyhow::Result<Value> {
        self.call(self.request(Method::GET, "/api/grants")).await
    }

    pub async fn revoke(&self, id: &str) -> anyhow::Result<()> {
        let path = format!("/api/grants/{}", name(id, "Grant")?);
        self.call::<Value>(self.request(Method::DELETE, &path)).await.map(drop)
    }

    /// Opens an app, or a file in one; returns what came of it.
    pub async fn open_app(&self, wish: &Value) -> anyhow::Result<Value> {
        self.call(self.request(Method::POST, "/api/apps/open").json(wish)).await
    }

    /// Desktops that are connected, or have a key.
    pub async fn desktops(&self) -> anyhow::Result<Value> {
        self.call(self.request(Method::GET, "/api/devices")).await
    }

    /// Makes a key for a new device, or for somebody who watches.
    pub async fn add_device(&self, name: &str, scope: &str) -> anyhow::Result<String> {
        #[derive(Deserialize)]
        struct Made {
            key: String,
        }
        let wish = json!({ "name": name, "scope": scope });
        Ok(self.call::<Made>(self.request(Method::POST, "/api/devices").json(&wish)).await?.key)
    }

    pub async fn forget_device(&self, name: &str) -> anyhow::Result<()> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if name.is_empty() || !name.chars().all(plain) {
            return Err(Refused(format!("Device not found: {name}")).into());
        }
        let request = self.request(Method::DELETE, &format!("/api/devices/{name}"));
        self.call::<Value>(request).await.map(drop)
    }

    pub async fn schedules(&self) -> anyhow::Result<Value> {
        self.call(self.request(Method::GET, "/api/schedule")).await
    }

    /// Sets a schedule going; returns the session it runs in.
    pub async fn run_schedule(&self, slug: &str) -> anyhow::Result<String> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Started {
            session_id: String,
        }
        let path = format!("/api/schedule/{}/run", scheduled(slug)?);
        Ok(self.call::<Started>(self.request(Method::POST, &path)).await?.session_id)
    }

    /// Switches a schedule on or off; returns when it runs next.
    pub async fn enable_schedule(
        &self,
        slug: &str,
        enabled: bool,
    ) -> anyhow::Result<Option<String>> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Changed {
            next_run: Option<String>,
        }
        let path = format!("/api/schedule/{}", scheduled(slug)?);
        let request = self.request(Method::PATCH, &path).json(&json!({ "enabled": enabled }));
        Ok(self.call::<Changed>(request).await?.next_run)
    }

    pub async fn remove_schedule(&self, slug: &str) -> anyhow::Result<()> {
        let path = format!("/api/schedule/{}", scheduled(slug)?);
        self.call::<Value>(self.request(Method::DELETE, &path)).await.map(drop)
    }

    pub async fn connect(&self) -> anyhow::Result<Socket> {
        let url = format!("{}/caco/ws", self.url.replacen("http", "ws", 1));
        let mut request = url.into_client_request().context("the server has a strange address")?;
        let headers = request.headers_mut();
        headers.insert("X-Client-ID", HeaderValue::from_static(CLIENT_ID));
        if let Some(key) = &self.key {
            let mut value = HeaderValue::try_from(format!("Bearer {key}"))?;
            value.set_sensitive(true);
            headers.insert("Authorization", value);
        }
        // In a box: it is large, and everything that may connect would be.
        let connected = Box::pin(connect_async(request));
        let connected = tokio::time::timeout(CONNECTING, connected).await;
        match connected.context("the server does not answer")? {
            Ok((stream, _)) => Ok(Socket { stream }),
            Err(tungstenite::Error::Http(answer)) => {
                let body = answer.body().as_deref().unwrap_or_default();
                Err(refusal(answer.status(), body).into())
            }
            Err(error) => Err(error).context("cannot connect"),
        }
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.request_as(CLIENT_ID, method, path)
    }

    fn request_as(&self, client: &'static str, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.url));
        let request = request.header("X-Client-ID", client).timeout(ANSWERING);
        match &self.key {
            Some(key) => request.bearer_auth(key),
            None => request,
        }
    }

    async fn call<T: DeserializeOwned>(&self, request: RequestBuilder) -> anyhow::Result<T> {
        let answer = request.send().await.context("the server does not answer")?;
        let status = answer.status();
        let body = answer.bytes().await.context("the server's answer was cut short")?;
        if !status.is_success() {
            return Err(refusal(status, &body).into());
        }
        serde_json::from_slice(&body).context("the server's answer is not understood")
    }
}

/// The name of a schedule as it may stand in a path.
fn scheduled(slug: &str) -> anyhow::Result<&str> {
    let plain = kernel::schedule::is_slug(slug);
    plain.then_some(slug).ok_or_else(|| Refused(format!("Schedule not found: {slug}")).into())
}

/// An id as it may stand in a path.
fn name<'a>(id: &'a str, what: &str) -> anyhow::Result<&'a str> {
    uuid::Uuid::try_parse(id).map_err(|_| Refused(format!("{what} not found: {id}")))?;
    Ok(id)
}

/// The words of the server, with what to do where that is known.
fn refusal(status: StatusCode, body: &[u8]) -> Refused {
    #[derive(Deserialize)]
    struct Body {
        error: String,
    }
    let words = serde_json::from_slice(body).map(|body: Body| body.error);
    let words = words.unwrap_or_else(|_| format!("the server answered {status}"));
    match status {
        StatusCode::UNAUTHORIZED => Refused(format!(
            "{words}: the server does not accept the key of this data directory (see `megaron key --help`)"
        )),
        _ => Refused(words),
    }
}

pub struct Socket {
    stream: WebSocketStream<MaybeTlsStream<TcpStream>>,
}

impl Socket {
    pub async fn send(&mut self, request: &Request<'_>) -> anyhow::Result<()> {
        let text = serde_json::to_string(request)?;
        self.stream.send(Message::text(text)).await.context("the connection is lost")
    }

    /// The next event, as it came and as it is understood. Cancel safe.
    pub async fn next_event(&mut self) -> anyhow::Result<(String, EventFrame)> {
        loop {
            match self.next().await? {
                (raw, Frame::Event(event)) => return Ok((raw, event)),
                (_, Frame::Error { error }) => return Err(Refused(error).into()),
                (_, Frame::HistoryComplete { .. } | Frame::Other) => (),
            }
        }
    }

    /// The next frame, as it came and as it is understood. Cancel safe.
    pub async fn next(&mut self) -> anyhow::Result<(String, Frame)> {
        loop {
            let message = tokio::time::timeout(SILENCE, self.stream.next()).await;
            let message = message.context("the server has fallen silent")?;
            match message.context("the server closed the connection")?? {
                Message::Text(text) => {
                    let frame = serde_json::from_str(&text).unwrap_or(Frame::Other);
                    return Ok((text.to_string(), frame));
                }
                Message::Close(_) => anyhow::bail!("the server closed the connection"),
                Message::Binary(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => (),
            }
        }
    }
}

#[cfg(test)]
mod tests;
