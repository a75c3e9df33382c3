//! Names for what apps can do that every client and every provider of models takes.

use std::collections::{BTreeMap, BTreeSet};

/// As long as every provider of models takes.
pub const LONGEST: usize = 64;

/// Letters, digits, `_` and `-` alone. Where that makes another name of it, or cuts it, it ends in a
/// mark, by which it is told from others that look the same.
pub fn plain(name: &str, longest: usize) -> String {
    let plain: String = name.chars().map(plain_sign).collect();
    if plain == name && name.len() <= longest { plain } else { marked(&plain, name, longest) }
}

/// Ends in a mark of what it stands for.
pub fn marked(name: &str, of: &str, longest: usize) -> String {
    let mark = mark(of);
    let mut name = name.to_owned();
    name.truncate(longest.saturating_sub(mark.len() + 1));
    format!("{name}-{mark}")
}

/// What each of these is called where dots are not allowed. Those that would be called the same get
/// marks, all of them: none stands for another by the way.
pub fn undotted<'a>(names: impl IntoIterator<Item = &'a str>) -> BTreeMap<&'a str, String> {
    let names: BTreeSet<&str> = names.into_iter().collect();
    let bare = |name: &str| name.chars().map(|it| if it == '.' { '_' } else { it }).collect();
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    for name in &names {
        *count.entry(bare(name)).or_default() += 1;
    }
    let called = |name: &'a str| {
        let bare: String = bare(name);
        let is_free = bare.len() <= LONGEST && count.get(&bare) == Some(&1);
        (name, if is_free { bare } else { marked(&bare, name, LONGEST) })
    };
    names.into_iter().map(called).collect()
}

fn plain_sign(sign: char) -> char {
    if sign.is_ascii_alphanumeric() || "_-".contains(sign) { sign } else { '_' }
}

/// The same for the same text, whenever and wherever it is made.
fn mark(text: &str) -> String {
    let sum = text
        .bytes()
        .fold(0x811c_9dc5_u32, |sum, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("{sum:08x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_as_it_is_where_everybody_takes_it() {
        assert_eq!(plain("set-Cells_2", 20), "set-Cells_2");
        let odd = plain("my dock.ä", 20);
        assert!(odd.starts_with("my_dock__-") && odd.len() == 18, "{odd}");
        assert_ne!(plain("a b", 20), plain("a.b", 20));
        assert_ne!(plain("a b", 20), plain("a_b", 20));
        let (one, other) = ("n".repeat(30), "n".repeat(31));
        assert_eq!((plain(&one, 20).len(), plain(&other, 20).len()), (20, 20));
        assert_ne!(plain(&one, 20), plain(&other, 20));
    }

    #[test]
    fn names_that_would_be_the_same_without_dots_are_told_apart() {
        let names = undotted(["app.dock.inc", "app.a_b.c", "app.a.b_c"]);
        assert_eq!(names["app.dock.inc"], "app_dock_inc");
        let (one, other) = (&names["app.a_b.c"], &names["app.a.b_c"]);
        assert_ne!(one, other);
        for name in [one, other] {
            assert!(name.starts_with("app_a_b_c-"), "{name}");
        }
    }
}
