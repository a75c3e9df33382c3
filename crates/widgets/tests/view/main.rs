//! What views say and what they are answered, in both dialects, without a browser.

#![expect(clippy::unwrap_used, reason = "all of it is a test")]

mod keeping;
mod life;
mod malformed;
mod official;
mod schema;
mod seed;
mod tools;
mod world;
