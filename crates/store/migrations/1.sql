CREATE TABLE sessions (
    -- Facts and drafts go by number, never used twice: what is left of a removed session is not
    -- taken for that of another, even if one begins again under the same id.
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id BLOB NOT NULL UNIQUE,
    last INTEGER NOT NULL,
    state TEXT NOT NULL
) STRICT;

CREATE TABLE facts (
    session INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    -- Microseconds since 1970.
    at INTEGER NOT NULL,
    -- The sender's own name for the message, if the fact is one that has it.
    key TEXT,
    fact TEXT NOT NULL,
    PRIMARY KEY (session, seq)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX facts_by_key ON facts (session, key) WHERE key IS NOT NULL;

CREATE TABLE drafts (
    session INTEGER NOT NULL,
    n INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (session, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE records (
    shelf TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (shelf, name)
) STRICT;

-- Sessions whose facts are still to be purged.
CREATE TABLE removed (number INTEGER PRIMARY KEY) STRICT;
