//! Tools by which an agent makes applets, points to them, and shares their state with the person.

mod howto;
mod reload;
mod restart;
mod state;
#[cfg(test)]
mod tests;
mod usage;

pub use howto::AppletHowto;
pub use reload::ReloadPage;
pub use restart::{RestartServer, Restarts};
pub use state::{GetAppletState, SetAppletState};
pub use usage::AppletUsage;
