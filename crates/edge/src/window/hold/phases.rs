//! The shipped app through cuts and kills at any moment, in time that only the test moves.

use std::sync::{Mutex, PoisonError};

use futures::{
    FutureExt as _,
    future::{BoxFuture, OptionFuture},
};
use kernel::update::SessionId;
use proptest::prelude::*;
use testkit::MemoryStore;
use tokio::{
    task::JoinHandle,
    time::{Instant, interval_at, sleep, sleep_until, timeout},
};

use super::*;
use crate::window::presence::Phones;

const SESSION: SessionId = SessionId(uuid::Uuid::nil());
const POLL: Duration = Duration::from_secs(10);
const RETRY: Duration = Duration::from_secs(3);
/// Nobody can tell which came first when a cut and a poll fall together.
const TOGETHER: Duration = Duration::from_millis(50);

/// The server, or its absence.
struct House {
    store: Arc<MemoryStore>,
    /// Whether `/status` waits for lost sockets at all.
    holds: bool,
    phones: Mutex<Option<Arc<Phones>>>,
    /// Rises whenever a connection is cut, and whenever all are.
    cuts: watch::Sender<u32>,
    kills: watch::Sender<u32>,
    /// The longest that a status took.
    longest: Mutex<Duration>,
}

/// A socket that answers every ping for as long as it lasts.
struct Socket {
    answering: JoinHandle<()>,
    cut: watch::Receiver<u32>,
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.answering.abort();
    }
}

impl House {
    fn new(holds: bool) -> Arc<Self> {
        let house = Self {
            store: Arc::default(),
            holds,
            phones: Mutex::default(),
            cuts: watch::Sender::new(0),
            kills: watch::Sender::new(0),
            longest: Mutex::default(),
        };
        house.start();
        Arc::new(house)
    }

    fn start(&self) {
        let phones = Arc::new(Phones::new(self.store.clone()));
        *self.phones.lock().unwrap_or_else(PoisonError::into_inner) = Some(phones);
    }

    /// What was in memory is gone, and so is every connection.
    fn kill(&self) {
        *self.phones.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.kills.send_modify(|kills| *kills += 1);
        self.cuts.send_modify(|cuts| *cuts += 1);
    }

    fn phones(&self) -> Option<Arc<Phones>> {
        self.phones.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn connect(&self) -> Option<Socket> {
        let mut cut = self.cuts.subscribe();
        cut.mark_unchanged();
        let presence = self.phones()?.of("a");
        presence.talk(SESSION).await.unwrap();
        presence.change(SESSION, |talk| talk.ponged = true);
        let mut place = presence.enter()?;
        presence.save(SESSION).await.unwrap();
        let answering = tokio::spawn(async move {
            while place.doubts.changed().await.is_ok() {
                place.proved();
            }
        });
        Some(Socket { answering, cut })
    }

    /// Whether it was answered with 200.
    async fn status(self: Arc<Self>) -> bool {
        let Some(phones) = self.phones() else { return false };
        let (mut killed, began) = (self.kills.subscribe(), Instant::now());
        let presence = phones.of("a");
        presence.talk(SESSION).await.unwrap();
        let (_keep, revoked) = watch::channel(false);
        let answered = tokio::select! {
            answer = wait(&presence, phones.started, revoked), if self.holds => answer == Answer::Now,
            () = std::future::ready(()), if !self.holds => true,
            _ = killed.changed() => return false,
        };
        let mut longest = self.longest.lock().unwrap_or_else(PoisonError::into_inner);
        *longest = longest.max(began.elapsed());
        answered
    }
}

/// What happens, so long after the app was last well; a server that is killed is away for a while.
#[derive(Clone, Copy, Debug)]
struct Blow {
    after: Duration,
    away: Option<Duration>,
}

/// How the app behaves: it polls every ten seconds, and opens a lost socket three seconds later unless a
/// poll was answered meanwhile.
struct Phone {
    house: Arc<House>,
    began: Instant,
    socket: Option<Socket>,
    asking: Option<BoxFuture<'static, bool>>,
    reachable: bool,
    retry: Option<Instant>,
}

impl Phone {
    async fn open(house: &Arc<House>) -> Self {
        let (house, socket) = (house.clone(), house.connect().await);
        assert!(socket.is_some());
        Self { house, began: Instant::now(), socket, asking: None, reachable: true, retry: None }
    }

    /// How long it took to come back from this; nothing if it never does.
    async fn bear(&mut self, Blow { after, away }: Blow) -> Option<Duration> {
        let poll = self.began + POLL;
        let mut at = Instant::now() + after;
        while (at - self.began + TOGETHER).as_millis() % POLL.as_millis()
            <= 2 * TOGETHER.as_millis()
        {
            at += Duration::from_millis(1);
        }
        let house = self.house.clone();
        let blow = tokio::spawn(async move {
            sleep_until(at).await;
            let Some(away) = away else { return house.cuts.send_modify(|cuts| *cuts += 1) };
            house.kill();
            sleep(away).await;
            house.start();
        });
        let next = (Instant::now() - self.began).as_nanos() / POLL.as_nanos();
        let mut polls = interval_at(poll + POLL * u32::try_from(next).unwrap(), POLL);
        let mut lost = None;
        let back = loop {
            if lost.is_some() && self.socket.is_none() && self.retry.is_none() {
                return None;
            }
            let retry = self.retry;
            tokio::select! {
                _ = polls.tick(), if self.asking.is_none() => {
                    let status = timeout(POLL, self.house.clone().status());
                    self.asking = Some(status.map(|answer| answer == Ok(true)).boxed());
                }
                Some(answered) = OptionFuture::from(self.asking.as_mut()) => {
                    (self.asking, self.reachable) = (None, answered);
                }
                Some(_) = OptionFuture::from(self.socket.as_mut().map(|it| it.cut.changed())) => {
                    (self.socket, self.reachable) = (None, false);
                    lost = Some(Instant::now());
                    self.retry = Some(Instant::now() + RETRY);
                }
                () = sleep_until(retry.unwrap_or_else(Instant::now)), if retry.is_some() => {
                    self.retry = None;
                    if self.reachable {
                        continue;
                    }
                    self.socket = self.house.connect().await;
                    match &self.socket {
                        Some(_) => break lost.map(|lost| lost.elapsed()),
                        None => self.retry = Some(Instant::now() + RETRY),
                    }
                }
            }
        };
        blow.await.unwrap();
        back
    }
}

/// How long the app took to come back from each of these, and the longest that a status took.
fn play(holds: bool, blows: &[Blow]) -> (Vec<Option<Duration>>, Duration) {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let house = House::new(holds);
        let mut phone = Phone::open(&house).await;
        let mut back = Vec::new();
        for blow in blows {
            back.push(phone.bear(*blow).await);
            if back.last() == Some(&None) {
                break;
            }
        }
        let longest = *house.longest.lock().unwrap_or_else(PoisonError::into_inner);
        (back, longest)
    })
}

fn blow() -> impl Strategy<Value = Blow> {
    let away = prop::option::of((1..20_000u64).prop_map(Duration::from_millis));
    let blow = |(after, away)| Blow { after: Duration::from_millis(after), away };
    (0..25_000u64, away).prop_map(blow)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_app_comes_back_from_every_cut_and_every_kill(
        blows in prop::collection::vec(blow(), 1..5),
    ) {
        let (back, longest) = play(true, &blows);
        prop_assert_eq!(back.len(), blows.len());
        for (blow, back) in blows.iter().zip(back) {
            // Every three seconds it tries; the first time that somebody is there it is back.
            let away = blow.away.unwrap_or_default();
            let tries = (away.as_millis() / RETRY.as_millis() + 1).max(1);
            let soonest = RETRY * u32::try_from(tries).unwrap();
            prop_assert!(back.is_some_and(|back| back <= soonest + Duration::from_millis(10)));
        }
        prop_assert!(longest <= Duration::from_secs(9));
    }
}

/// Cut at the eighth second, it is back at the eleventh; without waiting it would be gone for good.
#[test]
fn an_answer_in_between_would_lose_the_app_for_ever() {
    let blow = Blow { after: Duration::from_secs(8), away: None };
    let (back, _) = play(true, &[blow]);
    assert_eq!(back[0].map(|back| back.as_secs()), Some(3));
    assert_eq!(play(false, &[blow]).0, [None]);
}
