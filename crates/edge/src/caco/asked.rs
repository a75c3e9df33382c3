//! A question to the person, as this API shows it.

use jiff::Timestamp;
use kernel::{
    inbox::Waiting,
    question::{About, Question},
    toolbox::{self, Caller, Deed, Risk},
    update::SessionId,
};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use super::{frames::Iso, patterns};

/// Fields that do not apply to its kind are absent.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Approval<'a> {
    #[schema(value_type = String)]
    id: Uuid,
    #[schema(value_type = String)]
    session_id: SessionId,
    /// Not in events: names change.
    #[serde(skip_serializing_if = "Option::is_none")]
    session_name: Option<&'a str>,
    kind: Kind,
    /// The tool that wants to be run, or wants to know.
    tool: &'a str,
    /// The call that waits, if it is one of the session's own agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
    /// What it is about, in a line.
    #[schema(example = "Writing notes.md")]
    title: &'a str,
    /// `model`, `owner`, `widget:NAME`, `applet:SLUG`, `client` or `agent:NAME`.
    #[schema(example = "model")]
    caller: String,
    /// It is asked by a widget on show, and can be allowed for as long as that is shown.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    for_view: bool,
    #[serde(flatten)]
    about: Shown<'a>,
    #[schema(value_type = String, format = DateTime)]
    asked_at: Iso,
    /// Unanswered by then, it counts as denied.
    #[schema(value_type = Option<String>, format = DateTime)]
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<Iso>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ApprovalKind)]
enum Kind {
    /// Whether a tool may do something.
    Approval,
    /// One of `choices`, or the person's own words where `free`.
    Question,
    /// Values in the shape of `schema`.
    Form,
    /// Something to be done at `url`.
    Link,
}

#[derive(Default, Serialize, ToSchema)]
#[schema(as = ApprovalContent)]
struct Shown<'a> {
    /// Why the person is asked at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
    /// `shows`, `edits`, `runs_boxed`, `runs`, `reaches` or `acts`.
    #[serde(skip_serializing_if = "Option::is_none")]
    risk: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<Detail<'a>>,
    /// What a lasting yes could be about, from narrow to wide.
    #[schema(example = json!(["git status --short", "git *"]))]
    #[serde(skip_serializing_if = "Option::is_none")]
    patterns: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    choices: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    free: Option<bool>,
    #[schema(value_type = Option<Object>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    schema: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'a str>,
}

/// What exactly would happen.
#[derive(Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[schema(as = ApprovalDetail)]
pub enum Detail<'a> {
    Command {
        command: &'a str,
        cwd: &'a str,
        sandboxed: bool,
        /// Why it is not, where it was meant to be.
        #[serde(skip_serializing_if = "Option::is_none")]
        why_not: Option<&'a str>,
    },
    /// A unified diff.
    Change {
        path: &'a str,
        diff: &'a str,
    },
    Address {
        url: &'a str,
    },
    Arguments {
        #[schema(value_type = Object)]
        args: &'a Value,
    },
}

impl<'a> Approval<'a> {
    pub fn waiting(it: &'a Waiting, session_name: &'a str) -> Self {
        let shown = Self::new(it.session, it.since, &it.question);
        Self { session_name: Some(session_name), ..shown }
    }

    pub fn new(session_id: SessionId, asked: Timestamp, question: &'a Question) -> Self {
        let Question { id, call, caller, tool, title, about, expires } = question;
        let (kind, about) = shown(about);
        Self {
            id: *id,
            session_id,
            session_name: None,
            kind,
            tool,
            tool_call_id: call.as_deref(),
            title,
            caller: caller_name(caller),
            for_view: caller.view().is_some(),
            about,
            asked_at: Iso(asked),
            expires_at: expires.map(Iso),
        }
    }
}

fn shown(about: &About) -> (Kind, Shown<'_>) {
    let nothing = Shown::default();
    match about {
        About::Leave { deed, why, .. } => {
            let Deed { risk, detail, subjects, .. } = deed;
            let shown = Shown {
                why: Some(why),
                risk: Some(risk_name(*risk)),
                patterns: Some(patterns::suggest(detail, subjects)),
                detail: Some(detailed(detail)),
                ..nothing
            };
            (Kind::Approval, shown)
        }
        About::Choice { text, choices, free } => {
            let (text, choices, free) = (Some(text.as_str()), Some(&choices[..]), Some(*free));
            (Kind::Question, Shown { text, choices, free, ..nothing })
        }
        About::Form { text, schema } => {
            (Kind::Form, Shown { text: Some(text), schema: Some(schema), ..nothing })
        }
        About::Visit { text, url } => {
            (Kind::Link, Shown { text: Some(text), url: Some(url), ..nothing })
        }
    }
}

pub fn detailed(detail: &toolbox::Detail) -> Detail<'_> {
    match detail {
        toolbox::Detail::Command { command, cwd, sandboxed, why_not } => {
            let (sandboxed, why_not) = (*sandboxed, why_not.as_deref());
            Detail::Command { command, cwd, sandboxed, why_not }
        }
        toolbox::Detail::Change { path, diff } => Detail::Change { path, diff },
        toolbox::Detail::Address { url } => Detail::Address { url },
        toolbox::Detail::Arguments { args } => Detail::Arguments { args },
    }
}

pub fn risk_name(risk: Risk) -> &'static str {
    match risk {
        Risk::Reads => "reads",
        Risk::Shows => "shows",
        Risk::Edits => "edits",
        Risk::RunsBoxed => "runs_boxed",
        Risk::Runs => "runs",
        Risk::Reaches => "reaches",
        Risk::Acts => "acts",
    }
}

pub fn caller_name(caller: &Caller) -> String {
    match caller {
        Caller::Model => "model".to_owned(),
        Caller::Owner => "owner".to_owned(),
        Caller::Widget { server, .. } => format!("widget:{server}"),
        Caller::Applet { slug, .. } => format!("applet:{slug}"),
        Caller::App { id } => format!("app:{id}"),
        Caller::Client => "client".to_owned(),
        Caller::Agent { name } => format!("agent:{name}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(about: About) -> Value {
        let question = Question {
            id: Uuid::nil(),
            call: None,
            caller: Caller::widget("maps"),
            tool: "show".into(),
            title: "Showing a map".into(),
            about,
            expires: None,
        };
        let shown = Approval::new(SessionId(Uuid::nil()), Timestamp::UNIX_EPOCH, &question);
        let mut value = serde_json::to_value(shown).unwrap();
        let fields = value.as_object_mut().unwrap();
        for always in ["id", "sessionId", "askedAt", "tool", "title"] {
            assert!(fields.remove(always).is_some(), "{always}");
        }
        assert_eq!(fields.remove("caller"), Some(json!("widget:maps")));
        value
    }

    #[test]
    fn each_kind_of_question_shows_what_applies_to_it() {
        let detail = toolbox::Detail::Command {
            command: "git push".into(),
            cwd: "/w".into(),
            sandboxed: false,
            why_not: Some("no Landlock".into()),
        };
        let deed =
            Deed { risk: Risk::Runs, detail, subjects: vec!["git push".into()], within: None };
        let leave = About::Leave { deed, why: "it runs".into(), doubt: None };
        let command = json!({
            "type": "command", "command": "git push", "cwd": "/w", "sandboxed": false,
            "whyNot": "no Landlock",
        });
        let expected = json!({
            "kind": "approval", "why": "it runs", "risk": "runs", "detail": command,
            "patterns": ["git push", "git *"],
        });
        assert_eq!(told(leave), expected);
        let (text, choices) = ("Which?".to_owned(), vec!["a".to_owned(), "b".to_owned()]);
        let choice = About::Choice { text: text.clone(), choices, free: true };
        assert_eq!(
            told(choice),
            json!({ "kind": "question", "text": "Which?", "choices": ["a", "b"], "free": true })
        );
        let form = About::Form { text: text.clone(), schema: json!({ "type": "object" }) };
        let expected = json!({ "kind": "form", "text": "Which?", "schema": { "type": "object" } });
        assert_eq!(told(form), expected);
        let visit = About::Visit { text, url: "https://a.example".into() };
        let expected = json!({ "kind": "link", "text": "Which?", "url": "https://a.example" });
        assert_eq!(told(visit), expected);
    }
}
