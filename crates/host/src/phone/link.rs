//! The wire between this terminal and a server of the Window Protocol, read as strictly as a phone reads.

use std::time::Duration;

use anyhow::Context as _;
use futures::{SinkExt as _, StreamExt as _};
use phone::{Event, Row, Status};
use serde_json::json;
use tokio::net::TcpStream;
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream, connect_async,
    tungstenite::{self, Message},
};

use crate::wire;

/// As long as the app waits.
const PATIENCE: Duration = Duration::from_secs(10);

pub struct Link {
    http: reqwest::Client,
    url: String,
    pub key: String,
}

impl Link {
    pub fn new(url: &str, key: String) -> anyhow::Result<Self> {
        let url = if url.contains("://") { url.to_owned() } else { format!("http://{url}") };
        let parsed = reqwest::Url::parse(&url).with_context(|| format!("`{url}` is no URL"))?;
        let known = matches!(parsed.scheme(), "http" | "https");
        anyhow::ensure!(known, "`{url}` must begin with http:// or https://");
        let http = wire::web().no_proxy().timeout(PATIENCE).build()?;
        Ok(Self { http, url: url.trim_end_matches('/').to_owned(), key })
    }

    /// The status and the body of an answer.
    pub async fn get(&self, path: &str, key: &str) -> anyhow::Result<(u16, String)> {
        let asked = self.http.get(format!("{}{path}", self.url)).bearer_auth(key).send().await;
        let answer = asked.context("the server does not answer")?;
        let status = answer.status().as_u16();
        Ok((status, answer.text().await.context("the server's answer was cut short")?))
    }

    pub async fn status(&self) -> anyhow::Result<Status> {
        Ok(phone::status(&self.read("/status").await?)?)
    }

    pub async fn messages(&self, query: &str) -> anyhow::Result<Vec<Row>> {
        Ok(phone::messages(&self.read(&format!("/messages{query}")).await?)?)
    }

    async fn read(&self, path: &str) -> anyhow::Result<String> {
        match self.get(path, &self.key).await? {
            (200, body) => Ok(body),
            (401, _) => anyhow::bail!("the server does not accept this key"),
            (status, _) => anyhow::bail!("{path} is answered with {status}; only 200 counts"),
        }
    }

    pub async fn connect(&self, key: &str) -> anyhow::Result<Socket> {
        let url = format!("{}/ws?token={key}", self.url.replacen("http", "ws", 1));
        let connected = tokio::time::timeout(PATIENCE, connect_async(url)).await;
        match connected.context("the server does not answer")? {
            Ok((stream, _)) => Ok(Socket { stream }),
            Err(tungstenite::Error::Http(answer)) => Err(Shut(answer.status().as_u16()).into()),
            Err(error) => Err(error).context("cannot connect"),
        }
    }
}

/// The socket was not opened.
#[derive(Debug, thiserror::Error)]
#[error("the socket is refused with {0}")]
pub struct Shut(pub u16);

pub struct Socket {
    stream: WebSocketStream<MaybeTlsStream<TcpStream>>,
}

impl Socket {
    pub async fn send(&mut self, id: &str, content: &str) -> anyhow::Result<()> {
        let frame = json!({ "type": "message.send", "id": id, "content": content });
        let sent = self.stream.send(Message::text(frame.to_string())).await;
        sent.context("the connection is lost")
    }

    /// The next event, with the text it came as. Cancel safe.
    pub async fn next(&mut self) -> anyhow::Result<(String, Event)> {
        loop {
            let message = self.stream.next().await.context("the server closed the connection")?;
            let text = match message.context("the connection is lost")? {
                Message::Text(text) => text.to_string(),
                Message::Binary(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
                Message::Close(frame) => {
                    let why = frame.map(|it| format!(": {} {}", it.code, it.reason));
                    anyhow::bail!("the server closed the connection{}", why.unwrap_or_default())
                }
                Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => continue,
            };
            let event =
                phone::event(&text).with_context(|| format!("a phone drops {text:.200}"))?;
            return Ok((text, event));
        }
    }
}
