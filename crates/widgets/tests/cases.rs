//! The table of cases: every number is in it, and every test that it names is there.

#![expect(clippy::unwrap_used, reason = "all of it is a test")]

use std::{collections::BTreeSet, fs, path::Path};

const TABLE: &str = include_str!("cases.md");

/// The names of all functions below a folder.
fn functions(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            functions(&path, found);
        } else if path.extension().is_some_and(|it| it == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let after = text.split("fn ").skip(1);
            let is_name = |it: char| it.is_ascii_alphanumeric() || it == '_';
            found.extend(after.map(|rest| rest.chars().take_while(|it| is_name(*it)).collect()));
        }
    }
}

/// The rows: what they are about, and what shows it.
fn rows() -> impl Iterator<Item = (&'static str, &'static str)> {
    TABLE.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| ")?.split(" | ");
        let (number, shown) = (cells.next()?, cells.nth(1)?.trim_end_matches(" |"));
        number.contains(|it: char| it.is_ascii_digit()).then_some((number, shown))
    })
}

/// `S3-S5` are three.
fn numbers(cell: &str) -> Vec<String> {
    let (first, last) = cell.split_once('-').unwrap_or((cell, cell));
    let letter: String = first.chars().filter(char::is_ascii_alphabetic).collect();
    let number = |text: &str| -> usize { text[letter.len()..].parse().unwrap() };
    (number(first)..=number(last)).map(|it| format!("{letter}{it}")).collect()
}

#[test]
fn every_case_is_in_the_table_once_and_in_order() {
    let listed: Vec<String> = rows().flat_map(|(cell, _)| numbers(cell)).collect();
    let all = [("R", 45), ("S", 48), ("", 59)];
    let expected =
        all.iter().flat_map(|(letter, count)| (1..=*count).map(move |it| format!("{letter}{it}")));
    assert_eq!(listed, expected.collect::<Vec<_>>());
}

#[test]
fn every_test_that_the_table_names_is_there() {
    let mut known = BTreeSet::new();
    functions(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &mut known);
    let named = rows().flat_map(|(_, shown)| shown.split(", ")).filter(|it| it.contains('_'));
    let missing: Vec<&str> = named.filter(|it| !known.contains(*it)).collect();
    assert_eq!(missing, [""; 0]);
}
