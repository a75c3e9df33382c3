//! Writes a session with a long past into a data directory: `diary <directory> <facts>`. It prints
//! the session's id and how many turns there are.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "an example for tests")]

use std::{env, path::Path};

use kernel::{ports::Log as _, update::Seq};
use store::Store;
use testkit::{Author, diary};

/// How many turns are stored at once.
const TOGETHER: u64 = 50;

#[tokio::main]
async fn main() {
    let given: Vec<String> = env::args().skip(1).collect();
    let [directory, facts] = given.as_slice() else {
        println!("usage: diary <directory> <facts>");
        return;
    };
    let turns = facts.parse::<u64>().unwrap() / diary::FACTS;
    let store = Store::open(Path::new(directory)).unwrap();
    let mut author = Author::new(1);
    store.append(author.batch([diary::opened("/home/person")])).await.unwrap();
    for begin in (1..=turns).step_by(TOGETHER as usize) {
        let first = author.state.last.0 + 1;
        let numbers = begin..=turns.min(begin + TOGETHER - 1);
        let place = |number| Seq(first + (number - begin) * diary::FACTS);
        let batch = author.batch(numbers.flat_map(|number| diary::turn(number, place(number))));
        store.append(batch).await.unwrap();
    }
    println!("{} {turns}", author.session);
}
