//! The host side of MCP Apps, for one widget in its frame and in both dialects, without a wire.
//!
//! A [`Handler`] takes what a view says and answers it; what it needs of the world it asks of a
//! [`Context`]. It knows neither sockets nor sessions.

mod answer;
mod bounds;
mod bridge;
mod capability;
pub mod certify;
mod context;
mod dialect;
mod fault;
mod handler;
mod heal;
mod hearing;
mod life;
mod memory;
mod methods;
mod peer;
mod policy;
mod state;
mod tools;

pub use bounds::Limits;
pub use bridge::Bridge;
pub use capability::{Capabilities, DisplayMode};
pub use context::{
    Context, Link, LogEntry, LogLevel, Ports, Record, Said, Size, ToolCall, Trouble,
};
pub use dialect::Dialect;
pub use fault::codes;
pub use handler::{Handler, Setup};
pub use heal::heal;
pub use memory::{ModelContext, PICTURES};
pub use policy::{Declared, Policy, is_source, policy};
pub use tools::{CallError, WidgetTool, offered_name};
