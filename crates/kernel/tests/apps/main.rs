//! The App Protocol, as transcripts: what happens, and what is said to whom.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod asking;
mod deadlines;
mod hands;
mod histories;
mod keys;
mod offering;
mod owning;
mod remembering;
mod replaying;
mod serving;
mod support;
mod telling;
mod undoing;
mod watching;
