//! What an agent tells of itself, translated: words, plans, and the calls of its own tools.

use std::collections::{HashMap, HashSet};

use agent_client_protocol::v1::schema::{
    ContentBlock, Plan, PlanEntry, PlanEntryStatus, SessionUpdate, ToolCall, ToolCallContent,
    ToolCallStatus, ToolCallUpdate, ToolKind,
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use kernel::{
    tasks::{self, Progress, Step},
    toolbox::{Picture, Reply},
    visit::Doing,
};
use serde_json::{Map, Value, json};

use crate::deed::{changed, diffs};

/// How much may be said in one turn, in bytes.
const SAID: usize = 16 * 1024 * 1024;
/// And how often something may be begun or planned.
const BEGUN: usize = 10_000;
const TITLE: usize = 200;
const INPUT: usize = 256 * 1024;
const RESULT: usize = 1024 * 1024;
const STEPS: usize = 100;

/// The calls of one turn.
#[derive(Default)]
pub struct Calls {
    open: HashMap<String, Open>,
    ended: HashSet<String>,
    said: usize,
    begun: usize,
}

struct Open {
    call: ToolCall,
    printed: String,
}

/// It does more than anybody could follow.
#[derive(Debug, PartialEq, Eq)]
pub struct TooMuch;

impl Calls {
    pub fn update(&mut self, update: SessionUpdate) -> Result<Vec<Doing>, TooMuch> {
        match update {
            SessionUpdate::AgentMessageChunk(chunk) => {
                let text = words(chunk.content);
                self.count(text.len())?;
                Ok(vec![Doing::Text(text)])
            }
            SessionUpdate::AgentThoughtChunk(chunk) => {
                let text = words(chunk.content);
                self.count(text.len())?;
                Ok(vec![Doing::Reasoning(text)])
            }
            SessionUpdate::Plan(plan) => {
                self.begin_one()?;
                Ok(vec![Doing::Plan(planned(plan))])
            }
            SessionUpdate::ToolCall(call) => {
                let id = call.tool_call_id.to_string();
                if self.ended.contains(&id) {
                    return Ok(Vec::new());
                }
                let mut doings = Vec::new();
                match self.open.get_mut(&id) {
                    Some(open) => open.call = call,
                    None => doings.extend(self.begin(call)?),
                }
                doings.extend(self.go_on(&id)?);
                Ok(doings)
            }
            SessionUpdate::ToolCallUpdate(update) => self.change(update),
            // What is the agent's own business, and what later versions tell.
            _ => Ok(Vec::new()),
        }
    }

    /// More about a call, which may be the first that is heard of it.
    pub fn change(&mut self, update: ToolCallUpdate) -> Result<Vec<Doing>, TooMuch> {
        let id = update.tool_call_id.to_string();
        if self.ended.contains(&id) {
            return Ok(Vec::new());
        }
        let mut doings = Vec::new();
        if let Some(open) = self.open.get_mut(&id) {
            open.call.update(update.fields);
        } else {
            let mut call = ToolCall::new(update.tool_call_id, "Working");
            call.update(update.fields);
            doings.extend(self.begin(call)?);
        }
        doings.extend(self.go_on(&id)?);
        Ok(doings)
    }

    pub fn get(&self, id: &str) -> Option<&ToolCall> {
        self.open.get(id).map(|open| &open.call)
    }

    fn begin(&mut self, call: ToolCall) -> Result<Option<Doing>, TooMuch> {
        self.begin_one()?;
        let id = call.tool_call_id.to_string();
        let doing = Doing::Began {
            call: id.clone(),
            tool: name(call.kind).to_owned(),
            args: input(call.raw_input.as_ref()),
            title: short(&call.title),
        };
        self.open.insert(id, Open { call, printed: String::new() });
        Ok(Some(doing))
    }

    /// What has become of it.
    fn go_on(&mut self, id: &str) -> Result<Vec<Doing>, TooMuch> {
        let Some(open) = self.open.get_mut(id) else { return Ok(Vec::new()) };
        let id = id.to_owned();
        let result = match open.call.status {
            ToolCallStatus::Completed => Ok(reply(&open.call)),
            ToolCallStatus::Failed => Err(complaint(&open.call)),
            ToolCallStatus::InProgress => {
                let mut doings = Vec::new();
                if acts(open.call.kind) {
                    doings.push(Doing::Started { call: id.clone() });
                }
                let text = text(&open.call);
                if let Some(delta) = text.strip_prefix(&open.printed).filter(|it| !it.is_empty()) {
                    let delta = delta.to_owned();
                    open.printed = text;
                    self.count(delta.len())?;
                    doings.push(Doing::Printed { call: id, delta });
                }
                return Ok(doings);
            }
            _ => return Ok(Vec::new()),
        };
        self.open.remove(&id);
        self.ended.insert(id.clone());
        Ok(vec![Doing::Ended { call: id, result }])
    }

    fn count(&mut self, size: usize) -> Result<(), TooMuch> {
        self.said = self.said.saturating_add(size);
        if self.said > SAID { Err(TooMuch) } else { Ok(()) }
    }

    fn begin_one(&mut self) -> Result<(), TooMuch> {
        self.begun += 1;
        if self.begun > BEGUN { Err(TooMuch) } else { Ok(()) }
    }
}

/// By its kind, under names that are no tool's of ours and that every model's provider accepts.
fn name(kind: ToolKind) -> &'static str {
    match kind {
        ToolKind::Read => "agent_read",
        ToolKind::Edit => "agent_edit",
        ToolKind::Delete => "agent_delete",
        ToolKind::Move => "agent_move",
        ToolKind::Search => "agent_search",
        ToolKind::Execute => "agent_execute",
        ToolKind::Think => "agent_think",
        ToolKind::Fetch => "agent_fetch",
        ToolKind::SwitchMode => "agent_switch_mode",
        _ => "agent_act",
    }
}

fn acts(kind: ToolKind) -> bool {
    !matches!(kind, ToolKind::Read | ToolKind::Search | ToolKind::Think)
}

fn input(raw: Option<&Value>) -> Value {
    let Some(Value::Object(input)) = raw else { return Value::Object(Map::new()) };
    let size = serde_json::to_string(input).map_or(usize::MAX, |text| text.len());
    if size > INPUT { Value::Object(Map::new()) } else { Value::Object(input.clone()) }
}

fn reply(call: &ToolCall) -> Reply {
    let pictures = call.content.iter().filter_map(|content| match content {
        ToolCallContent::Content(content) => picture(&content.content),
        _ => None,
    });
    let locations: Vec<Value> =
        call.locations.iter().map(|it| json!({ "path": it.path, "line": it.line })).collect();
    let changes: Vec<Value> =
        diffs(call).map(|it| json!({ "path": it.path, "diff": changed(it) })).collect();
    let data = json!({
        "title": short(&call.title),
        "kind": call.kind,
        "locations": locations,
        "changes": changes,
    });
    let (text, pictures) = (text(call), pictures.collect());
    Reply { text, pictures, data: Some(data), failed: false }
}

fn picture(content: &ContentBlock) -> Option<Picture> {
    let ContentBlock::Image(image) = content else { return None };
    let bytes = BASE64_STANDARD.decode(&image.data).ok()?;
    let plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '+' | '-' | '.');
    let mime = image.mime_type.strip_prefix("image/").filter(|it| it.chars().all(plain))?;
    Some(Picture { mime: format!("image/{mime}"), bytes })
}

fn complaint(call: &ToolCall) -> String {
    let text = text(call);
    if text.is_empty() { "It failed, and did not say why.".to_owned() } else { text }
}

/// What a call gave, in words.
fn text(call: &ToolCall) -> String {
    let said = call.content.iter().filter_map(|content| match content {
        ToolCallContent::Content(content) => Some(words(content.content.clone())),
        ToolCallContent::Diff(diff) => Some(changed(diff)),
        _ => None,
    });
    let said: Vec<String> = said.filter(|it| !it.is_empty()).collect();
    let text = match (&call.raw_output, said.is_empty()) {
        (_, false) => said.join("\n"),
        (Some(Value::String(output)), true) => output.clone(),
        (Some(output), true) if !output.is_null() => output.to_string(),
        (_, true) => String::new(),
    };
    if text.len() <= RESULT {
        return text;
    }
    let end = text.floor_char_boundary(RESULT);
    format!("{}\n[cut after {end} of {} bytes]", &text[..end], text.len())
}

fn words(content: ContentBlock) -> String {
    match content {
        ContentBlock::Text(text) => text.text,
        ContentBlock::ResourceLink(link) => format!("[{}]({})", link.name, link.uri),
        ContentBlock::Image(_) => "[a picture]".to_owned(),
        ContentBlock::Audio(_) => "[a sound]".to_owned(),
        _ => String::new(),
    }
}

fn short(title: &str) -> String {
    let line = title.lines().map(str::trim).find(|it| !it.is_empty()).unwrap_or("Working");
    match line.char_indices().nth(TITLE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

fn planned(plan: Plan) -> tasks::Plan {
    let step = |entry: PlanEntry| {
        let progress = match entry.status {
            PlanEntryStatus::InProgress => Progress::Active,
            PlanEntryStatus::Completed => Progress::Done,
            _ => Progress::Pending,
        };
        Step { text: short(&entry.content), progress }
    };
    let steps = plan.entries.into_iter().take(STEPS).map(step).collect();
    tasks::Plan { title: "Plan".to_owned(), steps, visibility: None }
}

#[cfg(test)]
mod tests;
