//! What a person has allowed for longer than once, and which calls it covers.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    toolbox::{Call, Caller},
    update::SessionId,
};

/// A lasting yes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Grant {
    pub id: Uuid,
    pub tool: String,
    /// For calls by such a caller alone.
    pub caller: Caller,
    /// In this session alone, or in every one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// In runs of this schedule alone, wherever they take place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<String>,
    /// For subjects like this alone; `*` stands for anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Timestamp>,
    pub given: Timestamp,
}

impl Grant {
    pub(super) fn holds(
        &self,
        call: &Call,
        schedule: Option<&str>,
        tool: &str,
        now: Timestamp,
    ) -> bool {
        self.tool == tool
            && self.caller.stands_for(&call.caller)
            && self.session.is_none_or(|only| only == call.session.id())
            && self.schedule.as_deref().is_none_or(|only| Some(only) == schedule)
            && self.expires.is_none_or(|end| now < end)
    }

    /// Whether it is about one of these.
    pub(super) fn covers(&self, subject: &str, within: Option<&str>) -> bool {
        let names = |pattern: &str| within.is_none_or(|folder| speaks_of(pattern, folder));
        let pattern = self.pattern.as_deref().filter(|it| names(it));
        pattern.is_some_and(|it| fits(it, subject))
    }

    /// Whether it was given to this applet, for the same, when the applet was another.
    pub(super) fn is_outdated(&self, tool: &str, caller: &Caller) -> bool {
        let (Caller::Applet { slug: had, .. }, Caller::Applet { slug, .. }) =
            (&self.caller, caller)
        else {
            return false;
        };
        self.tool == tool && had == slug && self.caller != *caller
    }
}

/// Whether all that is like a pattern lies in a folder.
fn speaks_of(pattern: &str, folder: &str) -> bool {
    let plain = pattern.split('*').next().unwrap_or_default();
    plain.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')) && !plain.contains("/..")
}

/// Whether a text is like a pattern, in which `*` stands for anything.
pub fn fits(pattern: &str, text: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut pieces: Vec<&str> = pieces.collect();
    let Some(last) = pieces.pop() else { return rest.is_empty() };
    for piece in pieces {
        let Some(found) = rest.find(piece) else { return false };
        rest = &rest[found + piece.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_speaks_of_a_folder_only_by_its_name() {
        for pattern in ["/a/b/c.js", "/a/b/*", "/a/b/*/x", "/a/b/c/*"] {
            assert!(speaks_of(pattern, "/a/b"), "{pattern}");
        }
        for pattern in ["*", "/*", "/a/*", "/a/b", "/a/b*", "/a/bc/*", "*/a/b/c", "/a/b/../*", ""] {
            assert!(!speaks_of(pattern, "/a/b"), "{pattern}");
        }
    }

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, text) in [
            ("git status", "git status"),
            ("git *", "git log --oneline"),
            ("*", ""),
            ("*.example.com", "a.b.example.com"),
            ("src/*/mod.rs", "src/a/b/mod.rs"),
            ("a*b*c", "aXbYc"),
        ] {
            assert!(fits(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [
            ("git", "git status"),
            ("git *", "git"),
            ("git *", "gitk x"),
            ("*.example.com", "example.com.evil"),
            ("a*b*c", "acb"),
            ("ab*b", "ab"),
        ] {
            assert!(!fits(pattern, text), "{pattern} {text}");
        }
    }
}
