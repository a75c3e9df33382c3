//! `megaron ask`: asks one thing, from the running server or from one that lives as long as the answer.

pub mod client;
mod frames;
mod reader;
mod screen;
mod talk;

use std::{
    io::{self, IsTerminal as _, Read as _},
    net::Ipv4Addr,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use anyhow::Context as _;
use tokio::net::TcpListener;

use self::{
    client::{Client, Refused},
    reader::End,
    screen::Screen,
    talk::{Talk, Wish},
};
use crate::{
    cli::{AskArgs, LogFormat},
    config::{self, Config},
    hall::Hall,
    logs, place,
    stops::Stops,
    wire::{self, Plan, Rooms},
};

const FAILED: u8 = 1;
const USAGE: u8 = 2;
const UNREACHABLE: u8 = 3;
const CANCELLED: u8 = 130;

/// How long servers of tools may take to be of use to a question.
const GATHERING: Duration = Duration::from_secs(10);
/// How long a server of our own may take to end; by then its one turn is over, or nobody waits.
const DRAIN: Duration = Duration::from_millis(200);

pub async fn run(args: AskArgs) -> anyhow::Result<ExitCode> {
    let prompt = match prompt(args.prompt.as_deref()) {
        Ok(prompt) => prompt,
        Err(error) => {
            eprintln!("megaron: {error:#}");
            return Ok(ExitCode::from(USAGE));
        }
    };
    let mut screen = Screen::of_the_terminal(args.json);
    let code = match answer(args, prompt, &mut screen).await {
        Ok(End::Finished) => 0,
        Ok(End::Cancelled) => CANCELLED,
        Ok(End::Failed(reason)) => {
            screen.complain(&reason);
            FAILED
        }
        Err(error) => {
            screen.complain(&format!("{error:#}"));
            UNREACHABLE
        }
    };
    Ok(ExitCode::from(code))
}

async fn answer(args: AskArgs, prompt: String, screen: &mut Screen) -> anyhow::Result<End> {
    logs::begin(LogFormat::Text, "error")?;
    let mut stops = Stops::listen().context("cannot listen for signals")?;
    let data_dir = config::data_dir(&args.home)?;
    let wish = Wish { prompt, session: args.session, model: args.model };
    if let Some(client) = running(&data_dir).await? {
        return Talk::new(client, screen).run(wish, &mut stops).await;
    }
    let hall = tokio::select! {
        hall = own(data_dir.clone()) => hall?,
        () = stops.next() => return Ok(End::Cancelled),
    };
    let client = Client::new(format!("http://{}", hall.addr), key(&data_dir)?, None)?;
    let end = Talk::new(client, screen).run(wish, &mut stops).await;
    tokio::select! {
        () = hall.close() => (),
        () = stops.next() => (),
    }
    end
}

/// A client of the server that runs on this data directory, if one does.
async fn running(data_dir: &Path) -> anyhow::Result<Option<Client>> {
    let Some(note) = place::find(data_dir) else { return Ok(None) };
    let client = Client::new(note.url, key(data_dir)?, Some(data_dir.to_owned()))?;
    Ok(client.is_answered().await.then_some(client))
}

/// A server of our own, in this process.
async fn own(data_dir: PathBuf) -> anyhow::Result<Hall> {
    let config = Config::load(&data_dir)?;
    let workspace = std::env::current_dir().context("there is no current folder")?;
    let plan = Plan { data_dir, workspace, trust_loopback: false, drain: DRAIN, config };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    // Nobody reads the counters of so short a life.
    let rooms = Rooms::build(plan, listener, Arc::new(String::new)).await?;
    // Who comes later is not asked for anything.
    tokio::time::timeout(GATHERING, rooms.began()).await.ok();
    Ok(Hall::open(rooms))
}

/// Without one the server may still let us in: it may trust this machine.
fn key(data_dir: &Path) -> anyhow::Result<Option<String>> {
    wire::keys(data_dir)?.show().context("cannot read the key")
}

fn prompt(given: Option<&str>) -> anyhow::Result<String> {
    let prompt = match given {
        Some("-") => read_stdin()?,
        Some(prompt) => prompt.to_owned(),
        None if io::stdin().is_terminal() => {
            anyhow::bail!("what should be asked? for example: megaron ask \"what time is it?\"")
        }
        None => read_stdin()?,
    };
    anyhow::ensure!(!prompt.trim().is_empty(), "there is nothing to ask");
    Ok(prompt)
}

fn read_stdin() -> anyhow::Result<String> {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text).context("cannot read the question from stdin")?;
    Ok(text)
}

/// Whether trying again later might help.
fn may_pass(error: &anyhow::Error) -> bool {
    error.downcast_ref::<Refused>().is_none()
}
