//! The models there are: those of the configured providers, and one that is built in.

mod config;
pub mod demo;
mod fault;
mod http;
mod lineup;
mod listing;
mod pictures;
mod price;
mod provider;
mod reader;
mod remote;
mod secret;
mod sse;
mod wire;

pub use config::{Effort, Kind, ProviderSettings};
pub use demo::Demo;
pub use http::choose_tls;
pub use lineup::{BuildError, Lineup, UnknownModel};
pub use price::Price;
pub use provider::{Problem, SettingsError};
pub use secret::{Given, Secret, SecretError};
