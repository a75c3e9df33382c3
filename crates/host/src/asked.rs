//! What waits for the person, as it is put to them at a terminal and as they answer it there.

use serde::Deserialize;
use serde_json::{Value, json};

/// How much of what would be done is shown; the rest can be seen in the page.
const MOST_LINES: usize = 60;

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Asked {
    pub id: String,
    pub session_id: String,
    #[serde(default)]
    pub session_name: String,
    kind: Kind,
    tool: String,
    title: String,
    caller: String,
    #[serde(default)]
    why: String,
    detail: Option<Detail>,
    #[serde(default)]
    pub patterns: Vec<String>,
    #[serde(default)]
    text: String,
    #[serde(default)]
    choices: Vec<String>,
    #[serde(default)]
    free: bool,
    #[serde(default)]
    url: String,
    pub expires_at: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Kind {
    Approval,
    Question,
    Link,
    /// A form, or something of a later server.
    #[serde(other)]
    Other,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
enum Detail {
    Command {
        command: String,
        cwd: String,
        sandboxed: bool,
    },
    Change {
        diff: String,
    },
    Address {
        url: String,
    },
    Arguments {
        args: Value,
    },
    #[serde(other)]
    Other,
}

impl Asked {
    /// What it is about, as a person reads it.
    pub fn lines(&self) -> Vec<String> {
        let Self { title, tool, caller, why, text, url, .. } = self;
        let who = if caller == "model" { String::new() } else { format!(", for {caller}") };
        let mut lines = match self.kind {
            Kind::Approval => vec![format!("{title} ({tool}{who}): {why}")],
            Kind::Question | Kind::Other => vec![text.clone()],
            Kind::Link => vec![text.clone(), url.clone()],
        };
        lines.extend(self.detail.iter().flat_map(Detail::lines).map(|line| format!("    {line}")));
        let numbered = (1..).zip(&self.choices);
        lines.extend(numbered.map(|(number, choice)| format!("  {number}. {choice}")));
        lines.iter().flat_map(|line| line.split('\n')).map(plain).collect()
    }

    /// What may be typed, if it can be answered at a terminal.
    pub fn prompt(&self) -> Option<&'static str> {
        match self.kind {
            Kind::Approval => Some("y once, s in this session, a always, n no (n REASON says why)"),
            Kind::Question if self.choices.is_empty() => Some("type your answer"),
            Kind::Question if self.free => Some("type a number, or an answer of your own"),
            Kind::Question => Some("type a number"),
            Kind::Link => Some("Enter when it is done, n to give up"),
            Kind::Other => None,
        }
    }

    /// How `megaron approvals` says yes to it.
    pub fn verb(&self) -> &'static str {
        match self.kind {
            Kind::Approval => "allow",
            Kind::Question | Kind::Link | Kind::Other => "answer",
        }
    }

    /// What was typed, as the server takes it; or what is wrong with it.
    pub fn answer(&self, typed: &str) -> Result<Value, String> {
        let typed = typed.trim();
        let (word, rest) = typed.split_once(' ').unwrap_or((typed, ""));
        match (self.kind, word.to_lowercase().as_str()) {
            (Kind::Approval, "y" | "yes") if rest.is_empty() => Ok(json!({ "decision": "once" })),
            (Kind::Approval, "s") if rest.is_empty() => Ok(json!({ "decision": "session" })),
            (Kind::Approval, "a") if rest.is_empty() => Ok(json!({ "decision": "always" })),
            (Kind::Approval | Kind::Link, "n" | "no") => Ok(denied(Some(rest.trim()))),
            (Kind::Link, "") => Ok(json!({ "decision": "answer" })),
            (Kind::Question, _) => self.choose(typed),
            (Kind::Approval | Kind::Link | Kind::Other, _) => {
                Err(self.prompt().unwrap_or_default().to_owned())
            }
        }
    }

    fn choose(&self, typed: &str) -> Result<Value, String> {
        let numbered = typed.parse().ok().and_then(|number: usize| number.checked_sub(1));
        let numbered = numbered.and_then(|index| self.choices.get(index));
        let spelt = self.choices.iter().find(|choice| choice.eq_ignore_ascii_case(typed));
        match numbered.or(spelt) {
            Some(choice) => Ok(answered(choice.clone())),
            None if self.free && !typed.is_empty() => Ok(answered(typed)),
            None => Err(self.prompt().unwrap_or_default().to_owned()),
        }
    }
}

pub fn answered(value: impl Into<Value>) -> Value {
    json!({ "decision": "answer", "answer": value.into() })
}

pub fn denied(reason: Option<&str>) -> Value {
    match reason.filter(|reason| !reason.is_empty()) {
        Some(reason) => json!({ "decision": "deny", "reason": reason }),
        None => json!({ "decision": "deny" }),
    }
}

impl Detail {
    fn lines(&self) -> Vec<String> {
        let text = match self {
            Self::Command { command, cwd, sandboxed } => {
                let lock = if *sandboxed { ", locked in there" } else { "" };
                format!("$ {command}\n(in {cwd}{lock})")
            }
            Self::Change { diff } => diff.clone(),
            Self::Address { url } => url.clone(),
            Self::Arguments { args } => args.to_string(),
            Self::Other => String::new(),
        };
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let more = lines.len().saturating_sub(MOST_LINES);
        if more > 0 {
            lines.truncate(MOST_LINES);
            lines.push(format!("… and {more} lines more, which the page shows"));
        }
        lines
    }
}

/// What could command a terminal, or make a line look like another, is spelt out.
pub fn plain(line: &str) -> String {
    let hides = |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}');
    let mut text = String::with_capacity(line.len());
    for c in line.chars() {
        if c != '\t' && (c.is_control() || hides(c)) {
            text.extend(c.escape_default());
        } else {
            text.push(c);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "`json!` reads best without a `&`")]
    fn asked(more: Value) -> Asked {
        let mut all = json!({
            "id": "A", "sessionId": "S", "tool": "bash", "title": "Running git push",
            "caller": "model", "askedAt": "now",
        });
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        serde_json::from_value(all).unwrap()
    }

    fn leave() -> Asked {
        let detail = json!({ "type": "command", "command": "git\u{202e} push", "cwd": "/w", "sandboxed": true });
        asked(json!({ "kind": "approval", "why": "it runs", "risk": "runs", "detail": detail }))
    }

    fn choice(free: bool) -> Asked {
        let choices = ["Red", "2"];
        asked(json!({ "kind": "question", "text": "Which?", "choices": choices, "free": free }))
    }

    #[test]
    fn what_would_be_done_is_shown_exactly() {
        let expected = [
            "Running git push (bash): it runs",
            "    $ git\\u{202e} push",
            "    (in /w, locked in there)",
        ];
        assert_eq!(leave().lines(), expected);
        let diff = "+\n".repeat(100);
        let detail = json!({ "type": "change", "path": "a", "diff": diff });
        let lines = asked(json!({ "kind": "approval", "detail": detail })).lines();
        assert_eq!(lines.len(), 1 + MOST_LINES + 1);
        assert_eq!(lines[61], "    … and 40 lines more, which the page shows");
        assert_eq!(choice(true).lines(), ["Which?", "  1. Red", "  2. 2"]);
    }

    #[test]
    fn leave_is_given_and_refused_by_a_letter() {
        for (typed, body) in [
            ("y", json!({ "decision": "once" })),
            (" Y\n", json!({ "decision": "once" })),
            ("s", json!({ "decision": "session" })),
            ("a", json!({ "decision": "always" })),
            ("n", json!({ "decision": "deny" })),
            ("n not today", json!({ "decision": "deny", "reason": "not today" })),
        ] {
            assert_eq!(leave().answer(typed), Ok(body), "{typed}");
        }
        for typed in ["", "x", "yn", "y please"] {
            assert_eq!(leave().answer(typed), Err(leave().prompt().unwrap().to_owned()), "{typed}");
        }
    }

    #[test]
    fn a_choice_is_made_by_number_or_by_text() {
        for (typed, answer) in [("1", "Red"), ("red", "Red"), ("2", "2")] {
            assert_eq!(choice(false).answer(typed), Ok(answered(answer)), "{typed}");
        }
        for typed in ["", "0", "3", "blue"] {
            assert_eq!(choice(false).answer(typed), Err("type a number".to_owned()), "{typed}");
        }
        assert_eq!(choice(true).answer("blue"), Ok(answered("blue")));
        assert!(choice(true).answer(" ").is_err());
    }

    #[test]
    fn a_link_is_followed_or_given_up_and_a_form_is_for_the_page() {
        let link = asked(json!({ "kind": "link", "text": "Sign in", "url": "https://a.example" }));
        assert_eq!(link.lines(), ["Sign in", "https://a.example"]);
        assert_eq!(link.answer(""), Ok(json!({ "decision": "answer" })));
        assert_eq!(link.answer("n"), Ok(json!({ "decision": "deny" })));
        let form = asked(json!({ "kind": "form", "text": "Who?", "schema": {} }));
        assert_eq!((form.prompt(), form.lines()), (None, vec!["Who?".to_owned()]));
    }
}
