//! The Model Context Protocol in both directions, and the only room that names it.

pub mod client;
pub mod server;
