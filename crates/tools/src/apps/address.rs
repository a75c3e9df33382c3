//! What `yaar://monitor-0/dock/state/cells` names.

use serde_json::Value;

/// Where a window is, as an address says it.
#[derive(Clone, Debug, PartialEq)]
pub struct Address {
    pub monitor: String,
    pub window: String,
}

/// What an address names within its window.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    State(String),
    Command(String),
    /// The window itself, or something that nobody knows.
    Window,
}

/// None if it is no such address. Nothing in it stands for anything else.
pub fn read(uri: &str) -> Option<(Address, Place)> {
    let rest = uri.strip_prefix("yaar://")?;
    let (monitor, rest) = rest.split_once('/')?;
    let (window, rest) = match rest.split_once('/') {
        Some((window, rest)) => (window, Some(rest)),
        None => (rest, None),
    };
    let is_named = monitor.strip_prefix("monitor-").is_some_and(|name| !name.is_empty());
    if !is_named || window.is_empty() || rest == Some("") || uri.contains('\n') {
        return None;
    }
    let place = match rest.and_then(|rest| rest.split_once('/')) {
        Some(("state", key)) if !key.is_empty() => Place::State(key.to_owned()),
        Some(("commands", name)) if !name.is_empty() => Place::Command(name.to_owned()),
        _ => Place::Window,
    };
    Some((Address { monitor: monitor.to_owned(), window: window.to_owned() }, place))
}

impl Address {
    /// Adds to every state and command of a manifest where it is.
    pub fn note(&self, manifest: &mut Value) {
        for part in ["state", "commands"] {
            let entries = manifest.get_mut(part).and_then(Value::as_object_mut);
            for (name, entry) in entries.into_iter().flatten() {
                self.note_one(part, name, entry);
            }
        }
    }

    fn note_one(&self, part: &str, name: &str, entry: &mut Value) {
        let Self { monitor, window } = self;
        if let Value::Object(entry) = entry {
            let uri = format!("yaar://{monitor}/{window}/{part}/{name}");
            entry.insert("uri".to_owned(), uri.into());
        }
    }

    /// As windows are called among all of a session.
    pub fn key(&self) -> String {
        format!("{}/{}", self.monitor, self.window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_as_it_is_written() {
        let dock = || Address { monitor: "monitor-0".into(), window: "dock".into() };
        for (uri, place) in [
            ("yaar://monitor-0/dock", Place::Window),
            ("yaar://monitor-0/dock/state", Place::Window),
            ("yaar://monitor-0/dock/state/", Place::Window),
            ("yaar://monitor-0/dock/other/x", Place::Window),
            ("yaar://monitor-0/dock/state/cells", Place::State("cells".into())),
            ("yaar://monitor-0/dock/state/a/b%20c", Place::State("a/b%20c".into())),
            ("yaar://monitor-0/dock/commands/set/one", Place::Command("set/one".into())),
        ] {
            assert_eq!(read(uri), Some((dock(), place)), "{uri}");
        }
        for uri in [
            "",
            "dock",
            "yaar://",
            "yaar://dock",
            "yaar://monitor-/dock",
            "yaar://0/dock",
            "yaar://monitor-0",
            "yaar://monitor-0/",
            "yaar://monitor-0//state/x",
            "yaar://monitor-0/dock/",
            "http://monitor-0/dock",
        ] {
            assert_eq!(read(uri), None, "{uri}");
        }
    }
}
