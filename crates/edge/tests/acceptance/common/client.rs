//! HTTP by hand, so that a test can send what a proper client would not.

use std::{net::SocketAddr, time::Duration};

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

/// Only a fault waits for it, and the runner gives up a little later.
const PATIENCE: Duration = Duration::from_secs(50);

/// A request. Without a `Host` of its own it names the address it goes to.
#[derive(Clone)]
pub struct Ask {
    address: SocketAddr,
    target: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Ask {
    pub fn new(address: SocketAddr, method: &str, path: &str) -> Self {
        let target = format!("{method} {path} HTTP/1.1");
        Self { address, target, headers: Vec::new(), body: Vec::new() }
    }

    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    #[must_use]
    pub fn json(self, body: &Value) -> Self {
        self.body("application/json", body.to_string())
    }

    #[must_use]
    pub fn body(mut self, kind: &str, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self.header("content-type", kind)
    }

    pub async fn send(self) -> Reply {
        let Self { address, target, headers, body } = self;
        let mut lines = vec![target.clone(), "connection: close".to_owned()];
        let named = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host"));
        if !named {
            lines.push(format!("host: {address}"));
        }
        let empty = body.is_empty() && target.starts_with("GET");
        if !empty {
            lines.push(format!("content-length: {}", body.len()));
        }
        lines.extend(headers.iter().map(|(name, value)| format!("{name}: {value}")));
        let bytes = [lines.join("\r\n").as_bytes(), b"\r\n\r\n", &body].concat();
        Reply::parse(&exchange(address, &bytes).await)
    }
}

/// Sends these bytes, whatever they are, and returns all that comes back.
pub async fn exchange(address: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let (mut reader, mut writer) = TcpStream::connect(address).await.unwrap().into_split();
    let mut answer = Vec::new();
    // Who is refused may be cut off while still speaking; the answer is what counts.
    let write = async {
        writer.write_all(bytes).await.ok();
        // Not closed for writing yet: a server may take that for leaving.
        writer
    };
    let both = futures::future::join(write, reader.read_to_end(&mut answer));
    let (_, read) = timeout(PATIENCE, both).await.unwrap();
    read.ok();
    answer
}

impl Reply {
    pub fn parse(answer: &[u8]) -> Self {
        let shown = || String::from_utf8_lossy(answer).into_owned();
        let end = answer.windows(4).position(|it| it == b"\r\n\r\n");
        let end = end.unwrap_or_else(|| panic!("no answer: {:?}", shown()));
        let head = String::from_utf8(answer[..end].to_vec()).unwrap();
        let mut lines = head.split("\r\n");
        let status = lines.next().and_then(|it| it.split(' ').nth(1)?.parse().ok());
        let pair = |line: &str| {
            let (name, value) = line.split_once(": ")?;
            Some((name.to_ascii_lowercase(), value.to_owned()))
        };
        let headers = lines.filter_map(pair).collect();
        Self { status: status.unwrap(), headers, body: answer[end + 4..].to_vec() }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The status and the body, which must be JSON and say so.
    pub fn json(&self) -> (u16, Value) {
        let kind = self.header("content-type");
        assert_eq!(kind, Some("application/json; charset=utf-8"), "{}", self.text());
        (self.status, serde_json::from_slice(&self.body).unwrap())
    }
}
