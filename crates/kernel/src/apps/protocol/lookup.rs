//! Windows by the names that callers and clients have for them.

use super::Machine;
use crate::apps::texts;

impl Machine {
    /// The scoped id of a window: `monitor-0/dock` for `monitor-0/dock`, `0/dock` or `dock`.
    pub(super) fn find(&self, name: &str, monitor: Option<&str>) -> Result<String, String> {
        if let Some((place, raw)) = name.split_once('/') {
            let key = scoped(place, raw);
            let known = self.record.window(&key).is_some();
            return known.then_some(key).ok_or_else(|| texts::not_found(name));
        }
        let here = monitor.map(|monitor| scoped(monitor, name));
        if let Some(key) = here.filter(|key| self.record.window(key).is_some()) {
            return Ok(key);
        }
        let hits: Vec<&str> = self.record.keys().filter(|key| is_named(key, name)).collect();
        match hits.as_slice() {
            [] => Err(texts::not_found(name)),
            [only] => Ok((*only).to_owned()),
            several => Err(texts::ambiguous(name, several)),
        }
    }
}

/// Whether a client that names a window like this means the one with that scoped id.
pub(super) fn is_named(key: &str, name: &str) -> bool {
    match name.split_once('/') {
        Some((place, raw)) => scoped(place, raw) == key,
        None => key.split_once('/').map_or(key, |(_, raw)| raw) == name,
    }
}

fn scoped(monitor: &str, raw: &str) -> String {
    match monitor.strip_prefix("monitor-") {
        Some(_) => format!("{monitor}/{raw}"),
        None => format!("monitor-{monitor}/{raw}"),
    }
}
