//! This machine's desktop on Wayland: a real compositor that nobody sees, with other programs as witnesses.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "all of it is a test")]

mod keyboard;
mod lacking;
mod pointer;
mod seeing;
mod stage;
mod windows;
mod witness;
