//! The protocol between a hub and the desktops it drives, and the end of it that is driven.

mod alias;
pub mod coerce;
pub mod command;
pub mod device;
#[cfg(test)]
mod examples;
mod fields;
pub mod hello;
pub mod reply;
pub mod say;

pub use fields::SEED;
