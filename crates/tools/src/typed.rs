//! Tools whose arguments have a type: from it come their schema, their description and their errors.

use std::{fmt, future::ready};

use futures::future::{BoxFuture, FutureExt as _};
use kernel::{
    toolbox::{Call, Deed, Detail, Reply, Risk, Tool, ToolSpec},
    update::SessionId,
};
use schemars::{
    JsonSchema, Schema, generate::SchemaSettings, transform::RecursiveTransform,
    transform::Transform as _,
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// A tool as it is written down: an input whose doc comments are what the model reads, and `run`.
pub trait Typed: Send + Sync + 'static {
    type Input: DeserializeOwned + JsonSchema + Send;
    /// A text, or more than that.
    type Output: Into<Reply>;

    const NAME: &'static str;
    /// Whether calls may overlap with others of the same step.
    const PARALLEL: bool = false;
    /// How much harm a call could do, where that does not depend on the call.
    const RISK: Risk;

    /// What such a call does, for a person: `Reading notes.md`.
    fn title(&self, input: &Self::Input) -> String;

    /// These arguments as they may be kept and shown, where something in them is secret.
    fn told(args: &Value) -> Option<Value> {
        let _ = args;
        None
    }

    /// What such a call would do, exactly. Looks, and changes nothing.
    fn foresee(
        &self,
        input: Self::Input,
        call: &Call,
    ) -> impl Future<Output = Result<Deed, String>> + Send {
        // Read only to see that it can be.
        drop(input);
        let detail = Detail::Arguments { args: call.args.clone() };
        ready(Ok(Deed { risk: Self::RISK, detail, subjects: Vec::new(), within: None }))
    }

    /// What it gets wrong is text for the caller to read. Dropping the future cancels the call.
    fn run(
        &self,
        input: Self::Input,
        call: Call,
    ) -> impl Future<Output = Result<Self::Output, String>> + Send;

    /// Lets go of what it keeps for a session, which is gone.
    fn forget(&self, session: SessionId) {
        let _ = session;
    }
}

/// Makes a [`Typed`] tool one that can be called by name.
pub struct Adapter<T> {
    tool: T,
    spec: ToolSpec,
}

impl<T: Typed> Adapter<T> {
    pub fn new(tool: T) -> Self {
        Self { tool, spec: spec::<T>() }
    }

    /// With something besides in its schema.
    pub fn with(tool: T, name: &str, value: Value) -> Self {
        let mut spec = spec::<T>();
        spec.schema[name] = value;
        Self { tool, spec }
    }
}

impl<T: Typed> Tool for Adapter<T> {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn title(&self, args: &Value) -> String {
        read::<T>(args).map_or_else(|_| T::NAME.to_owned(), |input| self.tool.title(&input))
    }

    fn told(&self, args: &Value) -> Option<Value> {
        T::told(args)
    }

    fn parallel(&self) -> bool {
        T::PARALLEL
    }

    fn risk(&self) -> Option<Risk> {
        Some(T::RISK)
    }

    fn foresee<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Deed, String>> {
        async { self.tool.foresee(read::<T>(&call.args)?, call).await }.boxed()
    }

    fn run(&self, mut call: Call) -> BoxFuture<'_, Result<Reply, String>> {
        let args = call.args.take();
        async move { self.tool.run(read::<T>(&args)?, call).await.map(Into::into) }.boxed()
    }

    fn forget(&self, session: SessionId) {
        self.tool.forget(session);
    }
}

/// The arguments of a call, or what is wrong with them.
fn read<T: Typed>(args: &Value) -> Result<T::Input, String> {
    let bad = |what: &dyn fmt::Display| format!("bad arguments for {}: {what}", T::NAME);
    let nothing = Value::Object(Map::new());
    let args = match args {
        Value::Object(_) => args,
        Value::Null => &nothing,
        // A sequence would otherwise pass for the fields in order.
        other => return Err(bad(&format_args!("expected an object, found `{}`", brief(other)))),
    };
    serde_path_to_error::deserialize(args).map_err(|error| match error.path().iter().next() {
        Some(_) => bad(&error),
        None => bad(error.inner()),
    })
}

fn brief(value: &Value) -> String {
    shorten(&value.to_string(), 40)
}

/// At most so many characters, for a line that a person reads.
pub(crate) fn shorten(text: &str, most: usize) -> String {
    let mut text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if let Some((end, _)) = text.char_indices().nth(most) {
        text.truncate(end);
        text.push('…');
    }
    text
}

fn spec<T: Typed>() -> ToolSpec {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T::Input>();
    RecursiveTransform(simplify).transform(&mut schema);
    let description = match schema.remove("description") {
        Some(Value::String(text)) => text,
        _ => String::new(),
    };
    ToolSpec { name: T::NAME.to_owned(), description, schema: schema.to_value() }
}

/// Leaves what models know how to read: no Rust names, and an optional field is one that may be absent.
fn simplify(schema: &mut Schema) {
    schema.remove("title");
    schema.remove("format");
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = unwrapped(text);
    }
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_mut_slice() {
            let only = only.take();
            schema.insert("type".into(), only);
        }
    }
}

/// A comment is wrapped for the source; a model reads paragraphs.
fn unwrapped(comment: &str) -> String {
    let paragraphs = comment.split("\n\n").map(|paragraph| paragraph.replace('\n', " "));
    paragraphs.collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    /// Greets somebody.
    /// At length.
    ///
    /// Or not.
    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Input {
        /// Whom to greet.
        name: String,
        /// How often.
        times: Option<u32>,
    }

    struct Greet;

    impl Typed for Greet {
        type Input = Input;
        type Output = String;
        const NAME: &'static str = "greet";
        const RISK: Risk = Risk::Reads;

        fn title(&self, input: &Input) -> String {
            format!("Greeting {}", input.name)
        }

        async fn run(&self, input: Input, _: Call) -> Result<String, String> {
            Ok(format!("hello {} {:?}", input.name, input.times))
        }
    }

    #[test]
    fn the_input_says_all_that_a_model_needs_to_know() {
        let expected = ToolSpec {
            name: "greet".into(),
            description: "Greets somebody. At length.\n\nOr not.".into(),
            schema: json!({
                "type": "object",
                "properties": {
                    "name": { "type": "string", "description": "Whom to greet." },
                    "times": { "type": "integer", "minimum": 0, "description": "How often." },
                },
                "required": ["name"],
                "additionalProperties": false,
            }),
        };
        assert_eq!(Adapter::new(Greet).spec(), &expected);
    }

    #[test]
    fn wrong_arguments_are_explained() {
        for (args, problem) in [
            (json!({ "name": 5 }), "name: invalid type: integer `5`, expected a string"),
            (
                json!({ "name": "a", "times": -1 }),
                "times: invalid value: integer `-1`, expected u32",
            ),
            (json!({}), "missing field `name`"),
            (Value::Null, "missing field `name`"),
            (json!({ "name": "a", "x": 1 }), "x: unknown field `x`, expected `name` or `times`"),
            (json!(["a", 1]), "expected an object, found `[\"a\",1]`"),
        ] {
            let error = read::<Greet>(&args).err();
            assert_eq!(error, Some(format!("bad arguments for greet: {problem}")));
        }
    }

    #[test]
    fn a_call_has_a_title_whatever_its_arguments() {
        let greet = Adapter::new(Greet);
        assert_eq!(greet.title(&json!({ "name": "Ada" })), "Greeting Ada");
        assert_eq!(greet.title(&json!({ "name": 5 })), "greet");
    }
}
