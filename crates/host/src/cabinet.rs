//! `megaron app`: what apps there are, putting one in, and taking one out.

use std::{
    io::{self, BufRead as _, IsTerminal as _, Write as _},
    path::Path,
    process::ExitCode,
};

use anyhow::Context as _;
use kernel::cabinet::{Card, Permission, Problem};
use serde_json::{Value, json};

use crate::{
    asked::plain,
    cli::{AppAction, AppArgs, OpenArgs},
    config, inbox, wire,
};

pub async fn run(args: AppArgs) -> anyhow::Result<ExitCode> {
    let data_dir = config::data_dir(&args.home)?;
    match args.action.unwrap_or_default() {
        AppAction::List => {
            let cards = wire::app_cards(&data_dir);
            let text = if args.json { format!("{:#}\n", told(&cards)) } else { list(&cards) };
            print!("{text}");
        }
        AppAction::Install { path, id, yes } => {
            return install(&data_dir, &path, id.as_deref(), yes);
        }
        AppAction::Remove { id } => {
            wire::remove_app(&data_dir, &id)?;
            eprintln!("removed");
        }
        AppAction::Open { id, session } => {
            let client = inbox::client(&data_dir, None).await?;
            let opened = client.open_app(&json!({ "session": session, "appId": id })).await?;
            println!("{}", plain(opened["windowId"].as_str().unwrap_or_default()));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Hands a file to an app, in a window of a session.
pub async fn open(OpenArgs { file, app, session, home }: OpenArgs) -> anyhow::Result<ExitCode> {
    let client = inbox::client(&config::data_dir(&home)?, None).await?;
    let path = file.canonicalize().with_context(|| file.display().to_string())?;
    let Some(path) = path.to_str() else { anyhow::bail!("{}: it is not UTF-8", path.display()) };
    let wish = json!({ "session": session, "appId": app, "path": path });
    let opened = client.open_app(&wish).await?;
    let text = |name: &str| plain(opened[name].as_str().unwrap_or_default());
    eprintln!("open in the app {}, window {}", text("appId"), text("windowId"));
    Ok(ExitCode::SUCCESS)
}

fn install(data_dir: &Path, path: &Path, id: Option<&str>, yes: bool) -> anyhow::Result<ExitCode> {
    let bundle = wire::app_bundle(path, id).with_context(|| path.display().to_string())?;
    let card = bundle.card();
    let there = wire::app_cards(data_dir).iter().any(|old| old.id == card.id);
    eprint!("{}", introduced(card, there));
    if !yes && !agreed()? {
        eprintln!("nothing was put in");
        return Ok(ExitCode::FAILURE);
    }
    let card = wire::install_app(data_dir, bundle)?;
    println!("{}", card.id);
    Ok(ExitCode::SUCCESS)
}

fn agreed() -> anyhow::Result<bool> {
    let stdin = io::stdin();
    anyhow::ensure!(
        stdin.is_terminal(),
        "nobody is there to say yes; with --yes it is put in unasked"
    );
    eprint!("Put it in? [y/N] ");
    io::stderr().flush()?;
    let mut line = String::new();
    stdin.lock().read_line(&mut line).context("cannot read from the terminal")?;
    Ok(matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

/// What an app is and wants, before it is there.
fn introduced(card: &Card, there: bool) -> String {
    let version = card.version.as_ref().map(|it| format!(" {}", plain(it))).unwrap_or_default();
    let author = card.author.as_ref().map(|it| format!(" by {}", plain(it))).unwrap_or_default();
    let mut lines = vec![format!("{} ({}){version}{author}", plain(&card.name), card.id)];
    lines.extend(card.description.as_ref().map(|it| format!("  {}", plain(it))));
    if there {
        lines.push("  takes the place of the app that is there by this id".to_owned());
    }
    let wants = wants(card);
    if wants.is_empty() {
        lines.push("  asks for nothing but a place of its own to keep things".to_owned());
    }
    lines.extend(wants.iter().map(|want| format!("  wants to {want}")));
    lines.extend(card.problems.iter().map(|it| format!("  ! {}", problem(it))));
    lines.join("\n") + "\n"
}

/// Each as it would follow `wants to`.
fn wants(card: &Card) -> Vec<String> {
    let asks = &card.asks;
    let mut wants: Vec<String> = asks.permissions.iter().map(want).collect();
    let hosts =
        |origins: &[String]| origins.iter().map(|it| plain(it)).collect::<Vec<_>>().join(", ");
    if !asks.connect.is_empty() {
        wants.push(format!("speak to {}", hosts(&asks.connect)));
    }
    if !asks.load.is_empty() {
        wants.push(format!("load from {}", hosts(&asks.load)));
    }
    wants.extend(asks.storage.map(|bytes| format!("keep up to {bytes} bytes")));
    let extensions: Vec<String> =
        card.associations.iter().flat_map(|it| &it.extensions).map(|it| plain(it)).collect();
    if !extensions.is_empty() {
        wants.push(format!("open {} files", extensions.join(", ")));
    }
    wants
}

fn want(permission: &Permission) -> String {
    match permission {
        Permission::Clipboard => "write to the clipboard".to_owned(),
        Permission::Downloads => "offer files for download".to_owned(),
        Permission::Modals => "show dialogs of the browser".to_owned(),
        Permission::Popups => "open windows of the browser".to_owned(),
        Permission::Storage { prefix, writes: true } => {
            format!("read and change what is kept in {}, asking first", plain(prefix))
        }
        Permission::Storage { prefix, writes: false } => {
            format!("read what is kept in {}, asking first", plain(prefix))
        }
    }
}

fn problem(Problem { path, what }: &Problem) -> String {
    let place = if path.is_empty() { String::new() } else { format!(" at {}", plain(path)) };
    format!("app.json{place}: {}", plain(what))
}

fn list(cards: &[Card]) -> String {
    if cards.is_empty() {
        return "there are no apps\n".to_owned();
    }
    cards.iter().map(line).collect()
}

fn line(card: &Card) -> String {
    let origin = if card.folder.is_some() { "" } else { ", came with the program" };
    let hidden = if card.hidden { ", hidden" } else { "" };
    let mut lines = vec![format!("{}  {}{origin}{hidden}", card.id, plain(&card.name))];
    lines.extend(wants(card).iter().map(|want| format!("  may {want}")));
    lines.extend(card.problems.iter().map(|it| format!("  ! {}", problem(it))));
    lines.join("\n") + "\n"
}

fn told(cards: &[Card]) -> Value {
    let one = |card: &Card| {
        let problems = card.problems.iter();
        json!({
            "id": card.id,
            "name": card.name,
            "description": card.description,
            "bundled": card.folder.is_none(),
            "folder": card.folder,
            "hidden": card.hidden,
            "wants": wants(card),
            "problems": problems.map(|it| json!({ "path": it.path, "message": it.what })).collect::<Vec<_>>(),
        })
    };
    json!({ "apps": cards.iter().map(one).collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests {
    use kernel::cabinet::{Asks, Association, Encoding};

    use super::*;

    fn card() -> Card {
        Card {
            id: "sheet".into(),
            name: "Sheet\u{1b}[31m".into(),
            version: Some("1.2".into()),
            description: Some("Tables".into()),
            associations: vec![Association {
                extensions: vec![".csv".into(), ".tsv".into()],
                command: "open".into(),
                param: "content".into(),
                encoding: Encoding::Text,
            }],
            asks: Asks {
                permissions: vec![
                    Permission::Downloads,
                    Permission::Storage { prefix: "shared/".into(), writes: true },
                ],
                connect: vec!["https://api.example.com".into()],
                load: vec![],
                storage: Some(1024),
            },
            problems: vec![Problem {
                path: "/hidden".into(),
                what: "expected true or false".into(),
            }],
            ..Card::default()
        }
    }

    #[test]
    fn an_app_says_what_it_wants_before_it_is_there() {
        let said = introduced(&card(), true);
        let (first, said) = said.split_once('\n').unwrap();
        assert_eq!(first, "Sheet\\u{1b}[31m (sheet) 1.2", "nothing of it steers the terminal");
        assert_eq!(
            said,
            "  Tables\n  takes the place of the app that is there by this id\n  \
             wants to offer files for download\n  \
             wants to read and change what is kept in shared/, asking first\n  \
             wants to speak to https://api.example.com\n  wants to keep up to 1024 bytes\n  \
             wants to open .csv, .tsv files\n  ! app.json at /hidden: expected true or false\n"
        );
        let plain = Card { id: "a".into(), name: "A".into(), ..Card::default() };
        let nothing = "A (a)\n  asks for nothing but a place of its own to keep things\n";
        assert_eq!(introduced(&plain, false), nothing);
        assert_eq!(list(&[plain]), "a  A, came with the program\n");
    }
}
