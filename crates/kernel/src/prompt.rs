//! From facts to what a model is shown. Knows nothing of vendors: each translates a [`Prompt`] itself.

use std::collections::HashSet;

use crate::{
    ports::{Log, StoreError},
    state::State,
    toolbox::ToolSpec,
    update::{
        Answer, Attachment, Entry, Fact, Message, Origin, Output, Seq, SessionId, ToolRequest,
    },
};

const PAGE: usize = 128;

#[derive(Clone, Debug, PartialEq)]
pub struct Prompt {
    pub system: String,
    pub parts: Vec<Part>,
    pub tools: Vec<ToolSpec>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    User { text: String, images: Vec<Attachment> },
    Assistant { text: String, reasoning: String, calls: Vec<ToolRequest> },
    Result { call: String, output: Output },
}

impl Part {
    /// What a fact means to a model, if anything.
    pub fn of(fact: Fact) -> Option<Self> {
        match fact {
            Fact::Said { message, .. } => Some(Self::User {
                text: format!("{}{}", mark(&message.origin), message.text),
                images: message.attachments,
            }),
            Fact::Answered(Answer { text, reasoning, calls, .. }) => {
                Some(Self::Assistant { text, reasoning, calls })
            }
            Fact::ToolReturned { call, output } => Some(Self::Result { call, output }),
            Fact::Opened { .. }
            | Fact::Renamed { .. }
            | Fact::EnvHinted { .. }
            | Fact::ContextChanged { .. }
            | Fact::Observed
            | Fact::Queued(_)
            | Fact::StepStarted { .. }
            | Fact::TurnEnded(_) => None,
        }
    }

    fn size(&self) -> usize {
        match self {
            Self::User { text, .. } | Self::Result { output: Output::Done { text }, .. } => {
                text.len()
            }
            Self::Assistant { text, calls, .. } => {
                let args = |call: &ToolRequest| call.name.len() + call.args.to_string().len();
                text.len() + calls.iter().map(args).sum::<usize>()
            }
            Self::Result { output: Output::Failed { message }, .. } => message.len(),
            Self::Result { output: Output::Interrupted, .. } => 0,
        }
    }
}

/// Tells the model who speaks, when it is not the person.
fn mark(origin: &Origin) -> String {
    match origin {
        Origin::User => String::new(),
        Origin::Applet { slug } => format!("[applet:{slug}] "),
        Origin::Agent { session } => format!("[agent:{session}] "),
        Origin::Schedule { slug } => format!("[scheduler:{slug}] "),
    }
}

/// The newest part of a conversation that fits into `budget` bytes, read from the log page by page.
/// The message being answered is always in it.
pub async fn recall(
    log: &dyn Log,
    session: SessionId,
    state: &State,
    budget: usize,
) -> Result<Vec<Part>, StoreError> {
    let (mut parts, mut size, mut before) = (Vec::new(), 0, state.last.next());
    let answering = state.turn.as_ref().map_or(Seq(0), |turn| turn.said);
    'pages: loop {
        let page = log.read_back(session, before, PAGE).await?;
        let Some(oldest) = page.last() else { break };
        before = oldest.seq;
        for Entry { seq, fact, .. } in page {
            let Some(part) = Part::of(fact) else { continue };
            size += part.size();
            if size > budget && seq < answering {
                break 'pages;
            }
            parts.push(part);
        }
    }
    parts.reverse();
    Ok(pair(parts))
}

/// Begins with a message, and gives every call its result right behind it: models accept nothing
/// else, but a log may have been cut at either end, or crashed in the middle.
fn pair(parts: Vec<Part>) -> Vec<Part> {
    let mut paired: Vec<Part> = Vec::with_capacity(parts.len());
    let mut open: Vec<String> = Vec::new();
    let mut known: HashSet<String> = HashSet::new();
    let parts = parts.into_iter().skip_while(|part| !matches!(part, Part::User { .. }));
    for part in parts {
        match &part {
            Part::Result { call, .. } => {
                if !known.contains(call) {
                    continue;
                }
                open.retain(|waiting| waiting != call);
            }
            Part::User { .. } | Part::Assistant { .. } => {
                let lost = open.drain(..);
                paired.extend(lost.map(|call| Part::Result { call, output: Output::Interrupted }));
            }
        }
        if let Part::Assistant { calls, .. } = &part {
            open.extend(calls.iter().map(|call| call.id.clone()));
            known.extend(open.iter().cloned());
        }
        paired.push(part);
    }
    let lost = open.into_iter();
    paired.extend(lost.map(|call| Part::Result { call, output: Output::Interrupted }));
    paired
}

/// The same before and after a restart: it depends on nothing but the session.
pub fn system(state: &State) -> String {
    let mut text = format!(
        "You are an agent in Megaron, the home of a person and their agents. You work in {}. Use \
         the tools you are given rather than guess, and say plainly what you did and what failed.",
        state.cwd
    );
    if !state.env_hint.is_empty() {
        text += "\n\nAbout the environment: ";
        text += &state.env_hint;
    }
    for (set, items) in &state.context {
        if !items.is_empty() {
            text += "\n\nRelevant ";
            text += set;
            text += ": ";
            text += &items.join(", ");
        }
    }
    text
}

/// What a message says to a model, for dialects that show it.
pub fn marked(message: &Message) -> String {
    format!("{}{}", mark(&message.origin), message.text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn user(text: &str) -> Part {
        Part::User { text: text.into(), images: Vec::new() }
    }

    fn calls(ids: &[&str]) -> Part {
        let call = |id: &&str| ToolRequest {
            id: (*id).into(),
            name: "t".into(),
            args: json!({}),
            title: "t".into(),
        };
        let calls = ids.iter().map(call).collect();
        Part::Assistant { text: String::new(), reasoning: String::new(), calls }
    }

    fn result(call: &str, output: Output) -> Part {
        Part::Result { call: call.into(), output }
    }

    fn done(call: &str) -> Part {
        result(call, Output::Done { text: "ok".into() })
    }

    #[test]
    fn every_call_has_its_result_before_anything_else_is_said() {
        let parts = vec![user("a"), calls(&["1", "2"]), done("2"), user("b"), calls(&["3"])];
        let lost = |id| result(id, Output::Interrupted);
        let expected = [
            user("a"),
            calls(&["1", "2"]),
            done("2"),
            lost("1"),
            user("b"),
            calls(&["3"]),
            lost("3"),
        ];
        assert_eq!(pair(parts), expected);
    }

    #[test]
    fn what_was_cut_off_at_the_front_leaves_no_orphans() {
        let parts = vec![done("0"), calls(&["1"]), done("1"), user("a"), done("9"), calls(&[])];
        assert_eq!(pair(parts), [user("a"), calls(&[])]);
    }

    #[test]
    fn the_model_is_told_who_speaks() {
        let text = |origin| marked(&Message { origin, ..Message::from_user("hi") });
        assert_eq!(text(Origin::User), "hi");
        assert_eq!(text(Origin::Applet { slug: "calc".into() }), "[applet:calc] hi");
        assert_eq!(text(Origin::Agent { session: "s".into() }), "[agent:s] hi");
        assert_eq!(text(Origin::Schedule { slug: "daily".into() }), "[scheduler:daily] hi");
    }

    #[test]
    fn the_system_prompt_names_what_is_known_of_the_session() {
        let state = State {
            cwd: "/w".into(),
            env_hint: "nix develop".into(),
            context: [("files".to_owned(), vec!["/w/a.rs".to_owned()])].into(),
            ..State::default()
        };
        let text = system(&state);
        assert!(text.contains("in /w."));
        assert!(text.contains("environment: nix develop"));
        assert!(text.contains("Relevant files: /w/a.rs"));
    }
}
