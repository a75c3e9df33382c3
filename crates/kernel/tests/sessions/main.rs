//! The life of sessions, told through the house.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod approving;
mod doubting;
mod enduring;
mod listening;
mod long;
mod remembering;
mod rewinding;
mod speaking;
mod spending;
mod support;
mod viewing;
mod visiting;
