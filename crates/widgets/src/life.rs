//! What a view is told of the call it was opened for: each thing once for each handshake, in order.

use serde_json::{Map, Value, json};

use crate::dialect::Dialect;

#[derive(Debug, Default)]
pub struct Life {
    /// The view has said that it listens.
    ready: bool,
    /// The newest piece of the arguments that was not told yet.
    partial: Option<Map<String, Value>>,
    input: Option<Map<String, Value>>,
    end: Option<End>,
    told_input: bool,
    told_end: bool,
    /// What is different around it since it was greeted.
    changes: Map<String, Value>,
}

#[derive(Debug)]
enum End {
    Result(Value),
    Cancelled(Option<String>),
}

impl Life {
    pub fn is_ready(&self) -> bool {
        self.ready
    }

    /// It listens, perhaps once more: then it is told everything again.
    pub fn begin(&mut self) {
        (self.ready, self.told_input, self.told_end) = (true, false, false);
    }

    pub fn stream(&mut self, arguments: Map<String, Value>) {
        if self.input.is_none() && self.end.is_none() {
            self.partial = Some(arguments);
        }
    }

    pub fn give(&mut self, arguments: Map<String, Value>) {
        self.partial = None;
        if self.end.is_none() || matches!(self.end, Some(End::Result(_))) {
            self.input.get_or_insert(arguments);
        }
    }

    pub fn finish(&mut self, mut result: Value) {
        // A view may not be told a result without it.
        if result.get("content").is_none_or(|content| !content.is_array())
            && let Some(fields) = result.as_object_mut()
        {
            fields.insert("content".into(), json!([]));
        }
        self.end.get_or_insert(End::Result(result));
    }

    pub fn cancel(&mut self, reason: Option<String>) {
        self.partial = None;
        self.end.get_or_insert(End::Cancelled(reason));
    }

    pub fn change(&mut self, changes: Map<String, Value>) {
        self.changes.extend(changes);
    }

    /// What it knows of its surroundings is current.
    pub fn forget_changes(&mut self) {
        self.changes.clear();
    }

    /// What is to be said now, in this order.
    pub fn due(&mut self, dialect: Dialect, streams: bool) -> Vec<Value> {
        if !self.ready {
            return Vec::new();
        }
        let mut due = Vec::new();
        let changes = std::mem::take(&mut self.changes);
        if !changes.is_empty() {
            let changes = surroundings(changes, dialect);
            due.push(notification("ui/notifications/host-context-changed", &changes));
        }
        if let Some(partial) = self.partial.take()
            && (dialect == Dialect::Official || streams)
        {
            due.push(arguments("ui/notifications/tool-input-partial", partial));
        }
        if let Some(input) = self.input.clone().filter(|_| !self.told_input) {
            self.told_input = true;
            due.push(arguments("ui/notifications/tool-input", input));
        }
        if !self.told_end {
            due.extend(self.ending(dialect));
        }
        due
    }

    fn ending(&mut self, dialect: Dialect) -> Option<Value> {
        let told = match self.end.as_ref()? {
            End::Result(_) if !self.told_input => return None,
            End::Result(result) => {
                json!({ "jsonrpc": "2.0", "method": "ui/notifications/tool-result", "params": result })
            }
            End::Cancelled(reason) => {
                let reason = reason.clone().map(|reason| ("reason".to_owned(), reason.into()));
                notification(dialect.cancelled(), &reason.into_iter().collect())
            }
        };
        self.told_end = true;
        Some(told)
    }
}

fn arguments(method: &str, arguments: Map<String, Value>) -> Value {
    notification(method, &Map::from_iter([("arguments".to_owned(), Value::Object(arguments))]))
}

pub fn notification(method: &str, params: &Map<String, Value>) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

/// What is around a view, in its own words. The seed has other names for some of it, and finds both.
pub fn surroundings(mut context: Map<String, Value>, dialect: Dialect) -> Map<String, Value> {
    let plain = context.get("theme").is_none_or(|theme| theme == "light" || theme == "dark");
    if !plain {
        context.remove("theme");
    }
    if dialect == Dialect::Official {
        return context;
    }
    if let Some(zone) = context.get("timeZone").cloned() {
        context.insert("timezone".into(), zone);
    }
    if let Some(place) = context.get("containerDimensions").and_then(Value::as_object) {
        let side = |fixed: &str, most: &str| place.get(fixed).or_else(|| place.get(most)).cloned();
        let sides = [("width", side("width", "maxWidth")), ("height", side("height", "maxHeight"))];
        let sides = sides.into_iter().filter_map(|(name, side)| Some((name.to_owned(), side?)));
        let viewport: Map<String, Value> = sides.collect();
        context.insert("viewport".into(), Value::Object(viewport));
    }
    context
}
