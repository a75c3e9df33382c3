//! `megaron mcp list` and its like: servers that lend their tools, listed, tried, added and removed.

use std::{collections::BTreeMap, path::Path, process::ExitCode};

use anyhow::Context as _;
use serde_json::Value;

use crate::{
    ask::client::Client,
    cli::{DataDir, McpAction, McpAddArgs},
    config::{
        self, Config, edit,
        lender::{self, Lender},
    },
    place, wire,
};

pub async fn run(action: McpAction, home: &DataDir) -> anyhow::Result<ExitCode> {
    let data_dir = config::data_dir(home)?;
    let config = Config::load(&data_dir)?;
    match action {
        McpAction::List => list(&data_dir, &config).await,
        McpAction::Test { name } => test(&data_dir, &config, &name).await,
        McpAction::Add(args) => {
            let (name, lender) = (args.name.clone(), written(args)?);
            add(&data_dir, &config, &BTreeMap::from([(name, lender)])).await
        }
        McpAction::Remove { name } => remove(&data_dir, &name).await,
        McpAction::Import { file } => import(&data_dir, &config, &file).await,
    }
}

async fn list(data_dir: &Path, config: &Config) -> anyhow::Result<ExitCode> {
    let running = match running(data_dir)? {
        Some(server) => Some(server.lenders().await?),
        None => None,
    };
    let rows: Vec<Row> = match &running {
        Some(answer) => answer["servers"].as_array().into_iter().flatten().map(standing).collect(),
        None => config.mcp.servers.iter().map(|(name, it)| configured(name, it)).collect(),
    };
    if rows.is_empty() {
        println!("There are no servers of tools; `megaron mcp add NAME -- COMMAND` adds one.");
        return Ok(ExitCode::SUCCESS);
    }
    print!("{}", table(rows));
    Ok(ExitCode::SUCCESS)
}

/// The server on this data directory, if there is one.
fn running(data_dir: &Path) -> anyhow::Result<Option<Client>> {
    let Some(note) = place::find(data_dir) else { return Ok(None) };
    let key = wire::keys(data_dir)?.show()?;
    Client::new(note.url, key, None).map(Some)
}

type Row = [String; 4];

fn standing(server: &Value) -> Row {
    let text = |key: &str| server[key].as_str().unwrap_or_default().to_owned();
    let tools = server["tools"].as_array().map_or(0, Vec::len);
    let more = match (server["reason"].as_str(), server["signInUrl"].as_str()) {
        (Some(reason), _) => format!(": {reason}"),
        (None, Some(url)) => format!(": {url}"),
        (None, None) => String::new(),
    };
    [text("name"), tools.to_string(), text("place"), text("state") + &more]
}

fn configured(name: &str, server: &Lender) -> Row {
    let shown = lender::shown(server);
    let command = shown.command.into_iter().chain(shown.args).collect::<Vec<_>>().join(" ");
    let state = if server.enabled == Some(false) { "disabled" } else { "not running" };
    [name.to_owned(), "?".into(), shown.url.unwrap_or(command), state.into()]
}

fn table(rows: Vec<Row>) -> String {
    let head = ["NAME", "TOOLS", "WHERE", "STATE"].map(str::to_owned);
    let rows: Vec<Row> = std::iter::once(head).chain(rows).collect();
    let width = |at: usize| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
    let widths = [0, 1, 2, 3].map(width);
    let line = |row: &Row| {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

async fn test(data_dir: &Path, config: &Config, name: &str) -> anyhow::Result<ExitCode> {
    let lender = config.mcp.servers.get(name);
    let lender = lender.with_context(|| format!("config.toml has no [mcp.servers.{name}]"))?;
    match wire::probe(data_dir, name, lender).await {
        Ok(wire::Probed { protocol, tools, connected, listed }) => {
            let (connected, listed) = (connected.as_secs_f64(), listed.as_secs_f64());
            let count = tools.len();
            println!(
                "ok: {name} speaks {protocol}, was connected after {connected:.2} s \
                 and listed {count} tools in {listed:.2} s"
            );
            for (tool, warning) in tools {
                let warning = warning.map(|it| format!("  ({it})")).unwrap_or_default();
                println!("  {tool}{warning}");
            }
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => {
            eprintln!("megaron: {name} cannot be used: {error:#}");
            Ok(ExitCode::FAILURE)
        }
    }
}

/// What was typed, as the file says it.
fn written(args: McpAddArgs) -> anyhow::Result<Lender> {
    let mut words = args.command.into_iter();
    Ok(Lender {
        command: words.next(),
        args: words.collect(),
        url: args.url,
        env: pairs("--env", args.env)?,
        headers: pairs("--header", args.headers)?,
        trusted: args.trusted.then_some(true),
        ..Lender::default()
    })
}

fn pairs(flag: &str, given: Vec<String>) -> anyhow::Result<BTreeMap<String, String>> {
    let pair = |text: String| {
        let (name, value) = text.split_once('=').with_context(|| {
            format!(
                "{flag} takes NAME=VALUE, and `{}` has no =",
                text.chars().take(20).collect::<String>()
            )
        })?;
        Ok((name.to_owned(), value.to_owned()))
    };
    given.into_iter().map(pair).collect()
}

async fn add(
    data_dir: &Path,
    config: &Config,
    lenders: &BTreeMap<String, Lender>,
) -> anyhow::Result<ExitCode> {
    for (name, lender) in lenders {
        anyhow::ensure!(
            !config.mcp.servers.contains_key(name),
            "config.toml has a [mcp.servers.{name}] already"
        );
        wire::check_lender(name, lender)?;
    }
    let tables: Vec<(&str, &Lender)> = lenders.iter().map(|(name, it)| (&**name, it)).collect();
    edit::lend(data_dir, &tables)?;
    for name in lenders.keys() {
        println!("{name} is in config.toml; `megaron mcp test {name}` tries it.");
    }
    reload(data_dir).await?;
    Ok(ExitCode::SUCCESS)
}

async fn remove(data_dir: &Path, name: &str) -> anyhow::Result<ExitCode> {
    if edit::return_to(data_dir, name)? {
        println!("{name} is no longer in config.toml.");
        reload(data_dir).await?;
        return Ok(ExitCode::SUCCESS);
    }
    let Some(server) = running(data_dir)? else {
        eprintln!(
            "megaron: config.toml has no [mcp.servers.{name}]; one that was added in the page can \
             be removed while the server runs"
        );
        return Ok(ExitCode::FAILURE);
    };
    let known = server.lenders().await?;
    let mut names = known["servers"].as_array().into_iter().flatten().map(|it| &it["name"]);
    if !names.any(|it| it == name) {
        eprintln!("megaron: no server of tools is named `{name}`; `megaron mcp list` lists them");
        return Ok(ExitCode::FAILURE);
    }
    server.remove_lender(name).await?;
    println!("{name} is removed.");
    Ok(ExitCode::SUCCESS)
}

async fn import(data_dir: &Path, config: &Config, file: &Path) -> anyhow::Result<ExitCode> {
    let text = std::fs::read_to_string(file);
    let text = text.with_context(|| format!("cannot read {}", file.display()))?;
    let (mut lenders, problems) =
        wire::import(&text).with_context(|| format!("{} cannot be used", file.display()))?;
    for problem in &problems {
        eprintln!("left out {problem}");
    }
    lenders.retain(|name, _| {
        let new = !config.mcp.servers.contains_key(name);
        if !new {
            eprintln!("left out {name}: config.toml has one of that name");
        }
        new
    });
    if lenders.is_empty() {
        eprintln!("megaron: nothing was added");
        return Ok(ExitCode::FAILURE);
    }
    add(data_dir, config, &lenders).await
}

/// Has a running server take up what the file says now.
async fn reload(data_dir: &Path) -> anyhow::Result<()> {
    let Some(server) = running(data_dir)? else { return Ok(()) };
    let reloaded = server.reload_lenders().await;
    reloaded
        .context("config.toml is changed, and the server that is running has not heard of it")?;
    println!("The server that is running has taken it up.");
    Ok(())
}
