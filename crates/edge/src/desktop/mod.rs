//! Desktops that can be seen and driven: those that connect, those who watch, and the owner who commands.

mod arming;
mod chat;
mod command;
mod connect;
mod connection;
mod glance;
mod hub;
mod list;
mod passes;
mod remote;
mod screen;
mod state;
mod target;
#[cfg(test)]
mod tests;
mod trajectories;
mod viewer;

use std::sync::Arc;

pub use hub::Hub;
pub use state::{DesktopAction, action};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::App;

/// Where devices and viewers connect.
pub const CONNECT: &str = "/connect";

pub fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(command::command))
        .routes(routes!(chat::chat))
        .routes(routes!(list::status))
        .routes(routes!(list::list, list::add))
        .routes(routes!(list::rename, list::forget))
        .routes(routes!(arming::arm))
        .routes(routes!(arming::disarm))
        .routes(routes!(arming::stop))
        .routes(routes!(arming::take_over))
        .routes(routes!(arming::hand_back))
        .routes(routes!(state::state))
        .routes(routes!(state::log))
        .routes(routes!(target::target))
        .routes(routes!(trajectories::record))
        .routes(routes!(trajectories::list, trajectories::keep))
        .routes(routes!(trajectories::rename, trajectories::remove))
        .routes(routes!(trajectories::replay))
        .route(screen::PATH, axum::routing::get(screen::screen))
        .route(CONNECT, axum::routing::get(connect::connect))
}
