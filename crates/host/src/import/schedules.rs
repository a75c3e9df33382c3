//! Schedules, with what came of their last run.

use std::{collections::HashSet, fs, path::Path, sync::Arc};

use anyhow::Context as _;
use jiff::{Timestamp, tz::TimeZone};
use kernel::{
    ports::{Catalog, Clock, Shelf},
    schedule::{Definition, Missed, OnNewNeed, Rhythm, Run, RunOutcome, Schedule, Timing, is_slug},
    update::SessionId,
};
use serde_json::Value;

use super::{Report, source::Source};
use crate::clock::SystemClock;

/// What ran hourly there, for want of a timing that was understood.
const HOUR: u32 = 60;

pub async fn take(
    source: &Source,
    catalog: Option<&Arc<dyn Catalog>>,
    sessions: &HashSet<SessionId>,
    report: &mut Report,
) -> anyhow::Result<()> {
    for (slug, folder) in source.schedules() {
        let known = match catalog {
            Some(catalog) => catalog.get(Shelf::Schedules, &slug).await?.is_some(),
            None => false,
        };
        if known {
            report.known_schedules += 1;
            continue;
        }
        let schedule = match read(&slug, &folder, sessions, &mut report.problems) {
            Ok(schedule) => schedule,
            Err(problem) => {
                report.problems.push(format!("schedule {slug}: {problem:#}"));
                continue;
            }
        };
        if let (Some(catalog), false) = (catalog, report.dry_run) {
            if let Some(run) = &schedule.last {
                catalog.save(Shelf::Runs, &run.record(&slug), run).await?;
            }
            catalog.save(Shelf::Schedules, &slug, &schedule).await?;
        }
        report.schedules.push(slug);
    }
    Ok(())
}

/// What was due meanwhile is not made up for: it may have been run there.
fn read(
    slug: &str,
    folder: &Path,
    sessions: &HashSet<SessionId>,
    notes: &mut Vec<String>,
) -> anyhow::Result<Schedule> {
    anyhow::ensure!(is_slug(slug), "its name is no slug");
    let about = object(&folder.join("definition.json")).context("it has no definition")?;
    let past = object(&folder.join("last-run.json")).unwrap_or_default();
    let prompt = text(&about, "/prompt").context("it has no prompt")?;
    let now = SystemClock.now();
    let timing = timing(&about)?;
    let zone = TimeZone::system();
    let rhythm = Rhythm::read(&timing, now, &zone).and_then(|it| it.check(now));
    rhythm.map_err(|error| anyhow::anyhow!(error.explained()))?;
    let model = text(&about, "/sessionConfig/model");
    if let Some(model) = &model {
        notes.push(format!("schedule {slug}: it asks for the model {model}; see that it is here"));
    }
    let last = time(&past, "/lastRun");
    let session = text(&past, "/sessionId").and_then(|id| SessionId::parse(&id));
    let session = session.filter(|id| sessions.contains(id));
    let flag = |pointer: &str| about.pointer(pointer).and_then(Value::as_bool).unwrap_or(true);
    let definition = Definition {
        prompt,
        enabled: flag("/enabled"),
        timing,
        model,
        cwd: None,
        persist: flag("/sessionConfig/persistSession"),
        missed: Missed::default(),
        on_new_need: OnNewNeed::default(),
    };
    Ok(Schedule {
        slug: slug.to_owned(),
        definition,
        created: time(&about, "/createdAt").unwrap_or(now),
        updated: time(&about, "/updatedAt").unwrap_or(now),
        // An interval goes on as it would have there.
        anchor: last.unwrap_or(now),
        decided: now,
        session,
        last: last.map(|at| ran(&past, at, session)),
        running: None,
    })
}

fn ran(past: &Value, at: Timestamp, session: Option<SessionId>) -> Run {
    let error = text(past, "/lastError");
    let failed = error.is_some() || text(past, "/lastResult").as_deref() == Some("error");
    Run {
        id: SystemClock.id(),
        due: at,
        manual: false,
        started: Some(at),
        finished: Some(at),
        outcome: Some(if failed { RunOutcome::Error } else { RunOutcome::Success }),
        error,
        reason: None,
        session,
        needed: Vec::new(),
    }
}

fn timing(about: &Value) -> anyhow::Result<Timing> {
    let schedule = about.get("schedule").filter(|it| it.is_object());
    let schedule = schedule.context("it says nothing of when it runs")?;
    Ok(match text(schedule, "/type").as_deref() {
        Some("cron") => {
            let expression = text(schedule, "/expression").context("it has no expression")?;
            Timing::Cron { expression, zone: text(schedule, "/timezone") }
        }
        Some("interval") => {
            let minutes = schedule.get("intervalMinutes").and_then(Value::as_u64);
            let minutes = minutes.and_then(|it| u32::try_from(it).ok());
            Timing::Interval { minutes: minutes.context("its interval is no number of minutes")? }
        }
        _ => Timing::Interval { minutes: HOUR },
    })
}

fn object(path: &Path) -> anyhow::Result<Value> {
    let value: Value = serde_json::from_slice(&fs::read(path)?)?;
    anyhow::ensure!(value.is_object(), "it is no object");
    Ok(value)
}

fn text(value: &Value, pointer: &str) -> Option<String> {
    value.pointer(pointer)?.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

fn time(value: &Value, pointer: &str) -> Option<Timestamp> {
    text(value, pointer)?.parse().ok()
}
