//! A model that says what the test has written down for it, one answer for each time it is asked.

use std::{
    collections::VecDeque,
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex, mpsc},
    thread,
};

use serde_json::{Value, json};

use crate::server::Home;

/// Shared with the server that plays it, which ends with the test.
#[derive(Clone, Default)]
pub struct Script(Arc<Mutex<Parts>>);

#[derive(Default)]
struct Parts {
    next: VecDeque<Answer>,
    heard: Vec<Value>,
}

/// What it says when it is asked.
struct Answer {
    chunks: Vec<Value>,
    /// What it waits for after the first of these.
    pause: Option<mpsc::Receiver<()>>,
}

impl Script {
    /// Plays it on a port of its own, and makes it the model of the house.
    pub fn play(home: &Home, more: &str) -> Self {
        let script = Self::default();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        home.configure(&format!(
            "default_model = \"local/m\"\n[providers.local]\nkind = \"openai-chat\"\n\
             base_url = \"http://{}/v1\"\nmodels = [\"m\"]\n[models]\nattempts = 1\n{more}",
            listener.local_addr().unwrap()
        ));
        let player = script.clone();
        // Ends with the test.
        thread::spawn(move || {
            for guest in listener.incoming().flatten() {
                let player = player.clone();
                thread::spawn(move || player.serve(guest));
            }
        });
        script
    }

    pub fn calls(&self, id: &str, tool: &str, args: &Value) {
        let function = json!({ "name": tool, "arguments": args.to_string() });
        let call = json!({ "index": 0, "id": id, "type": "function", "function": function });
        self.add(&json!({ "tool_calls": [call] }), "tool_calls");
    }

    pub fn says(&self, text: &str) {
        self.add(&json!({ "content": text }), "stop");
    }

    /// Says the first of these, and the other once what is given back is dropped.
    pub fn pauses_between(&self, text: &str, more: &str) -> mpsc::Sender<()> {
        let (held, pause) = mpsc::channel();
        let first = chunk(&json!({ "content": text }), &Value::Null);
        let rest = chunk(&json!({ "content": more }), &json!("stop"));
        self.answers(Answer { chunks: vec![first, rest], pause: Some(pause) });
        held
    }

    fn add(&self, delta: &Value, reason: &str) {
        self.answers(Answer { chunks: vec![chunk(delta, &json!(reason))], pause: None });
    }

    fn answers(&self, answer: Answer) {
        self.0.lock().unwrap().next.push_back(answer);
    }

    /// How often it was asked.
    pub fn asked(&self) -> usize {
        self.0.lock().unwrap().heard.len()
    }

    /// All that it was ever sent.
    pub fn heard(&self) -> String {
        Value::from(self.0.lock().unwrap().heard.clone()).to_string()
    }

    /// What it was told last.
    pub fn told(&self) -> String {
        let parts = self.0.lock().unwrap();
        let messages = parts.heard.last().unwrap()["messages"].as_array().unwrap();
        messages.last().unwrap()["content"].to_string()
    }

    /// Answers one request and hangs up.
    fn serve(&self, mut guest: TcpStream) {
        let Some(body) = request(&guest) else { return };
        let answer = {
            let mut parts = self.0.lock().unwrap();
            parts.heard.push(body);
            parts.next.pop_front()
        };
        // Whoever asked may have been killed.
        match answer {
            Some(answer) => answer.tell(&mut guest).ok(),
            None => guest.write_all(AT_ITS_END.as_bytes()).ok(),
        };
    }
}

const AT_ITS_END: &str =
    "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\nthe script is at its end";

impl Answer {
    /// It is over when the connection is.
    fn tell(&self, guest: &mut TcpStream) -> io::Result<()> {
        let head = "Content-Type: text/event-stream\r\nConnection: close";
        guest.write_all(format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n").as_bytes())?;
        for (number, chunk) in self.chunks.iter().enumerate() {
            if let Some(pause) = self.pause.as_ref().filter(|_| number > 0) {
                // Nothing is ever sent: it ends when whoever holds the other end lets go.
                pause.recv().ok();
            }
            guest.write_all(format!("data: {chunk}\n\n").as_bytes())?;
        }
        guest.write_all(b"data: [DONE]\n\n")
    }
}

fn chunk(delta: &Value, reason: &Value) -> Value {
    json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": reason }] })
}

/// What was asked, if it was asked to the end.
fn request(guest: &TcpStream) -> Option<Value> {
    let mut reader = BufReader::new(guest);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}
