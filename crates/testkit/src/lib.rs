//! Fakes for every port of the kernel, and the contracts that real ones must keep.
//!
//! ```
//! use testkit::{Gate, World, model};
//!
//! let gate = Gate::default();
//! let world = World::new([
//!     vec![model::call("1", "echo", serde_json::json!({ "say": "hi" }))],
//!     vec![model::text("Hel"), model::wait(&gate), model::text("lo")],
//! ]);
//! world.until_crash(async |host| {
//!     // Say something, and wait until half of the answer has come.
//! });
//! world.until_crash(async |host| {
//!     // The same house, after the process was killed.
//!     host.recover().await;
//! });
//! ```

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "this is test support: what goes wrong here should fail the test"
)]

mod agent;
mod author;
mod chance;
mod clock;
pub mod contract;
mod desktop;
pub mod diary;
mod gate;
pub mod history;
mod memory;
pub mod model;
mod tool;
mod world;

pub use agent::{TestAgent, Visited};
pub use author::{Author, every_fact};
pub use chance::Chance;
pub use clock::ManualClock;
pub use desktop::FakeDesktop;
pub use gate::Gate;
pub use memory::MemoryStore;
pub use model::{OneModel, ScriptedModel};
pub use tool::TestTool;
pub use world::{Silence, World};
