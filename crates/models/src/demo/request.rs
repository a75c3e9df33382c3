//! The few requests in plain words that the demo can tell apart.

use serde_json::json;

use super::{script::Order, tour};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    Time {
        zone: Option<String>,
    },
    List {
        path: Option<String>,
    },
    Read {
        path: String,
    },
    /// A plan, made and carried out.
    Plan,
    /// What answers can hold.
    Show,
}

impl Request {
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().trim_end_matches(['?', '!', '.']);
        if text.lines().count() != 1 {
            return None;
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        let words = without(&words, &["please", "can", "could", "you"]);
        let tour = || plan(words).or_else(|| show(words));
        time(words).or_else(|| list(words)).or_else(tour).or_else(|| read(words))
    }

    /// The calls that answer it, step by step.
    pub fn steps(&self) -> Vec<Vec<Order>> {
        let (name, args) = match self {
            Self::Time { zone: None } => ("current_time", json!({})),
            Self::Time { zone: Some(zone) } => ("current_time", json!({ "timezone": zone })),
            Self::List { path: None } => ("list_directory", json!({})),
            Self::List { path: Some(path) } => ("list_directory", json!({ "path": path })),
            Self::Read { path } => ("read_file", json!({ "path": path })),
            Self::Plan => return tour::plan(),
            Self::Show => return Vec::new(),
        };
        vec![vec![Order { name: name.into(), args }]]
    }
}

/// `What time is it in Europe/Berlin`
fn time(words: &[&str]) -> Option<Request> {
    let asks = matches!(lower(words.first()?).as_str(), "what" | "what's" | "whats" | "tell");
    let about = |word: &&str| {
        let word = lower(word);
        matches!(word.as_str(), "time" | "date" | "day")
    };
    if !asks || words.len() > 8 || !words.iter().any(about) {
        return None;
    }
    let zone = words.last().filter(|word| word.contains('/') || word.eq_ignore_ascii_case("utc"));
    Some(Request::Time { zone: zone.map(|zone| bare(zone).to_owned()) })
}

/// `Show me the files in src`
fn list(words: &[&str]) -> Option<Request> {
    let words = after(words, &["list", "show", "ls"])?;
    let words = without(words, &["me", "all", "the", "my"]);
    let (what, place) = words.split_first()?;
    if !matches!(lower(what).as_str(), "files" | "directory" | "folder") {
        return None;
    }
    match *place {
        [] => Some(Request::List { path: None }),
        [here] if lower(here) == "here" => Some(Request::List { path: None }),
        [word, path] if matches!(lower(word).as_str(), "in" | "of" | "under") => {
            Some(Request::List { path: Some(bare(path).to_owned()) })
        }
        _ => None,
    }
}

/// `Make a plan and carry it out`
fn plan(words: &[&str]) -> Option<Request> {
    let words = after(words, &["make", "show", "write"])?;
    let words = without(words, &["me", "a"]);
    let (what, rest) = words.split_first()?;
    (lower(what) == "plan" && rest.len() <= 5).then_some(Request::Plan)
}

/// `Show a table, a formula and a diagram`
fn show(words: &[&str]) -> Option<Request> {
    let words = after(words, &["show", "draw"])?;
    let what = |word: &&str| {
        let word = lower(word);
        matches!(word.trim_end_matches([',', 's']), "table" | "formula" | "diagram")
    };
    (words.len() <= 9 && words.iter().any(what)).then_some(Request::Show)
}

/// `Open the file notes.md`
fn read(words: &[&str]) -> Option<Request> {
    let words = after(words, &["read", "show", "open", "cat"])?;
    let words = without(words, &["me", "the"]);
    let (path, named) = match *words {
        [path] => (path, false),
        [word, path] if lower(word) == "file" => (path, true),
        _ => return None,
    };
    // Not everything that is opened is a file.
    let file = named || bare(path) != path || path.contains(['.', '/']);
    (file && !bare(path).is_empty()).then(|| Request::Read { path: bare(path).to_owned() })
}

fn lower(word: &str) -> String {
    word.to_lowercase()
}

/// What follows one of these words.
fn after<'a, 'b>(words: &'a [&'b str], verbs: &[&str]) -> Option<&'a [&'b str]> {
    let (verb, rest) = words.split_first()?;
    verbs.contains(&lower(verb).as_str()).then_some(rest)
}

fn without<'a, 'b>(words: &'a [&'b str], fillers: &[&str]) -> &'a [&'b str] {
    let skipped = words.iter().take_while(|word| fillers.contains(&lower(word).as_str())).count();
    &words[skipped..]
}

/// A name without its quotes.
fn bare(name: &str) -> &str {
    name.trim_matches(['"', '\'', '`'])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn list_of(path: &str) -> Request {
        Request::List { path: Some(path.into()) }
    }

    fn read_of(path: &str) -> Request {
        Request::Read { path: path.into() }
    }

    #[test]
    fn plain_requests_are_understood() {
        let now = Request::Time { zone: None };
        let berlin = Request::Time { zone: Some("Europe/Berlin".into()) };
        let here = Request::List { path: None };
        for (text, request) in [
            ("What time is it?", &now),
            ("what's the date today", &now),
            ("What time is it in Europe/Berlin?", &berlin),
            ("list files", &here),
            ("Please show me all the files here.", &here),
            ("List the files in src/demo", &list_of("src/demo")),
            ("could you list the folder of `src`?", &list_of("src")),
            ("read notes.md", &read_of("notes.md")),
            ("Open the file LICENSE.", &read_of("LICENSE")),
            ("show \"LICENSE\"", &read_of("LICENSE")),
            ("cat a/b", &read_of("a/b")),
            ("Make a plan and carry it out", &Request::Plan),
            ("please show me a plan", &Request::Plan),
            ("Show a table, a formula and a diagram", &Request::Show),
            ("draw me some diagrams", &Request::Show),
        ] {
            assert_eq!(Request::parse(text).as_ref(), Some(request), "{text}");
        }
    }

    #[test]
    fn anything_else_is_not_a_request() {
        for text in [
            "",
            "open sesame",
            "read",
            "show me",
            "read ''",
            "list my regrets",
            "what is love",
            "read a.md\nand b.md",
            "time flies",
            "make a planet",
            "plan a plan",
            "show me the tablecloth",
        ] {
            assert_eq!(Request::parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_can_be_read(text in "(what|list|show|read)?\\PC*") {
            Request::parse(&text);
        }
    }
}
