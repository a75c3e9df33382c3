//! Whether what a person filled in fits the form that they were shown.

use jsonschema::PatternOptions;
use serde_json::Value;

/// How much a pattern may take up that somebody else wrote.
const PATTERN_BYTES: usize = 256 * 1024;
/// How much of what is wrong is told.
const TOLD: usize = 300;

/// What is wrong with the values, if something is, beginning with the field. A schema that makes no
/// sense refuses nothing: whoever asked has to look for themselves.
pub(crate) fn check(schema: &Value, values: &Value) -> Result<(), String> {
    if !values.is_object() {
        return Err("the answer must be an object with the values of the form".to_owned());
    }
    // Fetches nothing, and takes no pattern that could keep it busy.
    let patterns = PatternOptions::regex().size_limit(PATTERN_BYTES);
    let options = jsonschema::options().offline().with_pattern_options(patterns);
    let Ok(validator) = options.build(schema) else { return Ok(()) };
    let Some(error) = validator.iter_errors(values).next() else { return Ok(()) };
    let what = error.to_string();
    let what = &what[..what.floor_char_boundary(TOLD)];
    let field = error.instance_path().to_string();
    let field = field.trim_start_matches('/').replace('/', ".");
    Err(if field.is_empty() { what.to_owned() } else { format!("{field}: {what}") })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_does_not_fit_is_named_by_its_field() {
        let schema = json!({
            "type": "object", "required": ["name"],
            "properties": {
                "name": { "type": "string", "minLength": 2 },
                "age": { "type": "integer", "minimum": 0 },
                "size": { "enum": ["small", "large"] },
                "home": { "type": "object", "properties": { "town": { "type": "string" } } },
            },
        });
        let told = |values: Value| check(&schema, &values).err().unwrap_or_default();
        assert_eq!(told(json!({ "name": "Ada", "age": 36, "size": "small" })), "");
        assert_eq!(told(json!({ "age": 36 })), "\"name\" is a required property");
        for (values, field) in [
            (json!({ "name": "A" }), "name: "),
            (json!({ "name": "Ada", "age": "old" }), "age: \"old\" is not of type"),
            (json!({ "name": "Ada", "age": -1 }), "age: -1 is less than"),
            (json!({ "name": "Ada", "size": "huge" }), "size: \"huge\" is not one of"),
            (json!({ "name": "Ada", "home": { "town": 1 } }), "home.town: "),
            (json!("Ada"), "the answer must be an object"),
        ] {
            let wrong = told(values);
            assert!(wrong.starts_with(field), "{field}{wrong}");
        }
    }

    #[test]
    fn a_schema_that_makes_no_sense_refuses_nothing() {
        let values = json!({ "name": 1 });
        for schema in
            [json!({ "type": "nonsense" }), json!(1), json!({ "$ref": "https://a.example" })]
        {
            assert_eq!(check(&schema, &values), Ok(()));
        }
    }
}
