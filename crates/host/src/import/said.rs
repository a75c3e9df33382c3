//! Who said something, where the words themselves tell it.

use kernel::update::{Message, Origin};

const RESUMED: &str = "[SESSION RESUMED]";

/// What was said, without what was put before it for the model.
pub fn message(content: &str) -> Message {
    let text = without_note(content);
    let (origin, text) = origin(text).unwrap_or((Origin::User, text));
    Message { origin, ..Message::from_user(text) }
}

/// The note ends with a line of hyphens and an empty one.
fn without_note(content: &str) -> &str {
    if !content.starts_with(RESUMED) {
        return content;
    }
    let Some((_, rest)) = content.split_once("\n---\n") else { return content };
    rest.strip_prefix('\n').unwrap_or(rest)
}

fn origin(text: &str) -> Option<(Origin, &str)> {
    let (mark, rest) = text.strip_prefix('[')?.split_once("] ")?;
    let (kind, name) = mark.split_once(':').filter(|(_, name)| !name.is_empty())?;
    let name = name.to_owned();
    let origin = match kind {
        "applet" => Origin::Applet { slug: name },
        "agent" => Origin::Agent { session: name },
        "scheduler" => Origin::Schedule { slug: name, errand: None },
        _ => return None,
    };
    Some((origin, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_and_notes_become_what_they_mean() {
        let applet = || Origin::Applet { slug: "calc".into() };
        let note = "[SESSION RESUMED]\nThe shell is gone.\nSession directory: /w\n---\n\n";
        for (content, origin, text) in [
            ("hello", Origin::User, "hello"),
            ("[applet:calc] 1+1", applet(), "1+1"),
            ("[agent:s1] do", Origin::Agent { session: "s1".into() }, "do"),
            ("[scheduler:daily] go", Origin::Schedule { slug: "daily".into(), errand: None }, "go"),
            ("[note:x] y", Origin::User, "[note:x] y"),
            ("[applet:] y", Origin::User, "[applet:] y"),
            ("[applet] y", Origin::User, "[applet] y"),
            (&format!("{note}hello"), Origin::User, "hello"),
            (&format!("{note}[applet:calc] a\n---\nb"), applet(), "a\n---\nb"),
            ("[SESSION RESUMED] they say", Origin::User, "[SESSION RESUMED] they say"),
        ] {
            let expected = Message { origin, ..Message::from_user(text) };
            assert_eq!(message(content), expected, "{content}");
        }
    }
}
