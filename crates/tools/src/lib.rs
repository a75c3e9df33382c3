//! The tools that Megaron brings along, one file each.

mod apply_patch;
mod change;
mod current_time;
mod diff;
mod edit_file;
mod folder;
mod glob;
mod grep;
mod hint;
mod list_directory;
mod notices;
mod place;
mod read_file;
mod read_result;
mod read_skill;
mod search;
#[cfg(test)]
mod tests;
pub mod typed;
mod walk;
mod write_file;

use std::sync::Arc;

use kernel::{
    ports::{Briefing, Clock},
    toolbox::Toolbox,
};

pub use notices::Notices;

use crate::{
    apply_patch::ApplyPatch, current_time::CurrentTime, edit_file::EditFile, glob::Glob,
    grep::Grep, list_directory::ListDirectory, read_file::ReadFile, read_result::ReadResult,
    read_skill::ReadSkill, typed::Adapter, write_file::WriteFile,
};

/// Puts every tool of this crate into the box.
pub fn add_all(toolbox: &Toolbox, clock: Arc<dyn Clock>, briefing: Arc<dyn Briefing>) {
    toolbox.add(Adapter::new(ApplyPatch));
    toolbox.add(Adapter::new(CurrentTime { clock }));
    toolbox.add(Adapter::new(EditFile));
    toolbox.add(Adapter::new(Glob));
    toolbox.add(Adapter::new(Grep));
    toolbox.add(Adapter::new(ListDirectory));
    toolbox.add(Adapter::new(ReadFile));
    toolbox.add(Adapter::new(ReadResult));
    toolbox.add(Adapter::new(ReadSkill { briefing }));
    toolbox.add(Adapter::new(WriteFile));
}
