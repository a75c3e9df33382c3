//! The tools that Megaron brings along, one file each.

mod agents;
mod applets;
mod apply_patch;
mod apps;
mod ask_person;
mod cabinet;
mod change;
mod context;
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
mod windows;
mod workshop;
mod write_file;

use std::sync::Arc;

use kernel::{
    host::Host,
    ports::{Briefing, Clock},
    toolbox::Toolbox,
};

pub use applets::Restarts;
pub use notices::Notices;
pub use workshop::Workshop;

use crate::{
    agents::{
        CreateAgentSession, GetSessionState, House, ListModels, SendAgentMessage, WaitForAgent,
    },
    applets::{
        AppletHowto, AppletUsage, GetAppletState, ReloadPage, RestartServer, SetAppletState,
    },
    apply_patch::ApplyPatch,
    apps::{AppCommand, AppQuery, AppUndo, Each},
    ask_person::AskPerson,
    cabinet::{AppOpen, FileOpen},
    context::{GetRelevantContext, SetRelevantContext},
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
    windows::{WindowClose, WindowCreate, WindowList, WindowUpdate},
    write_file::WriteFile,
};

/// Puts every tool of this crate into the box that needs no house around it.
pub fn add_all(
    toolbox: &Toolbox,
    clock: Arc<dyn Clock>,
    briefing: Arc<dyn Briefing>,
    workshop: Workshop,
) {
    toolbox.add(Adapter::new(ApplyPatch { workshop: workshop.clone() }));
    toolbox.add(Adapter::new(CurrentTime { clock }));
    toolbox.add(Adapter::new(EditFile { workshop: workshop.clone() }));
    toolbox.add(Adapter::new(Glob { workshop: workshop.clone() }));
    toolbox.add(Adapter::new(Grep { workshop: workshop.clone() }));
    toolbox.add(Adapter::new(ListDirectory { workshop: workshop.clone() }));
    toolbox.add(Adapter::new(ReadFile { workshop: workshop.clone() }));
    toolbox.add(Adapter::new(ReadResult));
    toolbox.add(Adapter::new(ReadSkill { briefing }));
    toolbox.add(Adapter::new(WriteFile { workshop }));
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

/// Gives the house the tools for what it shows beside a conversation.
pub fn add_applets(host: &Arc<Host>, workshop: Workshop) {
    let (toolbox, house) = (&host.ports.tools, || House(Arc::downgrade(host)));
    toolbox.add(Adapter::new(AppletHowto { house: house() }));
    toolbox.add(Adapter::new(AppletUsage { house: house() }));
    toolbox.add(Adapter::new(GetAppletState { house: house() }));
    toolbox.add(Adapter::new(SetAppletState { house: house() }));
    toolbox.add(Adapter::new(GetRelevantContext { house: house() }));
    toolbox.add(Adapter::new(SetRelevantContext { house: house() }));
    toolbox.add(Adapter::new(ReloadPage));
    toolbox.add(Adapter::new(AppCommand { house: house() }));
    toolbox.add(Adapter::new(AppQuery { house: house() }));
    toolbox.add(Adapter::new(AppUndo { house: house() }));
    toolbox.add(Adapter::new(AppOpen { house: house() }));
    toolbox.add(Adapter::new(FileOpen { house: house(), workshop }));
    toolbox.add(Adapter::new(WindowClose { house: house() }));
    toolbox.add(Adapter::new(WindowCreate { house: house() }));
    toolbox.add(Adapter::new(WindowList));
    toolbox.add(Adapter::new(WindowUpdate { house: house() }));
}

/// Gives models a tool for each command of the apps on show, in place of one for all.
pub fn add_each_command(host: &Arc<Host>) {
    host.ports.tools.furnish(Each::new(House(Arc::downgrade(host))));
}

/// Lets agents ask for the server to be started anew.
pub fn add_restart(host: &Arc<Host>, restarts: Restarts) {
    let house = House(Arc::downgrade(host));
    host.ports.tools.add(Adapter::new(RestartServer { house, restarts }));
}
