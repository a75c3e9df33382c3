//! What the apps on show can do, for whoever lists it: a copy of what they have said, within limits.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Map, Value};

use super::schema::Schema;
use crate::update::SessionId;

/// So many commands, and so many states, of one app.
const MOST: usize = 200;
const NAME_CHARS: usize = 200;
const DESCRIPTION_CHARS: usize = 1000;
const SCHEMA_BYTES: usize = 16 << 10;

/// By the scoped id of the window.
pub type Offers = BTreeMap<String, Arc<Abilities>>;

/// What one app can do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Abilities {
    pub name: Option<String>,
    pub commands: BTreeMap<String, Ability>,
    pub states: BTreeMap<String, Ability>,
    /// How many commands and states it has besides.
    pub left_out: usize,
}

/// A command, or a state that can be read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ability {
    pub description: String,
    /// JSON Schema of what a command takes, if it has said so, and in few words.
    pub takes: Option<Map<String, Value>>,
    /// The same of what it gives back, or of what is read.
    pub gives: Option<Map<String, Value>>,
}

/// What is in an app may not be what it was.
#[derive(Clone, Debug, PartialEq)]
pub struct Touched {
    pub session: SessionId,
    /// Its scoped id.
    pub window: String,
    /// Which states; any of them if it was not said.
    pub keys: Option<Vec<String>>,
}

impl Touched {
    pub fn is_of(&self, session: SessionId, window: &str, key: &str) -> bool {
        let named = |keys: &Vec<String>| keys.iter().any(|named| named == key);
        self.session == session && self.window == window && self.keys.as_ref().is_none_or(named)
    }
}

impl Abilities {
    pub fn read(manifest: &Map<String, Value>) -> Self {
        let name = manifest.get("name").and_then(Value::as_str).map(shortened);
        let (commands, fewer) = abilities(manifest, "commands", "params", "returns");
        let (states, also) = abilities(manifest, "state", "", "schema");
        Self { name, commands, states, left_out: fewer + also }
    }
}

/// Those of one kind, and how many there are besides.
fn abilities(
    manifest: &Map<String, Value>,
    part: &str,
    takes: &str,
    gives: &str,
) -> (BTreeMap<String, Ability>, usize) {
    let Some(entries) = manifest.get(part).and_then(Value::as_object) else {
        return Default::default();
    };
    let sound = |name: &str| !name.is_empty() && name.chars().nth(NAME_CHARS).is_none();
    let read = |(name, entry): (&String, &Value)| {
        let description = entry.get("description").and_then(Value::as_str).unwrap_or_default();
        let ability = Ability {
            description: shortened(description),
            takes: schema(entry.get(takes)),
            gives: schema(entry.get(gives)),
        };
        (name.clone(), ability)
    };
    let sound = entries.iter().filter(|(name, _)| sound(name));
    let abilities: BTreeMap<_, _> = sound.take(MOST).map(read).collect();
    let left_out = entries.len() - abilities.len();
    (abilities, left_out)
}

fn shortened(text: &str) -> String {
    let mut text = text.to_owned();
    if let Some((end, _)) = text.char_indices().nth(DESCRIPTION_CHARS) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// One that can be used, and is not too much to show.
fn schema(value: Option<&Value>) -> Option<Map<String, Value>> {
    let schema = value.filter(|it| it.to_string().len() <= SCHEMA_BYTES)?;
    Schema::read(schema).ok()?;
    schema.as_object().cloned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(manifest: &Value) -> Abilities {
        Abilities::read(manifest.as_object().unwrap())
    }

    #[test]
    fn what_an_app_says_is_offered_as_far_as_it_makes_sense() {
        let object = json!({ "type": "object" });
        let offered = read(&json!({
            "name": "Counter",
            "commands": { "inc": { "description": "Counts", "params": object, "returns": object },
                "bad": { "params": { "type": "nonsense" }, "description": 5 }, "": {} },
            "state": { "n": { "schema": object } },
        }));
        let object = object.as_object().cloned();
        let inc =
            Ability { description: "Counts".into(), takes: object.clone(), gives: object.clone() };
        let n = Ability { gives: object, ..Ability::default() };
        let expected = Abilities {
            name: Some("Counter".into()),
            commands: [("bad".into(), Ability::default()), ("inc".into(), inc)].into(),
            states: [("n".into(), n)].into(),
            left_out: 1,
        };
        assert_eq!(offered, expected);
        assert_eq!(read(&json!({ "commands": [1], "state": null })), Abilities::default());
    }

    #[test]
    fn an_app_that_says_too_much_is_offered_in_part() {
        let many: Map<String, Value> = (0..250).map(|n| (format!("c{n}"), json!({}))).collect();
        let offered = read(&json!({ "commands": many }));
        assert_eq!((offered.commands.len(), offered.left_out), (200, 50));
        let long = json!({ "type": "object", "description": "x".repeat(20_000) });
        let offered = read(&json!({
            "commands": { "c": { "description": "ä".repeat(2000), "params": long } },
        }));
        let expected = Ability { description: "ä".repeat(1000) + "…", ..Ability::default() };
        assert_eq!(offered.commands.get("c"), Some(&expected));
    }
}
