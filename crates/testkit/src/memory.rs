//! A store in memory, with faults to order.

use std::{
    collections::BTreeMap,
    ops::RangeInclusive,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures::{FutureExt as _, future};
use jiff::civil::Date;
use kernel::{
    ledger::{Spending, Sum},
    ports::{Attic, Batch, Catalog, Ledger, Log, Shelf, StoreError, Stored},
    state::State,
    update::{Entry, Fact, Seq, SessionId},
};

use crate::Gate;

/// Clones share everything: a crash is dropping every task and starting anew on a clone.
#[derive(Clone)]
pub struct MemoryStore {
    data: Arc<Mutex<Data>>,
    gate: Gate,
}

#[derive(Default)]
struct Data {
    sessions: BTreeMap<SessionId, Kept>,
    records: BTreeMap<(Shelf, String), String>,
    files: BTreeMap<PathBuf, Vec<u8>>,
    spending: BTreeMap<(Date, String), Sum>,
    named: usize,
    /// How many appends succeed before the disk is full, if it is ever to be.
    room: Option<usize>,
}

#[derive(Default)]
struct Kept {
    /// The entry of each place, less one.
    entries: Vec<Arc<Entry>>,
    keys: BTreeMap<String, usize>,
    state: State,
    draft: String,
}

impl Default for MemoryStore {
    fn default() -> Self {
        let gate = Gate::default();
        gate.open();
        Self { data: Arc::default(), gate }
    }
}

impl MemoryStore {
    /// Whether appends fail from now on, as on a full disk.
    pub fn fail_appends(&self, fail: bool) {
        self.data().room = fail.then_some(0);
    }

    /// The next `count` appends succeed, those after them fail.
    pub fn fail_after(&self, count: usize) {
        self.data().room = Some(count);
    }

    /// Appends wait from now on; the gate tells when one does.
    pub fn hold_appends(&self) -> Gate {
        self.gate.close();
        self.gate.clone()
    }

    pub fn release_appends(&self) {
        self.gate.open();
    }

    /// The bytes of a file in the attic.
    pub fn file(&self, path: &Path) -> Option<Vec<u8>> {
        self.data().files.get(path).cloned()
    }

    fn data(&self) -> MutexGuard<'_, Data> {
        self.data.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<'a, T: Send + 'a>(&self, look: impl FnOnce(&mut Data) -> T) -> Stored<'a, T> {
        future::ready(Ok(look(&mut self.data()))).boxed()
    }
}

impl Data {
    fn append(&mut self, batch: Batch) -> Result<(), StoreError> {
        if self.room == Some(0) {
            return Err(StoreError::Unavailable("disk full".into()));
        }
        let kept = self.sessions.get(&batch.session);
        let mut place = kept.map_or(0, |kept| kept.entries.len());
        let mut keys = BTreeMap::new();
        for entry in &batch.entries {
            let key = key(&entry.fact).map(str::to_owned);
            let known = |key: &String| kept.is_some_and(|kept| kept.keys.contains_key(key));
            let again = key.is_some_and(|key| known(&key) || keys.insert(key, place).is_some());
            place += 1;
            if again || entry.seq != Seq(place as u64) {
                return Err(StoreError::Conflict(batch.session));
            }
        }
        self.room = self.room.map(|room| room - 1);
        let kept = self.sessions.entry(batch.session).or_default();
        kept.entries.extend(batch.entries);
        kept.keys.extend(keys);
        kept.state = State::clone(&batch.state);
        if batch.ends_draft {
            kept.draft.clear();
        }
        batch.spent.into_iter().for_each(|spending| self.spend(spending));
        Ok(())
    }

    fn spend(&mut self, Spending { day, model, sum }: Spending) {
        let kept = self.spending.entry((day, model)).or_default();
        *kept = kept.plus(sum);
    }

    fn entries(&self, session: SessionId) -> &[Arc<Entry>] {
        self.sessions.get(&session).map_or(&[], |kept| &kept.entries)
    }
}

/// A place that may be past the end.
fn clamp(seq: Seq, entries: &[Arc<Entry>]) -> usize {
    usize::try_from(seq.0).unwrap_or(usize::MAX).min(entries.len())
}

impl Log for MemoryStore {
    fn append(&self, batch: Batch) -> Stored<'_, ()> {
        async move {
            self.gate.pass().await;
            self.data().append(batch)
        }
        .boxed()
    }

    fn read(&self, session: SessionId, after: Seq, limit: usize) -> Stored<'_, Vec<Entry>> {
        self.with(|data| {
            let entries = data.entries(session);
            let later = entries[clamp(after, entries)..].iter();
            later.take(limit).map(|entry| Entry::clone(entry)).collect()
        })
    }

    fn read_back(&self, session: SessionId, before: Seq, limit: usize) -> Stored<'_, Vec<Entry>> {
        self.with(|data| {
            let entries = data.entries(session);
            let earlier = entries[..clamp(before.before(), entries)].iter().rev();
            earlier.take(limit).map(|entry| Entry::clone(entry)).collect()
        })
    }

    fn keyed(&self, session: SessionId, key: &str) -> Stored<'_, Option<Entry>> {
        self.with(|data| {
            let kept = data.sessions.get(&session)?;
            Some(Entry::clone(&kept.entries[*kept.keys.get(key)?]))
        })
    }

    fn draft(&self, session: SessionId, text: &str) {
        if let Some(kept) = self.data().sessions.get_mut(&session) {
            kept.draft.push_str(text);
        }
    }

    fn drafted(&self, session: SessionId) -> Stored<'_, String> {
        self.with(|data| {
            data.sessions.get(&session).map(|kept| kept.draft.clone()).unwrap_or_default()
        })
    }
}

fn key(fact: &Fact) -> Option<&str> {
    match fact {
        Fact::Queued(message) | Fact::Said { message, .. } => message.key.as_deref(),
        _ => None,
    }
}

#[expect(clippy::similar_names, reason = "a shelf is not a self")]
impl Catalog for MemoryStore {
    fn sessions(&self) -> Stored<'_, Vec<(SessionId, State)>> {
        self.with(|data| data.sessions.iter().map(|(id, kept)| (*id, kept.state.clone())).collect())
    }

    fn remove(&self, session: SessionId) -> Stored<'_, ()> {
        self.with(|data| drop(data.sessions.remove(&session)))
    }

    fn get(&self, shelf: Shelf, name: &str) -> Stored<'_, Option<String>> {
        self.with(|data| data.records.get(&(shelf, name.to_owned())).cloned())
    }

    fn put(&self, shelf: Shelf, name: &str, value: String) -> Stored<'_, ()> {
        self.with(|data| drop(data.records.insert((shelf, name.to_owned()), value)))
    }

    fn discard(&self, shelf: Shelf, name: &str) -> Stored<'_, ()> {
        self.with(|data| drop(data.records.remove(&(shelf, name.to_owned()))))
    }

    fn list(&self, shelf: Shelf, prefix: &str) -> Stored<'_, Vec<(String, String)>> {
        self.with(|data| {
            let records = data.records.iter();
            let listed = records.filter(|((on, name), _)| *on == shelf && name.starts_with(prefix));
            listed.map(|((_, name), value)| (name.clone(), value.clone())).collect()
        })
    }
}

impl Ledger for MemoryStore {
    fn spend(&self, spending: Spending) -> Stored<'_, ()> {
        self.with(|data| data.spend(spending))
    }

    fn spending(&self, days: RangeInclusive<Date>) -> Stored<'_, Vec<Spending>> {
        self.with(|data| {
            let kept = data.spending.iter().filter(|((day, _), _)| days.contains(day));
            kept.map(|((day, model), sum)| Spending { day: *day, model: model.clone(), sum: *sum })
                .collect()
        })
    }
}

impl Attic for MemoryStore {
    fn keep(&self, session: SessionId, extension: &str, bytes: Vec<u8>) -> Stored<'_, PathBuf> {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        if !(1..=8).contains(&extension.len()) || !extension.bytes().all(plain) {
            let error = StoreError::Unavailable(format!("`{extension}` is no extension"));
            return future::ready(Err(error)).boxed();
        }
        self.with(|data| {
            data.named += 1;
            let path = folder(session).join(format!("{}.{extension}", data.named));
            data.files.insert(path.clone(), bytes);
            path
        })
    }

    fn fetch(&self, session: SessionId, path: PathBuf) -> Stored<'_, Option<Vec<u8>>> {
        let is_own = path.parent() == Some(&folder(session));
        self.with(|data| data.files.get(&path).filter(|_| is_own).cloned())
    }

    fn size(&self, session: SessionId, path: PathBuf) -> Stored<'_, Option<u64>> {
        let is_own = path.parent() == Some(&folder(session));
        self.with(|data| data.files.get(&path).filter(|_| is_own).map(|it| it.len() as u64))
    }

    fn clear(&self, session: SessionId) -> Stored<'_, ()> {
        self.with(|data| data.files.retain(|path, _| !path.starts_with(folder(session))))
    }
}

fn folder(session: SessionId) -> PathBuf {
    Path::new("/attachments").join(session.to_string())
}
