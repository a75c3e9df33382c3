//! The published schema, as far as it is about what servers and their views say.

use std::{collections::HashMap, sync::LazyLock};

use jsonschema::Validator;
use serde_json::Value;

const PUBLISHED: &str = include_str!("../../schema/views.json");

/// Each definition by itself: some carry definitions of their own.
static DEFINITIONS: LazyLock<HashMap<String, Validator>> = LazyLock::new(|| {
    let all: HashMap<String, Value> = serde_json::from_str(PUBLISHED).unwrap_or_default();
    let built = all.into_iter().filter_map(|(name, definition)| {
        Some((name, jsonschema::options().offline().build(&definition).ok()?))
    });
    built.collect()
});

/// What each message of a view must look like; others are those of MCP itself.
const MESSAGES: &[(&str, &str)] = &[
    ("ui/initialize", "McpUiInitializeRequest"),
    ("ui/notifications/initialized", "McpUiInitializedNotification"),
    ("ui/message", "McpUiMessageRequest"),
    ("ui/open-link", "McpUiOpenLinkRequest"),
    ("ui/download-file", "McpUiDownloadFileRequest"),
    ("ui/request-display-mode", "McpUiRequestDisplayModeRequest"),
    ("ui/notifications/request-teardown", "McpUiRequestTeardownNotification"),
    ("ui/notifications/size-changed", "McpUiSizeChangedNotification"),
    ("ui/update-model-context", "McpUiUpdateModelContextRequest"),
];

/// What is wrong with a value; nothing, if all is well or nothing was published of it.
pub fn faults(definition: &str, value: &Value) -> Vec<String> {
    let Some(validator) = DEFINITIONS.get(definition) else { return Vec::new() };
    let told = |fault: jsonschema::ValidationError<'_>| {
        let place = fault.instance_path().to_string();
        let place = if place.is_empty() { String::new() } else { format!("{place}: ") };
        format!("{place}{}", cut(&fault.to_string()))
    };
    validator.iter_errors(value).map(told).collect()
}

/// The definition that a method has, if it has one.
pub fn of(method: &str) -> Option<&'static str> {
    MESSAGES.iter().find(|(name, _)| *name == method).map(|(_, definition)| *definition)
}

fn cut(text: &str) -> String {
    const LONGEST: usize = 200;
    text.chars().take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_definition_that_is_named_is_there() {
        let named = MESSAGES.iter().map(|(_, definition)| *definition);
        for name in named.chain(["McpUiToolMeta", "McpUiResourceMeta"]) {
            assert!(DEFINITIONS.contains_key(name), "{name}");
        }
    }
}
