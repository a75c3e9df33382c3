//! The tools that Megaron brings along, one file each.

mod current_time;
mod folder;
mod list_directory;
mod notices;
mod read_file;
mod read_result;
mod read_skill;
#[cfg(unix)]
pub mod sandbox;
#[cfg(unix)]
pub mod shell;
#[cfg(test)]
mod tests;
pub mod typed;
pub mod web_fetch;
mod write_file;

use std::sync::Arc;

use kernel::{
    ports::{Briefing, Clock},
    toolbox::Toolbox,
};

pub use notices::Notices;

use crate::{
    current_time::CurrentTime, list_directory::ListDirectory, read_file::ReadFile,
    read_result::ReadResult, read_skill::ReadSkill, typed::Adapter, write_file::WriteFile,
};

/// Puts every tool of this crate into the box.
pub fn add_all(toolbox: &Toolbox, clock: Arc<dyn Clock>, briefing: Arc<dyn Briefing>) {
    toolbox.add(Adapter::new(CurrentTime { clock }));
    toolbox.add(Adapter::new(ListDirectory));
    toolbox.add(Adapter::new(ReadFile));
    toolbox.add(Adapter::new(ReadResult));
    toolbox.add(Adapter::new(ReadSkill { briefing }));
    toolbox.add(Adapter::new(WriteFile));
}
