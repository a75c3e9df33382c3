//! The tool for desktops as vendors define it themselves, and what their models say through it.

use kernel::toolbox::ToolSpec;
use serde_json::{Map, Value, json};

use super::{Ask, text};

/// What our own tool is called, which knows their words besides its own.
pub const NAME: &str = "computer";
/// Where our tool says how large its pictures are.
const SCREEN: &str = "x-screen";
/// How long one waits who does not say for how long.
const WAIT: u32 = 2;

/// A version of Anthropic's, and the word that must be said to be let use it.
pub struct Edition {
    kind: &'static str,
    pub beta: &'static str,
    zooms: bool,
}

const NEWER: Edition =
    Edition { kind: "computer_20251124", beta: "computer-use-2025-11-24", zooms: true };
const OLDER: Edition =
    Edition { kind: "computer_20250124", beta: "computer-use-2025-01-24", zooms: false };

/// The edition that a model knows. Older ones, and those of others, get a tool like any other.
fn edition(model: &str) -> Option<Edition> {
    const OLDER_MODELS: &[&str] = &[
        "claude-3-7",
        "claude-opus-4-0",
        "claude-opus-4-1",
        "claude-opus-4-2",
        "claude-sonnet-4-0",
        "claude-sonnet-4-2",
        "claude-sonnet-4-5",
        "claude-haiku-4-5",
    ];
    const NEWER_MODELS: &[&str] = &["claude-opus-4-", "claude-sonnet-4-"];
    let begins = |names: &[&str]| names.iter().any(|name| model.starts_with(name));
    match () {
        () if begins(OLDER_MODELS) => Some(OLDER),
        () if begins(NEWER_MODELS) => Some(NEWER),
        () => None,
    }
}

/// The tool of a prompt that is to be the vendor's own, with the size of its pictures.
fn wanted<'a>(ask: &Ask<'a>) -> Option<(&'a ToolSpec, u64, u64)> {
    let tool = ask.prompt.tools.iter().find(|tool| ask.computer && tool.name == NAME)?;
    let side = |name| tool.schema.get(SCREEN)?.get(name)?.as_u64();
    Some((tool, side("width")?, side("height")?))
}

/// What Anthropic must be told to be asked this, if anything.
pub fn beta(ask: &Ask) -> Option<&'static str> {
    wanted(ask)?;
    edition(ask.model).map(|edition| edition.beta)
}

/// None if this tool is one like any other.
pub fn for_anthropic(ask: &Ask, tool: &ToolSpec) -> Option<Value> {
    let (wanted, width, height) = wanted(ask).filter(|(wanted, ..)| wanted.name == tool.name)?;
    let edition = edition(ask.model)?;
    let mut tool = json!({
        "type": edition.kind, "name": wanted.name,
        "display_width_px": width, "display_height_px": height,
    });
    if edition.zooms {
        tool["enable_zoom"] = true.into();
    }
    Some(tool)
}

/// The same for `OpenAI`, whose first model for it is asked in another way than the rest.
pub fn for_openai(ask: &Ask, tool: &ToolSpec) -> Option<Value> {
    let (_, width, height) = wanted(ask).filter(|(wanted, ..)| wanted.name == tool.name)?;
    if !is_preview(ask.model) {
        return Some(json!({ "type": "computer" }));
    }
    Some(json!({
        "type": "computer_use_preview", "environment": "linux",
        "display_width": width, "display_height": height,
    }))
}

pub fn is_preview(model: &str) -> bool {
    model.starts_with("computer-use-preview")
}

/// What `OpenAI` calls a call, as a call of our tool: always followed by a picture, which is the
/// only answer that it takes.
pub fn arguments(item: &Value) -> Value {
    let steps: Vec<Value> = match item.get("actions").and_then(Value::as_array) {
        Some(actions) => actions.iter().map(step).collect(),
        None => item.get("action").map(step).into_iter().collect(),
    };
    let mut arguments = match <[Value; 1]>::try_from(steps) {
        Ok([step]) => step,
        Err(steps) => json!({ "action": "batch", "actions": steps }),
    };
    arguments["show"] = true.into();
    let warnings: Vec<Value> = checks(item).iter().map(|check| warning(check).into()).collect();
    if !warnings.is_empty() {
        arguments["warnings"] = warnings.into();
    }
    arguments
}

/// What a person should have seen.
pub fn checks(item: &Value) -> &[Value] {
    item.get("pending_safety_checks").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn warning(check: &Value) -> &str {
    match text(check, "message") {
        "" => text(check, "code"),
        message => message,
    }
}

fn step(action: &Value) -> Value {
    let mut step: Map<String, Value> = action.as_object().cloned().unwrap_or_default();
    let name = step.remove("type").unwrap_or_default();
    if name == "wait" {
        step.entry("duration").or_insert_with(|| WAIT.into());
    }
    step.insert("action".to_owned(), name);
    Value::Object(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_they_say_is_said_in_our_words() {
        let click = json!({ "type": "click", "button": "left", "x": 3, "y": 4 });
        let one = json!({ "type": "computer_call", "action": click });
        let said = json!({ "action": "click", "button": "left", "x": 3, "y": 4, "show": true });
        assert_eq!(arguments(&one), said);
        let several = json!({
            "type": "computer_call", "actions": [click, { "type": "wait" }],
            "pending_safety_checks": [{ "id": "1", "code": "malicious", "message": "Look first." }],
        });
        let said = json!({
            "action": "batch", "show": true, "warnings": ["Look first."],
            "actions": [
                { "action": "click", "button": "left", "x": 3, "y": 4 },
                { "action": "wait", "duration": 2 },
            ],
        });
        assert_eq!(arguments(&several), said);
    }

    #[test]
    fn each_model_is_asked_as_it_knows() {
        let of = |model| edition(model).map(|it| it.kind);
        assert_eq!(of("claude-sonnet-4-5-20250929"), Some("computer_20250124"));
        assert_eq!(of("claude-opus-4-20250514"), Some("computer_20250124"));
        assert_eq!(of("claude-opus-4-5-20251101"), Some("computer_20251124"));
        assert_eq!(of("claude-sonnet-4-6"), Some("computer_20251124"));
        assert_eq!(of("claude-3-5-sonnet-20241022"), None);
        assert_eq!(of("gpt-5"), None);
    }
}
