//! Tools that a view defines: what it says they are, and calling them.

use jsonschema::{PatternOptions, Validator};
use serde_json::{Map, Value, json};

const LONGEST_NAME: usize = 64;
const PATTERN_BYTES: usize = 256 * 1024;

/// A tool in a view.
#[derive(Clone, Debug, PartialEq)]
pub struct WidgetTool {
    pub name: String,
    pub description: String,
    pub input_schema: Value,
    pub output_schema: Option<Value>,
    pub annotations: Option<Value>,
    /// Whether the view answers when it is called; some only announce.
    pub callable: bool,
}

/// Why a call of such a tool came to nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    #[error("the view has no tool named `{0}`")]
    Unknown(String),
    #[error("the view announces `{0}` but does not answer calls")]
    NotCallable(String),
    #[error("the arguments do not fit {0}: {1}")]
    Arguments(String, String),
    #[error("what {0} gave back does not fit its schema: {1}")]
    Result(String, String),
    #[error("view closed")]
    Closed,
    #[error("the view did not answer for {0} seconds")]
    Silent(u64),
    /// What the view said went wrong.
    #[error("{0}")]
    Failed(String),
}

impl WidgetTool {
    /// A tool as a view lists it, or what is wrong with that.
    pub fn read(listed: &Value) -> Result<Self, String> {
        let name = listed.get("name").and_then(Value::as_str).filter(|name| !name.is_empty());
        let name = name.ok_or("a tool without a name")?.to_owned();
        let text = |key: &str| listed.get(key).and_then(Value::as_str);
        let description = text("description").or_else(|| text("title")).unwrap_or_default();
        let schema = listed.get("inputSchema").cloned();
        let input_schema = schema.unwrap_or_else(|| json!({ "type": "object" }));
        let object = |key: &str| listed.get(key).filter(|value| value.is_object()).cloned();
        let tool = Self {
            description: description.to_owned(),
            output_schema: object("outputSchema"),
            annotations: object("annotations"),
            callable: true,
            input_schema,
            name,
        };
        tool.check().map_err(|wrong| format!("the tool {}: {wrong}", tool.name))?;
        Ok(tool)
    }

    /// Whether its schemas can be used.
    pub fn check(&self) -> Result<(), String> {
        if !self.input_schema.is_object() {
            return Err("its schema is no object".into());
        }
        validator(&self.input_schema)?;
        self.output_schema.as_ref().map_or(Ok(()), |schema| validator(schema).map(drop))
    }

    pub fn takes(&self, arguments: &Map<String, Value>) -> Result<(), CallError> {
        let arguments = Value::Object(arguments.clone());
        let fits = fits(&self.input_schema, &arguments);
        fits.map_err(|wrong| CallError::Arguments(self.name.clone(), wrong))
    }

    pub fn gives(&self, result: &Value) -> Result<(), CallError> {
        let failed = result.get("isError") == Some(&Value::Bool(true));
        let (Some(schema), false) = (&self.output_schema, failed) else { return Ok(()) };
        let given = result.get("structuredContent").unwrap_or(&Value::Null);
        fits(schema, given).map_err(|wrong| CallError::Result(self.name.clone(), wrong))
    }
}

/// Nothing is fetched, and no pattern can keep it busy.
fn validator(schema: &Value) -> Result<Validator, String> {
    let patterns = PatternOptions::regex().size_limit(PATTERN_BYTES);
    let options = jsonschema::options().offline().with_pattern_options(patterns);
    options.build(schema).map_err(|error| format!("its schema cannot be used: {error}"))
}

fn fits(schema: &Value, value: &Value) -> Result<(), String> {
    const TOLD: usize = 5;
    let validator = validator(schema)?;
    let wrong = validator.iter_errors(value).take(TOLD).map(|error| {
        let place = error.instance_path().to_string();
        if place.is_empty() { error.to_string() } else { format!("{place}: {error}") }
    });
    let wrong: Vec<String> = wrong.collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ")) }
}

/// What a model calls a tool of a view, in letters that every provider takes.
pub fn offered_name(view: &str, tool: &str) -> String {
    let plain = |it: char| if it.is_ascii_alphanumeric() || "_-".contains(it) { it } else { '_' };
    let name: String = format!("widget__{view}__{tool}").chars().map(plain).collect();
    if name.len() <= LONGEST_NAME {
        return name;
    }
    // So that two long names with the same beginning stay apart.
    let mark = name
        .bytes()
        .fold(0x811c_9dc5_u32, |sum, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("{}_{mark:08x}", &name[..LONGEST_NAME - 9])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_of_a_view_has_a_name_that_every_model_can_say() {
        assert_eq!(offered_name("7", "set-allocation"), "widget__7__set-allocation");
        assert_eq!(offered_name("7", "a.b ä"), "widget__7__a_b__");
        let (one, other) = (offered_name("7", &"n".repeat(70)), offered_name("7", &"n".repeat(71)));
        assert_eq!((one.len(), other.len()), (64, 64));
        assert_ne!(one, other);
    }
}
