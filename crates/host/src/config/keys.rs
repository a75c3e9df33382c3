//! The keys of the configuration, what they mean, and what to say to one that is not among them.

use std::ops::Range;

use toml::{
    Spanned, Table, Value,
    de::{DeTable, DeValue},
};

pub struct Key {
    /// Empty at the top of the file.
    pub section: &'static str,
    pub name: &'static str,
    example: &'static str,
    meaning: &'static str,
}

pub const KEYS: &[Key] = &[
    key("", "default_model", "\"demo\"", "The model of sessions that name none."),
    key(
        "",
        "allowed_hosts",
        "[\"megaron.example\"]",
        "Names under which the server may be addressed, besides localhost and its own address.",
    ),
    key("server", "listen", "\"127.0.0.1:53000\"", "Where to listen; like --listen."),
    key(
        "server",
        "drain_seconds",
        "10",
        "How long running turns may take to end when the server is stopped; like --drain.",
    ),
    key("server", "max_connections", "1024", "How many connections may be open at once."),
    key(
        "sessions",
        "rest_seconds",
        "300",
        "A session that nobody uses or watches leaves memory after so long.",
    ),
    key(
        "agents",
        "calls_per_minute",
        "10",
        "How many messages agents may send each other in one chain of calls.",
    ),
    key("agents", "depth", "2", "How many sessions such a chain may pass through."),
];

const fn key(
    section: &'static str,
    name: &'static str,
    example: &'static str,
    meaning: &'static str,
) -> Key {
    Key { section, name, example, meaning }
}

impl Key {
    pub fn find<'a>(&self, table: &'a Table) -> Option<&'a Value> {
        match self.section {
            "" => table.get(self.name),
            section => table.get(section)?.get(self.name),
        }
    }

    fn path(&self) -> String {
        path(self.section, self.name)
    }
}

/// Every key explained, for `megaron config --help`.
pub fn manual() -> String {
    let mut text = "Every key of <data-dir>/config.toml, with an example:\n".to_owned();
    let mut section = "";
    for key in KEYS {
        if key.section != section {
            section = key.section;
            text.extend(["\n  [", section, "]\n"]);
        }
        text.extend(["  ", key.name, " = ", key.example, "\n      ", key.meaning, "\n"]);
    }
    text + "\nA key that is not in this list is an error. Flags and MEGARON_* variables win over the file."
}

#[derive(Debug, thiserror::Error)]
#[error("line {line}: there is no key `{key}`; the nearest is `{nearest}`")]
pub struct Unknown {
    line: usize,
    key: String,
    nearest: String,
}

/// Refuses the first key that we do not know. What else is wrong is left to whoever reads the values.
pub fn check(text: &str) -> Result<(), Unknown> {
    let Ok(table) = DeTable::parse(text) else { return Ok(()) };
    for (name, value) in in_order(table.get_ref()) {
        let section = name.get_ref().as_ref();
        if KEYS.iter().any(|key| key.section.is_empty() && key.name == section) {
            continue;
        }
        if !KEYS.iter().any(|key| key.section == section) {
            return Err(unknown(text, &name.span(), "", section));
        }
        let DeValue::Table(inner) = value.get_ref() else { continue };
        for (name, _) in in_order(inner) {
            if !KEYS.iter().any(|key| key.section == section && key.name == name.get_ref()) {
                return Err(unknown(text, &name.span(), section, name.get_ref()));
            }
        }
    }
    Ok(())
}

type Pair<'a, 'i> = (&'a Spanned<std::borrow::Cow<'i, str>>, &'a Spanned<DeValue<'i>>);

fn in_order<'a, 'i>(table: &'a DeTable<'i>) -> Vec<Pair<'a, 'i>> {
    let mut pairs: Vec<_> = table.iter().collect();
    pairs.sort_by_key(|(name, _)| name.span().start);
    pairs
}

fn unknown(text: &str, at: &Range<usize>, section: &str, name: &str) -> Unknown {
    let line = text[..at.start].lines().count() + usize::from(text[..at.start].ends_with('\n'));
    Unknown { line: line.max(1), key: path(section, name), nearest: nearest(section, name) }
}

/// The known key or section that looks most like it, wherever it belongs.
fn nearest(section: &str, name: &str) -> String {
    let sections = KEYS.iter().map(|key| key.section).filter(|known| !known.is_empty());
    let sections = sections.map(|known| (known.to_owned(), likeness(name, known)));
    let keys = KEYS.iter().map(|key| {
        // Between equals, the one in the same section.
        let at_home = if key.section == section { 0.05 } else { 0.0 };
        (key.path(), likeness(name, key.name) + at_home)
    });
    let known = sections.filter(|_| section.is_empty()).chain(keys);
    known.max_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(path, _)| path).unwrap_or_default()
}

fn likeness(a: &str, b: &str) -> f64 {
    strsim::jaro_winkler(a, b)
}

fn path(section: &str, name: &str) -> String {
    if section.is_empty() { name.to_owned() } else { format!("{section}.{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn the_list_of_keys_is_the_shape_of_the_configuration() {
        let config = Table::try_from(Config::default()).unwrap();
        let mut there = Vec::new();
        for (name, value) in &config {
            match value {
                Value::Table(inner) => there.extend(inner.keys().map(|key| path(name, key))),
                _ => there.push(name.clone()),
            }
        }
        let mut listed: Vec<String> = KEYS.iter().map(Key::path).collect();
        there.sort();
        listed.sort();
        assert_eq!(there, listed);
    }

    #[test]
    fn the_examples_can_be_copied() {
        let mut text = String::new();
        let mut section = "";
        for key in KEYS {
            if key.section != section {
                section = key.section;
                text.extend(["[", section, "]\n"]);
            }
            text.extend([key.name, " = ", key.example, "\n"]);
        }
        check(&text).unwrap();
        toml::from_str::<Config>(&text).unwrap();
    }
}
