//! What can be asked of the writer, and how each is done within its transaction.

use std::collections::HashSet;

use kernel::{
    ledger::Spending,
    ports::{Batch, Shelf, StoreError},
    update::{Fact, SessionId},
};
use rusqlite::{Connection, OptionalExtension as _, Result};

use crate::{drafts::Drafts, ledger, unavailable};

pub enum Work {
    Append(Append),
    Remove(SessionId),
    Put {
        shelf: Shelf,
        name: String,
        value: String,
    },
    Discard {
        shelf: Shelf,
        name: String,
    },
    Spend(Spending),
    /// Nothing but the flush of drafts that comes with every transaction.
    Settle,
    LimitPages(u32),
}

/// A batch as it is stored, made by whoever asks: the writer's time is everybody's.
pub struct Append {
    session: SessionId,
    rows: Vec<Row>,
    state: String,
    spent: Vec<Spending>,
    ends_draft: bool,
}

struct Row {
    seq: u64,
    at: i64,
    key: Option<String>,
    fact: String,
}

impl Append {
    pub fn new(batch: &Batch) -> Result<Self, StoreError> {
        let Batch { session, entries, state, spent, ends_draft } = batch;
        let mut rows = Vec::with_capacity(entries.len());
        for entry in entries {
            rows.push(Row {
                seq: entry.seq.0,
                at: entry.at.as_microsecond(),
                key: key(&entry.fact).map(str::to_owned),
                fact: serde_json::to_string(&entry.fact).map_err(unavailable)?,
            });
        }
        let contiguous = rows.is_sorted_by(|one, next| one.seq.checked_add(1) == Some(next.seq));
        let mut keys = HashSet::new();
        if !contiguous
            || !rows.iter().filter_map(|row| row.key.as_ref()).all(|key| keys.insert(key))
        {
            return Err(StoreError::Conflict(*session));
        }
        let state = serde_json::to_string(state).map_err(unavailable)?;
        let (session, spent) = (*session, spent.clone());
        Ok(Self { session, rows, state, spent, ends_draft: *ends_draft })
    }
}

fn key(fact: &Fact) -> Option<&str> {
    match fact {
        Fact::Queued(message) | Fact::Said { message, .. } => message.key.as_deref(),
        _ => None,
    }
}

impl Work {
    /// The outer error concerns the whole transaction, the inner one only this work, which has
    /// then changed nothing.
    pub fn run(
        self,
        connection: &Connection,
        drafts: &mut Drafts,
    ) -> Result<Result<(), StoreError>> {
        match self {
            Self::Append(append) => return append.run(connection, drafts),
            Self::Remove(session) => remove(connection, drafts, session)?,
            Self::Put { shelf, name, value } => {
                connection
                    .prepare_cached(
                        "INSERT INTO records (shelf, name, value) VALUES (?1, ?2, ?3)
                         ON CONFLICT DO UPDATE SET value = excluded.value",
                    )?
                    .execute((shelf.name(), name, value))?;
            }
            Self::Discard { shelf, name } => {
                connection
                    .prepare_cached("DELETE FROM records WHERE shelf = ?1 AND name = ?2")?
                    .execute((shelf.name(), name))?;
            }
            Self::Spend(spending) => ledger::add(connection, &spending)?,
            Self::Settle => (),
            Self::LimitPages(pages) => connection.pragma_update(None, "max_page_count", pages)?,
        }
        Ok(Ok(()))
    }
}

impl Append {
    fn run(self, connection: &Connection, drafts: &mut Drafts) -> Result<Result<(), StoreError>> {
        let Self { session, rows, state, spent, ends_draft } = self;
        let found = find(connection, session)?;
        let before = found.as_ref().map_or(0, |found| found.last);
        let fits = rows.first().is_none_or(|row| row.seq == before + 1);
        // Looked up beforehand, so that a batch is refused before anything of it is written.
        let known = found.as_ref().map(|found| uses_known_key(connection, found.number, &rows));
        if !fits || known.transpose()? == Some(true) {
            return Ok(Err(StoreError::Conflict(session)));
        }
        let last = rows.last().map_or(before, |row| row.seq);
        let number = if let Some(Found { number, .. }) = found {
            connection
                .prepare_cached("UPDATE sessions SET last = ?2, state = ?3 WHERE number = ?1")?
                .execute((number, last, state))?;
            number
        } else {
            // What was noted before it began is not its own.
            drafts.forget(session);
            connection
                .prepare_cached("INSERT INTO sessions (id, last, state) VALUES (?1, ?2, ?3)")?
                .insert((session.0.as_bytes(), last, state))?
        };
        let mut insert = connection.prepare_cached(
            "INSERT INTO facts (session, seq, at, key, fact) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?;
        for Row { seq, at, key, fact } in rows {
            insert.execute((number, seq, at, key, fact))?;
        }
        for spending in &spent {
            ledger::add(connection, spending)?;
        }
        if ends_draft {
            drafts.forget(session);
            forget_drafts(connection, number)?;
        }
        Ok(Ok(()))
    }
}

/// Takes a session out of sight. Its facts are left to be purged bit by bit.
fn remove(connection: &Connection, drafts: &mut Drafts, session: SessionId) -> Result<()> {
    let Some(Found { number, .. }) = find(connection, session)? else { return Ok(()) };
    connection.prepare_cached("INSERT INTO removed (number) VALUES (?1)")?.execute([number])?;
    connection.prepare_cached("DELETE FROM sessions WHERE number = ?1")?.execute([number])?;
    drafts.forget(session);
    forget_drafts(connection, number)
}

fn forget_drafts(connection: &Connection, number: i64) -> Result<()> {
    connection.prepare_cached("DELETE FROM drafts WHERE session = ?1")?.execute([number])?;
    Ok(())
}

pub struct Found {
    pub number: i64,
    pub last: u64,
}

pub fn find(connection: &Connection, session: SessionId) -> Result<Option<Found>> {
    connection
        .prepare_cached("SELECT number, last FROM sessions WHERE id = ?1")?
        .query_row([session.0.as_bytes()], |row| {
            Ok(Found { number: row.get(0)?, last: row.get(1)? })
        })
        .optional()
}

fn uses_known_key(connection: &Connection, number: i64, rows: &[Row]) -> Result<bool> {
    for key in rows.iter().filter_map(|row| row.key.as_ref()) {
        let known = connection
            .prepare_cached("SELECT 1 FROM facts WHERE session = ?1 AND key = ?2")?
            .exists((number, key))?;
        if known {
            return Ok(true);
        }
    }
    Ok(false)
}

/// How many facts are purged at a time.
const CHUNK: i64 = 128;

/// Purges a little of what removed sessions left behind; says whether there may be more.
pub fn purge(connection: &Connection) -> Result<bool> {
    let left = connection
        .prepare_cached(
            "SELECT number, (SELECT min(seq) FROM facts WHERE session = number)
             FROM removed LIMIT 1",
        )?
        .query_row([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, Option<i64>>(1)?)))
        .optional()?;
    match left {
        None => return Ok(false),
        Some((number, Some(first))) => connection
            .prepare_cached("DELETE FROM facts WHERE session = ?1 AND seq < ?2")?
            .execute((number, first + CHUNK))?,
        Some((number, None)) => {
            connection.prepare_cached("DELETE FROM removed WHERE number = ?1")?.execute([number])?
        }
    };
    Ok(true)
}
