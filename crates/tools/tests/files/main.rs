//! The file tools as a session has them: what they ask leave for, and that nothing leads outside.

#![expect(clippy::unwrap_used, reason = "tests")]
#![expect(clippy::panic, reason = "tests")]

mod escapes;
mod home;
mod leave;
mod race;
