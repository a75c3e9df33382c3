//! Patches as people, Git and models write them.

use super::*;

fn line(sign: Sign, text: &str) -> Line {
    Line { sign, text: text.into() }
}

/// The names and the mode of the only file.
fn names(patch: &str) -> (Option<String>, Option<String>, Option<bool>) {
    let mut sections = sections(patch).unwrap();
    assert_eq!(sections.len(), 1);
    let Section { old, new, executable, .. } = sections.remove(0);
    (old, new, executable)
}

#[test]
fn a_patch_of_git_is_understood() {
    let patch = "From 1234 Mon Sep 17\nSubject: [PATCH] Something\n---\n a | 2 +-\n\n\
                 diff --git a/a b/a\nindex 12..34 100644\n--- a/a\n+++ b/a\n\
                 @@ -1,2 +1,2 @@ fn main\n one\n-two\n+--- zwei\n\
                 \\ No newline at end of file\n-- \n2.39.2\n\n";
    let lines =
        vec![line(Sign::Keep, "one\n"), line(Sign::Cut, "two\n"), line(Sign::Add, "--- zwei")];
    let hunks = vec![Hunk { line: 10, start: Some(1), lines }];
    let [old, new] = [Some("a".to_owned()), Some("a".to_owned())];
    assert_eq!(sections(patch), Ok(vec![Section { old, new, executable: None, hunks }]));
}

#[test]
fn numbers_that_are_wrong_or_missing_do_not_matter() {
    let lines = || vec![line(Sign::Keep, "\n"), line(Sign::Cut, "a\n"), line(Sign::Add, "b\n")];
    for (header, start) in [
        ("@@ -7,2 +7,2 @@", Some(7)),
        ("@@ -7 +7 @@", Some(7)),
        ("@@ -7,90 +7,90 @@ fn main() {", Some(7)),
        ("@@ -7,1 +7,1 @@", Some(7)),
        ("@@ @@", None),
        ("@@", None),
        ("@@ fn main() {", None),
    ] {
        for end in ["", "\n", "\n\n\n", "\n```\n"] {
            let patch = format!("```diff\n--- a/x\n+++ b/x\n{header}\n\n-a\n+b{end}");
            let hunk = Hunk { line: 4, start, lines: lines() };
            assert_eq!(sections(&patch).unwrap()[0].hunks, [hunk], "{patch}");
            let twice = format!("{patch}\n--- a/y\n+++ b/y\n{header}\n\n-a\n+b{end}");
            let found = sections(&twice).unwrap();
            assert_eq!(found.iter().map(Section::name).collect::<Vec<_>>(), ["x", "y"], "{twice}");
            assert_eq!(found[1].hunks[0].lines, lines(), "{twice}");
        }
    }
}

#[test]
fn names_are_found_wherever_they_stand() {
    let some = |name: &str| Some(name.to_owned());
    for (patch, expected) in [
        ("--- a/x\n+++ b/x\n@@\n+y\n", (some("x"), some("x"), None)),
        ("--- x\t2026-01-01\n+++ x\t2026-01-02\n", (some("x"), some("x"), None)),
        ("--- a/x\n+++ a/x\n", (some("a/x"), some("a/x"), None)),
        ("--- /dev/null\n+++ b/new file\n", (None, some("new file"), None)),
        ("--- a/x\r\n+++ /dev/null\r\n", (some("x"), None, None)),
        ("--- \"a/gr\\303\\274n\\t\\\"\"\n+++ /dev/null\n", (some("grün\t\""), None, None)),
        ("diff --git a/x y b/x y\nnew file mode 100755\n", (None, some("x y"), Some(true))),
        ("diff --git a/x b/x\nnew file mode 100644\n", (None, some("x"), None)),
        (
            "diff --git \"a/\\001\" \"b/\\001\"\ndeleted file mode 100644\n",
            (some("\u{1}"), None, None),
        ),
        (
            "diff --git a/x b/x\nold mode 100755\nnew mode 100644\n",
            (some("x"), some("x"), Some(false)),
        ),
        (
            "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n",
            (some("x"), some("y"), None),
        ),
    ] {
        assert_eq!(names(patch), expected, "{patch}");
    }
}

#[test]
fn what_cannot_be_read_is_explained() {
    let names = "a unified diff names each file by `--- a/path` and `+++ b/path`";
    for (patch, message) in [
        ("", format!("the patch names no file; {names}")),
        ("*** Begin Patch\n*** Update File: x\n", format!("the patch names no file; {names}")),
        (
            "@@ -1 +1 @@\n-a\n+b\n",
            format!(
                "line 1 of the patch, `@@ -1 +1 @@`: it is not known which file this is about; {names}"
            ),
        ),
        (
            "--- a/x\n+++ b/x\n@@ -one +1 @@\n",
            "line 3 of the patch, `@@ -one +1 @@`: a hunk begins with `@@ -1,3 +1,4 @@`".into(),
        ),
        (
            "--- a/x\n+++ b/x\n@@ -1 +99999999999 @@\n",
            "line 3 of the patch, `@@ -1 +99999999999 @@`: a hunk begins with `@@ -1,3 +1,4 @@`"
                .into(),
        ),
        ("--- a/x\n+++ b/x\n@@\n", "line 3 of the patch, `@@`: this hunk has no lines".into()),
        (
            "--- a/x\n+++ b/x\n@@\n-a\nb\n",
            "line 5 of the patch, `b`: a line of a hunk begins with a space, `+` or `-`".into(),
        ),
        (
            "--- a/x\n+++ b/x\n@@\n-a\n\\ No newline\n-b\n",
            "line 3 of the patch, `@@`: only the last line of a file can be without an end".into(),
        ),
        (
            "--- a/x\n+++ b/x\nhello\n",
            "line 3 of the patch, `hello`: this is not part of a unified diff".into(),
        ),
        (
            "--- a/x\n+++ b/y\n",
            "line 3 of the patch, ``: these are two files, `x` and `y`; \
             to rename one needs `rename from` and `rename to`"
                .into(),
        ),
        (
            "--- /dev/null\n+++ /dev/null\n",
            "line 2 of the patch, `+++ /dev/null`: `/dev/null` is no file".into(),
        ),
        (
            "diff --git a/x b/x\nnew file mode 120000\n",
            "line 2 of the patch, `new file mode 120000`: \
             only regular files can be made, of mode 100644 or 100755"
                .into(),
        ),
        (
            "diff --git a/x b/y\ncopy from x\n",
            "line 2 of the patch, `copy from x`: \
             files cannot be copied; add the new one with all its lines"
                .into(),
        ),
        (
            "diff --git a/x b/x\nBinary files a/x and b/x differ\n",
            "line 2 of the patch, `Binary files a/x and b/x differ`: only text can be patched"
                .into(),
        ),
        (
            "diff --git a/x b/y\nrename from x\n",
            "line 3 of the patch, ``: `rename from` and `rename to` belong together".into(),
        ),
        (
            "diff --git a/x b/y\nrename from x\nrename to y\n--- a/x\n+++ b/../z\n",
            "line 6 of the patch, ``: `x` is renamed to `y`, not this one".into(),
        ),
        (
            "--- \"a/\\400\"\n+++ b/x\n",
            "line 1 of the patch, `--- \"a/\\400\"`: what is in quotation marks cannot be read"
                .into(),
        ),
    ] {
        assert_eq!(sections(patch), Err(message), "{patch}");
    }
}
