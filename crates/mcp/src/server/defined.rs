//! Tools that widgets define, in every session where somebody shows them.

use rmcp::{
    ErrorData,
    model::{CallToolResult, JsonObject, Tool},
};
use serde_json::Value;

use super::{errands::Visit, guest::Guest, house::House, lent};

pub fn tools(house: &House) -> Vec<Tool> {
    let lent = house.host.ports.tools.lent().into_iter();
    let tools = lent.map(|(_, spec)| {
        let schema = match spec.schema {
            Value::Object(schema) => schema,
            _ => JsonObject::from_iter([("type".to_owned(), "object".into())]),
        };
        Tool::new(spec.name, spec.description, schema)
    });
    tools.collect()
}

/// Calls one where it is; `None` if there is none of this name.
pub async fn call(
    guest: &Guest,
    name: &str,
    args: &Value,
    visit: &mut Visit<'_>,
) -> Option<Result<CallToolResult, ErrorData>> {
    let lent = visit.house.host.ports.tools.lent();
    let (session, _) = lent.into_iter().find(|(_, spec)| spec.name == name)?;
    Some(lent::run(guest, session, name, args.clone(), visit).await)
}
