//! The log: facts and drafts.

use futures::FutureExt as _;
use jiff::Timestamp;
use kernel::{
    ports::{Batch, Log, StoreError, Stored},
    update::{Entry, Seq, SessionId},
};
use rusqlite::{Connection, Params, Row};

use crate::{
    Store, clamp, unavailable,
    work::{Append, Work},
    writer::Job,
};

/// How much is read at a time, one fact more or less: whoever reads holds it in memory, and there may
/// be many.
const PAGE_BYTES: usize = 256 << 10;

const ON: &str = "SELECT seq, at, fact FROM facts
    WHERE session = (SELECT number FROM sessions WHERE id = ?1) AND seq > ?2
    ORDER BY seq LIMIT ?3";
const BACK: &str = "SELECT seq, at, fact FROM facts
    WHERE session = (SELECT number FROM sessions WHERE id = ?1) AND seq < ?2
    ORDER BY seq DESC LIMIT ?3";
const KEYED: &str = "SELECT seq, at, fact FROM facts
    WHERE session = (SELECT number FROM sessions WHERE id = ?1) AND key = ?2";

impl Log for Store {
    fn append(&self, batch: Batch) -> Stored<'_, ()> {
        async move { self.write(Work::Append(Append::new(&batch)?)).await }.boxed()
    }

    fn read(&self, session: SessionId, after: Seq, limit: usize) -> Stored<'_, Vec<Entry>> {
        self.readers
            .clone()
            .read(move |connection| {
                let params = (session.0.as_bytes(), clamp(after.0), clamp(limit as u64));
                entries(connection, session, ON, params)
            })
            .boxed()
    }

    fn read_back(&self, session: SessionId, before: Seq, limit: usize) -> Stored<'_, Vec<Entry>> {
        self.readers
            .clone()
            .read(move |connection| {
                let params = (session.0.as_bytes(), clamp(before.0), clamp(limit as u64));
                entries(connection, session, BACK, params)
            })
            .boxed()
    }

    fn keyed(&self, session: SessionId, key: &str) -> Stored<'_, Option<Entry>> {
        let key = key.to_owned();
        self.readers
            .clone()
            .read(move |connection| {
                let found = entries(connection, session, KEYED, (session.0.as_bytes(), key))?;
                Ok(found.into_iter().next())
            })
            .boxed()
    }

    fn draft(&self, session: SessionId, text: &str) {
        self.send(Job::Draft { session, text: text.to_owned() });
    }

    fn drafted(&self, session: SessionId) -> Stored<'_, String> {
        async move {
            self.write(Work::Settle).await?;
            self.readers.clone().read(move |connection| drafted(connection, session)).await
        }
        .boxed()
    }
}

fn entries(
    connection: &Connection,
    session: SessionId,
    sql: &str,
    params: impl Params,
) -> Result<Vec<Entry>, StoreError> {
    let mut statement = connection.prepare_cached(sql).map_err(unavailable)?;
    let mut rows = statement.query(params).map_err(unavailable)?;
    let (mut entries, mut bytes) = (Vec::new(), 0);
    while bytes < PAGE_BYTES
        && let Some(row) = rows.next().map_err(unavailable)?
    {
        let (entry, size) = entry(session, row)?;
        entries.push(entry);
        bytes += size;
    }
    Ok(entries)
}

/// The entry, and how large it is.
fn entry(session: SessionId, row: &Row) -> Result<(Entry, usize), StoreError> {
    let seq = row.get(0).map_err(unavailable)?;
    let unreadable = |reason: String| {
        unavailable(format!("fact {seq} of session {session} cannot be read: {reason}"))
    };
    let at = row.get(1).map_err(|error| unreadable(error.to_string()))?;
    let at = Timestamp::from_microsecond(at).map_err(|error| unreadable(error.to_string()))?;
    let fact = row.get_ref(2).map_err(|error| unreadable(error.to_string()))?;
    let text = fact.as_str().map_err(|error| unreadable(error.to_string()))?;
    let fact = serde_json::from_str(text).map_err(|error| unreadable(error.to_string()))?;
    Ok((Entry { seq: Seq(seq), at, fact }, text.len()))
}

fn drafted(connection: &Connection, session: SessionId) -> Result<String, StoreError> {
    let sql = "SELECT text FROM drafts
               WHERE session = (SELECT number FROM sessions WHERE id = ?1) ORDER BY n";
    let mut statement = connection.prepare_cached(sql).map_err(unavailable)?;
    let texts = statement.query_map([session.0.as_bytes()], |row| row.get::<_, String>(0));
    texts.map_err(unavailable)?.collect::<Result<_, _>>().map_err(unavailable)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However long a log is, a page of it is found where it begins, and nothing else is looked at.
    #[tokio::test]
    async fn a_page_is_found_by_its_place_and_not_by_looking_through_the_log() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        for sql in [ON, BACK, KEYED] {
            let plan = store.readers.clone().read(move |connection| plan(connection, sql)).await;
            let plan = plan.unwrap();
            let facts = plan.iter().find(|step| step.contains("facts")).unwrap();
            assert!(facts.starts_with("SEARCH facts USING"), "{plan:#?}");
            assert!(!plan.iter().any(|step| step.contains("TEMP B-TREE")), "{plan:#?}");
        }
    }

    fn plan(connection: &Connection, sql: &str) -> Result<Vec<String>, StoreError> {
        let sql = format!("EXPLAIN QUERY PLAN {sql}");
        let mut statement = connection.prepare(&sql).map_err(unavailable)?;
        let mut rows = statement.raw_query();
        let mut steps = Vec::new();
        while let Some(row) = rows.next().map_err(unavailable)? {
            steps.push(row.get(3).map_err(unavailable)?);
        }
        Ok(steps)
    }
}
