//! The models there are: so far the one that is built in.

pub mod demo;
mod lineup;

pub use demo::Demo;
pub use lineup::{Lineup, UnknownModel};
