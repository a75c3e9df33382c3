//! JSON-RPC with a stranger, one message a line. Whatever is sent, little of it is held at once.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::{
    io::{
        AsyncBufRead, AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader,
    },
    sync::mpsc,
    task::JoinSet,
    time::timeout,
};

/// How long one message may be, in bytes.
pub const LONGEST: usize = 8 * 1024 * 1024;
/// How many lines in a row may be something else.
const NOISE: usize = 1000;
/// How many messages may wait to be looked at, and to be written.
const WAITING: usize = 4;
/// How long the other side may take to read.
const PATIENCE: Duration = Duration::from_secs(30);

/// What is wrong, in numbers.
pub mod code {
    pub const METHOD_NOT_FOUND: i64 = -32601;
    pub const INVALID_PARAMS: i64 = -32602;
    pub const INTERNAL: i64 = -32603;
    pub const SIGN_IN: i64 = -32000;
}

#[derive(Clone, Debug, PartialEq)]
pub enum Heard {
    Request { id: Value, method: String, params: Value },
    Told { method: String, params: Value },
    Answer { id: u64, result: Result<Value, Fault> },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    pub code: i64,
    #[serde(default)]
    pub message: String,
}

/// Why nothing more can be heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    Closed,
    /// A message was too long.
    Flood,
    /// Too much was no message at all.
    Noise,
    /// It does not read what it is sent.
    Deaf,
}

pub struct Line {
    heard: mpsc::Receiver<Result<Heard, Broken>>,
    said: mpsc::Sender<String>,
    _work: JoinSet<()>,
}

impl Line {
    pub fn new(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        let (hears, heard) = mpsc::channel(WAITING);
        let (said, says) = mpsc::channel(WAITING);
        let mut work = JoinSet::new();
        work.spawn(read(BufReader::new(reader), hears));
        work.spawn(write(writer, says));
        Self { heard, said, _work: work }
    }

    /// Losing interest in between loses nothing.
    pub async fn hear(&mut self) -> Result<Heard, Broken> {
        self.heard.recv().await.unwrap_or(Err(Broken::Closed))
    }

    pub async fn ask(&self, id: u64, method: &str, params: Value) -> Result<(), Broken> {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.say(&message).await
    }

    pub async fn tell(&self, method: &str, params: Value) -> Result<(), Broken> {
        self.say(&json!({ "jsonrpc": "2.0", "method": method, "params": params })).await
    }

    pub async fn answer(&self, id: Value, result: Result<Value, Fault>) -> Result<(), Broken> {
        let message = match result {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Err(fault) => json!({ "jsonrpc": "2.0", "id": id, "error": fault }),
        };
        self.say(&message).await
    }

    async fn say(&self, message: &Value) -> Result<(), Broken> {
        match timeout(PATIENCE, self.said.send(message.to_string())).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(Broken::Closed),
            Err(_) => Err(Broken::Deaf),
        }
    }
}

async fn write(mut writer: impl AsyncWrite + Unpin, mut says: mpsc::Receiver<String>) {
    while let Some(mut line) = says.recv().await {
        line.push('\n');
        let written = async {
            writer.write_all(line.as_bytes()).await?;
            writer.flush().await
        };
        if written.await.is_err() {
            return;
        }
    }
}

async fn read(mut reader: impl AsyncBufRead + Unpin, hears: mpsc::Sender<Result<Heard, Broken>>) {
    let mut noise = 0;
    let broken = loop {
        let line = match next_line(&mut reader).await {
            Ok(line) => line,
            Err(broken) => break broken,
        };
        match understand(&line) {
            Some(heard) => {
                noise = 0;
                if hears.send(Ok(heard)).await.is_err() {
                    return;
                }
            }
            None if line.iter().all(u8::is_ascii_whitespace) => (),
            None => noise += 1,
        }
        if noise > NOISE {
            break Broken::Noise;
        }
    };
    // Nobody may be there to hear it.
    hears.send(Err(broken)).await.ok();
}

async fn next_line(reader: &mut (impl AsyncBufRead + Unpin)) -> Result<Vec<u8>, Broken> {
    let mut line = Vec::new();
    loop {
        let read = reader.fill_buf().await.map_err(|_| Broken::Closed)?;
        if read.is_empty() {
            return Err(Broken::Closed);
        }
        let end = read.iter().position(|byte| *byte == b'\n');
        let size = end.unwrap_or(read.len());
        if line.len() + size > LONGEST {
            return Err(Broken::Flood);
        }
        line.extend_from_slice(read.get(..size).unwrap_or_default());
        reader.consume(end.map_or(size, |end| end + 1));
        if end.is_some() {
            return Ok(line);
        }
    }
}

fn understand(line: &[u8]) -> Option<Heard> {
    #[derive(Deserialize)]
    struct Message {
        id: Option<Value>,
        method: Option<String>,
        #[serde(default)]
        params: Value,
        result: Option<Value>,
        error: Option<Fault>,
    }
    let Message { id, method, params, result, error } = serde_json::from_slice(line).ok()?;
    match (method, id) {
        (Some(method), Some(id)) => Some(Heard::Request { id, method, params }),
        (Some(method), None) => Some(Heard::Told { method, params }),
        (None, Some(id)) => {
            let result = error.map_or(Ok(result.unwrap_or_default()), Err);
            Some(Heard::Answer { id: id.as_u64()?, result })
        }
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn hear_all(sent: &[u8]) -> Vec<Result<Heard, Broken>> {
        let (near, mut far) = tokio::io::duplex(64);
        let (reader, writer) = tokio::io::split(near);
        let mut line = Line::new(reader, writer);
        let sent = sent.to_owned();
        tokio::spawn(async move { far.write_all(&sent).await });
        let mut all = Vec::new();
        loop {
            all.push(line.hear().await);
            if all.last().is_some_and(Result::is_err) {
                return all;
            }
        }
    }

    #[tokio::test]
    async fn messages_are_told_from_noise() {
        let sent = b"Welcome!\n\n{\"id\":1,\"result\":{}}\r\n[1]\n{\"method\":\"m\"}\n\
            {\"id\":\"x\",\"method\":\"n\",\"params\":[1]}\n\xff\xfe\n\
            {\"id\":2,\"error\":{\"code\":-1,\"message\":\"no\"}}\n{\"id\":3,\"resu";
        let fault = Fault { code: -1, message: "no".into() };
        let expected = [
            Ok(Heard::Answer { id: 1, result: Ok(json!({})) }),
            Ok(Heard::Told { method: "m".into(), params: Value::Null }),
            Ok(Heard::Request { id: "x".into(), method: "n".into(), params: json!([1]) }),
            Ok(Heard::Answer { id: 2, result: Err(fault) }),
            Err(Broken::Closed),
        ];
        assert_eq!(hear_all(sent).await, expected);
    }

    #[tokio::test]
    async fn neither_floods_nor_noise_are_listened_to_for_ever() {
        assert_eq!(hear_all(&vec![b'x'; LONGEST + 1]).await, [Err(Broken::Flood)]);
        assert_eq!(hear_all(&b"noise\n".repeat(NOISE + 1)).await, [Err(Broken::Noise)]);
    }

    #[tokio::test(start_paused = true)]
    async fn who_does_not_read_is_given_up() {
        let (near, _far) = tokio::io::duplex(8);
        let (reader, writer) = tokio::io::split(near);
        let line = Line::new(reader, writer);
        let mut told = Ok(());
        while told.is_ok() {
            told = line.tell("hello", Value::Null).await;
        }
        assert_eq!(told, Err(Broken::Deaf));
    }
}
