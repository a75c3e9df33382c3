//! What remains of Megaron when every wire, vendor and disk is taken away.
//!
//! A session is one task that owns one log. Callers send it [`update::Command`]s; it appends
//! [`update::Fact`]s and passes on [`update::Signal`]s; both leave as one stream of updates that a
//! [`feed::Feed`] follows from any point. A wire protocol is a translator of that stream.

mod answer;
pub mod applets;
pub mod approvals;
pub mod apps;
pub mod ask;
mod asker;
pub mod back;
pub mod budget;
pub mod cabinet;
pub mod compact;
mod desk;
pub mod desktop;
pub mod feed;
mod form;
pub mod gallery;
pub mod guard;
pub mod host;
pub mod inbox;
pub mod leave;
pub mod ledger;
mod message;
pub mod outputs;
pub mod ports;
pub mod prompt;
pub mod question;
pub mod recent;
pub mod roster;
pub mod schedule;
pub mod servers;
pub mod session;
pub mod state;
pub mod tasks;
pub mod tokens;
pub mod toolbox;
mod turn;
pub mod update;
pub mod views;
pub mod visit;
pub mod web;
pub mod widget;
pub mod windows;
