//! Schemas that others wrote: whether they can be used at all, and whether a value fits one.

use jsonschema::{PatternOptions, Validator};
use serde_json::{Value, json};

/// A schema that takes up more than this is not worth a model's attention.
const LARGEST: usize = 64 * 1024;
const PATTERN_BYTES: usize = 256 * 1024;

/// A schema that works.
pub struct Schema {
    pub value: Value,
    validator: Option<Validator>,
}

impl Schema {
    /// One that lets everything pass.
    pub fn open() -> Self {
        Self { value: json!({ "type": "object" }), validator: None }
    }

    /// The schema, or what is wrong with it. Nothing is fetched, from the network or from disk.
    pub fn read(value: Value) -> Result<Self, String> {
        let size = value.to_string().len();
        if size > LARGEST {
            return Err(format!("its schema is too large: {size} bytes"));
        }
        if value.get("type").is_some_and(|it| it != "object") {
            return Err("its schema is not that of an object".into());
        }
        // An engine that never goes back takes no pattern that could keep it busy.
        let patterns = PatternOptions::regex().size_limit(PATTERN_BYTES);
        let options = jsonschema::options().offline().with_pattern_options(patterns);
        let validator =
            options.build(&value).map_err(|error| format!("its schema cannot be used: {error}"))?;
        Ok(Self { value, validator: Some(validator) })
    }

    /// What is wrong with a value, if something is.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        const TOLD: usize = 5;
        let Some(validator) = &self.validator else { return Ok(()) };
        let wrong = validator.iter_errors(value).take(TOLD).map(|error| {
            let place = error.instance_path().to_string();
            let what = super::logbook::cut(&error.to_string(), 300).to_owned();
            if place.is_empty() { what } else { format!("{place}: {what}") }
        });
        let wrong: Vec<String> = wrong.collect();
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_held_against_the_schema() {
        let schema = json!({
            "type": "object",
            "properties": { "path": { "type": "string" }, "count": { "type": "integer" } },
            "required": ["path"],
        });
        let schema = Schema::read(schema).unwrap();
        assert_eq!(schema.check(&json!({ "path": "a", "count": 2 })), Ok(()));
        assert_eq!(
            schema.check(&json!({ "count": "x" })),
            Err("\"path\" is a required property; /count: \"x\" is not of type \"integer\"".into())
        );
    }

    #[test]
    fn a_schema_that_cannot_be_used_is_refused_without_looking_elsewhere() {
        for schema in [
            json!({ "type": "string" }),
            json!({ "type": 3 }),
            json!({ "properties": 3 }),
            json!({ "$ref": "http://127.0.0.1:9/schema.json" }),
            json!({ "$ref": "file:///etc/passwd" }),
            json!({ "properties": { "a": { "pattern": "(" } } }),
            json!({ "properties": { "a": { "pattern": "(a{1000}){1000}" } } }),
            json!({ "description": "x".repeat(LARGEST) }),
        ] {
            assert!(Schema::read(schema.clone()).is_err(), "{schema}");
        }
    }

    #[test]
    fn a_schema_that_names_itself_ends() {
        let schema = json!({
            "type": "object",
            "properties": { "next": { "$ref": "#" } },
            "additionalProperties": false,
        });
        let schema = Schema::read(schema).unwrap();
        assert_eq!(schema.check(&json!({ "next": { "next": {} } })), Ok(()));
        assert!(schema.check(&json!({ "next": { "other": 1 } })).is_err());
        let looped = json!({ "type": "object", "$ref": "#/$defs/a", "$defs": { "a": { "$ref": "#/$defs/a" } } });
        if let Ok(schema) = Schema::read(looped) {
            schema.check(&json!({})).ok();
        }
    }
}
