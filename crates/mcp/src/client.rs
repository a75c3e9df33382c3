//! Servers of tools that the house uses.

mod call;
mod calls;
mod elicit;
mod guest;
mod house;
mod import;
mod keeper;
mod lift;
mod link;
mod listing;
mod logbook;
mod names;
mod offers;
mod pipe;
mod probe;
mod process;
mod resources;
mod result;
mod sample;
mod schema;
mod server;
mod settings;
mod sieve;
mod signin;
mod survey;
mod tool;
mod vault;
mod web;
mod widget;

pub use house::House;
pub use import::import;
pub use probe::{Probed, probe};
pub use settings::{Sampling, Settings, check_name};
pub use survey::{Survey, SurveyedTool};
