//! The App Protocol on a socket: windows and the apps in them, by itself or beside another dialect.

mod arrive;
mod beside;
mod frames;
mod hear;
mod party;
mod say;
pub mod traffic;
mod wishes;

pub use arrive::{arrive, is_wanted};
pub use beside::Beside;
pub use party::Party;
pub use say::Interest;
