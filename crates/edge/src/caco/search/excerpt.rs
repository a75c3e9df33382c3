//! Words that are sought, and what stands around them in a text.

/// How many characters are shown before and after the first of the words.
const BEFORE: usize = 40;
const AFTER: usize = 120;

pub struct Sought {
    /// In small letters; at least one.
    words: Vec<String>,
}

impl Sought {
    /// `None` where there is no word.
    pub fn read(text: &str) -> Option<Self> {
        let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
        (!words.is_empty()).then_some(Self { words })
    }

    /// What stands around the first word, if every word is in the text.
    pub fn within(&self, text: &str) -> Option<String> {
        let small = text.to_lowercase();
        if !self.words.iter().all(|word| small.contains(word.as_str())) {
            return None;
        }
        let first = self.words.iter().filter_map(|word| small.find(word.as_str())).min()?;
        Some(excerpt(text, place(text, first)))
    }
}

/// Where the letter stands whose small form begins at this byte of the text in small letters, which
/// may be shorter or longer.
fn place(text: &str, small_at: usize) -> usize {
    let mut passed = 0;
    let found = text.char_indices().find(|(_, letter)| {
        passed += letter.to_lowercase().map(char::len_utf8).sum::<usize>();
        passed > small_at
    });
    found.map_or(text.len(), |(at, _)| at)
}

fn excerpt(text: &str, at: usize) -> String {
    let (head, tail) = text.split_at(at);
    let from = head.char_indices().rev().nth(BEFORE - 1).map_or(0, |(at, _)| at);
    let to = tail.char_indices().nth(AFTER).map_or(tail.len(), |(at, _)| at);
    let line = [&head[from..], &tail[..to]].concat();
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    let (open, close) = (from > 0, to < tail.len());
    format!("{}{line}{}", if open { "…" } else { "" }, if close { "…" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn within(sought: &str, text: &str) -> Option<String> {
        Sought::read(sought).unwrap().within(text)
    }

    #[test]
    fn every_word_must_be_there_in_any_case_and_order() {
        assert_eq!(within("rust budget", "The Budget\n for RUST").unwrap(), "The Budget for RUST");
        assert_eq!(within("rust budget", "The budget for Go"), None);
        assert!(Sought::read(" \n\t ").is_none());
    }

    #[test]
    fn what_stands_around_the_first_word_is_shown() {
        let text = format!("{} needle {}", "a ".repeat(100), "b ".repeat(100));
        let shown = within("needle", &text).unwrap();
        assert!(shown.starts_with("…a a") && shown.contains("a needle b"), "{shown}");
        assert!(shown.ends_with("b…") && shown.chars().count() <= BEFORE + AFTER + 2, "{shown}");
        assert_eq!(within("needle", "needle").unwrap(), "needle");
    }

    #[test]
    fn letters_whose_small_form_is_longer_or_shorter_do_not_lead_astray() {
        let text = format!("{} Ñandú {}", "İ".repeat(90), "ẞ".repeat(200));
        let shown = within("ñandú", &text).unwrap();
        assert!(shown.contains("İ Ñandú ẞ"), "{shown}");
        assert_eq!(within("\u{307}", "İ").unwrap(), "İ");
    }
}
