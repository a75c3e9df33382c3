//! Helps to find what somebody was looking for in a text: where it is, or what is most like it.

use crate::typed::shorten;

/// How many places, or lines, are named.
pub const NAMED: usize = 10;
const ALIKE: usize = 3;
/// Less alike than this is no help.
const LIKENESS: f64 = 0.6;
/// However long a text is, only so much of it is compared.
const LOOKED_AT: usize = 20_000;
const COMPARED: usize = 200;

/// The lines of these positions, which rise; lines count from 1.
pub fn line_numbers(text: &str, positions: &[usize]) -> Vec<usize> {
    let (mut line, mut last) = (1, 0);
    let number = |&at: &usize| {
        line += text[last..at].matches('\n').count();
        last = at;
        line
    };
    positions.iter().take(NAMED + 1).map(number).collect()
}

/// `line 3`, or `lines 3, 7 and 9`.
pub fn places(lines: &[usize]) -> String {
    let named: Vec<String> = lines.iter().take(NAMED).map(ToString::to_string).collect();
    match named.as_slice() {
        [] => "nowhere".into(),
        [only] => format!("line {only}"),
        _ if lines.len() > NAMED => format!("lines {} and more", named.join(", ")),
        [first @ .., last] => format!("lines {} and {last}", first.join(", ")),
    }
}

/// The lines most like the first that says something in what was looked for, if any are.
pub fn nearest(text: &str, wanted: &str) -> String {
    let Some(wanted) = wanted.lines().find(|line| !line.trim().is_empty()) else {
        return String::new();
    };
    let cut = |line: &str| line.trim().chars().take(COMPARED).collect::<String>();
    let wanted = cut(wanted);
    let likeness = |line: &str| strsim::sorensen_dice(&wanted, &cut(line));
    let mut alike: Vec<(usize, &str, f64)> = text
        .lines()
        .take(LOOKED_AT)
        .enumerate()
        .map(|(index, line)| (index + 1, line, likeness(line)))
        .filter(|(_, _, likeness)| *likeness >= LIKENESS)
        .collect();
    // Stable, so of those alike the first are named.
    alike.sort_by(|(_, _, one), (_, _, other)| other.total_cmp(one));
    alike.truncate(ALIKE);
    if alike.is_empty() {
        return String::new();
    }
    let show = |(number, line, _): &(usize, &str, f64)| {
        format!("\n{number}: {}", shorten(line.trim_end(), COMPARED))
    };
    format!("; what is most like it:{}", alike.iter().map(show).collect::<String>())
}

/// Whether there are line ends, and all of them CRLF.
pub fn is_crlf(text: &str) -> bool {
    let mut ends = text.match_indices('\n').peekable();
    ends.peek().is_some() && ends.all(|(at, _)| text[..at].ends_with('\r'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_named_up_to_a_point() {
        assert_eq!(places(&[3]), "line 3");
        assert_eq!(places(&[3, 7, 9]), "lines 3, 7 and 9");
        let many = "x\n".repeat(20);
        let found: Vec<usize> = many.match_indices('x').map(|(at, _)| at).collect();
        let named = "lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and more";
        assert_eq!(places(&line_numbers(&many, &found)), named);
    }

    #[test]
    fn the_nearest_lines_come_best_first() {
        let text = "fn main() {\n    let total = sum(list);\n    let total = sum(lists);\n}\n";
        let hint = "; what is most like it:\n2:     let total = sum(list);\n3:     let total = sum(lists);";
        assert_eq!(nearest(text, "\n\tlet total = sum(list);\n}"), hint);
        assert_eq!(nearest(text, "something else"), "");
        assert_eq!(nearest(text, " \n"), "");
        assert_eq!(nearest("", "x"), "");
    }
}
