//! `megaron ask`: asks one thing, from the running server or from one that lives as long as the answer.

pub mod client;
mod frames;
mod keyboard;
mod person;
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
    keyboard::Keyboard,
    reader::End,
    screen::Screen,
    talk::{Talk, Wish},
};
use crate::{
    cli::{AskArgs, LogFormat, Mode},
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
    let mode = args.mode.map(Mode::name);
    let wish = Wish { prompt, session: args.session, model: args.model, mode };
    if let Some(client) = running(&data_dir).await? {
        return Talk::new(client, screen, keyboard(args.json)).run(wish, &mut stops).await;
    }
    let folder = std::env::current_dir().context("there is no current folder")?;
    let hall = tokio::select! {
        rooms = own(data_dir.clone(), &folder) => Hall::open(rooms?),
        () = stops.next() => return Ok(End::Cancelled),
    };
    let client = Client::new(format!("http://{}", hall.addr), key(&data_dir)?, None)?;
    let end = Talk::new(client, screen, keyboard(args.json)).run(wish, &mut stops).await;
    tokio::select! {
        () = hall.close() => (),
        () = stops.next() => (),
    }
    end
}

/// Lets a model answer in a session from now on. Says whether another did before.
pub async fn use_model(data_dir: PathBuf, session: &str, model: &str) -> anyhow::Result<bool> {
    if let Some(client) = running(&data_dir).await? {
        return client.use_model(session, model).await;
    }
    let folder = std::env::current_dir().context("there is no current folder")?;
    let rooms = own(data_dir.clone(), &folder).await?;
    rooms.models.learn().await;
    let hall = Hall::open(rooms);
    let client = Client::new(format!("http://{}", hall.addr), key(&data_dir)?, None)?;
    let used = client.use_model(session, model).await;
    hall.close().await;
    used
}

/// Where the person answers questions, unless a program listens.
fn keyboard(json: bool) -> Option<Keyboard> {
    if json { None } else { Keyboard::of_the_terminal() }
}

/// A client of the server that runs on this data directory, if one does.
pub async fn running(data_dir: &Path) -> anyhow::Result<Option<Client>> {
    let Some(note) = place::find(data_dir) else { return Ok(None) };
    let client = Client::new(note.url, key(data_dir)?, Some(data_dir.to_owned()))?;
    Ok(client.is_answered().await.then_some(client))
}

/// What a server of our own is made of, in this process.
pub async fn own(data_dir: PathBuf, workspace: &Path) -> anyhow::Result<Rooms> {
    let config = Config::load(&data_dir)?;
    let workspace = workspace.canonicalize();
    let workspace = workspace.context("there is no such folder to work in")?;
    let is_public = false;
    let plan = Plan {
        data_dir,
        workspace,
        trust_loopback: false,
        drain: DRAIN,
        is_public,
        lan: None,
        desktop_arm: None,
        config,
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    // Nobody reads the counters of so short a life.
    let rooms = Rooms::build(plan, listener, None, Arc::new(String::new)).await?;
    // Who comes later is not asked for anything.
    tokio::time::timeout(GATHERING, rooms.began()).await.ok();
    Ok(rooms)
}

/// Without one the server may still let us in: it may trust this machine.
pub fn key(data_dir: &Path) -> anyhow::Result<Option<String>> {
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
