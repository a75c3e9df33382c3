//! Windows by the names that callers and clients have for them.

use super::Machine;
use crate::apps::texts;

impl Machine {
    /// The scoped id of a window: `monitor-0/dock` for `monitor-0/dock`, `0/dock` or `dock`.
    pub(super) fn find(&self, name: &str, monitor: Option<&str>) -> Result<String, String> {
        let known = |key: &String| self.record.window(key).is_some();
        if name.contains('/') {
            return Some(scoped(name)).filter(known).ok_or_else(|| texts::not_found(name));
        }
        let here = monitor.map(|monitor| scoped(&format!("{monitor}/{name}")));
        if let Some(key) = here.filter(known) {
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
    if name.contains('/') {
        return scoped(name) == key;
    }
    key.split_once('/').map_or(key, |(_, raw)| raw) == name
}

/// A scoped id as we write it. Others number their monitors.
fn scoped(name: &str) -> String {
    let monitor = name.split_once('/').map_or(name, |(monitor, _)| monitor);
    let is_number = !monitor.is_empty() && monitor.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { format!("monitor-{name}") } else { name.to_owned() }
}
