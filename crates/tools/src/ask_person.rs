//! Asks the person something, and waits for their answer.

use kernel::{
    question::{About, Question, Verdict},
    toolbox::{Call, Risk},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::{
    agents::House,
    typed::{Typed, shorten},
};

const QUESTION_CHARS: usize = 4000;
const CHOICE_CHARS: usize = 200;
const MOST_CHOICES: usize = 20;

const UNANSWERED: &str = "Nobody answered in time. Go on without an answer as you think best, \
                          change nothing that depends on it, and say what you assumed.";

/// Asks the person a question and waits for the answer. Use it when only they can know, or when a
/// choice is theirs to make; not for leave to use a tool, which is asked for by itself.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// What you want to know, in full: they may not have read the rest.
    question: String,
    /// Answers to choose from.
    choices: Option<Vec<String>>,
    /// Whether an answer in their own words will do as well. It always does without choices.
    free: Option<bool>,
}

pub struct AskPerson {
    pub house: House,
}

impl Typed for AskPerson {
    type Input = Input;
    type Output = String;
    const NAME: &'static str = "ask_person";
    const RISK: Risk = Risk::Reads;
    const PARALLEL: bool = true;

    fn title(&self, input: &Input) -> String {
        format!("Asking: {}", shorten(&input.question, 80))
    }

    async fn run(&self, input: Input, call: Call) -> Result<String, String> {
        let title = self.title(&input);
        let about = about(input)?;
        let question = {
            let host = self.house.host()?;
            Question {
                id: host.ports.clock.id(),
                call: call.id,
                caller: call.caller,
                tool: Self::NAME.to_owned(),
                title,
                about,
                expires: host.approvals.expiry(call.attended),
            }
        };
        match call.session.put(question).await {
            Some(Verdict::Answered { value: Value::String(text) }) => Ok(text),
            Some(Verdict::Answered { value }) => Ok(value.to_string()),
            Some(Verdict::Denied { reason: Some(reason) }) => {
                Ok(format!("The person did not want to answer: {reason}"))
            }
            Some(Verdict::Denied { reason: None } | Verdict::Allowed { .. }) => {
                Ok("The person did not want to answer.".to_owned())
            }
            Some(Verdict::Expired) => Ok(UNANSWERED.to_owned()),
            Some(Verdict::Withdrawn) => Err("the question was withdrawn".to_owned()),
            None => Err("the session ended before anyone answered".to_owned()),
        }
    }
}

fn about(Input { question, choices, free }: Input) -> Result<About, String> {
    let choices = choices.unwrap_or_default();
    let text = question.trim().to_owned();
    if text.is_empty() || text.chars().nth(QUESTION_CHARS).is_some() {
        return Err(format!("the question must have 1 to {QUESTION_CHARS} characters"));
    }
    if choices.len() > MOST_CHOICES {
        return Err(format!("there are {} choices; at most {MOST_CHOICES} fit", choices.len()));
    }
    for (index, choice) in choices.iter().enumerate() {
        if choice.trim().is_empty() || choice.chars().nth(CHOICE_CHARS).is_some() {
            return Err(format!("a choice must have 1 to {CHOICE_CHARS} characters"));
        }
        if choices[..index].contains(choice) {
            return Err(format!("the choice `{choice}` is there twice"));
        }
    }
    let free = free.unwrap_or_default() || choices.is_empty();
    Ok(About::Choice { text, choices, free })
}

#[cfg(test)]
mod tests;
