//! Which lines are found, and how they are shown.

use std::{fs, io::Read as _, thread};

use super::*;
use crate::folder::tests::{House, house};

fn with(files: &[(&str, &str)]) -> House {
    let house = house();
    for (name, text) in files {
        let path = house.room().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    house
}

fn found(house: &House, input: &Input) -> Result<String, String> {
    find(&house.folder, input, &AtomicBool::new(false))
}

fn pattern(pattern: &str) -> Input {
    Input { pattern: pattern.into(), ..Input::default() }
}

#[test]
fn lines_are_shown_by_file_with_their_numbers() {
    let house = with(&[
        ("src/b.rs", "fn one() {}\r\nfn two() {}\n"),
        ("src/a.rs", "// two\n\nlet two = 2;"),
        ("notes.md", "Two"),
        ("none", "nothing"),
    ]);
    let lines = "src/a.rs\n1:// two\n3:let two = 2;\n\nsrc/b.rs\n2:fn two() {}";
    assert_eq!(found(&house, &pattern("two")).as_deref(), Ok(lines));
    let one = "src/b.rs\n1:fn one() {}";
    assert_eq!(found(&house, &pattern(r"^fn \w+\(\) \{\}\r$")).as_deref(), Ok(one));
    assert_eq!(found(&house, &pattern("three")).as_deref(), Ok("(nothing matches)"));
    for (input, shown) in [
        (
            Input { ignore_case: Some(true), glob: Some("*.md".into()), ..pattern("two") },
            "notes.md\n1:Two",
        ),
        (Input { glob: Some("src/b*".into()), ..pattern("two") }, "src/b.rs\n2:fn two() {}"),
        (Input { glob: Some("!*.rs".into()), ..pattern("wo") }, "notes.md\n1:Two"),
        (Input { kind: Some("md".into()), ..pattern("wo") }, "notes.md\n1:Two"),
        (Input { path: Some("src/b.rs".into()), ..pattern("two") }, "src/b.rs\n2:fn two() {}"),
        (
            Input { path: Some("src".into()), glob: Some("/b.rs".into()), ..pattern("two") },
            "src/b.rs\n2:fn two() {}",
        ),
        (Input { files_only: Some(true), ..pattern("two") }, "src/a.rs\nsrc/b.rs"),
        (Input { count: Some(true), ..pattern("two") }, "src/a.rs:2\nsrc/b.rs:1"),
    ] {
        assert_eq!(found(&house, &input).as_deref(), Ok(shown));
    }
}

#[test]
fn what_is_around_a_line_can_be_shown() {
    let house = with(&[("a", "1\n2\nx\n4\n5\n6\n7\nx\nx\n10\n")]);
    let shown = "a\n2-2\n3:x\n4-4\n--\n7-7\n8:x\n9:x\n10-10";
    assert_eq!(found(&house, &Input { context: Some(1), ..pattern("x") }).as_deref(), Ok(shown));
    let cut = "a\n2-2\n3:x\n[2 more lines that match are not shown]";
    let input = Input { context: Some(1), limit: Some(1), ..pattern("x") };
    assert_eq!(found(&house, &input).as_deref(), Ok(cut));
}

#[test]
fn many_lines_are_cut_and_the_rest_is_counted() {
    let files: Vec<(String, String)> =
        (0..100).map(|n| (format!("{}/{n:03}", n % 2), "x\n".repeat(5))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    let house = with(&files);
    let text = found(&house, &Input { limit: Some(7), ..pattern("x") });
    let shown = "0/000\n1:x\n2:x\n3:x\n4:x\n5:x\n\n0/002\n1:x\n2:x\n\
                 [493 more lines that match are not shown, 98 more files among them]";
    assert_eq!(text.as_deref(), Ok(shown));
    let some = Input { limit: Some(2), files_only: Some(true), ..pattern("x") };
    assert_eq!(found(&house, &some).as_deref(), Ok("0/000\n0/002\n[98 more files are not shown]"));
    let some = Input { limit: Some(1), count: Some(true), ..pattern("x") };
    assert_eq!(found(&house, &some).as_deref(), Ok("0/000:5\n[99 more files are not shown]"));
}

#[test]
fn what_is_no_text_is_skipped_and_long_lines_are_cut() {
    let house = with(&[("binary", "x\n\0x"), ("long", &format!("x{}", "é".repeat(300)))]);
    fs::write(house.room().join("latin"), b"x\xe9\n").unwrap();
    fs::write(house.room().join("sixteen"), b"\xff\xfex\0y\0").unwrap();
    let shown = format!(
        "latin\n1:x\u{fffd}\n\nlong\n1:x{}… [101 bytes more]\n\nsixteen\n1:xy",
        "é".repeat(249)
    );
    assert_eq!(found(&house, &pattern("x")), Ok(shown));
}

#[test]
fn what_is_ignored_is_not_searched() {
    let house = with(&[(".gitignore", "/out\n"), ("out/a", "x"), ("b", "x"), (".git/c", "x")]);
    assert_eq!(found(&house, &pattern("x")).as_deref(), Ok("b\n1:x"));
    let asked = Input { path: Some("out".into()), ..pattern("x") };
    assert_eq!(found(&house, &asked).as_deref(), Ok("out/a\n1:x"));
}

#[test]
fn what_is_wrong_is_explained() {
    let house = with(&[("a", "x")]);
    for (input, start) in [
        (pattern("("), "the pattern cannot be read: "),
        (pattern("a\nb"), "the pattern cannot be read: "),
        (pattern(r"(\w{1000}){1000}"), "the pattern cannot be read: "),
        (Input { glob: Some("[".into()), ..pattern("x") }, "`glob` cannot be read: "),
        (
            Input { kind: Some("middle-earth".into()), ..pattern("x") },
            "no type of file is named `middle-earth`; use one such as `rust`, `py` or `md`, or `glob`",
        ),
        (Input { path: Some("gone".into()), ..pattern("x") }, "`gone` does not exist"),
        (Input { limit: Some(0), ..pattern("x") }, "a limit of 0 would show nothing"),
        (
            Input { files_only: Some(true), count: Some(true), ..pattern("x") },
            "choose one of `files_only` and `count`",
        ),
    ] {
        let error = found(&house, &input).unwrap_err();
        assert!(error.starts_with(start), "{error}");
    }
}

#[test]
fn a_search_that_nobody_waits_for_ends() {
    let stop = AtomicBool::new(false);
    let search = Search::new(&pattern("never")).unwrap();
    let mut hits = Hits::new(Show::Lines, 1);
    thread::scope(|scope| {
        let endless = scope.spawn(|| {
            let reader = Watched { inner: std::io::repeat(b'\n'), stop: &stop };
            search.builder.build().search_reader(&search.matcher, reader, &mut hits)
        });
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(endless.join().unwrap().is_err());
    });
    let house = with(&[("a", "x")]);
    assert_eq!(find(&house.folder, &pattern("x"), &stop).as_deref(), Ok("(nothing matches)"));
    let mut file = Watched { inner: &b"x"[..], stop: &AtomicBool::new(false) };
    let mut text = String::new();
    file.read_to_string(&mut text).unwrap();
    assert_eq!(text, "x");
}
