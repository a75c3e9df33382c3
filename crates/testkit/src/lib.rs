//! Fakes for every port of the kernel, and the contracts that real ones must keep.
//!
//! ```
//! # async fn example() -> Result<(), kernel::ports::StoreError> {
//! use kernel::host::{Host, Settings};
//! use testkit::{Gate, World, model};
//!
//! let gate = Gate::default();
//! let world = World::new([
//!     vec![model::call("1", "echo", serde_json::json!({ "say": "hi" }))],
//!     vec![model::text("Hel"), model::wait(&gate), model::text("lo")],
//! ]);
//! let host = Host::start(world.ports(), Settings::default()).await?;
//! // A crash is dropping every task; this is the same house afterwards.
//! drop(host);
//! let host = Host::start(world.ports(), Settings::default()).await?;
//! # drop(host);
//! # Ok(()) }
//! ```

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "this is test support: what goes wrong here should fail the test"
)]

mod author;
mod clock;
pub mod contract;
mod gate;
mod memory;
pub mod model;
mod tool;
mod world;

pub use author::{Author, every_fact};
pub use clock::ManualClock;
pub use gate::Gate;
pub use memory::MemoryStore;
pub use model::{OneModel, ScriptedModel};
pub use tool::TestTool;
pub use world::World;
