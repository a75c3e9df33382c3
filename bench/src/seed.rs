//! Data directories with a past, written by the store itself.

use std::{io, path::Path};

use futures::future::try_join_all;
use kernel::{
    ports::Log as _,
    update::{Answer, Fact, Message, Outcome, Seq},
};
use store::Store;
use testkit::{Author, diary};
use tokio::runtime::{Builder, Runtime};

pub fn sessions(data: &Path, count: u64) -> anyhow::Result<()> {
    let store = Store::open(data)?;
    runtime()?.block_on(async {
        let begin = |number| {
            let mut author = Author::new(number);
            let folder = format!("/home/person/projects/{}", number % 50);
            let mut facts = vec![opened(&folder)];
            facts.extend(turn(2, "What changed in the parser since yesterday?", "Not much."));
            store.append(author.batch(facts))
        };
        try_join_all((1..=count).map(begin)).await?;
        Ok(())
    })
}

/// One session with so many facts after it was opened.
pub fn one_session(data: &Path, facts: usize) -> anyhow::Result<()> {
    let store = Store::open(data)?;
    runtime()?.block_on(write(&store, 1, facts, &"word ".repeat(40)))
}

/// A session of so many facts that a person could read; returns its id and how many turns there are.
pub fn diary(data: &Path, facts: u64) -> anyhow::Result<(String, u64)> {
    let store = Store::open(data)?;
    let (mut author, turns) = (Author::new(1), diary::turns(facts));
    let batches = diary::batches(&mut author, turns);
    runtime()?.block_on(async {
        for batch in batches {
            store.append(batch).await?;
        }
        anyhow::Ok(())
    })?;
    Ok((author.session.to_string(), turns))
}

/// A gigabyte of long answers in eight sessions; returns how many megabytes they are.
pub fn gigabyte(data: &Path) -> anyhow::Result<f64> {
    let store = Store::open(data)?;
    let text = "a longer answer than most ".repeat(620);
    let facts: u32 = 8 * 32_000;
    runtime()?.block_on(async {
        try_join_all((1..=8).map(|number| write(&store, number, 32_000, &text))).await?;
        anyhow::Ok(())
    })?;
    // One fact in four is an answer.
    Ok(f64::from(facts / 4) * f64::from(u32::try_from(text.len())?) / 1e6)
}

async fn write(store: &Store, number: u64, facts: usize, text: &str) -> anyhow::Result<()> {
    let mut author = Author::new(number);
    store.append(author.batch([opened("/home/person")])).await?;
    for _ in 0..facts / 40 {
        let mut batch = Vec::with_capacity(40);
        for index in 0..10 {
            batch.extend(turn(author.state.last.0 + 1 + index * 4, "and then?", text));
        }
        store.append(author.batch(batch)).await?;
    }
    Ok(())
}

fn opened(cwd: &str) -> Fact {
    Fact::Opened {
        cwd: cwd.to_owned(),
        model: "demo".to_owned(),
        name: String::new(),
        parent: None,
    }
}

/// A whole turn, whose first fact has this place.
fn turn(first: u64, question: &str, answer: &str) -> [Fact; 4] {
    [
        Fact::Said { message: Message::from_user(question), queued: None },
        Fact::StepStarted { index: 0 },
        Fact::Answered(Answer { text: answer.to_owned(), ..Answer::to(Seq(first + 1)) }),
        Fact::TurnEnded(Outcome::Finished),
    ]
}

fn runtime() -> io::Result<Runtime> {
    Builder::new_multi_thread().enable_all().build()
}
