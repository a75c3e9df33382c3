//! `megaron import caco`: takes over what a Caco home has kept, and changes nothing there.

mod applets;
mod attached;
mod history;
mod outputs;
mod preferences;
mod report;
mod said;
mod schedules;
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
    ports::{Batch, Shelf},
    update::{Attachment, Entry, Fact, SessionId},
};

use crate::{
    cli::{ImportArgs, ImportSource},
    config::{self, Config},
    place,
    wire::{self, Archive},
};
use attached::Picture;
use report::Report;
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
    let sessions = take_sessions(&source, archive.as_ref(), &model, &mut report).await?;
    let catalog = archive.as_ref().map(|archive| &archive.catalog);
    schedules::take(&source, catalog, &sessions, &mut report).await?;
    preferences::take(&source, catalog, &sessions, &model, &mut report).await?;
    applets::take(&source, &data_dir, &mut report)?;
    for (what, count) in source.left() {
        report.left.push(format!("{what} ({count})"));
    }
    print!("{}", report.told());
    Ok(ExitCode::SUCCESS)
}

/// Returns all that are here then.
async fn take_sessions(
    source: &Source,
    archive: Option<&Archive>,
    model: &str,
    report: &mut Report,
) -> anyhow::Result<HashSet<SessionId>> {
    let mut known: HashSet<SessionId> = match archive {
        Some(archive) => archive.catalog.sessions().await?.into_iter().map(|(id, _)| id).collect(),
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
        report.pictures += found.pictures.len();
        let notes = found.notes.iter().map(|note| format!("session {name}: {note}"));
        report.problems.extend(notes);
        if let (Some(archive), false) = (archive, report.dry_run) {
            keep(archive, id, found).await?;
        }
        known.insert(id);
    }
    Ok(known)
}

/// What hangs on it goes first: a session that is there is taken whole.
async fn keep(archive: &Archive, session: SessionId, found: Found) -> anyhow::Result<()> {
    let Archive { log, catalog, attic } = archive;
    for output in &found.outputs {
        catalog.save(Shelf::Outputs, &output.id, output).await?;
    }
    // What an earlier try has left behind.
    attic.clear(session).await?;
    let mut paths = Vec::new();
    for Picture { bytes, extension } in found.pictures {
        paths.push(attic.keep(session, extension, bytes).await?);
    }
    let mut entries = found.entries;
    for attachment in entries.iter_mut().flat_map(attached) {
        let place = attachment.path.to_str().and_then(|it| it.parse::<usize>().ok());
        if let Some(path) = place.and_then(|place| paths.get(place)) {
            attachment.path.clone_from(path);
        }
    }
    let (entries, state) = (entries.into_iter().map(Arc::new).collect(), Arc::new(found.state));
    let batch = Batch { session, entries, state, spent: Vec::new(), ends_draft: true };
    Ok(log.append(batch).await?)
}

fn attached(entry: &mut Entry) -> &mut [Attachment] {
    match &mut entry.fact {
        Fact::Said { message, .. } => &mut message.attachments,
        _ => &mut [],
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
