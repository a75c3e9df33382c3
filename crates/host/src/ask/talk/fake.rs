//! A server that follows a script: enough HTTP and WebSocket to be asked something.

use std::sync::{Arc, Mutex};

use futures::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::watch,
};
use tokio_tungstenite::tungstenite::Message;

pub const SESSION: &str = "0190f5fe-7c00-7a00-8000-000000000001";

/// What happens on a socket once somebody has subscribed.
pub enum Step {
    Send(Value),
    /// Goes on when a request whose line contains this has come.
    Await(&'static str),
    Cut,
}

#[derive(Clone)]
pub struct Fake {
    pub url: String,
    heard: watch::Sender<Vec<String>>,
    scripts: Arc<Mutex<Vec<Vec<Step>>>>,
    /// Answer to a message, with its status.
    receipt: (u16, Value),
}

impl Fake {
    /// A server whose first socket follows the first script, and so on.
    pub async fn start(scripts: Vec<Vec<Step>>, receipt: (u16, Value)) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (heard, scripts) = (watch::Sender::new(Vec::new()), Arc::new(Mutex::new(scripts)));
        let fake = Self { url, heard, scripts, receipt };
        let server = fake.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(server.clone().greet(stream));
            }
        });
        fake
    }

    /// Every request and frame that came, in order.
    pub fn heard(&self) -> Vec<String> {
        self.heard.borrow().clone()
    }

    pub async fn has_heard(&self, part: &str) {
        let came = |heard: &Vec<String>| heard.iter().any(|line| line.contains(part));
        self.heard.subscribe().wait_for(came).await.unwrap();
    }

    fn note(&self, line: String) {
        self.heard.send_modify(|heard| heard.push(line));
    }

    async fn greet(self, stream: TcpStream) {
        let mut head = [0; 1024];
        let length = stream.peek(&mut head).await.unwrap();
        if String::from_utf8_lossy(&head[..length]).contains("GET /caco/ws") {
            self.follow_script(stream).await;
        } else {
            self.answer(stream).await;
        }
    }

    async fn answer(self, mut stream: TcpStream) {
        let mut request = String::new();
        let mut buffer = [0; 4096];
        while !is_whole(&request) {
            let length = stream.read(&mut buffer).await.unwrap();
            if length == 0 {
                return;
            }
            request += &String::from_utf8_lossy(&buffer[..length]);
        }
        let line = request.lines().next().unwrap_or_default().to_owned();
        let body = request.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        let (status, reply) = if !request.contains("Bearer mgr_right") {
            (401, json!({"error": "Authentication required", "code": "UNAUTHORIZED"}))
        } else if line.contains("/messages") {
            self.receipt.clone()
        } else {
            (200, json!({"sessionId": SESSION, "model": "demo", "ok": true, "verdict": "allowed"}))
        };
        let reply = reply.to_string();
        let head =
            format!("HTTP/1.1 {status} X\r\nConnection: close\r\nContent-Length: {}", reply.len());
        self.note(format!("{line} {body}"));
        stream.write_all(format!("{head}\r\n\r\n{reply}").as_bytes()).await.unwrap();
    }

    async fn follow_script(self, stream: TcpStream) {
        let mut socket = tokio_tungstenite::accept_async(stream).await.unwrap();
        let steps = self.scripts.lock().unwrap().remove(0);
        while let Some(Ok(Message::Text(text))) = socket.next().await {
            self.note(text.to_string());
            if text.contains("subscribe") {
                break;
            }
            let end = json!({"type": "historyComplete", "sessionId": SESSION, "seq": 3});
            socket.send(Message::text(end.to_string())).await.unwrap();
        }
        for step in steps {
            match step {
                Step::Send(frame) => socket.send(Message::text(frame.to_string())).await.unwrap(),
                Step::Await(line) => self.has_heard(line).await,
                Step::Cut => return,
            }
        }
        std::future::pending::<()>().await;
    }
}

fn is_whole(request: &str) -> bool {
    let Some((head, body)) = request.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("content-length").then(|| value.parse::<usize>().ok())?
    });
    body.len() >= length.unwrap_or(0)
}
