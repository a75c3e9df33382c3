//! From what a model wrote to what it means: read as the hub reads commands, with nothing changed silently.

use std::{borrow::Cow, fmt::Display, marker::PhantomData};

use kernel::desktop::{Action, After, DesktopError, Order, Shot};
use remote::{
    coerce::understood,
    command::{self, PREFIX, Request},
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::view::View;

/// How long the screen may take to come to rest before it is shown.
const SETTLING: u32 = 500;

/// A tool for desktops: how its arguments look to a model, and its calls to a person.
pub trait Gesture: JsonSchema + Send + 'static {
    const NAME: &'static str;

    /// What a person reads of it.
    fn title(given: &Map<String, Value>) -> String;

    /// The command that it stands for, and what is said with that.
    fn command(given: Map<String, Value>) -> Result<(String, Map<String, Value>), DesktopError> {
        Ok((Self::NAME.to_owned(), given))
    }
}

/// Arguments as they were written, whatever they are.
pub struct Given<G> {
    pub arguments: Map<String, Value>,
    gesture: PhantomData<fn() -> G>,
}

impl<'de, G> Deserialize<'de> for Given<G> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let arguments = Map::deserialize(deserializer)?;
        Ok(Self { arguments, gesture: PhantomData })
    }
}

impl<G: JsonSchema> JsonSchema for Given<G> {
    fn schema_name() -> Cow<'static, str> {
        G::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        G::json_schema(generator)
    }
}

/// What a call comes down to.
#[derive(Debug)]
pub struct Meant {
    /// In pixels of the screen.
    pub action: Action,
    /// The same in the points of the one who asks, and where those lie.
    pub own: Action,
    pub view: View,
    /// The picture that is wanted of what came of it.
    pub after: Option<After>,
    /// What the provider of the model wants a person to look at before.
    pub checks: Vec<String>,
    /// What was made of the arguments before they were understood, for the model.
    pub notes: Map<String, Value>,
}

impl<G: Gesture> Given<G> {
    /// Which device is meant, if one is named.
    pub fn device(&self) -> Result<Option<&str>, DesktopError> {
        self.named("device")
    }

    /// Which picture the points are taken from, if one is named.
    pub fn shot(&self) -> Result<Option<&str>, DesktopError> {
        self.named("shot")
    }

    fn named(&self, what: &str) -> Result<Option<&str>, DesktopError> {
        match self.arguments.get(what) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(name)) => Ok(Some(name)),
            Some(_) => Err(malformed(format_args!("{what} must be the name of one"))),
        }
    }

    pub fn meant(&self, view: View) -> Result<Meant, DesktopError> {
        let mut given = self.arguments.clone();
        given.retain(|name, _| name != "device" && name != "shot");
        let shown = match given.remove("show") {
            None | Some(Value::Null) => false,
            Some(Value::Bool(shown)) => shown,
            Some(other) => {
                return Err(malformed(format_args!("show must be true or false, not {other}")));
            }
        };
        let checks = given.remove("warnings").unwrap_or_default();
        let checks: Option<Vec<String>> = serde_json::from_value(checks).map_err(malformed)?;
        let (kind, given) = G::command(given)?;
        let (kind, coerced) = understood(&kind, &given).map_err(malformed)?;
        let notes = coerced.notes();
        let Request::Do(order) = command::action(&kind, coerced.arguments)? else {
            return Err(malformed("that is not a command"));
        };
        let Order { action: own, after, .. } = *order;
        let usual = After { settle_ms: SETTLING, shot: Shot::default() };
        Ok(Meant {
            action: view.on_screen(&own)?,
            own,
            view,
            after: after.or(shown.then_some(usual)),
            checks: checks.unwrap_or_default(),
            notes,
        })
    }
}

pub fn malformed(text: impl Display) -> DesktopError {
    DesktopError::bad(format!("{PREFIX}{text}"))
}
