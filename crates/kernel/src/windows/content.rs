//! What a window shows, by renderer: what fits it, and how it is added to.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Content {
    pub renderer: Renderer,
    pub data: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Renderer {
    Iframe,
    Markdown,
    Html,
    Text,
    Table,
    Image,
}

impl Renderer {
    pub const ALL: [Self; 6] =
        [Self::Markdown, Self::Html, Self::Text, Self::Table, Self::Image, Self::Iframe];

    pub fn name(self) -> &'static str {
        match self {
            Self::Iframe => "iframe",
            Self::Markdown => "markdown",
            Self::Html => "html",
            Self::Text => "text",
            Self::Table => "table",
            Self::Image => "image",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|renderer| renderer.name() == name)
    }
}

/// How what is shown is added to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Operation {
    Append {
        data: Value,
    },
    Prepend {
        data: Value,
    },
    Replace {
        data: Value,
    },
    /// Before the unit of UTF-16 of this number, as browsers count; of a table, before this row.
    InsertAt {
        position: u64,
        data: Value,
    },
    Clear,
}

impl Content {
    /// The same as it is kept, or what was expected instead.
    pub fn checked(self) -> Result<Self, String> {
        let Self { renderer, data } = self;
        let data = match renderer {
            Renderer::Markdown | Renderer::Html | Renderer::Text => {
                Value::String(text(renderer, data)?)
            }
            Renderer::Table => table(data)?,
            Renderer::Iframe | Renderer::Image => addressed(renderer, data)?,
        };
        Ok(Self { renderer, data })
    }

    /// Adds to it, or says why that cannot be; then it is as it was.
    pub fn update(&mut self, operation: &Operation) -> Result<(), String> {
        if let Operation::Replace { data } = operation {
            let data = data.clone();
            *self = Self { renderer: self.renderer, data }.checked()?;
            return Ok(());
        }
        match (self.renderer, &mut self.data) {
            (Renderer::Table, Value::Object(table)) => update_table(table, operation),
            (renderer, Value::String(shown)) if is_text(renderer) => {
                update_text(renderer, shown, operation)
            }
            (renderer, _) => Err(format!(
                "what {} window shows can only be replaced; expected the operation `replace`",
                with_article(renderer)
            )),
        }
    }

    /// How much it takes up, more or less.
    pub fn bytes(&self) -> usize {
        size(&self.data)
    }

    /// Where an iframe or an image is loaded from.
    pub fn address(&self) -> Option<&str> {
        if is_text(self.renderer) {
            return None;
        }
        self.data.as_str().or_else(|| self.data.get("url")?.as_str())
    }

    /// The app of the house that it shows.
    pub fn app(&self) -> Option<&str> {
        let address = self.address().filter(|_| self.renderer == Renderer::Iframe)?;
        let (id, _) = address.strip_prefix("/api/apps/")?.split_once('/')?;
        is_app(id).then_some(id)
    }
}

/// A small letter, then small letters, digits and hyphens.
pub fn is_app(id: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    id.len() <= 64 && id.starts_with(|it: char| it.is_ascii_lowercase()) && id.bytes().all(plain)
}

fn is_text(renderer: Renderer) -> bool {
    matches!(renderer, Renderer::Markdown | Renderer::Html | Renderer::Text)
}

fn with_article(renderer: Renderer) -> String {
    let article = if matches!(renderer, Renderer::Iframe | Renderer::Image | Renderer::Html) {
        "an"
    } else {
        "a"
    };
    format!("{article} {}", renderer.name())
}

fn text(renderer: Renderer, data: Value) -> Result<String, String> {
    match data {
        Value::String(text) => Ok(text),
        other => Err(format!(
            "{} window shows a text; expected a string, found {}",
            with_article(renderer),
            kind(&other)
        )),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

const TABLE: &str = r#"expected {"headers": [string, …], "rows": [[string, …], …]}"#;

fn table(data: Value) -> Result<Value, String> {
    let Value::Object(mut table) = data else {
        return Err(format!("a table window shows a table; {TABLE}, found {}", kind(&data)));
    };
    let Some(Value::Array(headers)) = table.remove("headers") else {
        return Err(format!("the table has no list `headers`; {TABLE}"));
    };
    let rows = table.remove("rows").unwrap_or_else(|| json!([]));
    let headers = cells("the headers", headers)?;
    let rows = rows_of(rows, headers.len())?;
    Ok(json!({ "headers": headers, "rows": rows }))
}

fn rows_of(data: Value, width: usize) -> Result<Vec<Value>, String> {
    let Value::Array(rows) = data else {
        return Err(format!("rows are a list of rows; {TABLE}, found {}", kind(&data)));
    };
    let row = |(number, row): (usize, Value)| match row {
        Value::Array(row) if row.len() == width => {
            Ok(Value::Array(cells(&format!("row {number}"), row)?))
        }
        Value::Array(row) => Err(format!(
            "row {number} has {} cells; expected {width}, one for each header",
            row.len()
        )),
        other => Err(format!("row {number} is {}; expected a list of strings", kind(&other))),
    };
    (1..).zip(rows).map(row).collect()
}

/// Numbers are taken as they are written, and nothing as an empty cell.
fn cells(place: &str, cells: Vec<Value>) -> Result<Vec<Value>, String> {
    let cell = |(number, cell): (usize, Value)| match cell {
        Value::String(text) => Ok(Value::String(text)),
        Value::Number(_) | Value::Bool(_) => Ok(Value::String(cell.to_string())),
        Value::Null => Ok(Value::String(String::new())),
        other => Err(format!("cell {number} of {place} is {}; expected a string", kind(&other))),
    };
    (1..).zip(cells).map(cell).collect()
}

fn addressed(renderer: Renderer, data: Value) -> Result<Value, String> {
    let also = if renderer == Renderer::Image { ", or data:image/…" } else { "" };
    let expected = format!(
        "expected an address, https://… or /api/…{also}, as a string or as {{\"url\": string}}"
    );
    let address = data.as_str().or_else(|| data.get("url")?.as_str());
    match address {
        Some(address) if is_address(renderer, address) => Ok(data),
        Some(address) => {
            let shown: String = address.chars().take(60).collect();
            let name = with_article(renderer);
            Err(format!("{name} window cannot show `{shown}`; {expected}"))
        }
        None => Err(format!(
            "{} window shows what is at an address; {expected}, found {}",
            with_article(renderer),
            kind(&data)
        )),
    }
}

/// What no script can hide in, and nothing that leads from this server to another unseen.
fn is_address(renderer: Renderer, address: &str) -> bool {
    let starts = |prefix: &str| {
        address.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
    };
    if address.contains(|it: char| it.is_control() || it.is_whitespace() || it == '\\') {
        return false;
    }
    let here = address.starts_with('/') && !address.starts_with("//");
    let picture = renderer == Renderer::Image && starts("data:image/");
    here || picture || starts("https://") || starts("http://")
}

fn update_text(
    renderer: Renderer,
    shown: &mut String,
    operation: &Operation,
) -> Result<(), String> {
    match operation {
        Operation::Append { data } => shown.push_str(&text(renderer, data.clone())?),
        Operation::Prepend { data } => shown.insert_str(0, &text(renderer, data.clone())?),
        Operation::InsertAt { position, data } => {
            let place = byte_place(shown, *position);
            shown.insert_str(place, &text(renderer, data.clone())?);
        }
        Operation::Replace { data } => *shown = text(renderer, data.clone())?,
        Operation::Clear => shown.clear(),
    }
    Ok(())
}

/// Where the unit of UTF-16 of this number begins, or the character that it is half of; the end if
/// there are fewer.
fn byte_place(text: &str, position: u64) -> usize {
    let mut units = 0;
    for (place, character) in text.char_indices() {
        units += character.len_utf16() as u64;
        if units > position {
            return place;
        }
    }
    text.len()
}

fn update_table(table: &mut Map<String, Value>, operation: &Operation) -> Result<(), String> {
    let width = table.get("headers").and_then(Value::as_array).map_or(0, Vec::len);
    let Some(Value::Array(rows)) = table.get_mut("rows") else {
        return Err("the table has no rows to add to".to_owned());
    };
    let (place, data) = match operation {
        Operation::Append { data } => (rows.len(), data),
        Operation::Prepend { data } => (0, data),
        Operation::InsertAt { position, data } => {
            (usize::try_from(*position).unwrap_or(usize::MAX).min(rows.len()), data)
        }
        Operation::Clear => {
            rows.clear();
            return Ok(());
        }
        Operation::Replace { data } => {
            *rows = rows_of(data.clone(), width)?;
            return Ok(());
        }
    };
    let new = rows_of(data.clone(), width)?;
    rows.splice(place..place, new);
    Ok(())
}

fn size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.len() + 2,
        Value::Array(list) => list.iter().map(size).sum::<usize>() + list.len() + 2,
        Value::Object(map) => {
            map.iter().map(|(key, it)| key.len() + 4 + size(it)).sum::<usize>() + 2
        }
    }
}
