//! JSON Schema, cut down to what Google understands of it.

use serde_json::{Map, Value, json};

/// Deeper than any tool's arguments; a schema may contain itself.
const DEEPEST: usize = 12;

/// Carried over as they are.
const KEPT: &[&str] = &[
    "title",
    "description",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "pattern",
    "nullable",
];

/// The arguments of a tool, if it takes any.
pub fn parameters(schema: &Value) -> Option<Value> {
    let cut = Cutter { root: schema }.cut(schema, 0);
    let has_any = cut.get("properties").and_then(Value::as_object).is_some_and(|it| !it.is_empty());
    has_any.then_some(cut)
}

struct Cutter<'a> {
    root: &'a Value,
}

impl Cutter<'_> {
    fn cut(&self, schema: &Value, depth: usize) -> Value {
        let Some(schema) = schema.as_object().filter(|_| depth < DEEPEST) else {
            return json!({ "type": "string" });
        };
        if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
            let found = target.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
            return match found {
                Some(found) => described(self.cut(found, depth + 1), schema),
                None => described(json!({ "type": "string" }), schema),
            };
        }
        let mut cut = Map::new();
        for name in KEPT {
            if let Some(value) = schema.get(*name) {
                cut.insert((*name).to_owned(), value.clone());
            }
        }
        self.kind(schema, &mut cut, depth);
        self.choices(schema, &mut cut, depth);
        self.members(schema, &mut cut, depth);
        if let Some(items) = schema.get("items") {
            cut.insert("items".into(), self.cut(items, depth + 1));
        } else if cut.get("type") == Some(&json!("array")) {
            cut.insert("items".into(), json!({ "type": "string" }));
        }
        Value::Object(cut)
    }

    /// One type, or none; `null` among several makes it nullable.
    fn kind(&self, schema: &Map<String, Value>, cut: &mut Map<String, Value>, depth: usize) {
        let kinds: Vec<&str> = match schema.get("type") {
            Some(Value::String(kind)) => vec![kind],
            Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
            _ if schema.contains_key("properties") => vec!["object"],
            _ => Vec::new(),
        };
        let (nulls, kinds): (Vec<&str>, Vec<&str>) =
            kinds.into_iter().partition(|kind| *kind == "null");
        if !nulls.is_empty() {
            cut.insert("nullable".into(), true.into());
        }
        match kinds[..] {
            [] => (),
            [kind] => {
                cut.insert("type".into(), kind.into());
            }
            _ => {
                let one = |kind: &&str| self.cut(&json!({ "type": kind }), depth + 1);
                cut.insert("anyOf".into(), kinds.iter().map(one).collect());
            }
        }
        let format = schema.get("format").and_then(Value::as_str);
        if let Some(format) = format.filter(|format| {
            let numbers = ["int32", "int64", "float", "double"];
            *format == "date-time" || numbers.contains(format)
        }) {
            cut.insert("format".into(), format.into());
        }
    }

    fn choices(&self, schema: &Map<String, Value>, cut: &mut Map<String, Value>, depth: usize) {
        let values = schema.get("enum").and_then(Value::as_array).cloned();
        let values = values.or_else(|| schema.get("const").map(|value| vec![value.clone()]));
        // Only words can be chosen from.
        if let Some(values) = values.filter(|values| values.iter().all(Value::is_string)) {
            cut.insert("type".into(), "string".into());
            cut.insert("enum".into(), values.into());
        }
        let branches = ["anyOf", "oneOf"].iter().find_map(|name| schema.get(*name)?.as_array());
        if let Some(branches) = branches {
            let is_null = |branch: &&Value| branch.get("type") == Some(&json!("null"));
            if branches.iter().any(|branch| is_null(&branch)) {
                cut.insert("nullable".into(), true.into());
            }
            let real = branches.iter().filter(|branch| !is_null(branch));
            let mut real: Vec<Value> = real.map(|branch| self.cut(branch, depth + 1)).collect();
            match (real.len(), real.pop()) {
                (1, Some(Value::Object(only))) => {
                    only.into_iter().for_each(|(name, value)| {
                        cut.entry(name).or_insert(value);
                    });
                }
                (_, last) => {
                    real.extend(last);
                    cut.insert("anyOf".into(), real.into());
                }
            }
        }
        for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            let Value::Object(part) = self.cut(part, depth + 1) else { continue };
            part.into_iter().for_each(|(name, value)| {
                cut.entry(name).or_insert(value);
            });
        }
    }

    fn members(&self, schema: &Map<String, Value>, cut: &mut Map<String, Value>, depth: usize) {
        let Some(members) = schema.get("properties").and_then(Value::as_object) else { return };
        let member =
            |(name, member): (&String, &Value)| (name.clone(), self.cut(member, depth + 1));
        cut.insert("properties".into(), Value::Object(members.iter().map(member).collect()));
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        let known = |name: &&Value| name.as_str().is_some_and(|name| members.contains_key(name));
        let required: Vec<Value> = required.filter(known).cloned().collect();
        if !required.is_empty() {
            cut.insert("required".into(), required.into());
        }
    }
}

/// What is said beside a reference counts more than what is said behind it.
fn described(mut cut: Value, beside: &Map<String, Value>) -> Value {
    if let Some(description) = beside.get("description") {
        cut["description"] = description.clone();
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_google_does_not_know_is_left_out() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Input",
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "path": { "type": "string", "description": "Where.", "format": "uri", "default": "." },
                "lines": { "type": ["integer", "null"], "format": "uint32", "minimum": 0 },
                "mode": { "oneOf": [{ "const": "fast" }, { "type": "null" }] },
                "many": { "type": "array" },
                "mixed": { "type": ["string", "integer"] },
                "inner": { "$ref": "#/$defs/Inner", "description": "Within." },
                "lost": { "$ref": "#/$defs/Lost" },
            },
            "required": ["path", "gone"],
            "$defs": { "Inner": { "type": "object", "properties": { "when": { "type": "string", "format": "date-time" } } } },
        });
        let expected = json!({
            "title": "Input",
            "type": "object",
            "properties": {
                "path": { "type": "string", "description": "Where." },
                "lines": { "type": "integer", "nullable": true, "minimum": 0 },
                "mode": { "type": "string", "enum": ["fast"], "nullable": true },
                "many": { "type": "array", "items": { "type": "string" } },
                "mixed": { "anyOf": [{ "type": "string" }, { "type": "integer" }] },
                "inner": { "type": "object", "description": "Within.", "properties": { "when": { "type": "string", "format": "date-time" } } },
                "lost": { "type": "string" },
            },
            "required": ["path"],
        });
        assert_eq!(parameters(&schema), Some(expected));
        assert_eq!(parameters(&json!({ "type": "object", "properties": {} })), None);
    }

    #[test]
    fn a_schema_that_contains_itself_ends_somewhere() {
        let schema = json!({
            "type": "object",
            "properties": { "child": { "$ref": "#" } },
        });
        assert!(parameters(&schema).is_some());
    }
}
