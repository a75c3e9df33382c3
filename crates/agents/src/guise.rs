//! What an agent tells of itself in a session: its modes, its options, and the commands it knows.

use std::fmt::Write as _;

use agent_client_protocol::v1::schema::{
    AGENT_METHOD_NAMES, AvailableCommand, SessionConfigKind, SessionConfigOption,
    SessionConfigOptionCategory, SessionConfigOptionValue, SessionConfigSelectOptions,
    SessionModeState, SessionUpdate, SetSessionConfigOptionRequest, SetSessionModeRequest,
};
use kernel::ports::Brief;
use serde::Deserialize;
use serde_json::Value;

/// The name under which its mode is chosen, however the agent calls it.
const MODE: &str = "mode";
/// How much is shown of what it says, in letters.
const SHOWN: usize = 200;
/// And how many of its commands and values.
const MOST: usize = 200;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Guise {
    modes: Option<SessionModeState>,
    config_options: Option<Vec<SessionConfigOption>>,
    #[serde(skip)]
    commands: Vec<AvailableCommand>,
}

/// What it is to be asked so that it does what was chosen.
pub struct Request {
    pub method: &'static str,
    pub params: Value,
}

impl Guise {
    /// What it says about itself when a session begins, or is taken up again.
    pub fn settle(&mut self, told: &Value) {
        // Nothing that makes sense is nothing told.
        let Self { modes, config_options, .. } = Self::deserialize(told).unwrap_or_default();
        self.modes = modes;
        self.config_options = config_options;
    }

    pub fn hear(&mut self, update: &SessionUpdate) {
        match update {
            SessionUpdate::CurrentModeUpdate(update) => {
                if let Some(modes) = &mut self.modes {
                    modes.current_mode_id = update.current_mode_id.clone();
                }
            }
            SessionUpdate::ConfigOptionUpdate(update) => {
                self.config_options = Some(update.config_options.clone());
            }
            SessionUpdate::AvailableCommandsUpdate(update) => {
                let some = update.available_commands.iter().take(MOST);
                self.commands = some.cloned().collect();
            }
            _ => (),
        }
    }

    /// How to choose this; the error names what there is to choose from.
    pub fn choose(&self, session: &str, name: &str, value: &str) -> Result<Request, String> {
        if let Some(option) = self.option(name) {
            let ids: Vec<_> = values(option).into_iter().map(|(id, _)| id).collect();
            if !ids.iter().any(|id| id == value) {
                return Err(not_among(name, value, &ids));
            }
            let is_boolean = matches!(option.kind, SessionConfigKind::Boolean(_));
            let wanted = if is_boolean {
                SessionConfigOptionValue::boolean(value == "true")
            } else {
                SessionConfigOptionValue::value_id(value.to_owned())
            };
            let request =
                SetSessionConfigOptionRequest::new(session.to_owned(), option.id.clone(), wanted);
            return asked(AGENT_METHOD_NAMES.session_set_config_option, &request);
        }
        let Some(modes) = self.modes.as_ref().filter(|_| name == MODE) else {
            let known = self.config_options.iter().flatten().map(|it| it.id.to_string());
            let mode = self.modes.iter().map(|_| MODE.to_owned());
            let known: Vec<_> = mode.chain(known).collect();
            return Err(format!("it has no option `{name}`; {}", those(&known)));
        };
        let ids: Vec<String> = modes.available_modes.iter().map(|it| it.id.to_string()).collect();
        if !ids.iter().any(|id| id == value) {
            return Err(not_among(name, value, &ids));
        }
        let request = SetSessionModeRequest::new(session.to_owned(), value.to_owned());
        asked(AGENT_METHOD_NAMES.session_set_mode, &request)
    }

    /// It has agreed to what was asked, and may say how things stand now.
    pub fn chosen(&mut self, name: &str, value: &str, told: &Value) {
        let Self { config_options, .. } = Self::deserialize(told).unwrap_or_default();
        if config_options.is_some() {
            self.config_options = config_options;
        } else if let Some(modes) = self.modes.as_mut().filter(|_| name == MODE) {
            modes.current_mode_id = value.to_owned().into();
        }
    }

    /// For a person to read.
    pub fn briefs(&self) -> Vec<Brief> {
        let mut briefs = Vec::new();
        let options = self.config_options.iter().flatten();
        let has_mode = options.clone().any(|it| is_named(it, MODE));
        if let Some(modes) = self.modes.as_ref().filter(|_| !has_mode) {
            let mut text = String::new();
            for mode in modes.available_modes.iter().take(MOST) {
                let about = mode.description.as_deref().unwrap_or(&mode.name);
                add(&mut text, mode.id == modes.current_mode_id, &mode.id.to_string(), about);
            }
            briefs.push(Brief { title: "Its modes (mode)".to_owned(), text });
        }
        for option in options {
            let mut text = String::new();
            let now = current(option);
            for (id, about) in values(option) {
                add(&mut text, id == now, &id, &about);
            }
            briefs.push(Brief { title: format!("{} ({})", short(&option.name), option.id), text });
        }
        if !self.commands.is_empty() {
            let mut text = String::new();
            for command in &self.commands {
                add(&mut text, false, &format!("/{}", command.name), &command.description);
            }
            let title = "Commands that it knows, at the beginning of a message".to_owned();
            briefs.push(Brief { title, text });
        }
        briefs
    }

    fn option(&self, name: &str) -> Option<&SessionConfigOption> {
        let options = self.config_options.as_deref().unwrap_or_default();
        let by_id = options.iter().find(|it| it.id.0.as_ref() == name);
        by_id.or_else(|| options.iter().find(|it| is_named(it, name)))
    }
}

/// Whether this is the option of this kind, whatever the agent calls it.
fn is_named(option: &SessionConfigOption, name: &str) -> bool {
    match option.category {
        Some(SessionConfigOptionCategory::Mode) => name == MODE,
        Some(SessionConfigOptionCategory::Model) => name == "model",
        Some(SessionConfigOptionCategory::ThoughtLevel) => name == "thought_level",
        _ => false,
    }
}

fn current(option: &SessionConfigOption) -> String {
    match &option.kind {
        SessionConfigKind::Select(select) => select.current_value.to_string(),
        SessionConfigKind::Boolean(boolean) => boolean.current_value.to_string(),
        _ => String::new(),
    }
}

/// Each by its id, with what it is for.
fn values(option: &SessionConfigOption) -> Vec<(String, String)> {
    let options = match &option.kind {
        SessionConfigKind::Select(select) => match &select.options {
            SessionConfigSelectOptions::Ungrouped(options) => options.clone(),
            SessionConfigSelectOptions::Grouped(groups) => {
                groups.iter().flat_map(|group| group.options.clone()).collect()
            }
            _ => Vec::new(),
        },
        SessionConfigKind::Boolean(_) => {
            return ["true", "false"].map(|it| (it.to_owned(), String::new())).to_vec();
        }
        _ => Vec::new(),
    };
    let value = |it: &agent_client_protocol::v1::schema::SessionConfigSelectOption| {
        (it.value.to_string(), it.description.clone().unwrap_or_else(|| it.name.clone()))
    };
    options.iter().take(MOST).map(value).collect()
}

fn add(text: &mut String, now: bool, id: &str, about: &str) {
    let about = short(about);
    let dash = if about.is_empty() || about == id { "" } else { ": " };
    let about = if dash.is_empty() { "" } else { &about };
    let now = if now { " (now)" } else { "" };
    // Cannot fail: it is a text that is written to.
    writeln!(text, "- `{}`{now}{dash}{about}", short(id)).ok();
}

fn short(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|it| !it.is_empty()).unwrap_or_default();
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

fn not_among(name: &str, value: &str, known: &[String]) -> String {
    format!("`{value}` cannot be its {name}; {}", those(known))
}

fn those(known: &[String]) -> String {
    if known.is_empty() { "it has none".to_owned() } else { format!("it has {}", known.join(", ")) }
}

fn asked(method: &'static str, params: &impl serde::Serialize) -> Result<Request, String> {
    let params = serde_json::to_value(params).map_err(|error| error.to_string())?;
    Ok(Request { method, params })
}

#[cfg(test)]
mod tests;
