//! The fields of a JSON object, each read with the one type that the phone takes.

use serde_json::{Map, Value};

/// Why the phone would drop something.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {what}")]
pub struct Fault {
    /// The payload and the field in it: `task.created.steps[1].status`.
    pub place: String,
    pub what: String,
}

impl Fault {
    pub fn new(place: impl Into<String>, what: impl Into<String>) -> Self {
        Self { place: place.into(), what: what.into() }
    }
}

pub struct Fields<'a> {
    place: String,
    object: &'a Map<String, Value>,
}

impl<'a> Fields<'a> {
    pub fn of(place: impl Into<String>, value: &'a Value) -> Result<Self, Fault> {
        let place = place.into();
        match value {
            Value::Object(object) => Ok(Self { place, object }),
            other => Err(Fault::new(place, format!("an object is expected, not {}", kind(other)))),
        }
    }

    pub fn place(&self, name: &str) -> String {
        format!("{}.{name}", self.place)
    }

    pub fn has(&self, name: &str) -> bool {
        self.maybe(name).is_some()
    }

    pub fn text(&self, name: &str) -> Result<&'a str, Fault> {
        let value = self.required(name)?;
        value.as_str().ok_or_else(|| self.wrong(name, "a string", value))
    }

    pub fn maybe_text(&self, name: &str) -> Result<Option<&'a str>, Fault> {
        self.maybe(name).map(|_| self.text(name)).transpose()
    }

    /// A number from 0 to 1: beyond that the phone shows nonsense, or crashes.
    pub fn share(&self, name: &str) -> Result<f64, Fault> {
        let value = self.required(name)?;
        let number = value.as_f64().ok_or_else(|| self.wrong(name, "a number", value))?;
        if (0.0..=1.0).contains(&number) {
            return Ok(number);
        }
        Err(Fault::new(self.place(name), format!("{number} is not within 0 to 1")))
    }

    /// A whole number of 64 bits, written with or without `.0`.
    pub fn whole(&self, name: &str) -> Result<i64, Fault> {
        let value = self.required(name)?;
        let whole = value.as_i64().or_else(|| {
            let number = value.as_f64().filter(|it| it.fract() == 0.0 && it.abs() < 9e15)?;
            format!("{number:.0}").parse().ok()
        });
        whole.ok_or_else(|| self.wrong(name, "a whole number", value))
    }

    pub fn maybe_whole(&self, name: &str) -> Result<Option<i64>, Fault> {
        self.maybe(name).map(|_| self.whole(name)).transpose()
    }

    pub fn maybe_flag(&self, name: &str) -> Result<Option<bool>, Fault> {
        let Some(value) = self.maybe(name) else { return Ok(None) };
        value.as_bool().map(Some).ok_or_else(|| self.wrong(name, "true or false", value))
    }

    pub fn list(&self, name: &str) -> Result<&'a [Value], Fault> {
        let value = self.required(name)?;
        value.as_array().map(Vec::as_slice).ok_or_else(|| self.wrong(name, "an array", value))
    }

    /// `YYYY-MM-DDTHH:MM:SSZ`, and nothing else.
    pub fn time(&self, name: &str) -> Result<&'a str, Fault> {
        let text = self.text(name)?;
        if is_time(text) {
            return Ok(text);
        }
        let what = format!("`{text}` is not written as YYYY-MM-DDTHH:MM:SSZ");
        Err(Fault::new(self.place(name), what))
    }

    fn required(&self, name: &str) -> Result<&'a Value, Fault> {
        let missing = || Fault::new(self.place(name), "it is missing");
        self.object.get(name).ok_or_else(missing)
    }

    /// Null is as good as absent.
    fn maybe(&self, name: &str) -> Option<&'a Value> {
        self.object.get(name).filter(|value| !value.is_null())
    }

    fn wrong(&self, name: &str, expected: &str, found: &Value) -> Fault {
        Fault::new(self.place(name), format!("{expected} is expected, not {}", kind(found)))
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "such a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

fn is_time(text: &str) -> bool {
    let shape = "0000-00-00T00:00:00Z";
    let fits = |(it, wanted): (char, char)| match wanted {
        '0' => it.is_ascii_digit(),
        other => it == other,
    };
    text.len() == shape.len() && text.chars().zip(shape.chars()).all(fits)
}
