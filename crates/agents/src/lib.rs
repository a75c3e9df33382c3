//! Agents with minds of their own that answer in our sessions, over the Agent Client Protocol; the only room that names it.
//!
//! Each session that an agent answers in has a process of it to itself: what goes wrong there harms no other. The messages
//! are the official ones; how they travel is our own, because nothing that a stranger sends may pile up without bound.

mod agreed;
mod calls;
mod deed;
mod files;
mod guest;
mod guise;
mod line;
mod process;
mod prompt;
mod talk;
mod terminals;
mod trouble;
mod used;
mod visitor;

pub use guest::{Guests, Offer, Settings};
