//! Whether what a command is given fits what its app has said it takes.

use jsonschema::{
    PatternOptions, ValidationError, Validator,
    error::{TypeKind, ValidationErrorKind},
};
use serde_json::Value;

/// How much a pattern may take up that somebody else wrote.
const PATTERN_BYTES: usize = 256 * 1024;
/// How many problems are told, and how much of each.
const PROBLEMS: usize = 20;
const TOLD: usize = 300;

/// A schema that can be held against values: JSON Schema of 2020-12, unless it says otherwise.
pub struct Schema(Validator);

impl Schema {
    /// None with the reason, for a schema that makes no sense. Fetches nothing.
    pub fn read(schema: &Value) -> Result<Self, String> {
        let patterns = PatternOptions::regex().size_limit(PATTERN_BYTES);
        let options = jsonschema::options().offline().with_pattern_options(patterns);
        options.build(schema).map(Self).map_err(|error| brief(&error.to_string()).to_owned())
    }

    /// All that is wrong with a value, each with its place as a JSON Pointer.
    pub fn problems(&self, value: &Value) -> Vec<(String, String)> {
        self.0.iter_errors(value).take(PROBLEMS).map(|error| problem(&error)).collect()
    }
}

fn problem(error: &ValidationError<'_>) -> (String, String) {
    let place = error.instance_path().to_string();
    match error.kind() {
        ValidationErrorKind::Type { kind } => {
            let expected = match kind {
                TypeKind::Single(only) => only.to_string(),
                TypeKind::Multiple(types) => {
                    let names: Vec<String> = types.iter().map(|one| one.to_string()).collect();
                    names.join(" or ")
                }
            };
            (place, format!("expected {expected}, got {}", type_of(error.instance())))
        }
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            let name = name.replace('~', "~0").replace('/', "~1");
            (format!("{place}/{name}"), "expected a value, got nothing".to_owned())
        }
        _ => (place, brief(&error.to_string()).to_owned()),
    }
}

fn brief(text: &str) -> &str {
    &text[..text.floor_char_boundary(TOLD)]
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_problem_is_named_with_its_place() {
        let schema = json!({
            "type": "object", "required": ["cells", "a/b"],
            "properties": {
                "cells": { "type": "object", "additionalProperties": { "type": ["string", "null"] } },
                "n": { "minimum": 1 },
            },
        });
        let problems = |value: Value| {
            let mut found = Schema::read(&schema).unwrap().problems(&value);
            found.sort();
            found
        };
        let told = |place: &str, what: &str| (place.to_owned(), what.to_owned());
        assert_eq!(problems(json!({ "cells": {}, "a/b": 1 })), []);
        assert_eq!(problems(json!([])), [told("", "expected object, got array")]);
        let nothing = "expected a value, got nothing";
        assert_eq!(problems(json!({})), [told("/a~1b", nothing), told("/cells", nothing)]);
        assert_eq!(
            problems(json!({ "cells": { "A1": 5 }, "a/b": 1, "n": 0 })),
            [
                told("/cells/A1", "expected null or string, got number"),
                told("/n", "0 is less than the minimum of 1"),
            ]
        );
    }

    #[test]
    fn a_schema_without_sense_and_one_from_elsewhere_are_not_used() {
        for schema in [
            json!({ "type": "nonsense" }),
            json!(1),
            json!({ "$ref": "https://a.example/schema.json" }),
            json!({ "$ref": "file:///etc/hostname" }),
        ] {
            assert!(Schema::read(&schema).is_err(), "{schema}");
        }
    }
}
