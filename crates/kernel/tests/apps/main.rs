//! The App Protocol, as transcripts: what happens, and what is said to whom.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod asking;
mod deadlines;
mod histories;
mod keys;
mod owning;
mod replaying;
mod serving;
mod support;
mod telling;
mod watching;
