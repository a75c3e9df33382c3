//! How long a piece of text is under way from the model to a socket.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use futures::{StreamExt as _, stream, stream::BoxStream};
use kernel::{
    host::{Host, Settings},
    ports::{Model, ModelError, Piece, Ports},
    prompt::Prompt,
    servers::NoServers,
    toolbox::Toolbox,
    update::{Message, WhenBusy},
};
use tempfile::tempdir;
use testkit::{ManualClock, OneModel, Silence};
use tokio::net::TcpListener;

use crate::{
    client::{Socket, find},
    table::Row,
};

const DELTAS: usize = 3000;

/// Says a word each millisecond and notes when.
#[derive(Clone, Default)]
struct Metronome(Arc<Mutex<Vec<Instant>>>);

impl Model for Metronome {
    fn window(&self) -> u64 {
        1 << 20
    }

    fn stream(&self, _: &Prompt) -> BoxStream<'static, Result<Piece, ModelError>> {
        let said = self.0.clone();
        let words = stream::iter(0..DELTAS).then(move |_| {
            let said = said.clone();
            async move {
                tokio::time::sleep(Duration::from_millis(1)).await;
                said.lock().unwrap_or_else(PoisonError::into_inner).push(Instant::now());
                Ok(Piece::Text("word ".to_owned()))
            }
        });
        words.boxed()
    }
}

pub fn measure() -> anyhow::Result<Vec<Row>> {
    let folder = tempdir()?;
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let mut late = runtime.block_on(listen(folder.path()))?;
    late.sort();
    let at = |share: usize| late[late.len() * share / 1000].as_secs_f64() * 1000.0;
    Ok(vec![
        Row::new("a delta from model to socket, median", at(500), "ms"),
        Row::new("a delta from model to socket, p99", at(990), "ms").at_most(1.0),
    ])
}

async fn listen(folder: &std::path::Path) -> anyhow::Result<Vec<Duration>> {
    let model = Metronome::default();
    let store = Arc::new(store::Store::open(&folder.join("data"))?);
    let ports = Ports {
        log: store.clone(),
        catalog: store.clone(),
        ledger: store.clone(),
        attic: store,
        models: Arc::new(OneModel::new("metronome", Arc::new(model.clone()))),
        agents: Arc::new(kernel::visit::NoAgents),
        tools: Arc::new(Toolbox::default()),
        clock: Arc::new(ManualClock::default()),
        briefing: Arc::new(Silence),
        gallery: Arc::new(kernel::gallery::NoGallery),
        cabinet: Arc::new(kernel::cabinet::NoCabinet),
        web: Arc::new(kernel::web::NoWeb),
        workspace: folder.to_owned(),
    };
    let host = Host::start(ports, Settings::default()).await?;
    let keys = edge::Keys::open(folder.join("key"))?;
    let key = keys.show()?.unwrap_or_default();
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let metrics: edge::Metrics = Arc::new(String::new);
    let edge = edge::Edge::new(
        host.clone(),
        Arc::new(NoServers),
        keys,
        edge::Settings::default(),
        listener,
        metrics,
    )?;
    let address = edge.address().to_string();
    tokio::spawn(edge.serve(std::future::pending()));

    let session = host.create(folder, "metronome", "").await?;
    let mut socket = Socket::open(&address, "/caco/ws", &key).await?;
    let subscribe = serde_json::json!({
        "type": "subscribe", "sessionId": session.to_string(), "after": 0, "deltas": "native",
    });
    socket.send(&subscribe.to_string()).await?;
    host.post(session, Message::from_user("go"), WhenBusy::Refuse).await?;
    let mut heard = Vec::with_capacity(DELTAS);
    while heard.len() < DELTAS {
        if find(socket.next().await?, b"message_delta").is_some() {
            heard.push(Instant::now());
        }
    }
    let said = model.0.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(heard.iter().zip(said.iter()).map(|(heard, said)| heard.duration_since(*said)).collect())
}
