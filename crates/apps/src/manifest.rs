//! `app.json`: what an app says of itself, with a name for everything in it that cannot be used.

mod asks;
#[cfg(test)]
mod tests;

use std::path::Path;

use kernel::cabinet::{Association, Card, Encoding, Icon, Looks, Problem};
use serde_json::{Map, Value};

use crate::drawer::ICONS;

/// How long a name, an icon or a description may be, in characters.
const NAME: usize = 100;
const ICON: usize = 16;
const TEXT: usize = 2000;
/// How many associations and extensions there may be.
const MANY: usize = 100;

/// The app as far as its description can be used. `has` tells whether a file is there.
pub fn read(id: &str, text: &str, has: impl Fn(&str) -> bool) -> Card {
    let mut reader = Reader::default();
    let fields = reader.object(text);
    let picture = ICONS.iter().any(|ending| has(&format!("icon.{ending}")));
    let emoji = reader.text(&fields, "icon", ICON);
    let card = Card {
        id: id.to_owned(),
        name: reader.text(&fields, "name", NAME).unwrap_or_else(|| title(id)),
        icon: if picture { Some(Icon::Picture) } else { emoji.map(Icon::Emoji) },
        description: reader.text(&fields, "description", TEXT),
        version: reader.text(&fields, "version", NAME),
        author: reader.text(&fields, "author", NAME),
        hidden: reader.flag(&fields, "hidden"),
        protocol: reader.flag(&fields, "appProtocol") || has("dist/protocol.json"),
        associations: reader.associations(&fields),
        looks: reader.looks(&fields),
        entry: reader.entry(&fields, has),
        asks: asks::read(&mut reader, &fields),
        folder: None,
        problems: Vec::new(),
    };
    Card { problems: reader.problems, ..card }
}

/// The id that an app gives itself, if it can be one.
pub fn own_id(text: &str) -> Option<String> {
    let fields: Map<String, Value> = serde_json::from_str(text).ok()?;
    fields.get("id")?.as_str().filter(|id| kernel::cabinet::is_id(id)).map(str::to_owned)
}

/// A problem in a sentence.
pub fn told(Problem { path, what }: &Problem) -> String {
    let place = if path.is_empty() { String::new() } else { format!(" at {path}") };
    format!("app.json{place}: {what}")
}

/// `my-app` as it would be written on a door: `My App`.
fn title(id: &str) -> String {
    let capital = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_ascii_uppercase().to_string() + letters.as_str())
    };
    id.split('-').filter_map(capital).collect::<Vec<_>>().join(" ")
}

#[derive(Default)]
struct Reader {
    problems: Vec<Problem>,
}

impl Reader {
    fn problem(&mut self, path: impl Into<String>, what: impl Into<String>) {
        self.problems.push(Problem { path: path.into(), what: what.into() });
    }

    fn expected(&mut self, path: &str, what: &str, got: &Value) {
        self.problem(path, format!("expected {what}, got {}", kind(got)));
    }

    fn object(&mut self, text: &str) -> Map<String, Value> {
        match serde_json::from_str(text.trim_start_matches('\u{feff}')) {
            Ok(Value::Object(fields)) => return fields,
            Ok(other) => self.expected("", "an object", &other),
            Err(error) => self.problem("", format!("expected JSON: {error}")),
        }
        Map::new()
    }

    /// A text that says something.
    fn text(&mut self, fields: &Map<String, Value>, name: &str, most: usize) -> Option<String> {
        let path = format!("/{name}");
        match present(fields, name)? {
            Value::String(text) if text.trim().is_empty() => {
                self.problem(path, "expected a text that is not empty");
            }
            Value::String(text) if text.chars().count() > most => {
                self.problem(path, format!("expected at most {most} characters"));
            }
            Value::String(text) => return Some(text.trim().to_owned()),
            other => self.expected(&path, "a string", other),
        }
        None
    }

    fn flag(&mut self, fields: &Map<String, Value>, name: &str) -> bool {
        match present(fields, name) {
            None => false,
            Some(Value::Bool(flag)) => *flag,
            Some(other) => {
                self.expected(&format!("/{name}"), "true or false", other);
                false
            }
        }
    }

    fn list<'a>(&mut self, path: &str, value: Option<&'a Value>) -> &'a [Value] {
        match value {
            None => &[],
            Some(Value::Array(list)) if list.len() > MANY => {
                self.problem(path, format!("expected at most {MANY} entries"));
                &list[..MANY]
            }
            Some(Value::Array(list)) => list,
            Some(other) => {
                self.expected(path, "a list", other);
                &[]
            }
        }
    }

    fn one_of(
        &mut self,
        fields: &Map<String, Value>,
        name: &str,
        known: &[&'static str],
    ) -> Option<&'static str> {
        let value = present(fields, name)?;
        let found = known.iter().find(|it| value.as_str() == Some(it)).copied();
        if found.is_none() {
            let known: Vec<String> = known.iter().map(|it| format!("\"{it}\"")).collect();
            self.expected(&format!("/{name}"), &known.join(" or "), value);
        }
        found
    }

    fn size(&mut self, fields: &Map<String, Value>, name: &str) -> Option<f64> {
        let value = present(fields, name)?;
        let size = value.as_f64().filter(|size| (1.0..=10_000.0).contains(size));
        if size.is_none() {
            self.problem(format!("/{name}"), "expected a number of pixels from 1 to 10000");
        }
        size
    }

    fn looks(&mut self, fields: &Map<String, Value>) -> Looks {
        let style = present(fields, "windowStyle").filter(|style| {
            if !style.is_object() {
                self.expected("/windowStyle", "an object", style);
            }
            style.is_object()
        });
        Looks {
            window_style: style.cloned(),
            variant: self.one_of(fields, "variant", &["standard", "widget", "panel"]),
            dock_edge: self.one_of(fields, "dockEdge", &["top", "bottom"]),
            frameless: self.flag(fields, "frameless"),
            width: self.size(fields, "defaultWidth"),
            height: self.size(fields, "defaultHeight"),
        }
    }

    /// The document it begins with, which is there.
    fn entry(&mut self, fields: &Map<String, Value>, has: impl Fn(&str) -> bool) -> String {
        const USUAL: [&str; 2] = ["index.html", "dist/index.html"];
        let usual = || USUAL.into_iter().find(|path| has(path));
        let Some(entry) = self.text(fields, "entry", TEXT) else {
            if usual().is_none() {
                self.problem("/entry", "expected a document: there is no index.html");
            }
            return usual().unwrap_or(USUAL[0]).to_owned();
        };
        let ending = Path::new(&entry).extension().and_then(|it| it.to_str()).unwrap_or_default();
        let is_document = ["html", "htm"].iter().any(|it| it.eq_ignore_ascii_case(ending));
        let is_shown = crate::drawer::candidates(&entry).next() == Some(&entry);
        if is_document && is_shown && has(&entry) {
            return entry;
        }
        let what = match (is_document && is_shown, has(&entry)) {
            (true, false) => format!("expected a document that is there; `{entry}` is not"),
            _ => "expected the path of an HTML file within the app".to_owned(),
        };
        self.problem("/entry", what);
        usual().unwrap_or(USUAL[0]).to_owned()
    }

    fn associations(&mut self, fields: &Map<String, Value>) -> Vec<Association> {
        let path = "/fileAssociations";
        let list = self.list(path, present(fields, "fileAssociations")).iter().enumerate();
        list.filter_map(|(nth, value)| self.association(&format!("{path}/{nth}"), value)).collect()
    }

    /// Usable only as a whole.
    fn association(&mut self, path: &str, value: &Value) -> Option<Association> {
        let Value::Object(fields) = value else {
            self.expected(path, "an object", value);
            return None;
        };
        let before = self.problems.len();
        let command = self.name(fields, path, "command");
        let param = self.name(fields, path, "paramKey");
        let encoding = match present(fields, "encoding").map(|it| (it, it.as_str())) {
            None | Some((_, Some("text"))) => Encoding::Text,
            Some((_, Some("base64"))) => Encoding::Base64,
            Some((other, _)) => {
                self.expected(&format!("{path}/encoding"), "\"text\" or \"base64\"", other);
                Encoding::Text
            }
        };
        let at = format!("{path}/extensions");
        let list = self.list(&at, present(fields, "extensions"));
        if present(fields, "extensions").is_none_or(|it| it.as_array().is_some_and(Vec::is_empty)) {
            self.problem(&at, "expected a list with at least one extension");
        }
        let list = list.iter().enumerate();
        let extensions: Vec<String> =
            list.filter_map(|(nth, it)| self.extension(&format!("{at}/{nth}"), it)).collect();
        // What is wrong with one extension does not concern the others.
        let whole = !self.problems[before..].iter().any(|it| !it.path.starts_with(&at));
        let usable = whole && !extensions.is_empty();
        usable.then_some(Association { extensions, command, param, encoding })
    }

    fn name(&mut self, fields: &Map<String, Value>, path: &str, name: &str) -> String {
        let at = format!("{path}/{name}");
        match present(fields, name) {
            Some(Value::String(text)) if !text.is_empty() && text.chars().count() <= NAME => {
                return text.clone();
            }
            Some(Value::String(_)) => {
                self.problem(at, format!("expected a name of 1 to {NAME} characters"));
            }
            Some(other) => self.expected(&at, "a string", other),
            None => self.problem(at, "expected a string, and it is missing"),
        }
        String::new()
    }

    /// In small letters, with its dot.
    fn extension(&mut self, path: &str, value: &Value) -> Option<String> {
        let Value::String(text) = value else {
            self.expected(path, "a string", value);
            return None;
        };
        let bare = text.trim().trim_start_matches('.').to_lowercase();
        let odd = |it: char| it.is_whitespace() || it.is_control() || "/\\*?:".contains(it);
        if bare.is_empty() || bare.len() > 32 || bare.contains(odd) {
            self.problem(path, "expected an extension like \".csv\"");
            return None;
        }
        Some(format!(".{bare}"))
    }
}

/// Null is as good as absent.
fn present<'a>(fields: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    fields.get(name).filter(|value| !value.is_null())
}

fn kind(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(_) => "a number".to_owned(),
        Value::String(text) => {
            let short: String = text.chars().take(60).collect();
            format!("{short:?}")
        }
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}
