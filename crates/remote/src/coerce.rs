//! What a model or a program wrote, brought into the types that devices insist on; nothing is changed without a word.

use serde_json::{Map, Number, Value, json};

use crate::{
    alias::{self, Spoken},
    fields::{Field, Kind, fields},
};

/// How alike a name must be to one that is missing, from 0 to 1.
const ALIKE: f64 = 0.8;
const NO_AREA: &str = "region must be [left, top, right, bottom]";
/// What a part of the screen is said with.
const SIDES: [&str; 4] = ["x", "y", "w", "h"];

/// Arguments as they are sent, and what was done to make them so.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Coerced {
    /// Without `type` and `commandId`, which are not the caller's to choose.
    pub arguments: Map<String, Value>,
    /// Each value that is now another: `{"x":{"from":-5,"to":0}}`.
    pub adjusted: Map<String, Value>,
    /// Names that mean nothing here.
    pub ignored: Vec<String>,
}

impl Coerced {
    /// What the one who wrote them is told of it; nothing if they are as they were.
    pub fn notes(&self) -> Map<String, Value> {
        let mut notes = Map::new();
        if !self.adjusted.is_empty() {
            notes.insert("adjusted".to_owned(), Value::Object(self.adjusted.clone()));
        }
        if !self.ignored.is_empty() {
            notes.insert("ignored".to_owned(), self.ignored.clone().into());
        }
        notes
    }

    /// The arguments within a place; what was done to them is told as done there.
    fn takes(&mut self, place: &str, within: Self) -> Map<String, Value> {
        let at = |name: &str| format!("{place}.{name}");
        self.adjusted.extend(within.adjusted.into_iter().map(|(name, it)| (at(&name), it)));
        self.ignored.extend(within.ignored.iter().map(|name| at(name)));
        within.arguments
    }
}

/// A command by any of its names, which may be one that models have learnt elsewhere: its name here,
/// and its arguments. An error is what a device would say, and nothing is sent then.
pub fn understood(kind: &str, given: &Map<String, Value>) -> Result<(String, Coerced), String> {
    let Spoken { kind, arguments, ignored } = alias::spoken(kind, given)?;
    let mut coerced = coerce(&kind, &arguments)?;
    coerced.ignored.extend(ignored);
    Ok((kind, coerced))
}

/// Of commands that are not known nothing is known, so that they are left as they are.
pub fn coerce(kind: &str, given: &Map<String, Value>) -> Result<Coerced, String> {
    let mut arguments = given.clone();
    arguments.retain(|name, _| !is_envelope(name));
    match fields(kind) {
        Some(fields) => fit(&fields, &arguments),
        None => Ok(Coerced { arguments, ..Coerced::default() }),
    }
}

fn fit(fields: &[Field], given: &Map<String, Value>) -> Result<Coerced, String> {
    let mut coerced = Coerced::default();
    for (name, value) in given {
        let Some(field) = fields.iter().find(|field| field.name == name) else {
            coerced.ignored.push(name.clone());
            continue;
        };
        let Some((converted, is_other)) = convert(field, value)? else {
            if *value != Value::Null {
                coerced.adjusted.insert(name.clone(), json!({ "from": value, "to": null }));
            }
            continue;
        };
        if let (Kind::Area, Value::Object(area)) = (field.kind, value) {
            let unknown = area.keys().filter(|side| !SIDES.contains(&side.as_str()));
            coerced.ignored.extend(unknown.map(|side| format!("{name}.{side}")));
        }
        if let (Some(parts), Value::Object(given)) = (field.kind.parts(), value) {
            let within = fit(&parts, given).map_err(|error| format!("{name}: {error}"))?;
            let within = coerced.takes(name, within);
            coerced.arguments.insert(name.clone(), Value::Object(within));
            continue;
        }
        if field.kind == Kind::Actions {
            let actions = batch(&converted, &mut coerced)?;
            coerced.arguments.insert(name.clone(), actions);
            continue;
        }
        if is_other {
            coerced.adjusted.insert(name.clone(), json!({ "from": value, "to": converted }));
        }
        coerced.arguments.insert(name.clone(), converted);
    }
    let missing =
        fields.iter().find(|field| field.required && !coerced.arguments.contains_key(field.name));
    match missing {
        Some(field) => Err(missing_text(field.name, &coerced.ignored)),
        None => Ok(coerced),
    }
}

fn is_envelope(name: &str) -> bool {
    matches!(name, "type" | "commandId")
}

/// Each action of a batch on its own, with what was done to it under its place.
fn batch(actions: &Value, whole: &mut Coerced) -> Result<Value, String> {
    let Value::Array(actions) = actions else { return Ok(actions.clone()) };
    let mut converted = Vec::with_capacity(actions.len());
    for (index, action) in actions.iter().enumerate() {
        let (Some(given), Some(kind)) = (action.as_object(), action["type"].as_str()) else {
            converted.push(action.clone());
            continue;
        };
        let place = format!("actions[{index}]");
        let one = understood(kind, given).map_err(|error| format!("{place}: {error}"));
        let (kind, one) = one?;
        let mut action = Map::from_iter([("type".to_owned(), kind.into())]);
        action.extend(whole.takes(&place, one));
        converted.push(Value::Object(action));
    }
    Ok(Value::Array(converted))
}

/// With whether it is worth more than another spelling; `None` if it is as good as absent.
fn convert(field: &Field, value: &Value) -> Result<Option<(Value, bool)>, String> {
    let is_blank = match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty() && field.kind.is_number(),
        _ => false,
    };
    if is_blank && !field.required {
        return Ok(None);
    }
    let converted = match field.kind {
        Kind::Coordinate => coordinate(value)?,
        Kind::Count { most } => whole::<u32>(value, most.into(), false)?,
        Kind::Offset => whole::<i32>(value, i64::from(i32::MAX), false)?,
        Kind::Seconds { most } => seconds(value, most)?,
        Kind::Text => match value {
            Value::String(_) => value.clone(),
            _ => return Err(complaint::<String>(value)),
        },
        Kind::Points => return points(value).map(Some),
        Kind::Area => return area(value).map(Some),
        Kind::Any | Kind::After | Kind::Shot | Kind::Actions => value.clone(),
    };
    let is_other = is_other(value, &converted);
    Ok(Some((converted, is_other)))
}

fn coordinate(value: &Value) -> Result<Value, String> {
    whole::<u32>(value, i64::from(u32::MAX), true)
}

/// A list of pairs. What is none is left to whoever reads it.
fn points(value: &Value) -> Result<(Value, bool), String> {
    let Value::Array(points) = value else { return Ok((value.clone(), false)) };
    let mut changed = false;
    let mut converted = Vec::with_capacity(points.len());
    for point in points {
        let Some([x, y]) = point.as_array().map(Vec::as_slice) else {
            converted.push(point.clone());
            continue;
        };
        let pair = [coordinate(x)?, coordinate(y)?];
        changed |= is_other(x, &pair[0]) || is_other(y, &pair[1]);
        converted.push(pair.to_vec().into());
    }
    Ok((converted.into(), changed))
}

/// A part of the screen: by its corner and size, or by both corners in a list, the second of which is
/// the first pixel that is not meant.
fn area(value: &Value) -> Result<(Value, bool), String> {
    let (given, corners) = match value {
        Value::Array(corners) => match <&[Value; 4]>::try_from(corners.as_slice()) {
            Ok(corners) => (corners.clone(), true),
            Err(_) => return Err(NO_AREA.to_owned()),
        },
        Value::Object(area) => {
            if !SIDES.iter().all(|side| area.contains_key(*side)) {
                return Ok((value.clone(), false));
            }
            (SIDES.map(|side| area[side].clone()), false)
        }
        _ => return Ok((value.clone(), false)),
    };
    let mut sides = [0_u64; 4];
    let mut changed = false;
    for (index, side) in given.iter().enumerate() {
        let converted = match index {
            2.. if !corners => whole::<u32>(side, i64::from(u32::MAX), false)?,
            _ => coordinate(side)?,
        };
        changed |= is_other(side, &converted);
        sides[index] = converted.as_u64().unwrap_or_default();
    }
    let [x, y, mut w, mut h] = sides;
    if corners {
        if w <= x || h <= y {
            return Err(NO_AREA.to_owned());
        }
        (w, h) = (w - x, h - y);
    }
    Ok((json!({ "x": x, "y": y, "w": w, "h": h }), changed))
}

/// A whole number of type `T`: the fraction is cut off, and what is too small or too large becomes
/// the nearest that will do where that is harmless.
fn whole<T: serde::de::DeserializeOwned>(
    value: &Value,
    most: i64,
    from_zero: bool,
) -> Result<Value, String> {
    let Some(number) = number(value) else { return Err(complaint::<T>(value)) };
    let number = match number.as_i64() {
        Some(number) => number,
        None => match cut(number.as_f64().unwrap_or(f64::NAN)) {
            Some(number) => number,
            None => return Err(complaint::<T>(&Value::Number(number))),
        },
    };
    let number = if from_zero { number.max(0) } else { number };
    let fits = serde_json::from_value::<T>(number.into());
    fits.map_err(|error| error.to_string())?;
    Ok(number.min(most).into())
}

/// Toward zero, if it is a number that small.
fn cut(number: f64) -> Option<i64> {
    // Every whole number below this has exactly one float.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    #[expect(clippy::cast_possible_truncation, reason = "it is cut, and within the bounds")]
    (number.abs() <= EXACT).then(|| number.trunc() as i64)
}

fn seconds(value: &Value, most: f64) -> Result<Value, String> {
    let Some(number) = number(value) else { return Err(complaint::<f32>(value)) };
    let is_more = number.as_f64().is_some_and(|number| number > most);
    Ok(if is_more { integral(most) } else { Value::Number(number) })
}

/// How far somebody scrolls who counts in pixels.
pub(crate) fn number_of_pixels(value: &Value) -> Result<f64, String> {
    let pixels = number(value).and_then(|number| number.as_f64());
    pixels.ok_or_else(|| complaint::<f32>(value))
}

/// A bound, which is written as a person would.
fn integral(bound: f64) -> Value {
    cut(bound).filter(|_| bound.fract() == 0.0).map_or_else(|| bound.into(), Value::from)
}

/// The number that is meant: one in JSON, or the whole of a text.
fn number(value: &Value) -> Option<Number> {
    match value {
        Value::Number(number) => Some(number.clone()),
        Value::String(text) => {
            let text = text.trim();
            let plain = |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'e' | 'E');
            if !text.chars().all(plain) {
                return None;
            }
            match text.parse::<i64>() {
                Ok(number) => Some(number.into()),
                // What is too large for a float is no number either.
                Err(_) => Number::from_f64(text.parse().ok()?),
            }
        }
        _ => None,
    }
}

/// What a device would say of this value.
fn complaint<T: serde::de::DeserializeOwned>(value: &Value) -> String {
    let read = serde_json::from_value::<T>(value.clone());
    read.err().map_or_else(|| format!("invalid value: {value}"), |error| error.to_string())
}

/// Whether it is worth more than another spelling.
fn is_other(given: &Value, converted: &Value) -> bool {
    match (number(given).and_then(|it| it.as_f64()), converted.as_f64()) {
        #[expect(clippy::float_cmp, reason = "the same number or another one")]
        (Some(given), Some(converted)) => given != converted,
        _ => given != converted,
    }
}

fn missing_text(name: &str, ignored: &[String]) -> String {
    let near = ignored.iter().find(|given| {
        let given = given.to_lowercase();
        abbreviates(&given, name) || strsim::jaro_winkler(&given, name) >= ALIKE
    });
    match near {
        Some(given) => {
            format!("missing field `{name}`; `{given}` is not known, is `{name}` meant?")
        }
        None => format!("missing field `{name}`"),
    }
}

/// Whether it begins like the name and has only letters of it, in their order: `btn`.
fn abbreviates(short: &str, name: &str) -> bool {
    let mut letters = name.chars();
    let in_order = short.chars().all(|wanted| letters.any(|letter| letter == wanted));
    in_order && short.chars().next().is_some_and(|first| name.starts_with(first))
}

#[cfg(test)]
mod tests;
