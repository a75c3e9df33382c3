//! `megaron import caco`: takes over what a Caco home has kept, and changes nothing there.

mod applets;
mod history;
mod outputs;
mod said;
mod session;
mod source;

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use anyhow::Context as _;
use kernel::{
    ports::{Batch, Catalog, Log, Shelf},
    update::SessionId,
};

use crate::{
    cli::{ImportArgs, ImportSource},
    config::{self, Config},
    place, wire,
};
use session::Found;
use source::Source;

pub async fn run(args: ImportArgs) -> anyhow::Result<ExitCode> {
    let data_dir = config::data_dir(&args.home)?;
    let ImportSource::Caco { from, dry_run } = args.source;
    let from = match from {
        Some(from) => from,
        None => std::env::home_dir().context("there is no home directory; say --from DIR")?,
    };
    let source = Source::find(&from)?;
    let model = Config::load(&data_dir)?.defaulting_to_demo().default_model;
    let mut report = Report { dry_run, ..Report::default() };
    let archive = if dry_run && !wire::has_database(&data_dir) {
        None
    } else {
        place::prepare(&data_dir)?;
        let opened = wire::archive(&data_dir);
        Some(opened.context("nothing was taken; is the server running? Stop it first")?)
    };
    take_sessions(&source, archive.as_ref(), &model, &mut report).await?;
    applets::take(&source, &data_dir, &mut report)?;
    for (what, count) in source.left() {
        report.left.push(format!("{what} ({count})"));
    }
    print!("{}", report.told());
    Ok(ExitCode::SUCCESS)
}

type Archive = (Arc<dyn Log>, Arc<dyn Catalog>);

async fn take_sessions(
    source: &Source,
    archive: Option<&Archive>,
    model: &str,
    report: &mut Report,
) -> anyhow::Result<()> {
    let known: HashSet<SessionId> = match archive {
        Some((_, catalog)) => catalog.sessions().await?.into_iter().map(|(id, _)| id).collect(),
        None => HashSet::new(),
    };
    for name in source.sessions() {
        let Some(id) = SessionId::parse(&name) else {
            report.problems.push(format!("session {name}: its name is no UUID"));
            continue;
        };
        if known.contains(&id) {
            report.known += 1;
            continue;
        }
        let found = match Found::read(source, &name, id, model) {
            Ok(found) => found,
            Err(problem) => {
                report.problems.push(format!("session {name}: {problem:#}"));
                continue;
            }
        };
        report.sessions += 1;
        report.facts += found.entries.len();
        report.outputs += found.outputs.len();
        let notes = found.notes.iter().map(|note| format!("session {name}: {note}"));
        report.problems.extend(notes);
        if let (Some((log, catalog)), false) = (archive, report.dry_run) {
            keep(log, catalog, id, found).await?;
        }
    }
    Ok(())
}

/// What hangs on it goes first: a session that is there is taken whole.
async fn keep(
    log: &Arc<dyn Log>,
    catalog: &Arc<dyn Catalog>,
    session: SessionId,
    found: Found,
) -> anyhow::Result<()> {
    for output in &found.outputs {
        catalog.save(Shelf::Outputs, &output.id, output).await?;
    }
    let Found { entries, state, .. } = found;
    let entries = entries.into_iter().map(Arc::new).collect();
    let batch =
        Batch { session, entries, state: Arc::new(state), spent: Vec::new(), ends_draft: true };
    Ok(log.append(batch).await?)
}

/// What was taken and what could not be, for a person.
#[derive(Default)]
pub struct Report {
    dry_run: bool,
    sessions: usize,
    facts: usize,
    outputs: usize,
    applets: Vec<String>,
    /// Sessions that were here already.
    known: usize,
    /// Applets that were here already.
    known_applets: usize,
    problems: Vec<String>,
    left: Vec<String>,
}

impl Report {
    fn told(&self) -> String {
        let would = if self.dry_run { "would be taken" } else { "taken" };
        let mut lines = vec![
            format!(
                "{would}: {} sessions ({} entries, {} outputs), {} applets",
                self.sessions,
                self.facts,
                self.outputs,
                self.applets.len()
            ),
            format!("here already: {} sessions, {} applets", self.known, self.known_applets),
        ];
        lines.extend(self.applets.iter().map(|slug| format!("  applet {slug}")));
        lines.extend(self.problems.iter().map(|problem| format!("  note: {problem}")));
        if !self.left.is_empty() {
            lines.push(format!("not taken: {}", self.left.join(", ")));
        }
        lines.join("\n") + "\n"
    }
}

/// A folder's entries by name; none if it is not there.
fn entries(dir: &Path) -> Vec<(String, PathBuf)> {
    let found = dir.read_dir().into_iter().flatten().flatten();
    let named = found.filter_map(|it| Some((it.file_name().into_string().ok()?, it.path())));
    let mut all: Vec<_> = named.collect();
    all.sort();
    all
}
