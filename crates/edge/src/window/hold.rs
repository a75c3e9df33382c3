//! Keeping a request for the status waiting while the phone's socket is gone, so that it comes back.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::watch,
    time::{Instant, timeout_at},
};

use super::presence::{Presence, patience};

/// How long a socket may take to prove that it lives.
const PROOF: Duration = Duration::from_secs(2);
/// How many requests of one device may wait.
const HELD: usize = 4;

#[derive(Debug, PartialEq, Eq)]
pub enum Answer {
    Now,
    /// Too many wait already.
    Busy,
}

/// Returns when the phone may be told that all is well.
pub async fn wait(
    presence: &Arc<Presence>,
    started: Instant,
    mut revoked: watch::Receiver<bool>,
) -> Answer {
    let arrival = Instant::now();
    let Some(_held) = presence.hold(HELD) else { return Answer::Busy };
    if presence.is_here() {
        if !presence.pongs() {
            return Answer::Now;
        }
        let doubt = presence.doubt();
        let proved = || presence.has_proved(doubt) || !presence.is_here();
        until(presence, arrival + PROOF, proved).await;
        if presence.has_proved(doubt) {
            return Answer::Now;
        }
        // Whoever holds the silent socket closes it now.
        until(presence, arrival + PROOF + PROOF / 2, || !presence.is_here()).await;
    }
    let Some(lost) = presence.lost() else { return Answer::Now };
    let limit = arrival + patience(lost, arrival, started);
    tokio::select! {
        () = until(presence, limit, || presence.lost().is_none()) => (),
        _ = revoked.wait_for(|revoked| *revoked) => (),
    }
    Answer::Now
}

async fn until(presence: &Presence, limit: Instant, is_so: impl Fn() -> bool) {
    let mut changes = presence.changes();
    // An error means that it took too long, which is answered like the rest.
    timeout_at(limit, changes.wait_for(|_| is_so())).await.ok();
}

#[cfg(test)]
mod phases;

#[cfg(test)]
mod tests {
    use kernel::update::{Seq, SessionId};
    use testkit::MemoryStore;

    use super::*;
    use crate::window::presence::Phones;

    const SESSION: SessionId = SessionId(uuid::Uuid::nil());

    fn phones() -> Phones {
        Phones::new(Arc::new(MemoryStore::default()))
    }

    /// How long the status takes.
    async fn held(phones: &Phones, presence: &Arc<Presence>) -> Duration {
        let (_keep, revoked) = watch::channel(false);
        let began = Instant::now();
        assert_eq!(wait(presence, phones.started, revoked).await, Answer::Now);
        began.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn the_status_waits_for_a_lost_socket_and_no_longer() {
        let phones = phones();
        let presence = phones.of("a");
        presence.talk(SESSION).await.unwrap();
        assert_eq!(held(&phones, &presence).await, Duration::ZERO, "never connected");
        let place = presence.enter().unwrap();
        assert_eq!(held(&phones, &presence).await, Duration::ZERO, "healthy, and never ponged");
        drop(place);
        tokio::time::advance(Duration::from_secs(2)).await;
        assert_eq!(held(&phones, &presence).await.as_secs(), 8, "lost a moment ago");
        assert_eq!(held(&phones, &presence).await.as_secs(), 4, "lost a while ago");
        let mut place = presence.enter().unwrap();
        place.well = true;
        drop(place);
        assert_eq!(held(&phones, &presence).await, Duration::ZERO, "it said goodbye");
    }

    #[tokio::test(start_paused = true)]
    async fn the_status_comes_with_the_socket_or_with_the_history() {
        let phones = phones();
        let presence = phones.of("a");
        for comes in [0, 1] {
            drop(presence.enter());
            let later = presence.clone();
            let back = tokio::spawn(async move {
                tokio::time::sleep(Duration::from_secs(3)).await;
                if comes == 0 {
                    return later.enter();
                }
                later.read(SESSION, Seq(0));
                None
            });
            assert_eq!(held(&phones, &presence).await.as_secs(), 3);
            drop(back.await.unwrap());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_socket_that_does_not_prove_itself_is_given_up() {
        let phones = phones();
        let presence = phones.of("a");
        presence.change(SESSION, |talk| talk.ponged = true);
        let mut place = presence.enter().unwrap();
        // It answers at once.
        let alive = tokio::spawn(async move {
            place.doubts.changed().await.unwrap();
            place.proved();
            place
        });
        assert_eq!(held(&phones, &presence).await, Duration::ZERO);
        let mut place = alive.await.unwrap();
        // It is dead, which is noticed after two seconds; the phone comes back in the fourth.
        let (dead, back) = (presence.clone(), presence.clone());
        tokio::spawn(async move {
            place.doubts.changed().await.unwrap();
            tokio::time::sleep(PROOF).await;
            drop(place);
            drop(dead);
        });
        let back = tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(4)).await;
            back.enter()
        });
        assert_eq!(held(&phones, &presence).await.as_secs(), 4);
        drop(back.await.unwrap());
    }

    #[tokio::test(start_paused = true)]
    async fn after_a_restart_those_who_were_connected_are_waited_for() {
        let store = Arc::new(MemoryStore::default());
        let before = Phones::new(store.clone());
        let presence = before.of("a");
        presence.talk(SESSION).await.unwrap();
        let _place = presence.enter().unwrap();
        presence.save(SESSION).await.unwrap();
        let after = Phones::new(store);
        let presence = after.of("a");
        presence.talk(SESSION).await.unwrap();
        assert_eq!(held(&after, &presence).await.as_secs(), 8);
        tokio::time::advance(Duration::from_secs(20)).await;
        assert_eq!(held(&after, &presence).await.as_secs(), 4);
    }

    #[tokio::test(start_paused = true)]
    async fn no_more_than_a_few_wait_at_once() {
        let phones = phones();
        let presence = phones.of("a");
        drop(presence.enter());
        let waiting: Vec<_> = (0..HELD).map(|_| presence.hold(HELD).unwrap()).collect();
        let (_keep, revoked) = watch::channel(false);
        assert_eq!(wait(&presence, phones.started, revoked).await, Answer::Busy);
        drop(waiting);
    }
}
