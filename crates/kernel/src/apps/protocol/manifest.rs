//! What an app says that it can do, read with patience.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use serde_json::{Map, Value};

use crate::apps::{Abilities, Inverse, Keep, Kind, schema::Schema};

/// How long an app may take for a reply, and how long at most if it says so itself.
pub const PATIENCE: Duration = Duration::from_secs(5);
pub(super) const MOST_PATIENCE: Duration = Duration::from_mins(10);
/// Names that are further from each other, by letters, are no help.
const FAR: usize = 3;
/// How much may be kept to take one command back.
const INVERSE_BYTES: usize = 256 << 10;
/// Longer names are compared with none.
const COMPARED: usize = 100;

/// Only names that the app itself has said are known: nothing is inherited.
#[derive(Default)]
pub struct Manifest {
    /// All of it, as the app has said it.
    pub whole: Value,
    pub app: Option<String>,
    states: BTreeMap<String, Option<Schema>>,
    commands: BTreeMap<String, Command>,
    /// Other names of commands.
    aliases: BTreeMap<String, String>,
    /// The same for others to list.
    pub abilities: Arc<Abilities>,
}

pub struct Command {
    params: Option<Schema>,
    returns: Option<Schema>,
    pub keep: Keep,
    pub patience: Duration,
    reverse: Option<Reverse>,
    /// The names of what it takes.
    takes: Vec<String>,
}

/// How a command is taken back, as its app declares it.
enum Reverse {
    /// The app says it with each result, or that there is nothing to take back.
    Told,
    /// By this command, with what it takes out of the result or, if it is not there, out of what was
    /// given.
    By(String),
    With(Inverse),
}

impl Manifest {
    /// None for what is no manifest at all. What is odd about it goes to `odd`.
    pub fn read(value: &Value, odd: &mut Vec<String>) -> Option<Self> {
        let object = value.as_object()?;
        let app = object.get("appId").and_then(Value::as_str).filter(|id| !id.is_empty());
        let abilities = Arc::new(Abilities::read(object));
        let (app, whole) = (app.map(str::to_owned), value.clone());
        let mut manifest = Self { whole, app, abilities, ..Self::default() };
        for (key, entry) in entries(object, "state") {
            let schema = schema(entry, "schema", &format!("state {key}"), odd);
            manifest.states.insert(key.clone(), schema);
        }
        for (name, entry) in entries(object, "commands") {
            for alias in entry.get("aliases").and_then(Value::as_array).into_iter().flatten() {
                if let Some(alias) = alias.as_str() {
                    manifest.aliases.insert(alias.to_owned(), name.clone());
                }
            }
            manifest.commands.insert(name.clone(), command(name, entry, odd));
        }
        Some(manifest)
    }

    pub fn command(&self, name: &str) -> Option<&Command> {
        let real = self.aliases.get(name).map_or(name, String::as_str);
        self.commands.get(name).or_else(|| self.commands.get(real))
    }

    /// What takes back a command that has had this result.
    pub fn inverse(&self, name: &str, params: Option<&Value>, result: &Value) -> Option<Inverse> {
        let reverse = self.command(name)?.reverse.as_ref()?;
        let told = result.get("inverse").and_then(|told| declared(told, true));
        let inverse = match (told, reverse) {
            (Some(told), _) => told,
            (None, Reverse::Told) => return None,
            (None, Reverse::With(inverse)) => inverse.clone(),
            (None, Reverse::By(other)) => self.inverse_by(other, params, result)?,
        };
        let bytes = inverse.params.as_ref().map_or(0, |params| params.to_string().len());
        let is_known = self.command(&inverse.command).is_some();
        Some(inverse).filter(|_| is_known && bytes <= INVERSE_BYTES)
    }

    fn inverse_by(&self, other: &str, params: Option<&Value>, result: &Value) -> Option<Inverse> {
        let mut taken = Map::new();
        let mut exact = false;
        for name in &self.command(other)?.takes {
            match (result.get(name), params.and_then(|params| params.get(name))) {
                // It says that nothing has changed.
                (Some(Value::Null), _) => return None,
                (Some(value), _) => {
                    exact = true;
                    taken.insert(name.clone(), value.clone());
                }
                (None, Some(value)) => drop(taken.insert(name.clone(), value.clone())),
                (None, None) => (),
            }
        }
        let params = (!taken.is_empty()).then_some(Value::Object(taken));
        Some(Inverse { command: other.to_owned(), params, exact })
    }

    pub fn has_state(&self, key: &str) -> bool {
        self.states.contains_key(key)
    }

    /// What an app would say to a name it does not know, and which one may be meant.
    pub fn unknown(&self, kind: Kind, name: &str) -> String {
        let text = unknown(kind, name);
        let hint = match kind {
            Kind::Command => nearest(name, self.commands.keys().chain(self.aliases.keys())),
            Kind::Query | Kind::Manifest => nearest(name, self.states.keys()),
        };
        hint.map_or(text.clone(), |hint| format!("{text}. Did you mean \"{hint}\"?"))
    }

    /// What is odd about the value of a state key, or about what a command gave back.
    pub fn oddities(&self, kind: Kind, name: &str, value: &Value) -> Vec<(String, String)> {
        let schema = match kind {
            Kind::Query => self.states.get(name).and_then(Option::as_ref),
            Kind::Command => self.command(name).and_then(|command| command.returns.as_ref()),
            Kind::Manifest => None,
        };
        schema.map(|schema| schema.problems(value)).unwrap_or_default()
    }
}

impl Command {
    /// What is wrong with these parameters; absent ones are as good as none.
    pub fn check(&self, name: &str, params: Option<&Value>) -> Result<(), String> {
        let Some(schema) = &self.params else { return Ok(()) };
        let nothing = Value::Object(Map::new());
        let problems = schema.problems(params.unwrap_or(&nothing));
        let line = |(place, what): &(String, String)| match place.as_str() {
            "" => format!("Invalid params for command \"{name}\": {what}."),
            place => format!("Invalid params for command \"{name}\" at {place}: {what}."),
        };
        if problems.is_empty() {
            return Ok(());
        }
        Err(problems.iter().map(line).collect::<Vec<_>>().join("\n"))
    }
}

pub fn unknown(kind: Kind, name: &str) -> String {
    match kind {
        Kind::Command => format!("Unknown command: {name}"),
        Kind::Query | Kind::Manifest => format!("Unknown state key: {name}"),
    }
}

fn entries<'a>(
    manifest: &'a Map<String, Value>,
    field: &str,
) -> impl Iterator<Item = (&'a String, &'a Value)> {
    manifest.get(field).and_then(Value::as_object).into_iter().flatten()
}

fn command(name: &str, entry: &Value, odd: &mut Vec<String>) -> Command {
    let whose = format!("command {name}");
    let keep = match entry.get("replay") {
        None | Some(Value::Null) => Keep::Always,
        Some(Value::String(text)) if text == "always" => Keep::Always,
        Some(Value::String(text)) if text == "last" => Keep::Last,
        Some(Value::String(text)) if text == "never" => Keep::Never,
        Some(other) => {
            odd.push(format!("{whose}: `replay` should be always, last or never, not {other}"));
            Keep::Always
        }
    };
    let takes = entry.pointer("/params/properties").and_then(Value::as_object);
    Command {
        reverse: reverse(entry, &whose, odd),
        takes: takes.into_iter().flat_map(Map::keys).cloned().collect(),
        params: schema(entry, "params", &whose, odd),
        returns: schema(entry, "returns", &whose, odd),
        keep,
        patience: patience(entry),
    }
}

fn reverse(entry: &Value, whose: &str, odd: &mut Vec<String>) -> Option<Reverse> {
    match entry.get("inverse")? {
        Value::Null | Value::Bool(false) => None,
        Value::Bool(true) => Some(Reverse::Told),
        Value::String(name) => Some(Reverse::By(name.clone())),
        other => {
            let inverse = declared(other, false);
            if inverse.is_none() {
                odd.push(format!(
                    "{whose}: `inverse` should be true, the name of a command, or command and params"
                ));
            }
            inverse.map(Reverse::With)
        }
    }
}

fn declared(value: &Value, exact: bool) -> Option<Inverse> {
    let command = value.get("command")?.as_str()?.to_owned();
    let params = value.get("params").filter(|params| !params.is_null()).cloned();
    Some(Inverse { command, params, exact })
}

/// Milliseconds, as far as they make sense.
fn patience(entry: &Value) -> Duration {
    let wanted = entry.get("timeoutMs").and_then(Value::as_f64);
    match wanted.filter(|ms| *ms > 0.0) {
        Some(ms) => {
            Duration::try_from_secs_f64(ms / 1000.0).unwrap_or(MOST_PATIENCE).min(MOST_PATIENCE)
        }
        None => PATIENCE,
    }
}

fn schema(entry: &Value, field: &str, whose: &str, odd: &mut Vec<String>) -> Option<Schema> {
    let schema = entry.get(field).filter(|schema| !schema.is_null())?;
    let read = Schema::read(schema);
    read.inspect_err(|why| odd.push(format!("{whose}: `{field}` is no usable schema: {why}"))).ok()
}

fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a String>) -> Option<&'a str> {
    if name.len() > COMPARED {
        return None;
    }
    let far = |other: &&String| strsim::osa_distance(&name.to_lowercase(), &other.to_lowercase());
    let near = |other: &&String| far(other) <= FAR.min(other.chars().count() / 2);
    known.filter(near).min_by_key(far).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(value: &Value) -> (Manifest, Vec<String>) {
        let mut odd = Vec::new();
        (Manifest::read(value, &mut odd).unwrap(), odd)
    }

    #[test]
    fn the_nearest_name_is_offered_and_nothing_is_inherited() {
        let (manifest, _) = read(&json!({
            "state": { "cells": {}, "manifest": {} },
            "commands": { "setCells": { "aliases": ["put"] }, "clear": {} },
        }));
        let told = |kind, name| manifest.unknown(kind, name);
        let command = "Unknown command: setCell. Did you mean \"setCells\"?";
        assert_eq!(told(Kind::Command, "setCell"), command);
        assert_eq!(told(Kind::Query, "cell"), "Unknown state key: cell. Did you mean \"cells\"?");
        for name in ["toString", "__proto__", "constructor"] {
            assert!(manifest.command(name).is_none() && !manifest.has_state(name));
            assert_eq!(told(Kind::Command, name), format!("Unknown command: {name}"));
        }
        assert!(manifest.command("put").is_some());
    }

    #[test]
    fn a_deadline_of_an_app_is_taken_as_far_as_it_makes_sense() {
        for (wanted, seconds) in [
            (json!(20_000), 20.0),
            (json!(600_001), 600.0),
            (json!(1e300), 600.0),
            (json!(0), 5.0),
            (json!(-3), 5.0),
            (json!("20000"), 5.0),
            (json!(null), 5.0),
            (json!(0.5), 0.0005),
        ] {
            let (manifest, _) = read(&json!({ "commands": { "c": { "timeoutMs": wanted } } }));
            let patience = manifest.command("c").unwrap().patience;
            assert_eq!(patience, Duration::from_secs_f64(seconds), "{wanted}");
        }
    }

    #[test]
    fn what_is_odd_in_a_manifest_is_named_and_does_no_harm() {
        let (manifest, odd) = read(&json!({
            "commands": {
                "a": { "replay": "sometimes", "params": { "type": "nonsense" } },
                "b": 7,
            },
            "state": [1, 2],
        }));
        let command = manifest.command("a").unwrap();
        assert_eq!((command.keep, command.check("a", Some(&json!(1)))), (Keep::Always, Ok(())));
        assert!(manifest.command("b").is_some());
        assert_eq!(odd.len(), 2, "{odd:?}");
        assert!(Manifest::read(&json!(null), &mut Vec::new()).is_none());
    }

    #[test]
    fn wrong_parameters_are_refused_with_place_and_expectation() {
        let (manifest, _) = read(&json!({ "commands": { "setCells": { "params": {
            "type": "object", "required": ["cells"],
            "properties": { "cells": { "type": "object" }, "sheet": { "type": "string" } },
        } } } }));
        let check = |params: Option<Value>| {
            manifest.command("setCells").unwrap().check("setCells", params.as_ref())
        };
        assert_eq!(check(Some(json!({ "cells": {} }))), Ok(()));
        let wrong =
            "Invalid params for command \"setCells\" at /cells: expected object, got number.";
        assert_eq!(check(Some(json!({ "cells": 5 }))), Err(wrong.into()));
        let absent =
            "Invalid params for command \"setCells\" at /cells: expected a value, got nothing.";
        assert_eq!(check(None), Err(absent.into()));
        let both = format!(
            "{wrong}\nInvalid params for command \"setCells\" at /sheet: expected string, got null."
        );
        assert_eq!(check(Some(json!({ "cells": 5, "sheet": null }))), Err(both));
        let root = "Invalid params for command \"setCells\": expected object, got array.";
        assert_eq!(check(Some(json!([]))), Err(root.into()));
    }
}
