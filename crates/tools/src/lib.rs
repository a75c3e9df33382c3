//! The tools that Megaron brings along, one file each.

mod agents;
mod apply_patch;
mod ask_person;
mod change;
mod current_time;
mod diff;
mod edit_file;
pub mod embed_media;
mod folder;
mod glob;
mod grep;
mod hint;
mod list_directory;
mod notices;
mod plan;
mod put;
mod read_file;
mod read_result;
mod read_skill;
#[cfg(unix)]
pub mod sandbox;
mod search;
#[cfg(unix)]
pub mod shell;
#[cfg(test)]
mod tests;
pub mod typed;
mod walk;
pub mod web_fetch;
mod write_file;

use std::sync::Arc;

use kernel::{
    host::Host,
    ports::{Briefing, Clock},
    toolbox::Toolbox,
};

pub use notices::Notices;

use crate::{
    agents::{
        CreateAgentSession, GetSessionState, House, ListModels, SendAgentMessage, WaitForAgent,
    },
    apply_patch::ApplyPatch,
    ask_person::AskPerson,
    current_time::CurrentTime,
    edit_file::EditFile,
    glob::Glob,
    grep::Grep,
    list_directory::ListDirectory,
    plan::PlanTool,
    read_file::ReadFile,
    read_result::ReadResult,
    read_skill::ReadSkill,
    typed::Adapter,
    write_file::WriteFile,
};

/// Puts every tool of this crate into the box that needs no house around it.
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

/// Gives the house the tools that talk to its person and its other agents.
pub fn add_social(host: &Arc<Host>) {
    let (toolbox, house) = (&host.ports.tools, || House(Arc::downgrade(host)));
    toolbox.add(Adapter::new(AskPerson { house: house() }));
    toolbox.add(Adapter::new(CreateAgentSession { house: house() }));
    toolbox.add(Adapter::new(GetSessionState { house: house() }));
    toolbox.add(Adapter::new(ListModels { house: house() }));
    toolbox.add(Adapter::new(PlanTool));
    toolbox.add(Adapter::new(SendAgentMessage { house: house() }));
    toolbox.add(Adapter::new(WaitForAgent { house: house() }));
}
