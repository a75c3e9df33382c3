//! `meta.json`: what an applet says of itself.

use jiff::Timestamp;
use kernel::gallery::{Applet, Needs, Permission, StateSchema};
use serde::Deserialize;
use serde_json::{Map, Value};

/// Much of it is read loosely: applets of others have it in many shapes.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Meta {
    name: String,
    #[serde(default)]
    description: Value,
    #[serde(default)]
    params: Value,
    #[serde(default)]
    agent_usage: Value,
    #[serde(default)]
    state_schema: Value,
    #[serde(default)]
    updated_at: Value,
    #[serde(default)]
    permissions: Value,
    #[serde(default)]
    connect_domains: Value,
    #[serde(default)]
    resource_domains: Value,
}

/// The applet, and what of its description cannot be used.
pub fn read(slug: &str, text: &str, modified: Timestamp) -> Result<(Applet, Vec<String>), String> {
    let value: Value =
        serde_json::from_str(text).map_err(|error| format!("meta.json is not JSON: {error}"))?;
    if !value.is_object() {
        return Err("meta.json must be an object".into());
    }
    let meta: Meta = serde_json::from_value(value)
        .map_err(|error| format!("meta.json cannot be used: {error}"))?;
    if meta.name.trim().is_empty() {
        return Err("meta.json must have a `name` that is not empty".into());
    }
    let mut remarks = Vec::new();
    let mut object = |name: &str, value: Value| match value {
        Value::Object(object) => object,
        Value::Null => Map::new(),
        _ => {
            remarks.push(format!("`{name}` in meta.json must be an object; it is ignored"));
            Map::new()
        }
    };
    let params = object("params", meta.params);
    let usage = object("agentUsage", meta.agent_usage);
    let mut schema = object("stateSchema", meta.state_schema);
    let needs = Needs {
        permissions: permissions(&meta.permissions, &mut remarks),
        connect: origins("connectDomains", &meta.connect_domains, &mut remarks),
        resources: origins("resourceDomains", &meta.resource_domains, &mut remarks),
    };
    let applet = Applet {
        slug: slug.to_owned(),
        name: meta.name,
        description: text_of(&meta.description),
        params,
        purpose: usage.get("purpose").and_then(text_of),
        state_schema: StateSchema { get: schema.remove("get"), set: schema.remove("set") },
        updated: text_of(&meta.updated_at).and_then(|it| it.parse().ok()).unwrap_or(modified),
        needs,
        folder: None,
    };
    Ok((applet, remarks))
}

fn text_of(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

fn permissions(value: &Value, remarks: &mut Vec<String>) -> Vec<Permission> {
    let mut read = |name: &str| {
        let found = Permission::parse(name);
        if found.is_none() {
            let known = Permission::ALL.map(Permission::name).join(", ");
            remarks.push(format!("`{name}` is not a permission; there are {known}"));
        }
        found
    };
    let mut found: Vec<Permission> =
        strings(value).iter().filter_map(|name| read(name.as_str())).collect();
    found.sort_unstable();
    found.dedup();
    if !(value.is_null() || value.is_array()) {
        remarks.push("`permissions` in meta.json must be a list; it is ignored".into());
    }
    found
}

fn origins(field: &str, value: &Value, remarks: &mut Vec<String>) -> Vec<String> {
    if !(value.is_null() || value.is_array()) {
        remarks.push(format!("`{field}` in meta.json must be a list; it is ignored"));
    }
    let (good, bad): (Vec<_>, Vec<_>) = strings(value).into_iter().partition(|it| is_origin(it));
    for origin in bad {
        remarks.push(format!(
            "`{origin}` in `{field}` is not of the form https://host or https://*.host"
        ));
    }
    good
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(text_of).collect()
}

/// What may stand in a policy and means one host, or those below it; nothing else may.
pub fn is_origin(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("https://").or_else(|| text.strip_prefix("wss://")) else {
        return false;
    };
    let (host, port) = rest.split_once(':').map_or((rest, None), |(host, port)| (host, Some(port)));
    let host = host.strip_prefix("*.").unwrap_or(host);
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    let is_label = |label: &str| !label.is_empty() && label.bytes().all(plain);
    host.contains('.')
        && host.split('.').all(is_label)
        && port.is_none_or(|port| port.parse::<u16>().is_ok())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read_json(meta: &Value) -> Result<(Applet, Vec<String>), String> {
        read("x", &meta.to_string(), Timestamp::UNIX_EPOCH)
    }

    #[test]
    fn a_description_is_read_in_both_forms_of_params() {
        let params =
            json!({ "path": { "required": true, "description": "a file" }, "page": "which" });
        let meta = json!({
            "slug": "other", "name": "X", "description": "does x", "params": params,
            "createdAt": "2026-01-01T00:00:00.000Z", "updatedAt": "2026-01-02T00:00:00.000Z",
            "agentUsage": { "purpose": "for x" }, "stateSchema": { "get": { "a": "b" } },
            "permissions": ["shell", "files:write", "shell"],
            "connectDomains": ["https://api.example.com:8443"], "resourceDomains": ["https://*.example.com"],
        });
        let expected = Applet {
            slug: "x".into(),
            name: "X".into(),
            description: Some("does x".into()),
            params: params.as_object().unwrap().clone(),
            purpose: Some("for x".into()),
            state_schema: StateSchema { get: Some(json!({ "a": "b" })), set: None },
            updated: "2026-01-02T00:00:00Z".parse().unwrap(),
            needs: Needs {
                permissions: vec![Permission::FilesWrite, Permission::Shell],
                connect: vec!["https://api.example.com:8443".into()],
                resources: vec!["https://*.example.com".into()],
            },
            folder: None,
        };
        assert_eq!(read_json(&meta), Ok((expected, vec![])));
    }

    #[test]
    fn what_cannot_be_used_is_named() {
        for (text, problem) in [
            ("", "meta.json is not JSON: EOF while parsing a value at line 1 column 0"),
            ("[]", "meta.json must be an object"),
            ("{}", "meta.json cannot be used: missing field `name`"),
            (r#"{"name":" "}"#, "meta.json must have a `name` that is not empty"),
        ] {
            assert_eq!(read("x", text, Timestamp::UNIX_EPOCH), Err(problem.into()), "{text}");
        }
        let meta = json!({
            "name": "X", "params": [], "permissions": ["root"],
            "connectDomains": ["https://a.example; script-src *", "http://a.example", "*"],
        });
        let (applet, remarks) = read_json(&meta).unwrap();
        assert_eq!(applet.needs, Needs::default());
        let form = "in `connectDomains` is not of the form https://host or https://*.host";
        assert_eq!(
            remarks,
            [
                "`params` in meta.json must be an object; it is ignored".to_owned(),
                "`root` is not a permission; there are apps:open, files:write, schedules:write, shell".into(),
                format!("`https://a.example; script-src *` {form}"),
                format!("`http://a.example` {form}"),
                format!("`*` {form}"),
            ]
        );
    }
}
