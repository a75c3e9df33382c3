//! What becomes of a file, and what is said when nothing does.

use std::fs;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::folder::tests::{House, house};

fn input(path: &str, old: &str, new: &str) -> Input {
    Input { path: path.into(), old: old.into(), new: new.into(), all: None }
}

fn change(house: &House, old: &str, new: &str) -> Result<String, String> {
    edit(&house.folder, &input("a", old, new)).map(|reply| reply.text)
}

fn put(house: &House, text: &str) {
    fs::write(house.room().join("a"), text).unwrap();
}

fn get(house: &House) -> String {
    fs::read_to_string(house.room().join("a")).unwrap()
}

#[test]
fn a_piece_is_replaced_and_the_difference_shown() {
    let house = house();
    put(&house, "one\ntwo\nthree\n");
    let reply = edit(&house.folder, &input("a", "two\n", "zwei\n")).unwrap();
    let diff = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three\n";
    assert_eq!(reply.text, format!("edited `a`\n{}", diff.trim_end()));
    assert_eq!(reply.data, Some(json!({ "diff": diff })));
    assert_eq!(get(&house), "one\nzwei\nthree\n");
}

#[test]
fn a_long_difference_is_shortened_in_the_text_alone() {
    let house = house();
    put(&house, "x\n");
    let new = "a line of some length\n".repeat(1000);
    let reply = edit(&house.folder, &input("a", "x\n", &new)).unwrap();
    assert!(reply.text.len() < 9000);
    assert!(reply.text.ends_with(" more lines of the diff are not shown]"));
    let whole = reply.data.unwrap()["diff"].as_str().unwrap().lines().count();
    assert_eq!(whole, 1005);
}

#[test]
fn what_is_not_there_once_is_not_replaced() {
    let house = house();
    let text = "fn one() {}\nfn two() {}\n    fn two() {}\n";
    put(&house, text);
    for (old, new, message) in [
        ("", "x", "`old` is empty; write_file makes new files, and replaces whole ones"),
        ("a", "a", "`old` and `new` are the same, so there is nothing to change"),
        (
            "fn two() {}",
            "x",
            "`old` occurs 2 times in `a` (lines 2 and 3); \
             give more of what is around the one you mean, or set `all`",
        ),
        (
            "fn  one()  {}",
            "x",
            "`old` does not occur in `a`; what is most like it:\n1: fn one() {}",
        ),
        ("something else", "x", "`old` does not occur in `a`"),
    ] {
        assert_eq!(change(&house, old, new), Err(message.to_owned()));
    }
    assert_eq!(get(&house), text);
}

#[test]
fn all_places_are_replaced_if_that_is_wanted() {
    let house = house();
    put(&house, "aXbXc");
    let all = Input { all: Some(true), ..input("a", "X", "") };
    assert!(edit(&house.folder, &all).unwrap().text.starts_with("edited `a` in 2 places\n"));
    assert_eq!(get(&house), "abc");
}

#[test]
fn line_ends_stay_as_they_are() {
    let house = house();
    put(&house, "one\r\ntwo\r\nthree");
    change(&house, "one\ntwo", "1\n1.5\n2").unwrap();
    assert_eq!(get(&house), "1\r\n1.5\r\n2\r\nthree");
    change(&house, "2\r\nthree", "2").unwrap();
    assert_eq!(get(&house), "1\r\n1.5\r\n2");
    put(&house, "one\r\ntwo\n");
    change(&house, "two\n", "2\n3\n").unwrap();
    assert_eq!(get(&house), "one\r\n2\n3\n");
}

#[test]
fn a_file_never_grows_beyond_what_can_be_worked_on() {
    let house = house();
    put(&house, &"a".repeat(1024 * 1024));
    let all = Input { all: Some(true), ..input("a", "a", &"b".repeat(1024 * 1024)) };
    let refused = "`a` would have more than 16777216 bytes".to_owned();
    assert_eq!(edit(&house.folder, &all), Err(refused));
    fs::File::create(house.room().join("a")).unwrap().set_len(1 << 40).unwrap();
    let refused = "`a` cannot be used: it has more than 16777216 bytes".to_owned();
    assert_eq!(change(&house, "x", "y"), Err(refused));
}

#[cfg(unix)]
#[test]
fn a_script_stays_executable_and_a_link_a_link() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let house = house();
    put(&house, "old");
    let script = house.room().join("a");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    symlink("a", house.room().join("link")).unwrap();
    edit(&house.folder, &input("link", "old", "new")).unwrap();
    assert_eq!(get(&house), "new");
    assert_eq!(fs::metadata(&script).unwrap().permissions().mode() & 0o777, 0o755);
    assert!(house.room().join("link").is_symlink());
}

proptest! {
    #[test]
    fn an_edit_can_be_taken_back(
        parts in ("[ab\né]{0,20}", "[ab\né]{1,5}", "[ab\né]{0,20}"),
        crlf in any::<bool>(),
    ) {
        let ends = |part: String| if crlf { part.replace('\n', "\r\n") } else { part };
        let [before, old, after] = [parts.0, parts.1, parts.2].map(ends);
        let (house, text) = (house(), format!("{before}{old}{after}"));
        put(&house, &text);
        // The mark occurs nowhere else, so there is a way back.
        if change(&house, &old, "<>").is_ok() {
            prop_assert!(get(&house).contains("<>"));
            change(&house, "<>", &old).unwrap();
        }
        prop_assert_eq!(get(&house), text);
    }
}
