//! Which files are found, and in which order.

use std::{
    fs,
    time::{Duration, SystemTime},
};

use super::*;
use crate::folder::tests::{House, house};

/// Makes files, each newer than the one before.
fn with(names: &[&str]) -> House {
    let house = house();
    for (age, name) in names.iter().enumerate() {
        let path = house.room().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "").unwrap();
        let changed = SystemTime::UNIX_EPOCH + Duration::from_secs(age as u64);
        fs::File::open(&path).unwrap().set_modified(changed).unwrap();
    }
    house
}

fn found(house: &House, pattern: &str, path: Option<&str>) -> Result<String, String> {
    let input = Input { pattern: pattern.into(), path: path.map(str::to_owned), limit: None };
    find(&house.folder, &input, &AtomicBool::new(false))
}

#[test]
fn the_newest_comes_first() {
    let house = with(&["b.rs", "src/c.rs", "a.rs", "src/deep/d.rs", "e.md", ".hidden/f.rs"]);
    for (pattern, path, files) in [
        ("*.rs", None, ".hidden/f.rs\nsrc/deep/d.rs\na.rs\nsrc/c.rs\nb.rs"),
        ("**/*.rs", None, ".hidden/f.rs\nsrc/deep/d.rs\na.rs\nsrc/c.rs\nb.rs"),
        ("./*.rs", None, ".hidden/f.rs\nsrc/deep/d.rs\na.rs\nsrc/c.rs\nb.rs"),
        ("src/*.rs", None, "src/c.rs"),
        ("src/**", None, "src/deep/d.rs\nsrc/c.rs"),
        ("*.{md,txt}", Some(""), "e.md"),
        ("[ab].rs", Some("."), "a.rs\nb.rs"),
        ("deep/*", Some("src"), "src/deep/d.rs"),
        ("*", Some("src/deep/.."), "src/deep/d.rs\nsrc/c.rs"),
        ("*.py", None, "(no file is named like that)"),
    ] {
        assert_eq!(found(&house, pattern, path).as_deref(), Ok(files), "{pattern} {path:?}");
    }
}

#[test]
fn what_is_ignored_is_not_found() {
    let house = with(&[
        "keep.log",
        "a.log",
        "build/x",
        "src/build/y",
        "src/z",
        "src/own",
        "deep/er/own",
        ".git/config",
        "node/.git/config",
        "excluded",
        "said",
        "src/sub/z",
    ]);
    fs::write(house.room().join(".gitignore"), "*.log\n!keep.log\n/build/\nbad[\n").unwrap();
    fs::write(house.room().join("src/.gitignore"), "own\nsub/\n").unwrap();
    fs::write(house.room().join(".ignore"), "said\n").unwrap();
    fs::create_dir(house.room().join(".git/info")).unwrap();
    fs::write(house.room().join(".git/info/exclude"), "excluded\n").unwrap();
    let all = found(&house, "[!.]*", None).unwrap();
    assert_eq!(all, "deep/er/own\nsrc/z\nsrc/build/y\nkeep.log");
    assert_eq!(found(&house, "*", Some("src/build")).as_deref(), Ok("src/build/y"));
    assert_eq!(found(&house, "x", Some("build")).as_deref(), Ok("build/x"), "it was asked for");
    assert_eq!(found(&house, "own", Some("src")).as_deref(), Ok("(no file is named like that)"));
}

#[test]
fn many_files_are_cut_and_the_rest_is_counted() {
    let names: Vec<String> = (0..130).map(|n| format!("{}/{n:03}", n % 3)).collect();
    let house = with(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let text = found(&house, "*", None).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[..2], ["0/129", "2/128"]);
    assert_eq!(lines[99..], ["0/030", "[30 more are not shown]"]);
    let input = Input { pattern: "*".into(), path: None, limit: Some(1) };
    let one = find(&house.folder, &input, &AtomicBool::new(false));
    assert_eq!(one.as_deref(), Ok("0/129\n[129 more are not shown]"));
}

#[test]
fn what_is_wrong_is_explained() {
    let house = with(&["a"]);
    for (pattern, path, message) in [
        ("", None, "the pattern cannot be read: it is empty"),
        ("a[", None, "the pattern cannot be read: unclosed character class; missing ']'"),
        ("*", Some("a"), "`a` is not a directory"),
        ("*", Some("gone"), "`gone` does not exist"),
        ("*", Some("a\0"), "a path cannot contain a NUL character"),
    ] {
        assert_eq!(found(&house, pattern, path), Err(message.to_owned()));
    }
    let none = Input { pattern: "*".into(), path: None, limit: Some(0) };
    let refused = "a limit of 0 would show nothing; leave it out or give a larger one".to_owned();
    assert_eq!(find(&house.folder, &none, &AtomicBool::new(false)), Err(refused));
}
