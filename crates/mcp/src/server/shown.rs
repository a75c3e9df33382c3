//! The apps on show in every session, as tools and resources: what they are called, and where they are.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use kernel::{
    apps::{Abilities, Ability, AppCall, Asked, names, protocol::Answer, texts},
    toolbox::Risk,
    update::SessionId,
};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use rmcp::{
    ErrorData,
    model::{CallToolResult, JsonObject, Resource, ResourceContents, Tool},
};
use serde_json::{Value, json};

use super::{
    errands::Visit,
    guest::Guest,
    house::{House, lock},
    lent,
};

const SCHEME: &str = "yaar://";
/// How much of a window's or a command's own name is in the name of a tool.
const NAME: usize = 28;
/// How many windows are known by their bare names.
const KNOWN: usize = 4096;
/// What cannot stand in an address as it is.
const UNSAFE: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// A window, wherever it is: its session, and its scoped id.
type Spot = (SessionId, String);

/// What windows are called among those of all sessions. A name stays with its window for as long as
/// that is open.
#[derive(Default)]
pub struct Labels(Mutex<Book>);

#[derive(Default)]
struct Book {
    names: HashMap<Spot, String>,
    owners: HashMap<String, Spot>,
}

impl Labels {
    /// By its id, if no other of that id is open, else with a mark of its own.
    fn of(&self, house: &House, session: SessionId, window: &str) -> String {
        let spot = (session, window.to_owned());
        let mut book = lock(&self.0);
        if let Some(name) = book.names.get(&spot) {
            return name.clone();
        }
        if book.names.len() >= KNOWN {
            book.names.retain(|spot, _| is_open(house, spot));
        }
        let bare = names::plain(split(window).1, NAME);
        let owner = book.owners.get(&bare).cloned();
        let name = match owner.filter(|owner| is_open(house, owner)) {
            Some(_) => names::marked(&bare, &format!("{session}/{window}"), NAME),
            None => bare,
        };
        if let Some(before) = book.owners.insert(name.clone(), spot.clone()) {
            book.names.remove(&before);
        }
        book.names.insert(spot, name.clone());
        let Book { names, owners } = &mut *book;
        owners.retain(|_, spot| names.contains_key(spot));
        name
    }
}

/// Whether a window may be open: of a session at rest that has any, it is not known which.
fn is_open(house: &House, (session, window): &Spot) -> bool {
    let Some(state) = house.host.roster.get(*session) else { return false };
    match house.host.apps.windows(*session) {
        Some(windows) => windows.get(window).is_some(),
        None => state.windows_from.is_some(),
    }
}

/// What one client was told that names stand for: it is not to reach another window by them.
#[derive(Default)]
pub struct Told(Mutex<HashMap<String, Spot>>);

impl Told {
    pub fn note(&self, house: &House) {
        let all = all(house);
        let named = all.iter().flat_map(|shown| {
            let spot = (shown.session, shown.window.clone());
            shown.abilities.commands.keys().map(move |name| (shown.name(name), spot.clone()))
        });
        *lock(&self.0) = named.collect();
    }

    fn is_another(&self, name: &str, shown: &Shown) -> bool {
        let told = lock(&self.0);
        told.get(name)
            .is_some_and(|(session, window)| *session != shown.session || *window != shown.window)
    }
}

/// A window with an app in it that somebody shows.
pub struct Shown {
    pub session: SessionId,
    /// Its scoped id.
    pub window: String,
    label: String,
    abilities: Arc<Abilities>,
}

/// All of them.
pub fn all(house: &House) -> Vec<Shown> {
    let mut shown = Vec::new();
    for (session, offers) in house.host.apps.all_offers() {
        for (window, abilities) in offers.iter() {
            let label = house.labels.of(house, session, window);
            let (window, abilities) = (window.clone(), abilities.clone());
            shown.push(Shown { session, window, label, abilities });
        }
    }
    shown
}

pub fn tools(house: &House) -> Vec<Tool> {
    let all = all(house);
    all.iter().flat_map(|shown| shown.tools(house)).collect()
}

/// Runs the command that a tool is for, as `app_command` does; `None` if there is no such tool.
pub async fn call(
    guest: &Guest,
    name: &str,
    params: Option<JsonObject>,
    visit: &mut Visit<'_>,
) -> Option<Result<CallToolResult, ErrorData>> {
    let all = if name.starts_with("app.") { all(visit.house) } else { return None };
    let (shown, command, ability) = all.iter().find_map(|shown| {
        let mut commands = shown.abilities.commands.iter();
        let (command, ability) = commands.find(|(command, _)| shown.name(command) == name)?;
        Some((shown, command, ability))
    })?;
    if guest.told.is_another(name, shown) {
        let text = format!("{name} is of another window than it was; list the tools again");
        return Some(Err(ErrorData::invalid_params(text, None)));
    }
    let mut args = json!({ "windowId": shown.window, "command": command });
    if let Some(params) = params {
        args["params"] = Value::Object(params);
    }
    let called = lent::run(guest, shown.session, "app_command", args, visit).await;
    let promised = ability.gives.as_ref().and_then(object).is_some();
    Some(called.map(|result| if promised { structured(result) } else { result }))
}

/// What was promised to come as data comes as data, too.
fn structured(mut result: CallToolResult) -> CallToolResult {
    let text = result.content.first().and_then(|block| block.as_text());
    let data = text.and_then(|text| serde_json::from_str(&text.text).ok());
    if result.is_error != Some(true) {
        result.structured_content = data.filter(Value::is_object);
    }
    result
}

/// Every state that can be read, by its address.
pub fn resources(house: &House) -> Vec<Resource> {
    let all = all(house);
    all.iter().flat_map(|shown| shown.resources(house)).collect()
}

/// Where a state is that can be read.
pub struct Place {
    pub session: SessionId,
    pub window: String,
    pub key: String,
}

/// The state at an address, also where that was written without care.
pub fn place(house: &House, uri: &str) -> Option<Place> {
    let all = if uri.starts_with(SCHEME) { all(house) } else { return None };
    all.into_iter().find_map(|shown| {
        let mut keys = shown.abilities.states.keys();
        let key = keys.find(|key| {
            let address = shown.address(key);
            uri == address || uri == encoded(&address)
        })?;
        Some(Place { session: shown.session, window: shown.window.clone(), key: key.clone() })
    })
}

/// What a state is now, whole.
pub async fn read(house: &House, place: Place, uri: &str) -> Result<ResourceContents, ErrorData> {
    let failed = |text: String| ErrorData::internal_error(text, None);
    let call = AppCall::new(place.window, Asked::Query { state_key: place.key });
    let answer = house.host.ask_app(place.session, call).await;
    match answer.map_err(|error| failed(error.to_string()))? {
        Answer::Said { kind, response, .. } => {
            texts::result(kind, &response).map_err(failed)?;
            let text = texts::pretty(&response.value.unwrap_or_default());
            Ok(ResourceContents::text(text, uri).with_mime_type("application/json"))
        }
        Answer::Refused(text) => Err(failed(text)),
        // A question is never held up: there is nothing to be free for.
        Answer::Open { .. } | Answer::Free { .. } => Err(failed(texts::NO_RESPONSE.to_owned())),
    }
}

impl Shown {
    /// What the tool for a command is called.
    fn name(&self, command: &str) -> String {
        format!("app.{}.{}", self.label, names::plain(command, NAME))
    }

    fn tools(&self, house: &House) -> impl Iterator<Item = Tool> {
        let place = self.told(house);
        self.abilities.commands.iter().map(move |(command, ability)| {
            let Ability { description, takes, gives } = ability;
            let description = match description.as_str() {
                "" => format!("Runs \"{command}\" {place}."),
                text => format!("{text}\n\nRuns \"{command}\" {place}."),
            };
            let takes = takes.as_ref().and_then(object).unwrap_or_else(anything);
            let mut tool = Tool::new(self.name(command), description, takes);
            // As much harm as `app_command` can do.
            tool.annotations = lent::annotations(Risk::Shows);
            match gives.as_ref().and_then(object) {
                Some(gives) => tool.with_raw_output_schema(gives.into()),
                None => tool,
            }
        })
    }

    fn resources(&self, house: &House) -> impl Iterator<Item = Resource> {
        let place = self.told(house);
        self.abilities.states.iter().map(move |(key, state)| {
            let description = match state.description.as_str() {
                "" => format!("The state \"{key}\" {place}."),
                text => format!("{text}\n\nThe state \"{key}\" {place}."),
            };
            Resource::new(encoded(&self.address(key)), format!("{}/{key}", self.label))
                .with_title(format!("{key} of {}", self.label))
                .with_description(description)
                .with_mime_type("application/json")
        })
    }

    /// Where a state is, with nothing in it standing for anything else. By its own name where that
    /// is the window's alone.
    fn address(&self, key: &str) -> String {
        let (monitor, id) = split(&self.window);
        let id = if self.label == names::plain(id, NAME) { id } else { &self.label };
        format!("{SCHEME}{monitor}/{id}/state/{key}")
    }

    /// `of the app Counter in window "dock" of the session "Budget"`
    fn told(&self, house: &House) -> String {
        let state = house.host.roster.get(self.session);
        let name = state.map(|state| state.name.clone()).filter(|name| !name.is_empty());
        let session = name.unwrap_or_else(|| self.session.to_string());
        let app = self.abilities.name.as_deref().map(|name| format!(" {name}")).unwrap_or_default();
        let (_, id) = split(&self.window);
        format!("of the app{app} in window \"{id}\" of the session \"{session}\"")
    }
}

fn split(window: &str) -> (&str, &str) {
    window.split_once('/').unwrap_or((kernel::windows::MONITOR, window))
}

fn encoded(address: &str) -> String {
    utf8_percent_encode(address, UNSAFE).to_string()
}

fn anything() -> JsonObject {
    JsonObject::from_iter([("type".to_owned(), "object".into())])
}

/// A schema as clients expect it: of an object, and of properties that are no bare yes or no. One
/// that does not fit would cost them the whole list.
fn object(schema: &JsonObject) -> Option<JsonObject> {
    let mut schema = schema.clone();
    match schema.get("type") {
        None => drop(schema.insert("type".to_owned(), "object".into())),
        Some(Value::String(kind)) if kind == "object" => (),
        Some(_) => return None,
    }
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for property in properties.values_mut() {
            match property {
                Value::Bool(true) => *property = json!({}),
                Value::Bool(false) => *property = json!({ "not": {} }),
                _ => (),
            }
        }
    }
    Some(schema)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_are_made_such_as_every_client_takes() {
        let fitted = |schema: Value| object(schema.as_object().unwrap()).map(Value::Object);
        let whole = json!({ "type": "object", "properties": { "a": { "type": "string" } } });
        assert_eq!(fitted(whole.clone()), Some(whole));
        assert_eq!(
            fitted(json!({ "properties": { "a": true, "b": false } })),
            Some(json!({ "type": "object", "properties": { "a": {}, "b": { "not": {} } } }))
        );
        assert_eq!(fitted(json!({ "type": "array" })), None);
        assert_eq!(fitted(json!({ "type": ["object", "null"] })), None);
    }
}
