//! The reference: a page that passes messages between a socket and a frame, and a server that does nothing but count them.

use std::time::Duration;

use anyhow::Context as _;
use axum::{
    Router,
    extract::{
        WebSocketUpgrade,
        ws::{Message, Utf8Bytes, WebSocket},
    },
    response::Html,
    routing::any,
};
use tokio::{
    net::TcpListener,
    sync::{mpsc, oneshot},
    time::timeout,
};

/// How long somebody may take to come.
const PATIENCE: Duration = Duration::from_mins(1);

const PAGE: &str = r#"<!doctype html><title>Bare</title><iframe sandbox="allow-scripts" src="/frame"></iframe><script>
const frame = document.querySelector('iframe');
frame.onload = () => {
  const socket = new WebSocket(`ws://${location.host}/ws`);
  socket.onmessage = ({ data }) => frame.contentWindow.postMessage(JSON.parse(data), '*');
  addEventListener('message', ({ data, source }) => {
    if (source === frame.contentWindow) socket.send(JSON.stringify(data));
  });
};
</script>"#;

const FRAME: &str = r"<!doctype html><title>Frame</title><script>
addEventListener('message', ({ data: { requestId } }) =>
  parent.postMessage({ requestId, data: { always: 0, last: 0, never: 0, runs: 0 } }, '*'));
</script>";

type Asked = (String, oneshot::Sender<Utf8Bytes>);

pub struct Bare {
    pub address: String,
    sockets: mpsc::Receiver<WebSocket>,
    asking: Option<mpsc::Sender<Asked>>,
    count: u64,
}

impl Bare {
    pub async fn start() -> anyhow::Result<Self> {
        let (came, sockets) = mpsc::channel(1);
        let join = move |upgrade: WebSocketUpgrade| {
            let came = came.clone();
            async move {
                upgrade.on_upgrade(async move |socket| {
                    // Nobody waits for it once the measurement is over.
                    came.send(socket).await.ok();
                })
            }
        };
        let routes = Router::new()
            .route("/", any(async || Html(PAGE)))
            .route("/frame", any(async || Html(FRAME)))
            .route("/ws", any(join));
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?.to_string();
        tokio::spawn(async { axum::serve(listener, routes).await });
        Ok(Self { address, sockets, asking: None, count: 0 })
    }

    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Waits until somebody is there who can be asked.
    pub async fn joined(&mut self) -> anyhow::Result<()> {
        let socket = timeout(PATIENCE, self.sockets.recv()).await?.context("nobody came")?;
        let (asking, asked) = mpsc::channel(1);
        self.asking = Some(asking);
        tokio::spawn(pass(socket, asked));
        Ok(())
    }

    pub async fn ask(&mut self) -> anyhow::Result<Utf8Bytes> {
        self.count += 1;
        let request = format!(
            r#"{{"type":"APP_PROTOCOL_REQUEST","requestId":"req-{:032x}","windowId":"dock","request":{{"kind":"query","stateKey":"n"}}}}"#,
            self.count
        );
        let (reply, answer) = oneshot::channel();
        let asking = self.asking.as_ref().context("nobody is there")?;
        asking.send((request, reply)).await?;
        Ok(answer.await?)
    }
}

async fn pass(mut socket: WebSocket, mut asked: mpsc::Receiver<Asked>) {
    while let Some((request, reply)) = asked.recv().await {
        if socket.send(Message::Text(request.into())).await.is_err() {
            return;
        }
        let Some(Ok(Message::Text(text))) = socket.recv().await else { return };
        // Whoever asked waits.
        reply.send(text).ok();
    }
}
