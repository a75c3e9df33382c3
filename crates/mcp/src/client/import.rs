//! Lists of servers as other hosts keep them: `mcpServers` or `servers`, each with a command or an address.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::settings::{Settings, check_name};

/// Every server of such a file that can be used, and what is wrong with the others.
pub fn import(text: &str) -> Result<(BTreeMap<String, Settings>, Vec<String>), String> {
    let file: Value =
        serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
    let listed = ["mcpServers", "servers"].iter().find_map(|key| file.get(key)?.as_object());
    let listed = listed.ok_or("it has neither `mcpServers` nor `servers`")?;
    let (mut servers, mut problems) = (BTreeMap::new(), Vec::new());
    let listed: BTreeMap<_, _> = listed.iter().collect();
    for (label, entry) in listed {
        let name = plain(label);
        let read = entry.as_object().ok_or("it is not an object".to_owned()).and_then(settings);
        match read.and_then(|it| check_name(&name).map(|()| it)) {
            Ok(_) if servers.contains_key(&name) => {
                problems.push(format!("{label}: there is another named {name}"));
            }
            Ok(settings) => {
                servers.insert(name, settings);
            }
            Err(problem) => problems.push(format!("{label}: {problem}")),
        }
    }
    Ok((servers, problems))
}

fn settings(entry: &Map<String, Value>) -> Result<Settings, String> {
    let kind = entry.get("type").or_else(|| entry.get("transport")).and_then(Value::as_str);
    if kind == Some("sse") {
        return Err("it speaks the old HTTP+SSE transport, which is not known here".into());
    }
    let text = |name: &str| entry.get(name).and_then(Value::as_str).map(str::to_owned);
    let texts = |name: &str| -> Result<BTreeMap<String, String>, String> {
        let Some(value) = entry.get(name) else { return Ok(BTreeMap::new()) };
        serde_json::from_value(value.clone()).map_err(|_| format!("{name} must hold texts"))
    };
    let args = entry.get("args").cloned().unwrap_or_else(|| Value::Array(Vec::new()));
    let disabled = entry.get("disabled").and_then(Value::as_bool).unwrap_or(false);
    let settings = Settings {
        command: text("command"),
        args: serde_json::from_value(args).map_err(|_| "args must be a list of texts")?,
        env: texts("env")?,
        cwd: text("cwd").map(Into::into),
        url: text("url").or_else(|| text("serverUrl")).or_else(|| text("httpUrl")),
        headers: texts("headers")?,
        enabled: !disabled,
        ..Settings::default()
    };
    settings.check()?;
    Ok(settings)
}

/// A name that we take, as like the other as can be.
fn plain(label: &str) -> String {
    let fits = |it: char| if it.is_ascii_alphanumeric() || it == '-' { it } else { '_' };
    let mut name: String = label.trim().chars().map(fits).take(32).collect();
    while name.contains("__") {
        name = name.replace("__", "_");
    }
    name
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_shapes_are_read() {
        let entry = json!({ "command": "npx", "args": ["-y", "x"], "env": { "K": "v" } });
        let expected = Settings {
            command: Some("npx".into()),
            args: vec!["-y".into(), "x".into()],
            env: [("K".to_owned(), "v".to_owned())].into(),
            ..Settings::default()
        };
        for key in ["mcpServers", "servers"] {
            let file = json!({ key: { "my files": entry } }).to_string();
            let (servers, problems) = import(&file).unwrap();
            assert_eq!(servers, [("my_files".to_owned(), expected.clone())].into());
            assert_eq!(problems, [""; 0]);
        }
        let file = json!({ "servers": { "web": { "type": "http", "url": "http://a/mcp",
            "headers": { "X": "y" }, "disabled": true } } });
        let web = import(&file.to_string()).unwrap().0.remove("web").unwrap();
        assert_eq!((web.url.as_deref(), web.enabled), (Some("http://a/mcp"), false));
    }

    #[test]
    fn what_cannot_be_read_is_named_and_the_rest_is_taken() {
        let file = json!({ "mcpServers": {
            "good": { "command": "x" },
            "empty": {},
            "old": { "type": "sse", "url": "http://a/sse" },
            "odd": { "command": "x", "args": [1] },
        } });
        let (servers, problems) = import(&file.to_string()).unwrap();
        assert_eq!(servers.keys().collect::<Vec<_>>(), ["good"]);
        assert_eq!(
            problems,
            [
                "empty: it needs a command or a url",
                "odd: args must be a list of texts",
                "old: it speaks the old HTTP+SSE transport, which is not known here",
            ]
        );
        assert_eq!(import("{}").unwrap_err(), "it has neither `mcpServers` nor `servers`");
        assert!(import("[").unwrap_err().starts_with("it is not JSON"));
    }
}
