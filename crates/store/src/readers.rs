//! A few connections that only read, each used by one reader at a time.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use kernel::ports::StoreError;
use rusqlite::{Connection, OpenFlags};
use tokio::{sync::Semaphore, task::spawn_blocking};

use crate::unavailable;

/// How many read at once; the others wait for their turn.
const READERS: usize = 4;

pub struct Readers {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
    turns: Arc<Semaphore>,
}

impl Readers {
    pub fn new(path: PathBuf) -> Self {
        Self { path, idle: Mutex::default(), turns: Arc::new(Semaphore::new(READERS)) }
    }

    pub async fn read<T: Send + 'static>(
        self: Arc<Self>,
        look: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let turn = self.turns.clone().acquire_owned().await.map_err(unavailable)?;
        let reading = spawn_blocking(move || {
            let _turn = turn;
            let idle = self.idle().pop();
            let connection = idle.map_or_else(|| self.connect(), Ok).map_err(unavailable)?;
            let found = look(&connection)?;
            // Kept only if all went well: a new one starts with a clean slate.
            self.idle().push(connection);
            Ok(found)
        });
        reading.await.map_err(unavailable)?
    }

    /// Lets go of every connection that is not in use.
    pub fn close(&self) {
        self.turns.close();
        self.idle().clear();
    }

    fn connect(&self) -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.path, flags)?;
        connection.execute_batch("PRAGMA cache_size = -512")?;
        Ok(connection)
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
