//! The first door as its clients meet it: a real server, spoken to over HTTP and WebSocket.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod access;
mod applet_frames;
mod applets;
mod bad_input;
mod budgets;
mod common;
mod escapes;
mod events;
mod files;
mod files_mcp;
mod frames;
mod inbox;
mod mcp;
mod messages;
mod models;
mod mounted;
mod openapi;
mod outputs;
mod pictures;
mod preferences;
mod queue;
mod resume;
mod rewinding;
mod schedules;
mod secrets;
mod sessions;
mod shell;
mod shell_git;
mod shell_socket;
mod socket;
mod turns;
mod usage;
mod v1;
mod welcome;
mod workshop;
