//! Numbers as models write them: as a number or in quotes, below zero or with a fraction.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};
use serde_json::Value;

/// A whole number that is not below zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whole(pub u32);

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let number = decimal(&value).filter(|number| *number <= f64::from(u32::MAX));
        let number = number.ok_or_else(|| unexpected::<D::Error>(&value, "u32"))?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in bounds")]
        Ok(Self(number.max(0.0) as u32))
    }
}

impl JsonSchema for Whole {
    fn schema_name() -> Cow<'static, str> {
        "Whole".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": 0 })
    }
}

/// A time in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seconds(pub f64);

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        decimal(&value).map(Self).ok_or_else(|| unexpected::<D::Error>(&value, "f32"))
    }
}

impl JsonSchema for Seconds {
    fn schema_name() -> Cow<'static, str> {
        "Seconds".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number" })
    }
}

/// A number, or a text that is one whole decimal number and nothing else.
fn decimal(value: &Value) -> Option<f64> {
    let number = match value {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => {
            let text = text.trim();
            let plain = |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'e' | 'E');
            if !text.chars().all(plain) {
                return None;
            }
            text.parse().ok()?
        }
        _ => return None,
    };
    number.is_finite().then_some(number)
}

fn unexpected<E: de::Error>(value: &Value, expected: &'static str) -> E {
    let found = match value {
        Value::Null => de::Unexpected::Unit,
        Value::Bool(value) => de::Unexpected::Bool(*value),
        Value::Number(number) => de::Unexpected::Float(number.as_f64().unwrap_or_default()),
        Value::String(text) => de::Unexpected::Str(text),
        Value::Array(_) => de::Unexpected::Seq,
        Value::Object(_) => de::Unexpected::Map,
    };
    E::invalid_type(found, &expected)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_read_as_they_were_meant_or_refused() {
        for (value, number) in [
            (json!(500), 500),
            (json!("500"), 500),
            (json!(" +7 "), 7),
            (json!(500.7), 500),
            (json!("12.9"), 12),
            (json!("1e3"), 1000),
            (json!(-5), 0),
            (json!("-5"), 0),
        ] {
            assert_eq!(serde_json::from_value::<Whole>(value).unwrap(), Whole(number));
        }
        for (value, problem) in [
            (json!("abc"), "invalid type: string \"abc\", expected u32"),
            (json!("50px"), "invalid type: string \"50px\", expected u32"),
            (json!("1,200"), "invalid type: string \"1,200\", expected u32"),
            (json!("0x10"), "invalid type: string \"0x10\", expected u32"),
            (json!("NaN"), "invalid type: string \"NaN\", expected u32"),
            (json!(true), "invalid type: boolean `true`, expected u32"),
            (json!([1]), "invalid type: sequence, expected u32"),
        ] {
            let error = serde_json::from_value::<Whole>(value).unwrap_err();
            assert_eq!(error.to_string(), problem);
        }
        assert_eq!(serde_json::from_value::<Seconds>(json!("1.5")).unwrap(), Seconds(1.5));
        assert!(serde_json::from_value::<Seconds>(json!("1.5s")).is_err());
    }
}
