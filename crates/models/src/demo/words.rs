//! What the demo says. Nothing here decides anything.

use kernel::{
    ports::ModelError,
    prompt::Part,
    update::{Failure, Output, ToolRequest},
};

use super::request::Request;

/// How much of a result is repeated after a directive, and after a request in plain words.
const SHORT: usize = 200;
const FULL: usize = 4000;

const ABILITIES: &str = "\
- `/tool NAME {\"key\": \"value\"}` calls a tool; write one line for each call, and `/par` on a line before them to run \
them together
- `/long 500` answers in 500 chunks, `/slow 200` waits 200 milliseconds before each, `/reason` thinks aloud first
- `/fail overloaded` fails, to see how that looks
- in plain words: \"what time is it?\", \"list the files\" or \"read notes.md\"";

const OTHERS: &str = "For a real model, run `megaron models detect`: it shows what this machine has and adds it to \
`config.toml`, in the data directory. Or write a `[providers.NAME]` table there yourself.";

/// All that it can make of a conversation: who spoke how often, and what was asked last.
pub fn digest(parts: &[Part]) -> String {
    // The newest message is the one that asks for this.
    let asked: Vec<&str> = parts.iter().filter_map(asked).collect();
    let asked = asked.split_last().map_or(&[][..], |(_, asked)| asked);
    let answers = parts.iter().filter(|part| matches!(part, Part::Assistant { .. })).count();
    let last = asked.last().map(|text| format!(" The last was \"{}\".", cut(text, 80)));
    let last = last.unwrap_or_default();
    format!("{} messages came and {answers} answers were given.{last}", asked.len())
}

fn asked(part: &Part) -> Option<&str> {
    match part {
        Part::User { text, .. } => Some(text),
        Part::Assistant { .. } | Part::Result { .. } | Part::Pictures { .. } => None,
    }
}

/// The answer to anything that asks for nothing in particular.
pub fn answer(text: &str, images: usize) -> String {
    if is_greeting(text) {
        return format!(
            "Hello! I am the demo model that is built into Megaron. I understand nothing, but I can \
             show you around:\n\n{ABILITIES}\n\n{OTHERS}"
        );
    }
    let heard = match text.lines().next() {
        Some(line) => format!("You said \"{}\". ", cut(line, 80)),
        None => String::new(),
    };
    let seen = match images {
        0 => String::new(),
        1 => "Your file arrived, though I cannot look into it. ".into(),
        count => format!("Your {count} files arrived, though I cannot look into them. "),
    };
    format!(
        "{heard}{seen}I am the demo model that is built into Megaron: I follow fixed rules and \
         understand nothing, so that everything else can be tried without an account or a network. \
         This is what I can do:\n\n{ABILITIES}\n\n{OTHERS}"
    )
}

fn is_greeting(text: &str) -> bool {
    let text = text.to_lowercase();
    let mut words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let first = words.next().unwrap_or_default();
    matches!(first, "hi" | "hello" | "hey" | "hallo" | "moin") && words.count() <= 2
}

pub fn thoughts(message: &str, steps: usize) -> String {
    let plan = match steps {
        0 => "No tool is needed for this, so I can answer right away.".into(),
        1 => "One step with tools is needed, then I can answer.".into(),
        steps => format!("{steps} steps with tools are needed, then I can answer."),
    };
    format!(
        "Let me think. The message is {} bytes long and has {} lines. {plan}",
        message.len(),
        message.lines().count()
    )
}

pub fn complaint(problems: &[String]) -> String {
    format!("I could not read that, so I have done nothing.\n\n{}", problems.join("\n"))
}

/// What came of each call.
pub fn summary(calls: &[(&ToolRequest, &Output)]) -> String {
    let lines = calls.iter().map(|(call, output)| match output {
        Output::Done { text, .. } if text.is_empty() => {
            format!("`{}` ok, with nothing to show", call.name)
        }
        Output::Done { text, .. } => format!("`{}` ok:{}", call.name, quote(text, SHORT)),
        Output::Failed { message, .. } => {
            format!("`{}` failed:{}", call.name, quote(message, SHORT))
        }
        Output::Interrupted => format!("`{}` was interrupted", call.name),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// What came of a request in plain words.
pub fn outcome(request: &Request, output: &Output) -> String {
    let text = match output {
        Output::Done { text, .. } => text,
        Output::Failed { message, .. } => {
            return format!("That did not work:{}", quote(message, SHORT));
        }
        Output::Interrupted => return "That was interrupted.".into(),
    };
    match request {
        Request::Time { .. } => format!("It is {}.", cut(text, SHORT)),
        Request::List { path: None } => {
            format!("Here are the files:\n{}", fenced(&cut(text, FULL)))
        }
        Request::List { path: Some(path) } => {
            format!("Here is what `{path}` holds:\n{}", fenced(&cut(text, FULL)))
        }
        Request::Read { path } if text.is_empty() => format!("`{path}` is empty."),
        Request::Read { path } => format!("This is `{path}`:\n{}", fenced(&cut(text, FULL))),
        Request::Plan | Request::Show => cut(text, FULL),
    }
}

/// What came of a plan: what its tools brought, but for those that only told of it.
pub fn carried_out(calls: &[(&ToolRequest, &Output)]) -> String {
    let calls: Vec<_> = calls.iter().copied().filter(|(call, _)| call.name != "plan").collect();
    format!("The plan is carried out. This is what I found:\n\n{}", summary(&calls))
}

pub fn failure(kind: Failure) -> ModelError {
    let what = match kind {
        Failure::BadKey => "the key was not accepted",
        Failure::NoQuota => "the account has no quota left",
        Failure::RateLimited => "too many requests in too short a time",
        Failure::Overloaded => "the model is overloaded",
        Failure::ContextTooLong => "the conversation is too long for the model",
        Failure::Refused => "the model refuses to answer",
        Failure::Network => "the connection broke",
        Failure::Protocol => "the answer could not be read",
        Failure::NoModel => "there is no such model",
        Failure::OverBudget => "a budget is spent",
        Failure::Internal => "something broke",
    };
    ModelError::new(kind, format!("{what} (the demo model was told to fail)"))
}

/// What follows a colon: on the same line, or fenced below it.
fn quote(text: &str, most: usize) -> String {
    let text = cut(text, most);
    if text.contains('\n') { format!("\n{}", fenced(&text)) } else { format!(" {text}") }
}

fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{text}\n{fence}")
}

fn cut(text: &str, most: usize) -> String {
    let text = text.trim_end();
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
