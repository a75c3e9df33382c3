//! The wire between this terminal and a server of the Window Protocol, read as strictly as a phone reads.

use std::{error::Error, sync::Arc, time::Duration};

use anyhow::Context as _;
use futures::{SinkExt as _, StreamExt as _};
use phone::{Event, Row, Status, Telling};
use rustls::{ClientConfig, pki_types::ServerName};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{self, Message},
};

use super::trust;
use crate::wire;

/// As long as the app waits.
const PATIENCE: Duration = Duration::from_secs(10);

pub struct Link {
    http: reqwest::Client,
    url: reqwest::Url,
    pinned: Option<ClientConfig>,
    pub key: String,
}

impl Link {
    pub fn new(url: &str, key: String, fingerprint: Option<&str>) -> anyhow::Result<Self> {
        let url = if url.contains("://") { url.to_owned() } else { format!("http://{url}") };
        let parsed = reqwest::Url::parse(&url).with_context(|| format!("`{url}` is no URL"))?;
        let known = matches!(parsed.scheme(), "http" | "https");
        anyhow::ensure!(known, "`{url}` must begin with http:// or https://");
        let pinned = fingerprint.map(trust::pinned).transpose()?;
        anyhow::ensure!(
            pinned.is_none() || parsed.scheme() == "https",
            "--fingerprint is for a server at https://, not `{url}`"
        );
        let mut http = wire::web().no_proxy().timeout(PATIENCE);
        if let Some(pinned) = &pinned {
            http = http.tls_backend_preconfigured(pinned.clone());
        }
        Ok(Self { http: http.build()?, url: parsed, pinned, key })
    }

    fn at(&self, path: &str) -> String {
        format!("{}{path}", self.url.as_str().trim_end_matches('/'))
    }

    /// The status and the body of an answer.
    pub async fn get(&self, path: &str, key: &str) -> anyhow::Result<(u16, String)> {
        let asked = self.http.get(self.at(path)).bearer_auth(key).send().await;
        let answer = asked.map_err(|error| self.explained(error, "the server does not answer"))?;
        let status = answer.status().as_u16();
        Ok((status, answer.text().await.context("the server's answer was cut short")?))
    }

    /// What went wrong, in words for whoever gave the address.
    fn explained(
        &self,
        error: impl Error + Send + Sync + 'static,
        otherwise: &str,
    ) -> anyhow::Error {
        let mut causes: Option<&(dyn Error + 'static)> = Some(&error);
        while let Some(cause) = causes {
            if trust::is_distrust(cause) {
                return anyhow::Error::new(error).context(self.distrust());
            }
            causes = cause.source();
        }
        anyhow::Error::new(error).context(otherwise.to_owned())
    }

    fn distrust(&self) -> &'static str {
        match self.pinned {
            Some(_) => "this is not the server that was meant",
            None => {
                "this machine does not trust the server's certificate; --fingerprint trusts one \
                 that `megaron pair` tells of"
            }
        }
    }

    pub async fn status(&self) -> anyhow::Result<Status> {
        Ok(phone::status(&self.read("/status").await?)?)
    }

    pub async fn messages(&self, query: &str) -> anyhow::Result<Vec<Row>> {
        Ok(phone::messages(&self.read(&format!("/messages{query}")).await?)?)
    }

    /// The last messages, and where a socket of version 2 goes on.
    pub async fn history(&self) -> anyhow::Result<(Vec<Row>, Option<i64>)> {
        Ok(phone::history(&self.read("/messages?limit=20&v=2").await?)?)
    }

    /// Puts a file that a message will bring; its name there.
    pub async fn attach(&self, name: &str, mime: &str, bytes: Vec<u8>) -> anyhow::Result<String> {
        let mut url = reqwest::Url::parse(&self.at("/window/attachments"))?;
        url.query_pairs_mut().append_pair("name", name);
        let asked = self.http.post(url);
        let asked = asked.bearer_auth(&self.key).header("content-type", mime).body(bytes);
        let answer = asked.send().await.context("the server does not answer")?;
        let status = answer.status().as_u16();
        let body: Value = answer.json().await.unwrap_or_default();
        match body["id"].as_str() {
            Some(id) if status == 201 => Ok(id.to_owned()),
            _ => anyhow::bail!("{}", body["error"].as_str().unwrap_or("the file is not taken")),
        }
    }

    async fn read(&self, path: &str) -> anyhow::Result<String> {
        match self.get(path, &self.key).await? {
            (200, body) => Ok(body),
            (401, _) => anyhow::bail!("the server does not accept this key"),
            (status, _) => anyhow::bail!("{path} is answered with {status}; only 200 counts"),
        }
    }

    /// As a phone of version 1 does.
    pub async fn connect(&self, key: &str) -> anyhow::Result<Socket> {
        self.open(&format!("/ws?token={key}")).await
    }

    /// With version 2 where the server has it, from this place on.
    pub async fn resume(&self, after: Option<i64>) -> anyhow::Result<Socket> {
        let after = after.map(|after| format!("&after_seq={after}")).unwrap_or_default();
        self.open(&format!("/ws?token={}&v=2{after}", self.key)).await
    }

    async fn open(&self, path: &str) -> anyhow::Result<Socket> {
        let connected = tokio::time::timeout(PATIENCE, self.reach(path)).await;
        match connected.context("the server does not answer")?? {
            Ok((stream, _)) => Ok(Socket { stream }),
            Err(tungstenite::Error::Http(answer)) => Err(Shut(answer.status().as_u16()).into()),
            Err(error) => Err(error).context("cannot connect"),
        }
    }

    async fn reach(&self, path: &str) -> anyhow::Result<Handshake> {
        let host = self.url.host_str().context("the URL names no host")?;
        let port = self.url.port_or_known_default().context("the URL names no port")?;
        let plain = TcpStream::connect((host.trim_matches(['[', ']']), port)).await;
        let plain = plain.context("cannot connect")?;
        let url = self.at(path).replacen("http", "ws", 1);
        let stream: Box<dyn Wire> = if self.url.scheme() == "https" {
            let config = match &self.pinned {
                Some(pinned) => pinned.clone(),
                None => trust::known()?,
            };
            let name = ServerName::try_from(host.trim_matches(['[', ']']).to_owned())?;
            let connector = tokio_rustls::TlsConnector::from(Arc::new(config));
            let secured = connector.connect(name, plain).await;
            Box::new(secured.map_err(|error| self.explained(error, "cannot connect"))?)
        } else {
            Box::new(plain)
        };
        Ok(client_async(url, stream).await)
    }
}

/// Whatever bytes come and go by.
pub trait Wire: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Wire for T {}

type Handshake = Result<
    (WebSocketStream<Box<dyn Wire>>, tungstenite::handshake::client::Response),
    tungstenite::Error,
>;

/// The socket was not opened.
#[derive(Debug, thiserror::Error)]
#[error("the socket is refused with {0}")]
pub struct Shut(pub u16);

pub struct Socket {
    stream: WebSocketStream<Box<dyn Wire>>,
}

impl Socket {
    pub async fn send(&mut self, id: &str, content: &str) -> anyhow::Result<()> {
        self.wish(&json!({ "type": "message.send", "id": id, "content": content })).await
    }

    pub async fn wish(&mut self, frame: &Value) -> anyhow::Result<()> {
        let sent = self.stream.send(Message::text(frame.to_string())).await;
        sent.context("the connection is lost")
    }

    /// The next event as version 1 knows it, with the text it came as. Cancel safe.
    pub async fn next(&mut self) -> anyhow::Result<(String, Event)> {
        let text = self.text().await?;
        let event = phone::event(&text).with_context(|| format!("a phone drops {text:.200}"))?;
        Ok((text, event))
    }

    /// The next event of either version. Cancel safe.
    pub async fn telling(&mut self) -> anyhow::Result<Telling> {
        let text = self.text().await?;
        phone::telling(&text).with_context(|| format!("this cannot be read: {text:.200}"))
    }

    async fn text(&mut self) -> anyhow::Result<String> {
        loop {
            let message = self.stream.next().await.context("the server closed the connection")?;
            return Ok(match message.context("the connection is lost")? {
                Message::Text(text) => text.to_string(),
                Message::Binary(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
                Message::Close(frame) => {
                    let why = frame.map(|it| format!(": {} {}", it.code, it.reason));
                    anyhow::bail!("the server closed the connection{}", why.unwrap_or_default())
                }
                Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => continue,
            });
        }
    }
}
