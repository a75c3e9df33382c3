//! What a model or a program wrote, brought into the types that devices insist on; nothing is changed without a word.

use serde_json::{Map, Number, Value, json};

use crate::fields::{Field, Kind, fields};

/// How alike a name must be to one that is missing, from 0 to 1.
const ALIKE: f64 = 0.8;

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

/// An error is what a device would say, and nothing is sent then. Of commands that are not known
/// nothing is known, so that they are left as they are.
pub fn coerce(kind: &str, given: &Map<String, Value>) -> Result<Coerced, String> {
    let mut coerced = Coerced::default();
    let Some(fields) = fields(kind) else {
        coerced.arguments.clone_from(given);
        strip(&mut coerced.arguments);
        return Ok(coerced);
    };
    for (name, value) in given {
        if is_envelope(name) {
            continue;
        }
        let Some(field) = fields.iter().find(|field| field.name == name) else {
            coerced.ignored.push(name.clone());
            continue;
        };
        let Some(converted) = convert(field, value)? else {
            if *value != Value::Null {
                coerced.adjusted.insert(name.clone(), json!({ "from": value, "to": null }));
            }
            continue;
        };
        if field.kind == Kind::Actions {
            let actions = batch(&converted, &mut coerced)?;
            coerced.arguments.insert(name.clone(), actions);
            continue;
        }
        if is_other(value, &converted) {
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

fn strip(arguments: &mut Map<String, Value>) {
    arguments.retain(|name, _| !is_envelope(name));
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
        let at = |name: &str| format!("actions[{index}].{name}");
        let one = coerce(kind, given).map_err(|error| format!("actions[{index}]: {error}"))?;
        let mut action = Map::from_iter([("type".to_owned(), kind.into())]);
        action.extend(one.arguments);
        converted.push(Value::Object(action));
        whole.adjusted.extend(one.adjusted.into_iter().map(|(name, it)| (at(&name), it)));
        whole.ignored.extend(one.ignored.iter().map(|name| at(name)));
    }
    Ok(Value::Array(converted))
}

/// `None` if it is as good as absent.
fn convert(field: &Field, value: &Value) -> Result<Option<Value>, String> {
    let is_blank = match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty() && field.kind.is_number(),
        _ => false,
    };
    if is_blank && !field.required {
        return Ok(None);
    }
    match field.kind {
        Kind::Coordinate => whole::<u32>(value, i64::from(u32::MAX), true).map(Some),
        Kind::Count { most } => whole::<u32>(value, most.into(), false).map(Some),
        Kind::Offset => whole::<i32>(value, i64::from(i32::MAX), false).map(Some),
        Kind::Seconds { most } => seconds(value, most).map(Some),
        Kind::Text => match value {
            Value::String(_) => Ok(Some(value.clone())),
            _ => Err(complaint::<String>(value)),
        },
        Kind::Any | Kind::Actions => Ok(Some(value.clone())),
    }
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
