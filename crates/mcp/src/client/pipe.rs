//! Messages to and from a process, a line each. What is no message goes to the server's log.

use std::{
    io,
    sync::{Arc, Mutex, PoisonError},
};

use rmcp::{
    ErrorData, RoleClient,
    model::{JsonRpcMessage, RequestId},
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    process::{ChildStdin, ChildStdout},
};

use super::{lift::lift, logbook::Logbook, process::Process};

pub struct Pipe {
    stdout: BufReader<ChildStdout>,
    stdin: Arc<tokio::sync::Mutex<Option<ChildStdin>>>,
    /// As much as has come of the next message.
    line: Vec<u8>,
    longest: usize,
    process: Process,
    log: Arc<Logbook>,
    end: Ending,
}

/// Why a connection ended, for whoever asks afterwards.
#[derive(Clone, Default)]
pub struct Ending(Arc<Mutex<Option<String>>>);

impl Ending {
    pub fn set(&self, reason: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(reason);
    }

    pub fn take(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

enum Line {
    Whole,
    TooLong,
    End,
}

impl Pipe {
    pub fn new(
        (process, stdin, stdout): (Process, ChildStdin, ChildStdout),
        longest: usize,
        log: Arc<Logbook>,
        end: Ending,
    ) -> Self {
        let stdin = Arc::new(tokio::sync::Mutex::new(Some(stdin)));
        Self { stdout: BufReader::new(stdout), stdin, line: Vec::new(), longest, process, log, end }
    }

    /// Reads on until a line is whole. May be dropped at any point and called again.
    async fn read(&mut self) -> Line {
        loop {
            let Ok(some) = self.stdout.fill_buf().await else { return Line::End };
            if some.is_empty() {
                return Line::End;
            }
            let newline = some.iter().position(|it| *it == b'\n');
            let taken = newline.map_or(some.len(), |at| at + 1);
            if self.line.len() + taken > self.longest {
                return Line::TooLong;
            }
            self.line.extend_from_slice(&some[..taken]);
            self.stdout.consume(taken);
            if newline.is_some() {
                return Line::Whole;
            }
        }
    }

    fn parse(&self) -> Option<RxJsonRpcMessage<RoleClient>> {
        let line = self.line.trim_ascii();
        if line.is_empty() {
            return None;
        }
        let lifted = std::str::from_utf8(line).map(lift);
        let whole = lifted.as_ref().map_or(line, |text| text.as_bytes());
        match serde_json::from_slice(whole) {
            Ok(message) => Some(message),
            Err(error) => {
                let shown = String::from_utf8_lossy(&line[..line.len().min(200)]);
                self.log.note(&format!("not a message ({error}): {shown}"));
                answer_to(line)
            }
        }
    }

    async fn explain(&mut self) {
        let status = self.process.ended().await;
        let status = status.unwrap_or_else(|| "it closed its output".into());
        let said = self.log.last().map(|line| format!("; it last said: {line}"));
        self.end.set(format!("the process ended: {status}{}", said.unwrap_or_default()));
    }
}

/// An answer that makes no sense is an answer all the same: whoever waits for it need not.
fn answer_to(line: &[u8]) -> Option<RxJsonRpcMessage<RoleClient>> {
    let value: Value = serde_json::from_slice(line).ok()?;
    if value.get("method").is_some() {
        return None;
    }
    let id: RequestId = serde_json::from_value(value.get("id")?.clone()).ok()?;
    let error = ErrorData::internal_error("the server sent an answer that makes no sense", None);
    Some(JsonRpcMessage::error(error, Some(id)))
}

impl Transport<RoleClient> for Pipe {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let stdin = self.stdin.clone();
        async move {
            let mut text = serde_json::to_vec(&item)?;
            text.push(b'\n');
            let mut stdin = stdin.lock().await;
            let Some(stdin) = stdin.as_mut() else {
                return Err(io::ErrorKind::NotConnected.into());
            };
            stdin.write_all(&text).await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            match self.read().await {
                Line::Whole => {
                    let message = self.parse();
                    self.line.clear();
                    if message.is_some() {
                        return message;
                    }
                }
                Line::TooLong => {
                    let most = self.longest;
                    self.end.set(format!("it sent a message of more than {most} bytes"));
                    return None;
                }
                Line::End => {
                    self.explain().await;
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        // Held only by who cannot get rid of a message because nobody reads it.
        if let Ok(mut stdin) = self.stdin.try_lock() {
            drop(stdin.take());
        }
        self.process.end().await;
        Ok(())
    }
}
