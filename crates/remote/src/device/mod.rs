//! The machine that is driven: obeys a hub, and finds its way back to it.

mod address;
mod delay;
mod engine;
mod leave;
mod link;
mod memory;
mod pace;
mod shown;

pub use address::{Address, AddressError};
pub use engine::Engine;
pub use leave::Leave;
pub use link::{Event, Identity, Link, LinkError};
pub use shown::{Change, Window};
