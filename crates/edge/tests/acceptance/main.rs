//! The first door as its clients meet it: a real server, spoken to over HTTP and WebSocket.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod access;
mod bad_input;
mod budgets;
mod common;
mod escapes;
mod files;
mod files_mcp;
mod inbox;
mod mcp;
mod messages;
mod models;
mod mounted;
mod openapi;
mod outputs;
mod preferences;
mod resume;
mod secrets;
mod sessions;
mod shell;
mod shell_git;
mod shell_socket;
mod socket;
mod turns;
mod usage;
mod v1;
