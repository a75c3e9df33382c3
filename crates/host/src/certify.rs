//! `megaron certify`: looks at the widgets of a server as a host does, and says what is wrong with them.

mod browser;
mod show;

use std::{path::Path, process::ExitCode, sync::Arc};

use anyhow::Context as _;
use serde_json::{Map, Value};
use widgets::certify::{Domains, Format, Page, Run, Seen, Unread, judge};

use crate::{
    cli::{CertifyArgs, LogFormat, ReportFormat, Subject},
    config::{self, Config, lender::Lender},
    logs,
    wire::{self, Survey, SurveyedTool},
};
use browser::Browser;

const UNUSABLE: u8 = 3;
/// What a server is called here that was only named by its command.
const NAMELESS: &str = "server";

pub async fn run(args: CertifyArgs) -> anyhow::Result<ExitCode> {
    logs::begin(LogFormat::Text, "error")?;
    let data_dir = config::data_dir(&args.home)?;
    let arguments = arguments(args.subject.args.as_deref())?;
    let (name, lender) = named(&data_dir, &args.subject)?;
    let survey = match wire::survey(&data_dir, &name, &lender).await {
        Ok(survey) => Arc::new(survey),
        Err(error) => {
            eprintln!("megaron: {name} cannot be used: {error:#}");
            return Ok(ExitCode::from(UNUSABLE));
        }
    };
    let browser = if args.no_browser {
        Err("--no-browser".to_owned())
    } else {
        Browser::start().await.map_err(|error| format!("no browser: {error:#}"))
    };
    let looked = look(&survey, browser, args.subject.tool.as_deref(), &arguments).await;
    let protocol = survey.protocol.clone();
    if let Some(survey) = Arc::into_inner(survey) {
        survey.close().await;
    }
    let report = judge(&args.subject.server.join(" "), &protocol, &looked?);
    print!("{}", report.written(format(args.format)));
    Ok(if report.is_well() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn format(format: ReportFormat) -> Format {
    match format {
        ReportFormat::Text => Format::Text,
        ReportFormat::Json => Format::Json,
        ReportFormat::Junit => Format::Junit,
    }
}

/// The server that is meant: one of the configuration, an address, or a command.
pub fn named(data_dir: &Path, subject: &Subject) -> anyhow::Result<(String, Lender)> {
    let mut words = subject.server.iter().cloned();
    let first = words.next().unwrap_or_default();
    if let [one] = subject.server.as_slice()
        && let Some(lender) = Config::load(data_dir)?.mcp.servers.remove(one)
    {
        return Ok((one.clone(), lender));
    }
    let lender = if first.starts_with("http://") || first.starts_with("https://") {
        Lender { url: Some(first), ..Lender::default() }
    } else {
        Lender { command: Some(first), args: words.collect(), ..Lender::default() }
    };
    Ok((NAMELESS.to_owned(), lender))
}

pub fn arguments(text: Option<&str>) -> anyhow::Result<Map<String, Value>> {
    let Some(text) = text else { return Ok(Map::new()) };
    serde_json::from_str(text)
        .context("--args takes an object in JSON, such as '{\"city\": \"Pylos\"}'")
}

async fn look(
    survey: &Arc<Survey>,
    mut browser: Result<Browser, String>,
    only: Option<&str>,
    arguments: &Map<String, Value>,
) -> anyhow::Result<Vec<Seen>> {
    let tools: Vec<SurveyedTool> = survey
        .tools
        .iter()
        .filter(|tool| only.map_or(tool.widget.is_some(), |only| tool.name == only))
        .cloned()
        .collect();
    if let (Some(only), true) = (only, tools.is_empty()) {
        anyhow::bail!("the server has no tool named `{only}`");
    }
    let mut seen = Vec::new();
    for tool in tools {
        let read = survey.read(&tool).await;
        let run = match (&read, &mut browser) {
            (Err(_), _) => Run::Skipped("there is nothing to show".into()),
            (Ok(_), Err(why)) => Run::Skipped(why.clone()),
            (Ok(_), Ok(_)) if only.is_none() && needs_arguments(&tool) => {
                Run::Skipped("it needs arguments: give --tool and --args".into())
            }
            (Ok((_, page)), Ok(browser)) => {
                match show::watch(browser, survey, &tool, page, arguments).await {
                    Ok(watched) => Run::Watched(watched),
                    Err(error) => Run::Skipped(format!("it could not be shown: {error:#}")),
                }
            }
        };
        let page = read.map(|(mime, page)| Page {
            mime,
            bytes: page.html.len(),
            declared: page.wants.domains.map(|it| Domains {
                connect: it.connect,
                resource: it.resource,
                frame: it.frame,
                base_uri: it.base_uri,
            }),
        });
        let page = page.map_err(|no| Unread { verdict: no.name(), why: no.to_string() });
        seen.push(Seen { tool: tool.name, meta: tool.meta, page, run });
    }
    if let Ok(browser) = browser {
        browser.close().await;
    }
    Ok(seen)
}

fn needs_arguments(tool: &SurveyedTool) -> bool {
    tool.schema["required"].as_array().is_some_and(|names| !names.is_empty())
}
