//! `megaron mcp`: a client's pipe to the running server, or to one that lives as long as the client.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use anyhow::Context as _;
use futures::FutureExt as _;
use tokio::sync::Mutex;

use crate::{
    ask,
    cli::{LogFormat, McpArgs},
    config,
    hall::Hall,
    logs, place,
    stops::Stops,
    wire::{self, Place},
};

const CONNECTING: Duration = Duration::from_secs(5);
/// How often and after what pauses a server is looked for that somebody else is just starting.
const LOOKS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(100);

pub async fn run(args: McpArgs) -> anyhow::Result<ExitCode> {
    logs::begin(LogFormat::Text, "warn,rmcp=error")?;
    let mut stops = Stops::listen().context("cannot listen for signals")?;
    let data_dir = config::data_dir(&args.home)?;
    let house = Arc::new(House { data_dir, workspace: args.workspace, own: Mutex::default() });
    let web = wire::web().no_proxy().connect_timeout(CONNECTING).build()?;
    let looking = house.clone();
    let find = Box::new(move || {
        let house = looking.clone();
        async move { house.find().await.map_err(|error| format!("{error:#}")) }.boxed()
    });
    let relayed = tokio::select! {
        relayed = wire::relay(web, find, tokio::io::stdin(), tokio::io::stdout()) => relayed,
        () = stops.next() => Ok(()),
    };
    if let Some(Own { hall, note }) = house.own.lock().await.take() {
        // Those who come now should not be sent here.
        drop(note);
        tokio::select! {
            () = hall.close() => (),
            () = stops.next() => (),
        }
    }
    relayed.context("the client cannot be spoken to")?;
    Ok(ExitCode::SUCCESS)
}

struct House {
    data_dir: PathBuf,
    workspace: PathBuf,
    own: Mutex<Option<Own>>,
}

/// A server in this process, which others may use too.
struct Own {
    hall: Hall,
    note: place::Posted,
}

impl House {
    /// Where a server is, started here if need be.
    async fn find(&self) -> anyhow::Result<Place> {
        let mut own = self.own.lock().await;
        if let Some(Own { hall, .. }) = &*own {
            return self.place(format!("http://{}", hall.addr));
        }
        for look in 0.. {
            if let Some(client) = ask::running(&self.data_dir).await? {
                return self.place(client.url().to_owned());
            }
            match start(&self.data_dir, &self.workspace).await {
                Ok(started) => {
                    let url = format!("http://{}", started.hall.addr);
                    *own = Some(started);
                    return self.place(url);
                }
                // Another client may have started one at the same time.
                Err(_) if look < LOOKS => tokio::time::sleep(PAUSE).await,
                Err(error) => return Err(error),
            }
        }
        anyhow::bail!("no server was found")
    }

    fn place(&self, url: String) -> anyhow::Result<Place> {
        Ok(Place { url, key: ask::key(&self.data_dir)? })
    }
}

async fn start(data_dir: &Path, workspace: &Path) -> anyhow::Result<Own> {
    let hall = Hall::open(ask::own(data_dir.to_owned(), workspace).await?);
    let note = place::post(data_dir, hall.addr)?;
    Ok(Own { hall, note })
}
