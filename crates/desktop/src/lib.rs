//! This machine's screen, pointer and keyboard behind the kernel's port; the only room that names X11.

mod denied;
mod desk;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
mod guard;
mod ledger;
mod local;
#[cfg(target_os = "linux")]
mod picture;
mod stop;
#[cfg(target_os = "linux")]
mod x11;

pub use guard::guard;
pub use local::{Local, Settings, is_present};
