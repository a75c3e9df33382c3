//! The `megaron` command: reads what is wanted, does it, and says by its exit code how that went.

mod again;
mod ask;
mod asked;
mod bridge;
mod browser;
mod cabinet;
mod certify;
mod cli;
mod clock;
mod config;
mod detect;
mod doctor;
mod driven;
mod hall;
mod import;
mod inbox;
mod key;
mod lan;
mod lenders;
mod logs;
mod meters;
mod minds;
mod pair;
mod phone;
mod place;
mod prompt;
mod schedules;
mod secrets;
mod serve;
mod stops;
mod usage;
mod vault;
mod welcome;
mod widget;
mod wire;

use std::{process::ExitCode, time::Duration};

use anyhow::Context as _;
use clap::{CommandFactory as _, Parser as _};

use crate::cli::{Cli, Command, McpArgs};

/// More threads than this only cost memory: the work is waiting, not computing.
const MOST_WORKERS: usize = 4;

fn main() -> ExitCode {
    let Cli { command } = Cli::parse();
    run(command).unwrap_or_else(|error| {
        eprintln!("megaron: {error:#}");
        ExitCode::FAILURE
    })
}

fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Serve(args) => wait_for(serve::run(args)),
        Command::Ask(args) => wait_for(ask::run(args)),
        Command::Mcp(McpArgs { action: Some(action), home, .. }) => {
            wait_for(lenders::run(action, &home))
        }
        Command::Mcp(args) => wait_for(bridge::run(args)),
        Command::Approvals(args) => wait_for(inbox::run(args)),
        Command::Schedules(args) => wait_for(schedules::run(args)),
        Command::App(args) => wait_for(cabinet::run(args)),
        Command::Open(args) => wait_for(cabinet::open(args)),
        Command::Desktop(args) => wait_for(driven::run(args)),
        Command::Key(args) => wait_for(key::run(args)),
        Command::Pair(args) => wait_for(pair::run(args)),
        Command::Phone(args) => wait_for(phone::run(args)),
        Command::Widget(args) => wait_for(widget::run(args)),
        Command::Certify(args) => wait_for(certify::run(args)),
        Command::Models(args) => wait_for(minds::run(args)),
        Command::Usage(args) => wait_for(usage::run(args)),
        Command::Import(args) => wait_for(import::run(args)),
        Command::Doctor(args) => wait_for(doctor::run(args)),
        Command::Config(args) => {
            print!("{}", config::effective(&args)?);
            Ok(ExitCode::SUCCESS)
        }
        Command::DesktopGuard { arguments } => Ok(wire::desktop_guard(&arguments)),
        Command::SandboxExec { arguments } => Ok(wire::sandbox_exec(&arguments)),
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut Cli::command(), "megaron", &mut std::io::stdout());
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn wait_for(work: impl Future<Output = anyhow::Result<ExitCode>>) -> anyhow::Result<ExitCode> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(cores.min(MOST_WORKERS))
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    let code = runtime.block_on(work);
    // What is still running then was told to stop, or is not worth waiting for.
    runtime.shutdown_timeout(Duration::from_millis(100));
    code
}
