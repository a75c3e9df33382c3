//! A provider on this machine that says what it is told to, in raw HTTP.

use std::{
    net::SocketAddr,
    sync::{Arc, mpsc as blocking},
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::mpsc,
};

/// What one connection is answered, and what happens then.
#[derive(Clone)]
pub enum Reply {
    /// Says this and closes.
    Whole(String),
    /// Says this and nothing more, for ever.
    Stuck(String),
}

pub struct Server {
    pub address: SocketAddr,
    /// Every request as it came, head and body.
    requests: mpsc::UnboundedReceiver<String>,
    /// A client has closed while it was being kept waiting.
    gone: mpsc::UnboundedReceiver<()>,
}

impl Server {
    /// Answers the first connection with the first reply, and so on; the last one for ever.
    pub async fn start(replies: &[Reply]) -> Self {
        let replies = replies.to_vec();
        Self::answering(move |turn, _| replies[turn.min(replies.len() - 1)].clone()).await
    }

    /// Answers each request, of which it is told how many came before, as it deserves.
    pub async fn answering(reply: impl Fn(usize, &str) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (asked, requests) = mpsc::unbounded_channel();
        let (left, gone) = mpsc::unbounded_channel();
        let reply = Arc::new(reply);
        tokio::spawn(async move {
            for turn in 0.. {
                let (stream, _) = listener.accept().await.unwrap();
                let reply = reply.clone();
                let decide = move |request: &str| reply(turn, request);
                tokio::spawn(answer(stream, decide, asked.clone(), left.clone()));
            }
        });
        Self { address, requests, gone }
    }

    pub async fn request(&mut self) -> String {
        soon(self.requests.recv()).await.unwrap()
    }

    pub fn asked(&mut self) -> usize {
        std::iter::from_fn(|| self.requests.try_recv().ok()).count()
    }

    pub async fn client_leaves(&mut self) {
        soon(self.gone.recv()).await.unwrap();
    }
}

/// A machine may be slow, but not this slow.
pub async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(50), future).await.unwrap()
}

/// As long as this is kept no time passes, however long the machine takes. Afterwards it passes as fast
/// as nothing happens.
pub struct Standstill {
    _hold: blocking::Sender<()>,
}

impl Standstill {
    pub fn begin() -> Self {
        tokio::time::pause();
        let (hold, held) = blocking::channel();
        // Time that is paused is moved on when nobody has anything to do; this one has.
        tokio::task::spawn_blocking(move || held.recv().is_ok());
        Self { _hold: hold }
    }
}

async fn answer(
    mut stream: TcpStream,
    decide: impl Fn(&str) -> Reply,
    asked: mpsc::UnboundedSender<String>,
    left: mpsc::UnboundedSender<()>,
) {
    let Some(request) = read(&mut stream).await else { return };
    let reply = decide(&request);
    // The test may be over.
    let _ = asked.send(request);
    let (Reply::Whole(text) | Reply::Stuck(text)) = &reply;
    // A client that has gone is noticed below.
    let _ = stream.write_all(text.as_bytes()).await;
    if matches!(reply, Reply::Stuck(_)) {
        let mut rest = [0; 64];
        while !matches!(stream.read(&mut rest).await, Ok(0) | Err(_)) {}
        let _ = left.send(());
    }
}

async fn read(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    let mut portion = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
            });
            if body.len() >= length.unwrap_or(0) {
                return Some(text.into_owned());
            }
        }
        match stream.read(&mut portion).await {
            Ok(0) | Err(_) => return None,
            Ok(size) => bytes.extend_from_slice(&portion[..size]),
        }
    }
}

/// A stream of events that ends where the connection does.
pub fn events(data: &[&str]) -> String {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    let events = data.iter().map(|data| format!("data: {data}\n\n"));
    [head.to_owned()].into_iter().chain(events).collect()
}

pub fn response(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
}
