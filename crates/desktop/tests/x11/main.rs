//! This machine's desktop on displays of its own, with other programs as witnesses.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "all of it is a test")]

mod keys;
mod lamp;
mod person;
mod pointer;
mod seeing;
mod spared;
mod stage;
mod typing;
mod witness;
