//! Fixtures that any tool of the toolbox could be.

use std::sync::Arc;

use futures::{FutureExt as _, future, future::BoxFuture};
use kernel::toolbox::{Call, Deed, Picture, Reply, Tool, ToolSpec, Toolbox};
use serde_json::{Value, json};

use crate::contents::PIXEL;

pub fn add_all(toolbox: &Arc<Toolbox>) {
    let none = json!({ "type": "object" });
    let text = || Ok("This is a simple text response for testing.".to_owned().into());
    add(toolbox, "test_simple_text", none.clone(), text);
    add(toolbox, "test_image_content", none.clone(), || {
        let picture = Picture { mime: "image/png".to_owned(), bytes: PIXEL.to_vec() };
        Ok(Reply { pictures: vec![picture], ..Reply::default() })
    });
    add(toolbox, "test_error_handling", none.clone(), || {
        Err("This tool intentionally returns an error for testing".to_owned())
    });
    add(toolbox, "json_schema_2020_12_tool", rich_schema(), || Ok(Reply::default()));
    let weak = Arc::downgrade(toolbox);
    add(toolbox, "test_trigger_tool_change", none.clone(), move || {
        let toolbox = weak.upgrade().unwrap();
        let name = format!("test_new_tool_{}", toolbox.edition());
        add(&toolbox, &name, none.clone(), || Ok(Reply::default()));
        Ok("There is a new tool.".to_owned().into())
    });
}

fn add(
    toolbox: &Toolbox,
    name: &str,
    schema: Value,
    run: impl Fn() -> Result<Reply, String> + Send + Sync + 'static,
) {
    let description = format!("A fixture of the conformance suite: {name}.");
    let spec = ToolSpec { name: name.to_owned(), description, schema };
    toolbox.add(Fixture { spec, run: Box::new(run) });
}

struct Fixture {
    spec: ToolSpec,
    run: Box<dyn Fn() -> Result<Reply, String> + Send + Sync>,
}

impl Tool for Fixture {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn foresee<'a>(&'a self, _: &'a Call) -> BoxFuture<'a, Result<Deed, String>> {
        future::ready(Ok(Deed::reads())).boxed()
    }

    fn run(&self, _: Call) -> BoxFuture<'_, Result<Reply, String>> {
        future::ready((self.run)()).boxed()
    }
}

fn rich_schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
            },
        },
        "properties": {
            "name": { "type": "string" },
            "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": { "type": "string" },
            "email": { "type": "string" },
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": {
            "properties": { "contactMethod": { "const": "phone" } },
            "required": ["contactMethod"],
        },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false,
    })
}
