//! What must hold of the servers that the house uses: real ones, old and new ones, and hostile ones.

#![expect(clippy::unwrap_used, clippy::panic, reason = "all of it is a test")]

mod asking;
mod everything;
mod home;
mod hostile;
mod keeping;
mod web;
mod widgets;
