//! What is done at the server: every tool is called, with what the suite names or whatever its schema takes.

use std::{sync::Arc, time::Duration};

use kernel::{
    host::Host,
    servers::{ServerInfo, Servers as _, Standing},
    toolbox::Caller,
};
use mcp::client::House;
use serde_json::{Map, Value, json};

use crate::SERVER;

pub async fn run(host: &Arc<Host>, house: &House, context: &Value) -> Result<(), String> {
    let server = ready(house).await?;
    let folder = host.ports.workspace.clone();
    let session = host.create(&folder, "test", "").await.unwrap();
    let mut outcome = Ok(());
    for (name, args) in calls(&server, context) {
        let tool = server.tools.iter().find(|tool| tool.name == name);
        let Some(offered) = tool.and_then(|tool| tool.offered.clone()) else {
            eprintln!("{name} is not offered");
            continue;
        };
        let args = args.unwrap_or_else(|| sample(host, &offered));
        match host.call(session, Caller::Client, &offered, args).await {
            Ok(reply) => println!("{name}: {}", reply.text),
            Err(error) => outcome = Err(format!("{name}: {error:?}")),
        }
    }
    outcome
}

/// The server, once it is ready; or why it will not be.
async fn ready(house: &House) -> Result<ServerInfo, String> {
    loop {
        let server = house.list().into_iter().find(|server| server.name == SERVER).unwrap();
        match &server.standing {
            Standing::Ready => return Ok(server),
            Standing::Failed { reason, .. } => return Err(reason.clone()),
            _ => tokio::time::sleep(Duration::from_millis(5)).await,
        }
    }
}

fn calls(server: &ServerInfo, context: &Value) -> Vec<(String, Option<Value>)> {
    let Some(named) = context["toolCalls"].as_array() else {
        return server.tools.iter().map(|tool| (tool.name.clone(), None)).collect();
    };
    let call = |call: &Value| {
        let name = call["name"].as_str().unwrap_or_default().to_owned();
        let mut args = call["arguments"].clone();
        // Null does not fit the schema, so the house would refuse it; leaving it out says the same.
        if let Some(args) = args.as_object_mut() {
            args.retain(|_, value| !value.is_null());
        }
        (name, Some(args))
    };
    named.iter().map(call).collect()
}

/// One tool wants to see the schema of another, as it arrived here.
fn sample(host: &Host, offered: &str) -> Value {
    let schema = |name: &str| {
        let specs = host.ports.tools.specs(&Caller::Client);
        specs.into_iter().find(|spec| spec.name == name).map(|spec| spec.schema)
    };
    match offered {
        "json_schema_echo" => json!({ "schema": schema("json_schema_2020_12_tool") }),
        _ => schema(offered).map_or_else(|| json!({}), |schema| fill(&schema)),
    }
}

/// A value for each property: the one it has by default, else one of its type.
pub fn fill(schema: &Value) -> Value {
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    let given = |schema: &Value| schema.get("default").or_else(|| schema["enum"].get(0)).cloned();
    let value = |schema: &Value| match (given(schema), schema["type"].as_str()) {
        (Some(value), _) => value,
        (None, Some("number" | "integer")) => 5.into(),
        (None, Some("boolean")) => true.into(),
        (None, Some("object")) => fill(schema),
        (None, Some("array")) => json!([]),
        _ => "text".into(),
    };
    properties
        .iter()
        .map(|(name, schema)| (name.clone(), value(schema)))
        .collect::<Map<_, _>>()
        .into()
}
