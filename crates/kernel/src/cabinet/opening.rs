//! Which app opens a file, and what it is told: decided from names and bytes alone.

use std::collections::BTreeMap;

use super::{Association, Card, Encoding};

/// Where the person's preferences are on the shelf of apps: an app's id for each extension.
pub const PREFERENCES: &str = "associations";
/// The largest file that is handed to an app.
pub const LARGEST: usize = 32 << 20;

/// An app that opens a file, and how it is told to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice<'a> {
    pub card: &'a Card,
    pub association: &'a Association,
    /// The extension by which it was chosen, in small letters and with its dot.
    pub extension: &'a str,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpeningError {
    #[error("No app is associated with \"{0}\" files.")]
    Nobody(String),
    #[error("No app is called \"{0}\".")]
    UnknownApp(String),
    #[error("App \"{app}\" does not open \"{extension}\" files.")]
    NotIts { app: String, extension: String },
    #[error(
        "App \"{app}\" opens \"{extension}\" with \"{command}\", but does not register that command."
    )]
    Unregistered { app: String, extension: String, command: String },
    #[error("\"{0}\" is not text; the association does not declare encoding \"base64\".")]
    NotText(String),
    #[error("\"{name}\" has more than {LARGEST} bytes, the most that an app is handed.")]
    TooLarge { name: String },
}

/// Every app that opens a file of this name, the best first: by the longest extension that fits, then
/// the preferred one, then by name and id.
pub fn choices<'a>(
    cards: &'a [Card],
    file: &str,
    preferred: &BTreeMap<String, String>,
) -> Vec<Choice<'a>> {
    let name = base(file).to_lowercase();
    let mut found: Vec<Choice<'a>> = cards.iter().filter_map(|card| fitting(card, &name)).collect();
    let longest = found.iter().map(|it| it.extension.len()).max().unwrap_or_default();
    found.retain(|it| it.extension.len() == longest);
    let is_preferred = |it: &Choice<'_>| preferred.get(it.extension) == Some(&it.card.id);
    found.sort_by(|a, b| {
        let order = is_preferred(b).cmp(&is_preferred(a));
        order.then_with(|| (&a.card.name, &a.card.id).cmp(&(&b.card.name, &b.card.id)))
    });
    found
}

/// The app that opens a file: the one that is wanted, or the best.
pub fn choose<'a>(
    cards: &'a [Card],
    file: &str,
    wanted: Option<&str>,
    preferred: &BTreeMap<String, String>,
) -> Result<Choice<'a>, OpeningError> {
    let Some(wanted) = wanted else {
        let first = choices(cards, file, preferred).into_iter().next();
        return first.ok_or_else(|| OpeningError::Nobody(extension(file)));
    };
    let card = cards.iter().find(|card| card.id == wanted);
    let card = card.ok_or_else(|| OpeningError::UnknownApp(wanted.to_owned()))?;
    let not_its = || OpeningError::NotIts { app: card.id.clone(), extension: extension(file) };
    fitting(card, &base(file).to_lowercase()).ok_or_else(not_its)
}

/// Whether it is for the person to say who opens this: several could, and none is preferred.
pub fn is_open(choices: &[Choice<'_>], preferred: &BTreeMap<String, String>) -> bool {
    let is_preferred = |it: &Choice<'_>| preferred.get(it.extension) == Some(&it.card.id);
    choices.len() > 1 && !choices.iter().any(is_preferred)
}

/// What a file holds as text, where the association wants text. `None` where it wants the bytes.
pub fn text(
    association: &Association,
    file: &str,
    bytes: &[u8],
) -> Result<Option<String>, OpeningError> {
    if bytes.len() > LARGEST {
        return Err(OpeningError::TooLarge { name: base(file).to_owned() });
    }
    match association.encoding {
        Encoding::Base64 => Ok(None),
        Encoding::Text => match std::str::from_utf8(bytes) {
            // The mark of the encoding is not part of the text.
            Ok(text) => Ok(Some(text.strip_prefix('\u{feff}').unwrap_or(text).to_owned())),
            Err(_) => Err(OpeningError::NotText(base(file).to_owned())),
        },
    }
}

/// The extension of a file as a person would name it: all that follows the last dot.
pub fn extension(file: &str) -> String {
    let name = base(file);
    name.rfind('.').map_or_else(String::new, |at| name[at..].to_lowercase())
}

fn base(file: &str) -> &str {
    file.rsplit(['/', '\\']).next().unwrap_or(file)
}

/// How this app opens a file of this name, which is in small letters.
fn fitting<'a>(card: &'a Card, name: &str) -> Option<Choice<'a>> {
    let pairs = card.associations.iter().flat_map(|association| {
        association.extensions.iter().map(move |extension| (association, extension.as_str()))
    });
    let fits = |extension: &str| name.len() > extension.len() && name.ends_with(extension);
    let fitting = pairs.filter(|(_, extension)| fits(extension));
    // Of two that are equally long the first that was declared counts.
    let best = fitting.reduce(|best, next| if next.1.len() > best.1.len() { next } else { best });
    best.map(|(association, extension)| Choice { card, association, extension })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(id: &str, name: &str, associations: &[(&[&str], &str)]) -> Card {
        let association = |(extensions, command): &(&[&str], &str)| Association {
            extensions: extensions.iter().map(|it| (*it).to_owned()).collect(),
            command: (*command).to_owned(),
            param: "content".to_owned(),
            encoding: Encoding::Text,
        };
        Card {
            id: id.to_owned(),
            name: name.to_owned(),
            associations: associations.iter().map(association).collect(),
            ..Card::default()
        }
    }

    fn chosen(cards: &[Card], file: &str, wanted: Option<&str>) -> Result<String, String> {
        let preferred = BTreeMap::from([(".csv".to_owned(), "table".to_owned())]);
        let choice = choose(cards, file, wanted, &preferred).map_err(|error| error.to_string())?;
        Ok(format!("{} {} {}", choice.card.id, choice.association.command, choice.extension))
    }

    #[test]
    fn a_file_is_opened_by_the_preferred_app_or_the_first_by_name() {
        let cards = [
            card("sheet", "A sheet", &[(&[".csv", ".tsv"], "open"), (&[".gz"], "unzip")]),
            card("table", "B table", &[(&[".csv", ".tsv"], "load")]),
            card("tar", "Archive", &[(&[".gz", ".tar.gz"], "untar")]),
            card("zz", "A sheet", &[(&[".tsv"], "other")]),
        ];
        for (file, wanted, expected) in [
            ("/a/b.csv", None, Ok("table load .csv")),
            ("B.CSV", None, Ok("table load .csv")),
            ("b.csv", Some("sheet"), Ok("sheet open .csv")),
            ("b.tsv", None, Ok("sheet open .tsv")),
            ("x.tar.gz", None, Ok("tar untar .tar.gz")),
            ("x.TAR.GZ", None, Ok("tar untar .tar.gz")),
            ("x.tar.gz", Some("sheet"), Ok("sheet unzip .gz")),
            ("x.gz", None, Ok("sheet unzip .gz")),
            ("c:\\dir.d\\x.gz", None, Ok("sheet unzip .gz")),
            ("b.xyz", None, Err("No app is associated with \".xyz\" files.")),
            ("Makefile", None, Err("No app is associated with \"\" files.")),
            (".csv", None, Err("No app is associated with \".csv\" files.")),
            ("dir.csv/file", None, Err("No app is associated with \"\" files.")),
            ("b.csv", Some("tar"), Err("App \"tar\" does not open \".csv\" files.")),
            ("b.csv", Some("none"), Err("No app is called \"none\".")),
        ] {
            let expected = expected.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(chosen(&cards, file, wanted), expected, "{file} {wanted:?}");
        }
    }

    #[test]
    fn the_person_is_asked_where_several_could_and_none_is_preferred() {
        let cards = [card("a", "A", &[(&[".x"], "o")]), card("b", "B", &[(&[".x"], "o")])];
        let none = BTreeMap::new();
        let gone = BTreeMap::from([(".x".to_owned(), "gone".to_owned())]);
        let second = BTreeMap::from([(".x".to_owned(), "b".to_owned())]);
        assert!(is_open(&choices(&cards, "f.x", &none), &none));
        assert!(is_open(&choices(&cards, "f.x", &gone), &gone), "a preferred app that is gone");
        assert!(!is_open(&choices(&cards, "f.x", &second), &second));
        assert!(!is_open(&choices(&cards[..1], "f.x", &none), &none));
        assert!(!is_open(&choices(&cards, "f.y", &none), &none));
    }

    #[test]
    fn what_is_not_text_needs_an_association_that_says_so() {
        let card = card("a", "A", &[(&[".x"], "open")]);
        let plain = &card.associations[0];
        assert_eq!(text(plain, "/d/f.x", "grüße".as_bytes()), Ok(Some("grüße".to_owned())));
        assert_eq!(text(plain, "f.x", b"\xef\xbb\xbfa"), Ok(Some("a".to_owned())));
        let error = text(plain, "/d/f.x", b"\xff").unwrap_err().to_string();
        assert_eq!(
            error,
            "\"f.x\" is not text; the association does not declare encoding \"base64\"."
        );
        let packed = Association { encoding: Encoding::Base64, ..plain.clone() };
        assert_eq!(text(&packed, "f.x", b"\xff"), Ok(None));
        let huge = vec![b' '; LARGEST + 1];
        let error = text(&packed, "f.x", &huge).unwrap_err().to_string();
        assert_eq!(error, "\"f.x\" has more than 33554432 bytes, the most that an app is handed.");
    }
}
