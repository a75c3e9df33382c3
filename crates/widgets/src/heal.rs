//! Makes whole JSON of a beginning of it, as far as that can be known.

use serde_json::{Map, Value};

/// Deeper than this nothing is read.
const DEEPEST: usize = 64;

/// The object that a text begins, without what is not finished: half a number, half a word, a key
/// that has no value yet. A string is kept as far as it goes. `None` if it begins no object.
pub fn heal(text: &str) -> Option<Map<String, Value>> {
    let mut reader = Reader { text, at: 0 };
    reader.skip_blanks();
    match reader.value(0) {
        Read::Whole(Value::Object(map)) | Read::Part(Value::Object(map)) => Some(map),
        _ => None,
    }
}

enum Read {
    Whole(Value),
    /// The text ended within it.
    Part(Value),
    Nothing,
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.rest().bytes().next()
    }

    fn skip_blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
    }

    fn value(&mut self, depth: usize) -> Read {
        self.skip_blanks();
        match self.peek() {
            Some(b'{') if depth < DEEPEST => self.object(depth),
            Some(b'[') if depth < DEEPEST => self.array(depth),
            Some(b'"') => self.string(),
            Some(_) => self.word(),
            None => Read::Nothing,
        }
    }

    fn object(&mut self, depth: usize) -> Read {
        let mut map = Map::new();
        self.at += 1;
        loop {
            self.skip_blanks();
            match self.peek() {
                Some(b'}') => {
                    self.at += 1;
                    return Read::Whole(Value::Object(map));
                }
                Some(b',') if !map.is_empty() => self.at += 1,
                Some(b'"') => (),
                _ => return Read::Part(Value::Object(map)),
            }
            self.skip_blanks();
            if self.peek() != Some(b'"') {
                return Read::Part(Value::Object(map));
            }
            let Read::Whole(Value::String(key)) = self.string() else {
                return Read::Part(Value::Object(map));
            };
            self.skip_blanks();
            if self.peek() != Some(b':') {
                return Read::Part(Value::Object(map));
            }
            self.at += 1;
            match self.value(depth + 1) {
                Read::Whole(value) => drop(map.insert(key, value)),
                Read::Part(value) => {
                    map.insert(key, value);
                    return Read::Part(Value::Object(map));
                }
                Read::Nothing => return Read::Part(Value::Object(map)),
            }
        }
    }

    fn array(&mut self, depth: usize) -> Read {
        let mut items = Vec::new();
        self.at += 1;
        loop {
            self.skip_blanks();
            match self.peek() {
                Some(b']') => {
                    self.at += 1;
                    return Read::Whole(Value::Array(items));
                }
                Some(b',') if !items.is_empty() => self.at += 1,
                _ => (),
            }
            match self.value(depth + 1) {
                Read::Whole(value) => items.push(value),
                Read::Part(value) => {
                    items.push(value);
                    return Read::Part(Value::Array(items));
                }
                Read::Nothing => return Read::Part(Value::Array(items)),
            }
        }
    }

    fn string(&mut self) -> Read {
        let rest = self.rest();
        let mut escaped = false;
        for (at, byte) in rest.bytes().enumerate().skip(1) {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => {
                    let whole = rest.get(..=at).unwrap_or_default();
                    self.at += at + 1;
                    return serde_json::from_str(whole).map_or(Read::Nothing, Read::Whole);
                }
                _ => (),
            }
        }
        self.at = self.text.len();
        Read::Part(Value::String(opened(rest)))
    }

    /// A number or one of the three words. Without what comes behind it, it may not be all.
    fn word(&mut self) -> Read {
        let rest = self.rest();
        let ends = |it: char| matches!(it, ',' | '}' | ']' | ' ' | '\t' | '\n' | '\r');
        let Some(end) = rest.find(ends) else {
            self.at = self.text.len();
            return Read::Nothing;
        };
        self.at += end;
        let word = rest.get(..end).unwrap_or_default();
        serde_json::from_str(word).map_or(Read::Nothing, Read::Whole)
    }
}

/// What is there of a string that does not end: an escape that is not whole is left out.
fn opened(raw: &str) -> String {
    const LONGEST_ESCAPE: usize = 12;
    for back in 0..=LONGEST_ESCAPE {
        let Some(end) = raw.len().checked_sub(back) else { break };
        let Some(part) = raw.get(..end).filter(|part| !part.is_empty()) else { continue };
        if let Ok(text) = serde_json::from_str(&format!("{part}\"")) {
            return text;
        }
    }
    String::new()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_beginning_is_made_whole() {
        for (text, expected) in [
            ("", None),
            ("[1", None),
            ("{", Some(json!({}))),
            (r#"{"lo"#, Some(json!({}))),
            (r#"{"loc""#, Some(json!({}))),
            (r#"{"loc":"#, Some(json!({}))),
            (r#"{"loc":"N"#, Some(json!({ "loc": "N" }))),
            (r#"{"loc":"New York","#, Some(json!({ "loc": "New York" }))),
            (r#"{"n":12"#, Some(json!({}))),
            (r#"{"n":12,"t":tru"#, Some(json!({ "n": 12 }))),
            (r#"{"a":[1,{"b":"x"#, Some(json!({ "a": [1, { "b": "x" }] }))),
            (r#"{"a":[1,2"#, Some(json!({ "a": [1] }))),
            (r#"{"s":"a\"#, Some(json!({ "s": "a" }))),
            (r#"{"s":"a\u00e"#, Some(json!({ "s": "a" }))),
            (r#"{"s":"a\ud83d\ude0"#, Some(json!({ "s": "a" }))),
            (r#"{"s":"a\ud83d\ude00"#, Some(json!({ "s": "a😀" }))),
            (r#" {"a" : null } "#, Some(json!({ "a": null }))),
            ("{nonsense", Some(json!({}))),
        ] {
            assert_eq!(heal(text).map(Value::Object), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn whatever_comes_it_ends_and_every_beginning_grows(text in ".{0,200}") {
            heal(&text);
        }

        #[test]
        fn the_whole_is_the_whole(keys in prop::collection::btree_map("[a-z]{1,4}", ".{0,12}", 0..5)) {
            let whole = json!(keys);
            let text = whole.to_string();
            prop_assert_eq!(heal(&text).map(Value::Object), Some(whole));
            for (at, _) in text.char_indices().skip(1) {
                prop_assert!(heal(&text[..at]).is_some());
            }
        }
    }
}
