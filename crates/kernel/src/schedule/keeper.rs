//! Every schedule there is: kept, changed and found; the one writer of their records.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use jiff::{Timestamp, tz::TimeZone};
use tokio::sync::Notify;

use super::{
    Definition, Rhythm, Run, RunError, RunOutcome, Schedule, TimingError,
    due::{self, Decision, Passed},
    prefix,
};
use crate::{
    ports::{Catalog, Clock, Ports, Shelf, StoreError},
    roster::{News, Roster},
    update::SessionId,
};

/// How many runs of a schedule stay on record.
const LEDGER: usize = 1000;

pub struct Schedules {
    catalog: Arc<dyn Catalog>,
    clock: Arc<dyn Clock>,
    roster: Arc<Roster>,
    kept: Mutex<BTreeMap<String, Kept>>,
    /// Held by whoever changes a record, from reading it to having stored it.
    pen: tokio::sync::Mutex<()>,
    /// There may be something earlier to wait for.
    pub(super) changed: Notify,
}

#[derive(Clone)]
struct Kept {
    schedule: Arc<Schedule>,
    rhythm: Rhythm,
    next: Option<Timestamp>,
}

impl Schedules {
    pub(crate) async fn open(ports: &Ports, roster: Arc<Roster>) -> Result<Self, StoreError> {
        let (catalog, clock) = (ports.catalog.clone(), ports.clock.clone());
        let records = catalog.list(Shelf::Schedules, "").await?;
        let home = clock.zone();
        let kept = records.iter().filter_map(|(slug, text)| {
            let kept = serde_json::from_str(text)
                .map_err(|error| error.to_string())
                .and_then(|it: Schedule| Kept::new(it, &home).map_err(|error| error.explained()));
            match kept {
                Ok(kept) => Some((slug.clone(), kept)),
                Err(error) => {
                    tracing::error!(slug, error, "a schedule cannot be read and rests");
                    None
                }
            }
        });
        let kept = Mutex::new(kept.collect());
        let (pen, changed) = (tokio::sync::Mutex::default(), Notify::new());
        Ok(Self { catalog, clock, roster, kept, pen, changed })
    }

    /// By name.
    pub fn all(&self) -> Vec<(Arc<Schedule>, Option<Timestamp>)> {
        self.kept().values().map(|it| (it.schedule.clone(), it.next)).collect()
    }

    /// A schedule, and when it runs next.
    pub fn get(&self, slug: &str) -> Option<(Arc<Schedule>, Option<Timestamp>)> {
        self.kept().get(slug).map(|it| (it.schedule.clone(), it.next))
    }

    /// For each session that a schedule ran in last: its name, and when it runs next.
    pub fn by_session(&self) -> BTreeMap<SessionId, (String, Option<Timestamp>)> {
        let kept = self.kept();
        let known = |it: &Kept| Some((it.schedule.session?, (it.schedule.slug.clone(), it.next)));
        kept.values().filter_map(known).collect()
    }

    /// Whether this can be a schedule, and when it would run.
    pub fn preview(
        &self,
        timing: &super::Timing,
        count: usize,
    ) -> Result<Vec<Timestamp>, TimingError> {
        let now = self.clock.now();
        let rhythm = Rhythm::read(timing, now, &self.clock.zone())?;
        rhythm.check(now)?;
        Ok(rhythm.following(now).take(count).collect())
    }

    /// Makes a schedule or replaces its definition; its past stays. Says whether it is new.
    pub async fn put(
        &self,
        slug: &str,
        definition: Definition,
    ) -> Result<(Option<Timestamp>, bool), StoreError> {
        self.revise(slug, definition, true).await
    }

    /// The same; only where it begins `anew` are times planned from now on.
    pub async fn revise(
        &self,
        slug: &str,
        definition: Definition,
        anew: bool,
    ) -> Result<(Option<Timestamp>, bool), StoreError> {
        let _pen = self.pen.lock().await;
        let now = self.clock.now();
        let old = self.get(slug).map(|(old, _)| old);
        let created = old.is_none();
        let kept = old.as_ref().filter(|_| !anew);
        let schedule = Schedule {
            slug: slug.to_owned(),
            definition,
            created: old.as_ref().map_or(now, |old| old.created),
            updated: now,
            anchor: kept.map_or(now, |old| old.anchor),
            decided: kept.map_or(now, |old| old.decided),
            session: old.as_ref().and_then(|old| old.session),
            last: old.as_ref().and_then(|old| old.last.clone()),
            running: old.as_ref().and_then(|old| old.running.clone()),
        };
        self.store(schedule).await?;
        Ok((self.get(slug).and_then(|(_, next)| next), created))
    }

    /// Removes a schedule with its ledger; says whether there was one.
    pub(crate) async fn remove(&self, slug: &str) -> Result<bool, StoreError> {
        let _pen = self.pen.lock().await;
        if self.get(slug).is_none() {
            return Ok(false);
        }
        self.catalog.discard(Shelf::Schedules, slug).await?;
        self.kept().remove(slug);
        for (name, _) in self.catalog.list(Shelf::Runs, &prefix(slug)).await? {
            self.catalog.discard(Shelf::Runs, &name).await?;
        }
        self.tell();
        Ok(true)
    }

    /// What came of it so far, the newest first.
    pub async fn runs(&self, slug: &str, limit: usize) -> Result<Vec<Run>, StoreError> {
        let running = self.get(slug).and_then(|(it, _)| it.running.clone());
        let records = self.catalog.list(Shelf::Runs, &prefix(slug)).await?;
        let past = records.into_iter().rev();
        let past = past.filter_map(|(_, text)| serde_json::from_str::<Run>(&text).ok());
        let past = past.filter(|run| running.as_ref().is_none_or(|now| now.id != run.id));
        Ok(running.clone().into_iter().chain(past).take(limit).collect())
    }

    /// When something is to be done next.
    pub(super) fn earliest(&self) -> Option<Timestamp> {
        let kept = self.kept();
        kept.values().filter(|it| it.schedule.running.is_none()).filter_map(|it| it.next).min()
    }

    /// The names of those whose time has come.
    pub(super) fn due(&self) -> Vec<String> {
        let now = self.clock.now();
        let kept = self.kept();
        let is_due = |it: &&Kept| it.next.is_some_and(|next| next <= now);
        kept.values().filter(is_due).map(|it| it.schedule.slug.clone()).collect()
    }

    /// The clock may have been set back: whoever has waited for a time that was never to be seen
    /// is looked at again.
    pub(super) async fn mend(&self) -> Result<(), StoreError> {
        let _pen = self.pen.lock().await;
        let now = self.clock.now();
        for (schedule, _) in self.all() {
            if due::sane(schedule.decided, now) != schedule.decided {
                let anchor = schedule.anchor.min(now);
                let mended = Schedule { decided: now, anchor, ..Schedule::clone(&schedule) };
                self.store(mended).await?;
            }
        }
        Ok(())
    }

    /// Decides what a schedule is due for, and has it on record. Returns the run that is to begin.
    pub(super) async fn begin_due(&self, slug: &str) -> Result<Option<Run>, StoreError> {
        let _pen = self.pen.lock().await;
        let Some(Kept { schedule, rhythm, .. }) = self.kept().get(slug).cloned() else {
            return Ok(None);
        };
        let now = self.clock.now();
        let missed = schedule.definition.missed;
        if schedule.running.is_some() || !schedule.definition.enabled {
            return Ok(None);
        }
        let Some(decision) = due::due(&rhythm, missed, schedule.decided, now) else {
            return Ok(None);
        };
        let Decision { run, merged, skipped, decided } = decision;
        if let Some((at, passed)) = skipped {
            self.note(slug, &self.skipped(at, passed)).await?;
        }
        let run = match run {
            // After the clock was set back, a time may come that has been.
            Some(due) if !self.is_on_record(slug, due).await? => {
                let reason = (merged.count > 0)
                    .then(|| format!("it also stands for {merged} that had passed"));
                let run = Run::new(self.clock.id(), due, false);
                Some(Run { started: Some(now), reason, ..run })
            }
            _ => None,
        };
        let schedule = Schedule { decided, running: run.clone(), ..Schedule::clone(&schedule) };
        self.store(schedule).await?;
        Ok(run)
    }

    /// Has a run by hand on record, which is to begin.
    pub(super) async fn begin_by_hand(&self, slug: &str) -> Result<Run, RunError> {
        let _pen = self.pen.lock().await;
        let (schedule, _) = self.get(slug).ok_or_else(|| RunError::Unknown(slug.to_owned()))?;
        if schedule.running.is_some() {
            return Err(RunError::Running(slug.to_owned()));
        }
        let now = self.clock.now();
        let run = Run { started: Some(now), ..Run::new(self.clock.id(), now, true) };
        self.store(Schedule { running: Some(run.clone()), ..Schedule::clone(&schedule) }).await?;
        Ok(run)
    }

    /// Notes where a run takes place, before anything is said there.
    pub(super) async fn place(
        &self,
        slug: &str,
        run: &Run,
        session: SessionId,
    ) -> Result<(), StoreError> {
        let _pen = self.pen.lock().await;
        let Some((schedule, _)) = self.get(slug) else { return Ok(()) };
        let Some(running) = schedule.running.clone().filter(|it| it.id == run.id) else {
            return Ok(());
        };
        let running = Some(Run { session: Some(session), ..running });
        let session = Some(session);
        self.store(Schedule { session, running, ..Schedule::clone(&schedule) }).await
    }

    /// Has on record how a run ended.
    pub(super) async fn finish(&self, slug: &str, run: Run) -> Result<(), StoreError> {
        let _pen = self.pen.lock().await;
        let Some((schedule, _)) = self.get(slug) else { return Ok(()) };
        if schedule.running.as_ref().is_none_or(|running| running.id != run.id) {
            return Ok(());
        }
        let run = Run { finished: Some(self.clock.now()), ..run };
        // First of all: a crash in between finds the same again.
        self.note(slug, &run).await?;
        let (running, last) = (None, Some(run));
        self.store(Schedule { last, running, ..Schedule::clone(&schedule) }).await
    }

    fn skipped(&self, due: Timestamp, passed: Passed) -> Run {
        let outcome = Some(RunOutcome::Skipped);
        let reason = Some(format!("{passed} passed while it could not run"));
        let finished = Some(self.clock.now());
        Run { finished, outcome, reason, ..Run::new(self.clock.id(), due, false) }
    }

    async fn is_on_record(&self, slug: &str, due: Timestamp) -> Result<bool, StoreError> {
        let name = Run::new(uuid::Uuid::nil(), due, false).record(slug);
        let found: Option<Run> = self.catalog.load(Shelf::Runs, &name).await?;
        Ok(found.is_some_and(|run| run.outcome != Some(RunOutcome::Skipped)))
    }

    async fn note(&self, slug: &str, run: &Run) -> Result<(), StoreError> {
        self.catalog.save(Shelf::Runs, &run.record(slug), run).await?;
        let records = self.catalog.list(Shelf::Runs, &prefix(slug)).await?;
        let excess = records.len().saturating_sub(LEDGER);
        for (name, _) in &records[..excess] {
            self.catalog.discard(Shelf::Runs, name).await?;
        }
        Ok(())
    }

    /// Stores, then tells.
    async fn store(&self, schedule: Schedule) -> Result<(), StoreError> {
        let slug = schedule.slug.clone();
        let kept = Kept::new(schedule, &self.clock.zone())
            .map_err(|error| StoreError::Unavailable(error.explained()))?;
        self.catalog.save(Shelf::Schedules, &slug, kept.schedule.as_ref()).await?;
        self.kept().insert(slug, kept);
        self.tell();
        Ok(())
    }

    fn tell(&self) {
        self.roster.tell(News::Schedules);
        self.changed.notify_one();
    }

    fn kept(&self) -> MutexGuard<'_, BTreeMap<String, Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn new(schedule: Schedule, home: &TimeZone) -> Result<Self, TimingError> {
        let rhythm = Rhythm::read(&schedule.definition.timing, schedule.anchor, home)?;
        let enabled = schedule.definition.enabled;
        let next = enabled.then(|| rhythm.after(schedule.decided)).flatten();
        Ok(Self { schedule: Arc::new(schedule), rhythm, next })
    }
}
