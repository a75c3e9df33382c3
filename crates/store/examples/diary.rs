//! Writes a session with a long past into a data directory: `diary <directory> <facts>`. It prints
//! the session's id and how many turns there are.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "an example for tests")]

use std::{env, path::Path};

use kernel::ports::Log as _;
use store::Store;
use testkit::{Author, diary};

#[tokio::main]
async fn main() {
    let given: Vec<String> = env::args().skip(1).collect();
    let [directory, facts] = given.as_slice() else {
        println!("usage: diary <directory> <facts>");
        return;
    };
    let turns = diary::turns(facts.parse().unwrap());
    let store = Store::open(Path::new(directory)).unwrap();
    let mut author = Author::new(1);
    for batch in diary::batches(&mut author, turns) {
        store.append(batch).await.unwrap();
    }
    println!("{} {turns}", author.session);
}
