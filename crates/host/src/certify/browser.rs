//! A Chromium that nobody sees, asked over its debugging socket: one tab, whose every page comes from here.

use std::{collections::VecDeque, path::PathBuf, process::Stdio, time::Duration};

use anyhow::Context as _;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use futures::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    net::TcpStream,
    process::{Child, Command},
    time::timeout,
};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async, tungstenite::Message};

/// Where the pages are said to be; no name server is ever asked.
pub const ORIGIN: &str = "http://certify.localhost";
const PATIENCE: Duration = Duration::from_secs(30);
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

pub struct Browser {
    child: Child,
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    /// The tab.
    session: Option<String>,
    asked: u64,
    /// Heard while something else was waited for.
    heard: VecDeque<Value>,
    _profile: TempDir,
}

impl Browser {
    pub async fn start() -> anyhow::Result<Self> {
        let path = found().context("Chromium is not there; CHROMIUM_BIN names one")?;
        let profile = tempfile::tempdir().context("there is no place for its files")?;
        let mut command = Command::new(&path);
        command
            .args(["--headless", "--remote-debugging-port=0", "--disable-gpu", "--no-first-run"])
            .args(["--disable-background-networking", "--disable-component-update"])
            // In one process the tab tells of its frames too.
            .args(["--disable-features=IsolateSandboxedIframes", "--disable-site-isolation-trials"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank");
        if rustix::process::getuid().is_root() {
            command.arg("--no-sandbox");
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let child = command.kill_on_drop(true).spawn();
        let child = child.with_context(|| path.display().to_string())?;
        Self::join(child, profile).await
    }

    async fn join(mut child: Child, profile: TempDir) -> anyhow::Result<Self> {
        let errors = child.stderr.take().context("it says nothing")?;
        let mut lines = BufReader::new(errors).lines();
        let address = async {
            while let Some(line) = lines.next_line().await? {
                if let Some(address) = line.strip_prefix("DevTools listening on ") {
                    return Ok(address.to_owned());
                }
            }
            anyhow::bail!("it ended at once")
        };
        let address = timeout(PATIENCE, address).await.context("it did not begin in time")??;
        // It would stop if nobody read what else it complains of.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        let (socket, _) = timeout(PATIENCE, connect_async(address)).await??;
        let heard = VecDeque::new();
        Ok(Self { child, socket, session: None, asked: 0, heard, _profile: profile })
    }

    /// Begins a new tab, which runs this script in every document; its word is heard by `certify`.
    pub async fn open(&mut self, script: &str) -> anyhow::Result<()> {
        if let Some(session) = self.session.take() {
            self.ask("Target.detachFromTarget", json!({ "sessionId": session })).await?;
        }
        self.heard.clear();
        let made = self.ask("Target.createTarget", json!({ "url": "about:blank" })).await?;
        let wish = json!({ "targetId": made["targetId"], "flatten": true });
        let joined = self.ask("Target.attachToTarget", wish).await?;
        self.session = joined["sessionId"].as_str().map(str::to_owned);
        self.ask("Page.enable", json!({})).await?;
        self.ask("Runtime.enable", json!({})).await?;
        self.ask("Runtime.addBinding", json!({ "name": "certify" })).await?;
        let patterns = json!([{ "urlPattern": format!("{ORIGIN}/*") }]);
        self.ask("Fetch.enable", json!({ "patterns": patterns })).await?;
        let script = json!({ "source": script });
        self.ask("Page.addScriptToEvaluateOnNewDocument", script).await?;
        // Answered only once its pages are, which are asked of us.
        self.tell("Page.navigate", json!({ "url": format!("{ORIGIN}/") })).await
    }

    /// Answers a request for a page.
    pub async fn serve(
        &mut self,
        request: &Value,
        page: Option<(&str, &str)>,
    ) -> anyhow::Result<()> {
        let (code, (html, policy)) = page.map_or((404, ("", "")), |page| (200, page));
        let mut headers =
            vec![json!({ "name": "content-type", "value": "text/html; charset=utf-8" })];
        if !policy.is_empty() {
            headers.push(json!({ "name": "content-security-policy", "value": policy }));
        }
        let wish = json!({
            "requestId": request["requestId"],
            "responseCode": code,
            "responseHeaders": headers,
            "body": BASE64_STANDARD.encode(html),
        });
        self.tell("Fetch.fulfillRequest", wish).await
    }

    pub async fn tell(&mut self, method: &str, params: Value) -> anyhow::Result<()> {
        self.asked += 1;
        let mut message = json!({ "id": self.asked, "method": method, "params": params });
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        self.socket.send(Message::text(message.to_string())).await.context("the browser is gone")
    }

    pub async fn ask(&mut self, method: &str, params: Value) -> anyhow::Result<Value> {
        self.tell(method, params).await?;
        let id = self.asked;
        let answer = async {
            loop {
                let mut message = self.read().await?;
                if message["id"] == id {
                    let error = message["error"]["message"].as_str();
                    anyhow::ensure!(error.is_none(), "{method}: {}", error.unwrap_or_default());
                    return Ok(message["result"].take());
                }
                self.heard.push_back(message);
            }
        };
        timeout(PATIENCE, answer).await.with_context(|| format!("{method}: no answer"))?
    }

    /// The next thing that happened. Cancel safe.
    pub async fn event(&mut self) -> anyhow::Result<Value> {
        match self.heard.pop_front() {
            Some(event) => Ok(event),
            None => self.read().await,
        }
    }

    async fn read(&mut self) -> anyhow::Result<Value> {
        loop {
            match self.socket.next().await.context("the browser is gone")?? {
                Message::Text(text) => return Ok(serde_json::from_str(&text)?),
                Message::Close(_) => anyhow::bail!("the browser is gone"),
                _ => (),
            }
        }
    }

    pub async fn close(mut self) {
        self.session = None;
        // Whoever does not go when asked is ended.
        self.tell("Browser.close", json!({})).await.ok();
        if timeout(Duration::from_secs(5), self.child.wait()).await.is_err() {
            self.child.kill().await.ok();
        }
    }
}

fn found() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("CHROMIUM_BIN").filter(|name| !name.is_empty()) {
        return Some(named.into());
    }
    let folders = std::env::var_os("PATH")?;
    let all =
        std::env::split_paths(&folders).flat_map(|folder| NAMES.map(|name| folder.join(name)));
    all.into_iter().find(|path| path.is_file())
}
