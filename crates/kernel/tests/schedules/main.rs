//! Schedules: when they are due, whatever the calendar and the clock do, and how they run.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod due;
mod rehearsing;
mod running;
mod support;
mod timing;
