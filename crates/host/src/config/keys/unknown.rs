//! Keys that are not among ours: the first of them, its line, and the one that may have been meant.

use std::ops::Range;

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{AGENT, AGENTS, KEYS, LENDER, LENDERS, NAMED, PROVIDER, PROVIDERS, path};

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
        let known = [PROVIDERS, "mcp"].contains(&section);
        if !known && !KEYS.iter().any(|key| key.section == section) {
            return Err(unknown(text, &name.span(), "", section));
        }
        let DeValue::Table(inner) = value.get_ref() else { continue };
        if section == PROVIDERS {
            check_named(text, inner, PROVIDERS, PROVIDER)?;
            continue;
        }
        if section == "mcp" {
            check_lenders(text, inner)?;
            continue;
        }
        for (name, value) in in_order(inner) {
            if let (AGENTS, DeValue::Table(inner)) = (section, value.get_ref()) {
                check_table(text, AGENT, name.get_ref(), inner)?;
            } else if !KEYS.iter().any(|key| key.section == section && key.name == name.get_ref()) {
                return Err(unknown(text, &name.span(), section, name.get_ref()));
            }
        }
    }
    Ok(())
}

fn check_lenders(text: &str, section: &DeTable<'_>) -> Result<(), Unknown> {
    for (name, value) in in_order(section) {
        match value.get_ref() {
            DeValue::Table(servers) if name.get_ref() == "servers" => {
                check_named(text, servers, LENDERS, LENDER)?;
            }
            _ if name.get_ref() == "servers" => (),
            _ => return Err(unknown(text, &name.span(), "mcp", name.get_ref())),
        }
    }
    Ok(())
}

/// Their names are free, their keys are not.
fn check_named(
    text: &str,
    tables: &DeTable<'_>,
    sections: &str,
    section: &str,
) -> Result<(), Unknown> {
    for (table, value) in in_order(tables) {
        let DeValue::Table(inner) = value.get_ref() else {
            return Err(unknown(text, &table.span(), sections, table.get_ref()));
        };
        check_table(text, section, table.get_ref(), inner)?;
    }
    Ok(())
}

fn check_table(text: &str, section: &str, own: &str, table: &DeTable<'_>) -> Result<(), Unknown> {
    for (name, _) in in_order(table) {
        if !KEYS.iter().any(|key| key.section == section && key.name == name.get_ref()) {
            let mut unknown = unknown(text, &name.span(), section, name.get_ref());
            for path in [&mut unknown.key, &mut unknown.nearest] {
                *path = path.replacen("NAME", own, 1);
            }
            return Err(unknown);
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
    let sections = sections.map(|known| {
        let named = NAMED.iter().find(|(_, section)| *section == known);
        named.map_or(known, |(sections, _)| sections)
    });
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
