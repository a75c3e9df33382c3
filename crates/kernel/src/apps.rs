//! What is open in each session that is in memory: its windows, and the apps in them.

mod fact;
pub mod protocol;
pub mod schema;
pub mod texts;

pub use fact::{
    AppFact, AppRequest, Asked, Cause, FailedReason, Keep, Kind, OwnerReason, Response,
};
