//! What is different between two texts, as a unified diff.

use std::{
    fmt::Write as _,
    ops::Range,
    time::{Duration, Instant},
};

use similar::{Algorithm, DiffOp, capture_diff_slices_deadline, group_diff_ops};

/// How much is shown around a change.
const CONTEXT: usize = 3;
/// Past this a diff that is longer than it need be will do.
const PATIENCE: Duration = Duration::from_millis(500);
pub const NO_NEWLINE: &str = "\\ No newline at end of file";

/// The hunks that make one text of another; nothing if they are equal.
pub fn hunks(old: &str, new: &str) -> String {
    let (old, new) = (lines(old), lines(new));
    let deadline = Instant::now().checked_add(PATIENCE);
    let changes = capture_diff_slices_deadline(Algorithm::Myers, &old, &new, deadline);
    let mut text = String::new();
    for group in group_diff_ops(changes, CONTEXT) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let range = |first: Range<usize>, last: Range<usize>| span(first.start..last.end);
        let from = range(first.old_range(), last.old_range());
        let to = range(first.new_range(), last.new_range());
        // Writing to a string cannot fail.
        writeln!(text, "@@ -{from} +{to} @@").ok();
        for change in &group {
            show(&mut text, change, &old, &new);
        }
    }
    text
}

/// Lines with their ends.
pub fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

fn span(lines: Range<usize>) -> String {
    // Where there are none, it is the line before that is named.
    let first = if lines.is_empty() { lines.start } else { lines.start + 1 };
    format!("{first},{}", lines.len())
}

fn show(text: &mut String, change: &DiffOp, old: &[&str], new: &[&str]) {
    let (from, to) = (&old[change.old_range()], &new[change.new_range()]);
    let (sign, to): (_, &[&str]) = match change {
        DiffOp::Equal { .. } => (' ', &[]),
        DiffOp::Delete { .. } | DiffOp::Insert { .. } | DiffOp::Replace { .. } => ('-', to),
    };
    for line in from {
        put(text, sign, line);
    }
    for line in to {
        put(text, '+', line);
    }
}

fn put(text: &mut String, sign: char, line: &str) {
    text.push(sign);
    text.push_str(line);
    if !line.ends_with('\n') {
        text.push('\n');
        text.push_str(NO_NEWLINE);
        text.push('\n');
    }
}

/// As much of a diff as fits, with a word on what is missing.
pub fn shortened(diff: &str, most: usize) -> String {
    if diff.len() <= most {
        return diff.to_owned();
    }
    let end = diff.floor_char_boundary(most);
    let end = diff[..end].rfind('\n').map_or(end, |newline| newline + 1);
    let (shown, rest) = diff.split_at(end);
    let newline = if shown.ends_with('\n') { "" } else { "\n" };
    format!("{shown}{newline}[{} more lines of the diff are not shown]\n", lines(rest).len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_with_what_is_around_it() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
        let new = "1\n2\n3\n4\nfive\n6\n7\n8\n9\n10\n11\n12";
        let diff = "@@ -2,11 +2,11 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n 9\n 10\n 11\n-12\n+12\n\
                    \\ No newline at end of file\n";
        assert_eq!(hunks(old, new), diff);
        assert_eq!(hunks(old, old), "");
        assert_eq!(hunks("", "a\r\n"), "@@ -0,0 +1,1 @@\n+a\r\n");
        assert_eq!(hunks("a\rb\n", ""), "@@ -1,1 +0,0 @@\n-a\rb\n");
    }

    #[test]
    fn a_long_diff_is_cut_between_lines() {
        assert_eq!(shortened("+a\n+b\n+c\n", 9), "+a\n+b\n+c\n");
        assert_eq!(
            shortened("+a\n+b\n+c\n", 8),
            "+a\n+b\n[1 more lines of the diff are not shown]\n"
        );
        assert_eq!(shortened("+é\n", 2), "+\n[1 more lines of the diff are not shown]\n");
    }

    #[test]
    fn texts_with_nothing_in_common_are_compared_in_time() {
        let lines = |word: &str| (0..60_000).map(|n| format!("{word}{n}\n")).collect::<Vec<_>>();
        let text = |word: &str| lines(word).concat();
        let diff = hunks(&text("a"), &text("b"));
        assert_eq!(diff.lines().count(), 120_001);
    }
}
