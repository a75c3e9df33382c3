//! A client that costs as little as possible, so that what is measured is the server.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
};

use anyhow::{Context as _, ensure};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::server::Server;

/// One request on a connection of its own, and the body that came back.
pub fn request(server: &Server, method: &str, path: &str, body: &str) -> anyhow::Result<Vec<u8>> {
    Http::open(server)?.request(method, path, body)
}

pub fn json(server: &Server, method: &str, path: &str, body: &str) -> anyhow::Result<Value> {
    Ok(serde_json::from_slice(&request(server, method, path, body)?)?)
}

pub fn new_session(server: &Server) -> anyhow::Result<String> {
    let made = json(server, "POST", "/api/sessions", "{}")?;
    Ok(made["sessionId"].as_str().context("no session")?.to_owned())
}

pub fn say(server: &Server, session: &str, prompt: &str) -> anyhow::Result<()> {
    let body = serde_json::json!({ "prompt": prompt }).to_string();
    request(server, "POST", &format!("/api/sessions/{session}/messages"), &body)?;
    Ok(())
}

/// A connection that is kept.
pub struct Http {
    stream: TcpStream,
    address: String,
    key: String,
    /// Kept as well: it is large.
    chunk: Vec<u8>,
}

impl Http {
    pub fn open(server: &Server) -> anyhow::Result<Self> {
        Self::connect(&server.address, &server.key)
    }

    pub fn connect(address: &str, key: &str) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        let (address, key) = (address.to_owned(), key.to_owned());
        Ok(Self { stream, address, key, chunk: vec![0; 256 * 1024] })
    }

    pub fn request(&mut self, method: &str, path: &str, body: &str) -> anyhow::Result<Vec<u8>> {
        let Self { stream, address, key, chunk } = self;
        // In one piece: what is not is a packet for each part.
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {key}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes())?;
        let mut answer = Vec::new();
        loop {
            let read = stream.read(chunk)?;
            ensure!(read > 0, "the server hung up");
            answer.extend_from_slice(&chunk[..read]);
            let Some(end) = find(&answer, b"\r\n\r\n") else { continue };
            let head = String::from_utf8_lossy(&answer[..end]).to_lowercase();
            let length = head.split("content-length: ").nth(1).context("no content-length")?;
            let length: usize = length.split("\r\n").next().unwrap_or_default().parse()?;
            if answer.len() >= end + 4 + length {
                let body = answer.split_off(end + 4);
                ensure!(head.starts_with("http/1.1 200"), "{}", String::from_utf8_lossy(&body));
                return Ok(body);
            }
        }
    }
}

/// A WebSocket that counts frames as they pass.
pub struct Socket {
    stream: tokio::net::TcpStream,
    buffer: Vec<u8>,
    start: usize,
}

impl Socket {
    pub async fn open(address: &str, path: &str, key: &str) -> anyhow::Result<Self> {
        let mut stream = tokio::net::TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let request = format!(
            "GET {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {key}\r\nconnection: \
             Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: \
             dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await?;
        let mut socket = Self { stream, buffer: Vec::new(), start: 0 };
        let end = loop {
            if let Some(end) = find(&socket.buffer, b"\r\n\r\n") {
                break end;
            }
            socket.fill().await?;
        };
        ensure!(socket.buffer.starts_with(b"HTTP/1.1 101"), "no upgrade");
        socket.start = end + 4;
        Ok(socket)
    }

    /// A small text frame, masked with zeros.
    pub async fn send(&mut self, text: &str) -> anyhow::Result<()> {
        let length = u16::try_from(text.len())?.to_be_bytes();
        let head = [0x81, 0x80 | 0x7e, length[0], length[1], 0, 0, 0, 0];
        self.stream.write_all(&[&head, text.as_bytes()].concat()).await?;
        Ok(())
    }

    /// The payload of the next frame.
    pub async fn next(&mut self) -> anyhow::Result<&[u8]> {
        loop {
            if let Some((from, to)) = self.frame() {
                self.start = to;
                return Ok(&self.buffer[from..to]);
            }
            self.fill().await?;
        }
    }

    /// Where the payload of a whole frame begins and ends, if there is one.
    fn frame(&self) -> Option<(usize, usize)> {
        let bytes = &self.buffer[self.start..];
        let (head, length) = match *bytes.get(1)? {
            126 => (4, usize::from(u16::from_be_bytes([*bytes.get(2)?, *bytes.get(3)?]))),
            127 => {
                let length: [u8; 8] = bytes.get(2..10)?.try_into().ok()?;
                (10, usize::try_from(u64::from_be_bytes(length)).ok()?)
            }
            short => (2, usize::from(short)),
        };
        (bytes.len() >= head + length).then_some((self.start + head, self.start + head + length))
    }

    async fn fill(&mut self) -> anyhow::Result<()> {
        self.buffer.drain(..self.start);
        self.start = 0;
        self.buffer.reserve(64 * 1024);
        ensure!(self.stream.read_buf(&mut self.buffer).await? > 0, "the server hung up");
        Ok(())
    }
}

pub fn find(text: &[u8], word: &[u8]) -> Option<usize> {
    text.windows(word.len()).position(|window| window == word)
}
