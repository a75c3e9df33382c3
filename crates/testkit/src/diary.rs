//! A long past for a reader: numbered turns of every length, so that each can be told from the next.

use kernel::{
    ports::Batch,
    update::{Answer, Fact, Message, Outcome, Output, Seq, ToolRequest},
};
use serde_json::json;

use crate::Author;

/// How many facts a turn has.
const FACTS: usize = 7;
/// How many turns are stored at once.
const TOGETHER: u64 = 50;

/// How many turns so many facts are.
pub fn turns(facts: u64) -> u64 {
    facts / FACTS as u64
}

/// Everything there is to store of a session with so many turns.
pub fn batches(author: &mut Author, turns: u64) -> Vec<Batch> {
    let mut batches = vec![author.batch([opened()])];
    let mut number = 1;
    while number <= turns {
        let last = turns.min(number + TOGETHER - 1);
        let first = author.state.last.0 + 1;
        let turns = (number..=last).zip((first..).step_by(FACTS));
        batches.push(author.batch(turns.flat_map(|(number, first)| turn(number, Seq(first)))));
        number = last + 1;
    }
    batches
}

fn opened() -> Fact {
    let (cwd, model) = ("/home/person".to_owned(), "demo".to_owned());
    Fact::Opened { cwd, model, name: "A long diary".to_owned(), parent: None }
}

/// The turn of this number, whose first fact has this place: a question, a call of a tool and an
/// answer.
fn turn(number: u64, first: Seq) -> [Fact; FACTS] {
    let call = format!("call-{number}");
    let args = json!({ "path": format!("day-{number}.md") });
    let request = ToolRequest {
        id: call.clone(),
        name: "read_file".to_owned(),
        args,
        title: format!("Reading day-{number}.md"),
    };
    let asking = Answer { calls: vec![request], ..Answer::to(Seq(first.0 + 1)) };
    let text = format!("Answer {number}. {}", "It was a quiet day. ".repeat(length(number)));
    let question = Message::from_user(format!("Question {number}"));
    [
        Fact::Said { message: question, queued: None },
        Fact::StepStarted { index: 0 },
        Fact::Answered(asking),
        Fact::ToolReturned { call, output: Output::done(format!("Day {number}.\nNothing.")) },
        Fact::StepStarted { index: 1 },
        Fact::Answered(Answer { text, ..Answer::to(Seq(first.0 + 4)) }),
        Fact::TurnEnded(Outcome::Finished),
    ]
}

/// Mostly short, now and then long, never in step with a page.
fn length(number: u64) -> usize {
    usize::try_from(number * 7 % 13 * if number.is_multiple_of(17) { 9 } else { 1 }).unwrap_or(1)
}
