//! The house as a server, for any client of the protocol.

mod callers;
mod completion;
mod defined;
mod door;
mod errands;
mod files;
mod guest;
mod hearing;
mod house;
mod lent;
mod pages;
mod progress;
mod prompts;
mod relay;
mod remarks;
mod resources;
mod shown;
mod transcript;
mod watching;

pub use callers::Callers;
pub use door::{Door, Limits, door, door_to};
pub use guest::Guest;
pub use house::House;
pub use relay::{Place, relay};
