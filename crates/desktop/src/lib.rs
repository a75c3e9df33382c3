//! This machine's screen, pointer and keyboard behind the kernel's port; the only room that names what drives them.

mod choice;
mod denied;
mod desk;
mod guard;
mod lamp;
#[cfg(target_os = "linux")]
mod ledger;
mod local;
mod motion;
mod picture;
#[cfg(any(test, not(target_os = "linux")))]
mod portable;
mod rig;
mod seat;
mod stop;
#[cfg(target_os = "linux")]
mod wayland;
mod worker;
#[cfg(target_os = "linux")]
mod x11;

pub use choice::{Backend, backend, is_present};
pub use guard::guard;
pub use local::{Local, Settings};
