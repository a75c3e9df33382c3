//! Which database this is, and how an older one becomes today's.

use std::{fs, io, path::Path};

use rusqlite::{Connection, ErrorCode, OpenFlags};

/// Each takes the database from the version that is its index to the next.
const MIGRATIONS: [&str; 2] =
    [include_str!("../migrations/1.sql"), include_str!("../migrations/2.sql")];
/// `mgrn`
const APPLICATION: i32 = 0x6d67_726e;

pub const VERSION: usize = MIGRATIONS.len();

pub enum Kind {
    New,
    Ours { version: usize },
    Foreign,
}

/// Looks at a database without changing it.
pub fn inspect(path: &Path) -> rusqlite::Result<Kind> {
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Kind::New),
        Ok(metadata) if metadata.len() == 0 => return Ok(Kind::New),
        // What else is wrong with it, SQLite says.
        _ => (),
    }
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let schema = match pragma("schema_version") {
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::NotADatabase) => {
            return Ok(Kind::Foreign);
        }
        schema => schema?,
    };
    match (pragma("application_id")?, usize::try_from(pragma("user_version")?)) {
        (id, Ok(version)) if id == i64::from(APPLICATION) => Ok(Kind::Ours { version }),
        // A crash came before the first migration.
        (0, _) if schema == 0 => Ok(Kind::New),
        _ => Ok(Kind::Foreign),
    }
}

/// Takes a database from `version` to ours, all the way or not at all.
pub fn migrate(connection: &mut Connection, version: usize) -> rusqlite::Result<()> {
    let migrations = MIGRATIONS.get(version..).unwrap_or_default();
    if migrations.is_empty() {
        return Ok(());
    }
    let transaction = connection.transaction()?;
    for migration in migrations {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()
}
