//! The catalog: how sessions stand, and records by name.

use futures::FutureExt as _;
use kernel::{
    ports::{Catalog, Shelf, StoreError, Stored},
    state::State,
    update::SessionId,
};
use rusqlite::{Connection, OptionalExtension as _};
use uuid::Uuid;

use crate::{Store, unavailable, work::Work};

#[expect(clippy::similar_names, reason = "a shelf is not a self")]
impl Catalog for Store {
    fn sessions(&self) -> Stored<'_, Vec<(SessionId, State)>> {
        self.readers.clone().read(sessions).boxed()
    }

    fn remove(&self, session: SessionId) -> Stored<'_, ()> {
        self.write(Work::Remove(session)).boxed()
    }

    fn get(&self, shelf: Shelf, name: &str) -> Stored<'_, Option<String>> {
        let name = name.to_owned();
        self.readers
            .clone()
            .read(move |connection| {
                connection
                    .prepare_cached("SELECT value FROM records WHERE shelf = ?1 AND name = ?2")
                    .and_then(|mut get| {
                        get.query_row((shelf.name(), name), |row| row.get(0)).optional()
                    })
                    .map_err(unavailable)
            })
            .boxed()
    }

    fn put(&self, shelf: Shelf, name: &str, value: String) -> Stored<'_, ()> {
        self.write(Work::Put { shelf, name: name.to_owned(), value }).boxed()
    }

    fn discard(&self, shelf: Shelf, name: &str) -> Stored<'_, ()> {
        self.write(Work::Discard { shelf, name: name.to_owned() }).boxed()
    }

    fn list(&self, shelf: Shelf, prefix: &str) -> Stored<'_, Vec<(String, String)>> {
        let prefix = prefix.to_owned();
        self.readers
            .clone()
            .read(move |connection| list(connection, shelf, &prefix).map_err(unavailable))
            .boxed()
    }
}

fn sessions(connection: &Connection) -> Result<Vec<(SessionId, State)>, StoreError> {
    let mut statement =
        connection.prepare_cached("SELECT id, state FROM sessions").map_err(unavailable)?;
    let mut rows = statement.query([]).map_err(unavailable)?;
    let mut sessions = Vec::new();
    while let Some(row) = rows.next().map_err(unavailable)? {
        let id = SessionId(Uuid::from_bytes(row.get(0).map_err(unavailable)?));
        let unreadable = |reason: String| {
            unavailable(format!("the state of session {id} cannot be read: {reason}"))
        };
        let state = row.get_ref(1).map_err(unavailable)?;
        let state = state.as_str().map_err(|error| unreadable(error.to_string()))?;
        let state = serde_json::from_str(state).map_err(|error| unreadable(error.to_string()))?;
        sessions.push((id, state));
    }
    Ok(sessions)
}

/// Names are in the order of their bytes, so those with the prefix are neighbours.
fn list(
    connection: &Connection,
    shelf: Shelf,
    prefix: &str,
) -> rusqlite::Result<Vec<(String, String)>> {
    let sql = "SELECT name, value FROM records WHERE shelf = ?1 AND name >= ?2 ORDER BY name";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query((shelf.name(), prefix))?;
    let mut records = Vec::new();
    while let Some(row) = rows.next()? {
        let name: String = row.get(0)?;
        if !name.starts_with(prefix) {
            break;
        }
        records.push((name, row.get(1)?));
    }
    Ok(records)
}
