//! `megaron widget`: calls one tool of any server, and shows its widget in the page, on data of its own.

use std::{net::Ipv4Addr, path::Path, process::ExitCode, sync::Arc, time::Duration};

use anyhow::Context as _;
use serde_json::{Map, Value, json};
use tokio::net::TcpListener;

use crate::{
    ask::{self, client::Client},
    browser, certify,
    cli::{LogFormat, WidgetArgs},
    config::{self, Config, edit, lender::Lender},
    hall::Hall,
    logs, place,
    stops::Stops,
    wire::{Plan, Rooms},
};

/// How long the server and its tool may take, and how often one looks.
const CALLING: Duration = Duration::from_mins(2);
const LOOKING: Duration = Duration::from_millis(100);

pub async fn run(args: WidgetArgs) -> anyhow::Result<ExitCode> {
    logs::begin(LogFormat::Text, "error")?;
    let arguments = certify::arguments(args.subject.args.as_deref())?;
    let data_dir = config::data_dir(&args.home)?;
    let (name, lender) = certify::named(&data_dir, &args.subject)?;
    let mut stops = Stops::listen().context("cannot listen for signals")?;
    let home = tempfile::tempdir().context("there is no place for a server of its own")?;
    let own = home.path().join("data");
    let rooms = tokio::select! {
        rooms = rooms(&own, &name, &lender) => rooms?,
        () = stops.next() => return Ok(ExitCode::SUCCESS),
    };
    let login = rooms.login_url()?;
    let mut hall = Hall::open(rooms);
    let client = Client::new(format!("http://{}", hall.addr), ask::key(&own)?, None)?;
    let opened = tokio::select! {
        opened = open(&client, &name, args.subject.tool.as_deref(), &arguments) => opened,
        () = stops.next() => Err(anyhow::anyhow!("stopped")),
    };
    let code = match opened {
        Ok(session) => {
            let address = format!("{login}&session={session}");
            println!("{address}");
            if !args.no_open && browser::is_at_hand() {
                browser::open(&address);
            }
            tokio::select! {
                error = hall.broken() => return Err(error),
                () = stops.next() => (),
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("megaron: {error:#}");
            ExitCode::FAILURE
        }
    };
    tokio::select! {
        () = hall.close() => (),
        () = stops.next() => (),
    }
    Ok(code)
}

/// A server that knows this other one, and nothing that anybody has kept.
async fn rooms(data_dir: &Path, name: &str, lender: &Lender) -> anyhow::Result<Rooms> {
    place::prepare(data_dir)?;
    edit::lend(data_dir, &[(name, lender)])?;
    let config = Config::load(data_dir)?;
    let workspace = std::env::current_dir().context("there is no current folder")?;
    let plan = Plan {
        data_dir: data_dir.to_owned(),
        workspace,
        trust_loopback: false,
        drain: Duration::from_millis(200),
        is_public: false,
        lan: None,
        desktop_arm: None,
        config,
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let sandbox = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let rooms = Rooms::build(plan, listener, Some(sandbox), Arc::new(String::new)).await?;
    rooms.began().await;
    Ok(rooms)
}

/// Calls the tool in a session of its own, which is given back.
async fn open(
    client: &Client,
    server: &str,
    tool: Option<&str>,
    arguments: &Map<String, Value>,
) -> anyhow::Result<String> {
    let lenders = client.lenders().await?;
    let offered = offered(&lenders, server, tool, &client.widgets().await?)?;
    let folder = std::env::current_dir().context("there is no current folder")?;
    let folder = folder.to_str().context("the current folder is not UTF-8")?;
    let session = client.create(folder, Some("demo"), Some("ask")).await?;
    let prompt = format!("/tool {offered} {}", Value::Object(arguments.clone()));
    client.post(&session, &prompt, "call").await?;
    tokio::time::timeout(CALLING, agree(client, &session))
        .await
        .context("the tool did not answer in time")??;
    Ok(session)
}

/// Whoever typed the call has agreed to it; what comes after that is asked in the page.
async fn agree(client: &Client, session: &str) -> anyhow::Result<()> {
    loop {
        let waiting = client.approvals().await?;
        let all = waiting["approvals"].as_array().into_iter().flatten();
        for asked in all.filter(|it| it["kind"] == "approval") {
            let id = asked["id"].as_str().unwrap_or_default();
            client.decide(id, &json!({ "decision": "once" })).await?;
        }
        if !client.is_busy(session).await? {
            return Ok(());
        }
        tokio::time::sleep(LOOKING).await;
    }
}

/// The tool that is meant, as it is called here.
fn offered(
    lenders: &Value,
    server: &str,
    tool: Option<&str>,
    widgets: &Value,
) -> anyhow::Result<String> {
    let all = lenders["servers"].as_array().into_iter().flatten();
    let this = all.into_iter().find(|it| it["name"] == server);
    let this = this.context("the server is not known")?;
    if let Some(reason) = this["reason"].as_str() {
        anyhow::bail!("the server cannot be used: {reason}");
    }
    let shown = || widgets["widgets"].as_array().into_iter().flatten();
    let names = || shown().filter_map(|it| it["name"].as_str()).collect::<Vec<_>>().join(", ");
    let found = match tool {
        Some(name) => shown().find(|it| it["name"] == name).with_context(|| {
            let has = names();
            format!("`{name}` is no tool with a widget; those with one: {has}")
        })?,
        None => match shown().collect::<Vec<_>>().as_slice() {
            [only] => only,
            [] => anyhow::bail!("none of the server's tools has a widget"),
            _ => anyhow::bail!("choose one with --tool: {}", names()),
        },
    };
    Ok(found["tool"].as_str().unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tool_is_the_one_that_was_named_or_the_only_one() {
        let lenders = json!({ "servers": [{ "name": "s" }, { "name": "t", "reason": "gone" }] });
        let widget = |name: &str| json!({ "tool": format!("s_{name}"), "name": name });
        let two = json!({ "widgets": [widget("a"), widget("b")] });
        let one = json!({ "widgets": [widget("a")] });
        let none = json!({ "widgets": [] });
        for (server, tool, widgets, expected) in [
            ("s", Some("b"), &two, Ok("s_b")),
            ("s", None, &one, Ok("s_a")),
            ("s", None, &two, Err("choose one with --tool: a, b")),
            ("s", None, &none, Err("none of the server's tools has a widget")),
            ("s", Some("c"), &two, Err("`c` is no tool with a widget; those with one: a, b")),
            ("t", None, &one, Err("the server cannot be used: gone")),
            ("u", None, &one, Err("the server is not known")),
        ] {
            let found = offered(&lenders, server, tool, widgets).map_err(|it| it.to_string());
            let expected = expected.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(found, expected, "{server} {tool:?}");
        }
    }
}
