//! What an app asks for: permissions, room to keep things, and the domains it speaks to.

use kernel::cabinet::{Asks, Permission};
use serde_json::{Map, Value};

use super::{Reader, present};
use crate::meta::is_origin;

/// The most that an app may ask to keep.
const MOST_STORAGE: u64 = 4 << 30;
const KNOWN: &str = "clipboard, downloads, modals, popups, storage:PREFIX/ or storage-read:PREFIX/";

pub fn read(reader: &mut Reader, fields: &Map<String, Value>) -> Asks {
    let list = reader.list("/permissions", present(fields, "permissions")).iter().enumerate();
    let mut permissions: Vec<Permission> = list
        .filter_map(|(nth, value)| permission(reader, &format!("/permissions/{nth}"), value))
        .collect();
    permissions.sort_unstable();
    permissions.dedup();
    let (connect, load) = domains(reader, present(fields, "domains"));
    Asks { permissions, connect, load, storage: storage(reader, present(fields, "storage")) }
}

/// One in a word, or as an address and what is done there.
fn permission(reader: &mut Reader, path: &str, value: &Value) -> Option<Permission> {
    match value {
        Value::String(text) => {
            let found = named(text);
            if found.is_none() {
                reader.problem(path, format!("expected one of {KNOWN}, got {text:?}"));
            }
            found
        }
        Value::Object(fields) => addressed(reader, path, fields),
        other => {
            reader.expected(path, "a string or an object", other);
            None
        }
    }
}

fn named(text: &str) -> Option<Permission> {
    Some(match text {
        "clipboard" => Permission::Clipboard,
        "downloads" => Permission::Downloads,
        "modals" => Permission::Modals,
        "popups" => Permission::Popups,
        text => {
            let addressed = text.strip_prefix("yaar://storage/");
            let prefix = text.strip_prefix("storage:").or(addressed);
            let (prefix, writes) = match prefix {
                Some(prefix) => (prefix, true),
                None => (text.strip_prefix("storage-read:")?, false),
            };
            Permission::Storage { prefix: folder(prefix)?, writes }
        }
    })
}

/// Only what is kept has an address here.
fn addressed(reader: &mut Reader, path: &str, fields: &Map<String, Value>) -> Option<Permission> {
    let uri = present(fields, "uri").and_then(Value::as_str).unwrap_or_default();
    let Some(prefix) = uri.strip_prefix("yaar://storage/").and_then(folder) else {
        let what = format!("expected an address like \"yaar://storage/shared/\", got {uri:?}");
        reader.problem(format!("{path}/uri"), what);
        return None;
    };
    let verbs = reader.list(&format!("{path}/verbs"), present(fields, "verbs"));
    let looks = |verb: &Value| matches!(verb.as_str(), Some("read" | "list" | "describe"));
    let writes = verbs.is_empty() || !verbs.iter().all(looks);
    Some(Permission::Storage { prefix, writes })
}

/// A folder of what apps keep, with a slash at its end.
fn folder(text: &str) -> Option<String> {
    let text = text.trim_end_matches("**").trim_end_matches('/');
    let plain = |name: &str| {
        let odd = |it: char| it.is_control() || matches!(it, '\\' | '*' | '%');
        !name.is_empty() && !name.starts_with('.') && !name.contains(odd)
    };
    text.split('/').all(plain).then(|| format!("{text}/"))
}

fn storage(reader: &mut Reader, value: Option<&Value>) -> Option<u64> {
    let Value::Object(fields) = value? else {
        reader.expected("/storage", "an object like {\"quota\": 104857600}", value?);
        return None;
    };
    let quota = present(fields, "quota")?;
    let bytes = quota.as_u64().filter(|bytes| (1..=MOST_STORAGE).contains(bytes));
    if bytes.is_none() {
        let what = format!("expected a number of bytes from 1 to {MOST_STORAGE}");
        reader.problem("/storage/quota", what);
    }
    bytes
}

/// Where it speaks to, and where it loads from. A plain list is of the former.
fn domains(reader: &mut Reader, value: Option<&Value>) -> (Vec<String>, Vec<String>) {
    match value {
        Some(Value::Object(fields)) => {
            let connect = origins(reader, "/domains/connect", present(fields, "connect"));
            (connect, origins(reader, "/domains/load", present(fields, "load")))
        }
        value => (origins(reader, "/domains", value), Vec::new()),
    }
}

fn origins(reader: &mut Reader, path: &str, value: Option<&Value>) -> Vec<String> {
    let list = reader.list(path, value).iter().enumerate();
    let mut origin = |(nth, value): (usize, &Value)| {
        let text = value.as_str().unwrap_or_default();
        let full = if text.contains("://") { text.to_owned() } else { format!("https://{text}") };
        let good = is_origin(&full);
        if !good {
            let what = "a domain like \"api.example.com\" or \"https://*.example.com\"";
            reader.expected(&format!("{path}/{nth}"), what, value);
        }
        good.then_some(full)
    };
    list.filter_map(&mut origin).collect()
}
