//! The program when everything around it goes wrong: killed, cut off, out of space, not listened to.
#![expect(clippy::unwrap_used, clippy::panic, reason = "all of it is a test")]

mod chance;
mod client;
mod disk;
mod half_done;
mod injection;
mod kill;
mod push;
mod put;
mod script;
mod server;
mod slow_reader;
mod stop;
mod story;
mod visitors;
mod watcher;
mod witness;

use std::time::Duration;

/// How long anything may take that must happen in the end; most of it takes milliseconds.
const DEADLINE: Duration = Duration::from_mins(1);
const PAUSE: Duration = Duration::from_millis(5);

/// Looks again and again until there is something to see.
async fn until<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let looking = async {
        loop {
            if let Some(seen) = look().await {
                return seen;
            }
            tokio::time::sleep(PAUSE).await;
        }
    };
    within(what, looking).await
}

async fn within<T>(what: &str, work: impl Future<Output = T>) -> T {
    let done = tokio::time::timeout(DEADLINE, work).await;
    done.unwrap_or_else(|_| panic!("waited in vain for {what}"))
}
