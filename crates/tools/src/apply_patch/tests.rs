//! Patches and what becomes of the files they name.

use std::{collections::BTreeMap, fs, path::Path};

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::folder::tests::{House, house};

fn patch(house: &House, patch: &str) -> Result<String, String> {
    apply(&house.folder, &Input { patch: patch.into() }).map(|reply| reply.text)
}

/// A house with these files.
fn with(files: &[(&str, &str)]) -> House {
    let house = house();
    for (name, text) in files {
        let path = house.room().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    house
}

/// Every file of the folder.
fn files(house: &House) -> BTreeMap<String, String> {
    fn add(root: &Path, dir: &Path, files: &mut BTreeMap<String, String>) {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                add(root, &path, files);
            } else {
                let name = path.strip_prefix(root).unwrap().display().to_string();
                files.insert(name, fs::read_to_string(path).unwrap());
            }
        }
    }
    let mut files = BTreeMap::new();
    add(&house.room(), &house.room(), &mut files);
    files
}

fn expect(house: &House, expected: &[(&str, &str)]) {
    let expected = expected.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    assert_eq!(files(house), expected.collect());
}

#[test]
fn files_are_added_changed_deleted_and_renamed_at_once() {
    let house = with(&[("src/change", "1\n2\n3\n"), ("gone", "x\n"), ("old", "a\nb\n")]);
    let diff = "diff --git a/src/change b/src/change\n--- a/src/change\n+++ b/src/change\n@@ -1,3 +1,3 @@\n 1\n-2\n+zwei\n 3\n\
                diff --git a/new/file b/new/file\nnew file mode 100644\n\
                --- /dev/null\n+++ b/new/file\n@@ -0,0 +1,1 @@\n+new\n\
                diff --git a/gone b/gone\ndeleted file mode 100644\n\
                --- a/gone\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-x\n\
                diff --git a/old b/there/new\nrename from old\nrename to there/new\n\
                --- a/old\n+++ b/there/new\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n";
    let reply = apply(&house.folder, &Input { patch: diff.into() }).unwrap();
    let done = "changed `src/change`\ncreated `new/file`\ndeleted `gone`\n\
                renamed `old` to `there/new`\n";
    assert_eq!(reply.text, format!("{done}{}", diff.trim_end()));
    assert_eq!(reply.data, Some(json!({ "diff": diff })));
    expect(
        &house,
        &[("new/file", "new\n"), ("src/change", "1\nzwei\n3\n"), ("there/new", "a\nB\n")],
    );
}

#[test]
fn one_hunk_that_does_not_fit_leaves_all_files_alone() {
    let before = [("a", "one\ntwo\n"), ("b", "1\n2\n3\n")];
    let house = with(&before);
    let good =
        "--- a/a\n+++ b/a\n@@ -1,1 +1,1 @@\n-one\n+eins\n--- /dev/null\n+++ b/new/x\n@@\n+x\n";
    for (bad, message) in [
        (
            "--- a/b\n+++ b/b\n@@ -1,1 +1,1 @@\n-1\n+eins\n@@ -2,2 +2,2 @@\n-2\n-drei\n+x\n",
            "hunk 2 of `b` (line 15 of the patch) does not fit: \
             line 3 of the file is `3`, not `drei`",
        ),
        (
            "--- a/b\n+++ b/b\n@@ -3,2 +3,1 @@\n 3\n-4\n",
            "hunk 1 of `b` (line 12 of the patch) does not fit: \
             the file ends before line 4, where `4` should be",
        ),
        (
            "--- a/b\n+++ b/b\n@@ -3,1 +3,1 @@\n-3\n\\ No newline at end of file\n+x\n",
            "hunk 1 of `b` (line 12 of the patch) does not fit: \
             line 3 of the file is `3`, not `3` (without a line end)",
        ),
        (
            "--- a/b\n+++ b/b\n@@ -9,0 +9,1 @@\n+x\n",
            "hunk 1 of `b` (line 12 of the patch) adds lines without saying where; \
             show some that are there",
        ),
        ("--- a/c\n+++ b/c\n@@\n-x\n+y\n", "`c` does not exist"),
        ("--- /dev/null\n+++ b/b\n@@\n+y\n", "`b` exists already"),
        (
            "--- a/b\n+++ /dev/null\n@@\n-1\n-2\n",
            "`b` is to be deleted, but has lines that the patch does not remove",
        ),
        (
            "--- a/./a\n+++ b/./a\n@@\n-two\n+zwei\n",
            "the patch names `./a` twice; put its hunks together",
        ),
        ("diff --git a/b b/a\nrename from b\nrename to a\n", "`a` exists already"),
        ("--- /dev/null\n+++ b/b/x\n@@\n+y\n", "`b/x` is not, or is not in, a directory"),
        ("--- /dev/null\n+++ b/x/\n@@\n+y\n", "`x/` names a directory; name a file in it"),
    ] {
        assert_eq!(patch(&house, &format!("{good}{bad}")), Err(message.to_owned()), "{bad}");
        expect(&house, &before);
        assert!(!house.room().join("new").exists());
    }
}

#[test]
fn a_hunk_is_found_where_its_lines_have_moved_to() {
    let house = with(&[("a", "0\n0\n0\none\ntwo\nthree\nfour\n")]);
    let moved =
        "--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n one\n-two\n+zwei\n@@ -4,1 +4,1 @@\n-four\n+vier\n";
    patch(&house, moved).unwrap();
    expect(&house, &[("a", "0\n0\n0\none\nzwei\nthree\nvier\n")]);
}

#[test]
fn a_hunk_that_could_be_in_two_places_is_in_neither_unless_it_says_which() {
    let text = "x\ny\nx\ny\nx\n";
    let house = with(&[("a", text)]);
    let hunk = |start: &str| format!("--- a/a\n+++ b/a\n@@{start}\n-x\n+z\n");
    let refused = "hunk 1 of `a` (line 3 of the patch) could be about lines 1, 3 and 5; \
                   show more of what is around it";
    for start in ["", " -2,1 +2,1 @@"] {
        assert_eq!(patch(&house, &hunk(start)), Err(refused.to_owned()));
        expect(&house, &[("a", text)]);
    }
    patch(&house, &hunk(" -3,1 +3,1 @@")).unwrap();
    expect(&house, &[("a", "x\ny\nz\ny\nx\n")]);
    let overlapping = with(&[("a", "x\nx\nx\n")]);
    assert!(patch(&overlapping, "--- a/a\n+++ b/a\n@@\n x\n-x\n").is_err());
}

#[test]
fn hunks_come_in_the_order_of_the_file() {
    let house = with(&[("a", "1\n2\n3\n")]);
    let back = "--- a/a\n+++ b/a\n@@ -3,1 +3,1 @@\n-3\n+drei\n@@ -1,1 +1,1 @@\n-1\n+eins\n";
    let refused = "hunk 2 of `a` (line 6 of the patch) does not fit: its lines, from `1` on, \
                   are not in the file, or they come before the hunk above it";
    assert_eq!(patch(&house, back).unwrap_err().split(';').next(), Some(refused));
}

#[test]
fn line_ends_are_those_of_the_file() {
    let house = with(&[("a", "one\r\ntwo\r\n"), ("b", "one\r\ntwo\n"), ("c", "one")]);
    patch(&house, "--- a/a\n+++ b/a\n@@\n one\n-two\n+2\n+3\n").unwrap();
    patch(&house, "--- a/b\n+++ b/b\n@@\n-two\n+2\n").unwrap();
    expect(&house, &[("a", "one\r\n2\r\n3\r\n"), ("b", "one\r\n2\n"), ("c", "one")]);
    let glued = "hunk 1 of `c` (line 3 of the patch) adds a line after one that has no end";
    assert_eq!(patch(&house, "--- a/c\n+++ b/c\n@@ -1,0 +1,1 @@\n+two\n"), Err(glued.to_owned()));
    let inside = "`a` would have a line without an end inside";
    let half = "--- a/a\n+++ b/a\n@@ -1,0 +1,1 @@\n+half\n\\ No newline\n";
    assert_eq!(patch(&house, half), Err(inside.to_owned()));
}

#[cfg(unix)]
#[test]
fn modes_are_kept_and_can_be_changed() {
    use std::os::unix::fs::PermissionsExt as _;
    let house = with(&[("run", "x\n"), ("read", "x\n")]);
    let mode =
        |name: &str| fs::metadata(house.room().join(name)).unwrap().permissions().mode() & 0o777;
    let set = |name: &str, mode| {
        fs::set_permissions(house.room().join(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    set("run", 0o750);
    set("read", 0o640);
    patch(&house, "diff --git a/run b/x/ran\nrename from run\nrename to x/ran\n").unwrap();
    patch(&house, "diff --git a/read b/read\nold mode 100644\nnew mode 100755\n").unwrap();
    patch(&house, "diff --git a/new b/new\nnew file mode 100755\n--- /dev/null\n+++ b/new\n")
        .unwrap();
    assert_eq!([mode("x/ran"), mode("read"), mode("new")], [0o750, 0o750, 0o755]);
    patch(&house, "diff --git a/read b/read\nold mode 100755\nnew mode 100644\n").unwrap();
    assert_eq!(mode("read"), 0o640);
}

#[cfg(unix)]
#[test]
fn a_link_is_followed_but_not_taken_away() {
    let house = with(&[("a", "x\n")]);
    std::os::unix::fs::symlink("a", house.room().join("link")).unwrap();
    let refused = Err("`link` is a link; only files can be deleted or renamed".to_owned());
    assert_eq!(patch(&house, "--- a/link\n+++ /dev/null\n@@\n-x\n"), refused);
    let rename = "diff --git a/link b/b\nrename from link\nrename to b\n";
    assert_eq!(patch(&house, rename), refused);
    patch(&house, "--- a/link\n+++ b/link\n@@\n-x\n+y\n").unwrap();
    expect(&house, &[("a", "y\n"), ("link", "y\n")]);
}

#[test]
fn many_places_that_almost_fit_take_no_time() {
    let house = with(&[("a", &"x\n".repeat(400_000))]);
    let hunk = format!("--- a/a\n+++ b/a\n@@\n{}-y\n", " x\n".repeat(20_000));
    assert!(patch(&house, &hunk).unwrap_err().contains("does not fit"));
}

/// Texts with all that is awkward about lines.
fn text() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just("\n"),
        Just("a\n"),
        Just("b\n"),
        Just("b\r\n"),
        Just("é\r\n"),
        Just("\r"),
        Just("--- a/x\n"),
        Just("+++ b/x\n"),
        Just("@@ -1,1 +1,1 @@\n"),
        Just("-- \n"),
        Just("\\ No newline\n"),
        Just("diff --git a/x b/x\n"),
    ];
    let lines = prop::collection::vec(line, 0..12).prop_map(|lines| lines.concat());
    (lines, prop_oneof![Just(""), Just("end"), Just(" ")]).prop_map(|(text, end)| text + end)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn a_diff_says_all_there_is_to_say(a in text(), b in text()) {
        let diff = Change::replace("f".into(), Old::Text(a.clone()), b.clone()).diff();
        if a == b {
            prop_assert_eq!(diff, "");
        } else {
            let sections = parse::sections(&diff).unwrap();
            prop_assert_eq!(sections.len(), 1);
            prop_assert_eq!(fit::apply(&a, &sections[0]), Ok(b));
        }
    }

    #[test]
    fn no_hunk_is_too_strange(a in text(), garbage in text(), numbers in "@@ -[0-9]{0,10},[0-9] \\+1 @@") {
        for patch in [garbage.clone(), format!("--- a/f\n+++ b/f\n{numbers}\n{garbage}")] {
            for section in parse::sections(&patch).unwrap_or_default() {
                // Whether it fits is up to chance; that it does not break down is the point.
                fit::apply(&a, &section).ok();
            }
        }
    }
}

proptest! {
    // Each of these waits for the disk many times.
    #![proptest_config(ProptestConfig::with_cases(50))]

    #[test]
    fn the_diff_of_two_texts_makes_one_of_the_other(a in text(), b in text(), crlf in any::<bool>()) {
        let ends = |text: String| {
            if crlf { text.replace('\r', "").replace('\n', "\r\n") } else { text }
        };
        let [a, b] = [a, b].map(ends);
        let house = with(&[("f", &a), ("g", "")]);
        let old = || Old::Text(a.clone());
        let change = Change::replace("f".into(), old(), b.clone());
        let moved = Change { to: Some("n/f".into()), ..Change::replace("f".into(), old(), b.clone()) };
        let made = Change::create("new".into(), a.clone());
        let gone = Change { to: None, ..Change::replace("new".into(), old(), String::new()) };
        if a != b {
            patch(&house, &change.diff()).unwrap();
            expect(&house, &[("f", &b), ("g", "")]);
            fs::write(house.room().join("f"), &a).unwrap();
        }
        patch(&house, &(moved.diff() + &made.diff())).unwrap();
        expect(&house, &[("g", ""), ("n/f", &b), ("new", &a)]);
        patch(&house, &gone.diff()).unwrap();
        expect(&house, &[("g", ""), ("n/f", &b)]);
    }

    #[test]
    fn a_patch_that_fails_changes_nothing(a in text(), garbage in text(), cut in 0_usize..200) {
        let before = [("f", a.as_str()), ("x", "a\n")];
        let house = with(&before);
        let change = Change::replace("f".into(), Old::Text(a.clone()), format!("new\n{a}"));
        let good = change.diff();
        let half = &good[..good.floor_char_boundary(cut)];
        for text in [garbage.clone(), format!("{garbage}{good}"), format!("{half}{garbage}"), format!("{good}{garbage}")] {
            if patch(&house, &text).is_err() {
                expect(&house, &before);
            }
            for (name, text) in before {
                fs::write(house.room().join(name), text).unwrap();
            }
        }
        prop_assert_eq!(fs::read_to_string(house.next().join("secret")).unwrap(), "secret");
    }

    #[test]
    fn no_patch_is_too_strange(patch in "(\\PC|[ \n+@-]|--- |\\+\\+\\+ |@@ -1 |[0-9]){0,60}") {
        let house = with(&[]);
        if super::apply(&house.folder, &Input { patch }).is_err() {
            expect(&house, &[]);
        }
    }
}
