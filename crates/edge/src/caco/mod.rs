//! The Caco API: sessions, messages and the socket that tells of them.

pub mod applets;
mod approvals;
mod asked;
mod budgets;
pub mod clients;
mod events;
mod frames;
mod grants;
mod hear;
mod list;
pub mod mcp;
mod messages;
mod model;
mod names;
mod patterns;
pub mod pictures;
mod preferences;
mod queue;
mod say;
mod schedules;
mod search;
mod sessions;
mod socket;
mod standing;
mod tasks;
pub mod upgrade;
mod usage;

use std::sync::Arc;

pub use frames::Iso;
pub use sessions::known;
pub use socket::Connection;

use utoipa_axum::{router::OpenApiRouter, routes};

use crate::App;

pub fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(sessions::current))
        .routes(routes!(list::list, sessions::create))
        .routes(routes!(sessions::amend, sessions::delete))
        .routes(routes!(sessions::resume))
        .routes(routes!(sessions::observe))
        .routes(routes!(standing::state))
        .routes(routes!(standing::compact))
        .routes(routes!(events::events))
        .routes(routes!(search::search))
        .routes(routes!(messages::post))
        .routes(routes!(messages::cancel))
        .routes(routes!(queue::call_off))
        .routes(routes!(pictures::picture))
        .routes(routes!(messages::debug))
        .routes(routes!(applets::list))
        .routes(routes!(applets::load))
        .routes(routes!(applets::state, applets::merge))
        .routes(routes!(approvals::list))
        .routes(routes!(approvals::decide))
        .routes(routes!(grants::list))
        .routes(routes!(grants::revoke))
        .routes(routes!(tasks::list))
        .routes(routes!(preferences::get, preferences::set))
        .routes(routes!(usage::models))
        .routes(routes!(usage::usage))
        .routes(routes!(budgets::show, budgets::change, budgets::reset))
        .routes(routes!(mcp::list, mcp::add))
        .routes(routes!(mcp::change, mcp::remove))
        .routes(routes!(mcp::restart))
        .routes(routes!(mcp::reload))
        .routes(routes!(mcp::logs))
        .route(mcp::CALLBACK, axum::routing::get(mcp::callback))
        .routes(routes!(schedules::list))
        .routes(routes!(schedules::show, schedules::put, schedules::change, schedules::remove))
        .routes(routes!(schedules::runs::run))
        .routes(routes!(schedules::runs::ledger))
        .routes(routes!(schedules::runs::preview))
        .routes(routes!(schedules::leave::rehearse))
        .routes(routes!(schedules::leave::grant))
        .routes(routes!(upgrade::token))
        .route("/ws", axum::routing::get(upgrade::shared))
        .route("/caco/ws", axum::routing::get(upgrade::own))
        .route("/apps/ws", axum::routing::get(upgrade::apps))
}
