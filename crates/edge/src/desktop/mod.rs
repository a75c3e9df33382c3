//! Desktops that can be seen and driven: those that connect, those who watch, and the owner who commands.

mod arming;
mod command;
mod connect;
mod connection;
mod hub;
mod list;
mod passes;
mod remote;
#[cfg(test)]
mod tests;
mod viewer;

use std::sync::Arc;

pub use hub::Hub;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::App;

/// Where devices and viewers connect.
pub const CONNECT: &str = "/connect";

pub fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(command::command))
        .routes(routes!(list::status))
        .routes(routes!(list::list, list::add))
        .routes(routes!(list::rename, list::forget))
        .routes(routes!(arming::arm))
        .routes(routes!(arming::disarm))
        .routes(routes!(arming::stop))
        .routes(routes!(arming::hand_back))
        .route(CONNECT, axum::routing::get(connect::connect))
}
