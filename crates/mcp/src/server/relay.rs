//! Carries messages between a pipe and the server, in both directions, as they are.

mod letter;
mod line;

use std::{collections::HashMap, io, time::Duration};

use futures::future::BoxFuture;
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader},
    sync::mpsc,
    task::{AbortHandle, JoinSet},
    time::timeout,
};

use self::{
    letter::{Kind, Letter},
    line::{Line, Mail},
};

/// How long answers may take once the client has closed its end.
const FAREWELL: Duration = Duration::from_secs(2);

/// Where the server is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Of the server itself, without a path.
    pub url: String,
    pub key: Option<String>,
}

/// Says where the server is now; asked again when it cannot be reached.
pub type Find = Box<dyn Fn() -> BoxFuture<'static, Result<Place, String>> + Send + Sync>;

/// Returns when the client has closed its end and been told what it still waited for. Nothing but
/// messages is written.
pub async fn relay(
    web: reqwest::Client,
    find: Find,
    input: impl AsyncRead + Send + Unpin,
    output: impl AsyncWrite + Send + Unpin,
) -> io::Result<()> {
    let (mail, letters) = mpsc::channel(64);
    let reading = Relay::new(Line::new(web, find), mail).read(BufReader::new(input));
    // The client may close one end before the other.
    let (read, written) = futures::join!(reading, write(letters, output));
    read.and(written)
}

async fn write(
    mut letters: mpsc::Receiver<Value>,
    mut out: impl AsyncWrite + Unpin,
) -> io::Result<()> {
    while let Some(letter) = letters.recv().await {
        let mut line = letter.to_string();
        line.push('\n');
        out.write_all(line.as_bytes()).await?;
        out.flush().await?;
    }
    Ok(())
}

struct Relay {
    line: Line,
    mail: Mail,
    /// Requests on their way, by their id.
    open: HashMap<String, AbortHandle>,
    carrying: JoinSet<()>,
    /// The stream of what the server has to say unasked.
    listening: Option<AbortHandle>,
    /// Requests that end only when the client does.
    endless: Vec<AbortHandle>,
}

impl Relay {
    fn new(line: Line, mail: Mail) -> Self {
        let (open, carrying) = (HashMap::new(), JoinSet::new());
        Self { line, mail, open, carrying, listening: None, endless: Vec::new() }
    }

    async fn read(mut self, mut input: impl tokio::io::AsyncBufRead + Unpin) -> io::Result<()> {
        let mut text = Vec::new();
        loop {
            text.clear();
            tokio::select! {
                read = input.read_until(b'\n', &mut text) => if read? == 0 { break },
                () = self.mail.closed() => break,
            }
            if text.trim_ascii().is_empty() {
                continue;
            }
            match serde_json::from_slice(&text) {
                // Several at once, as one version of the protocol had it.
                Ok(Value::Array(several)) => {
                    for message in several {
                        self.pass_on(message).await;
                    }
                }
                Ok(message) => self.pass_on(message).await,
                Err(error) => {
                    let fault =
                        letter::fault(&Value::Null, -32700, &format!("Parse error: {error}"));
                    // Whoever does not read does not mind.
                    self.mail.send(fault).await.ok();
                }
            }
        }
        self.leave().await;
        Ok(())
    }

    async fn pass_on(&mut self, message: Value) {
        while self.carrying.try_join_next().is_some() {}
        self.open.retain(|_, task| !task.is_finished());
        self.endless.retain(|task| !task.is_finished());
        let letter = Letter::read(message);
        match &letter.kind {
            // Whoever comes without a connection hangs up to cancel.
            Kind::Cancel { request } if !self.line.is_connected() => {
                if let Some(task) = self.open.remove(request) {
                    task.abort();
                }
            }
            Kind::Request { id } => {
                let (id, connected) = (id.clone(), self.line.is_connected());
                let (sent, taken) = tokio::sync::oneshot::channel();
                let endless = letter.is_endless();
                let carry = self.line.clone().carry(letter, self.mail.clone(), Some(sent));
                let task = self.carrying.spawn(carry);
                if endless {
                    self.endless.push(task.clone());
                }
                self.open.insert(id, task);
                if connected {
                    // Taken first, or a cancellation could overtake it. An error is as good.
                    taken.await.ok();
                }
            }
            Kind::Initialized => {
                self.line.clone().carry(letter, self.mail.clone(), None).await;
                self.listen();
            }
            Kind::Initialize | Kind::Cancel { .. } | Kind::Other => {
                self.line.clone().carry(letter, self.mail.clone(), None).await;
            }
        }
    }

    fn listen(&mut self) {
        if let Some(listening) = self.listening.take() {
            listening.abort();
        }
        let listen = self.line.clone().listen(self.mail.clone());
        self.listening = Some(tokio::spawn(listen).abort_handle());
    }

    async fn leave(mut self) {
        for task in &self.endless {
            task.abort();
        }
        let answered = async { while self.carrying.join_next().await.is_some() {} };
        // Who takes longer is cut off: the client has gone.
        timeout(FAREWELL, answered).await.ok();
        self.carrying.shutdown().await;
        if let Some(listening) = self.listening {
            listening.abort();
        }
        timeout(FAREWELL, self.line.hang_up()).await.ok();
    }
}
