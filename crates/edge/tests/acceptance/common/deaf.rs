//! A phone by hand that never answers a ping, as some networks make of any phone.

use std::{net::SocketAddr, time::Duration};

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

/// Only a fault waits for it, and the runner gives up a little later.
const PATIENCE: Duration = Duration::from_secs(50);

pub struct Deaf(TcpStream);

impl Deaf {
    pub async fn open(address: SocketAddr, path: &str) -> Self {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let lines = [
            &format!("GET {path} HTTP/1.1"),
            &format!("host: {address}"),
            "connection: Upgrade",
            "upgrade: websocket",
            "user-agent: deaf",
            "sec-websocket-version: 13",
            "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
        ];
        stream.write_all(format!("{}\r\n\r\n", lines.join("\r\n")).as_bytes()).await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.unwrap());
        }
        assert!(head.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&head));
        Self(stream)
    }

    /// A short text, masked with nothing.
    pub async fn send(&mut self, frame: &Value) {
        let text = frame.to_string();
        let length = u8::try_from(text.len()).unwrap();
        assert!(length < 126);
        let bytes = [&[0x81, 0x80 | length, 0, 0, 0, 0], text.as_bytes()].concat();
        self.0.write_all(&bytes).await.unwrap();
    }

    /// The next event; pings are read past.
    pub async fn next(&mut self) -> phone::Event {
        loop {
            let (kind, body) = timeout(PATIENCE, self.frame()).await.unwrap();
            if kind == 1 {
                return phone::event(&String::from_utf8(body).unwrap()).unwrap();
            }
        }
    }

    async fn frame(&mut self) -> (u8, Vec<u8>) {
        let kind = self.0.read_u8().await.unwrap() & 0x0f;
        let length = match self.0.read_u8().await.unwrap() {
            126 => usize::from(self.0.read_u16().await.unwrap()),
            127 => usize::try_from(self.0.read_u64().await.unwrap()).unwrap(),
            short => usize::from(short),
        };
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).await.unwrap();
        (kind, body)
    }
}
