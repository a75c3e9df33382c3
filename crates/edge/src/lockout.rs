//! Wrong keys: how many are answered from one address and from all, and who is locked out for a while.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

/// How many wrong keys are answered from one address within [`WINDOW`]; a phone that was revoked tries
/// about thirty times a minute.
const MISTAKES: u32 = 120;
/// The same for all addresses together.
const ALL_MISTAKES: u32 = 3000;
const WINDOW: Duration = Duration::from_mins(1);
/// How long an address is locked out, the first time and at most.
const LOCKED: Duration = Duration::from_mins(1);
const LONGEST: Duration = Duration::from_hours(1);
/// How long it is remembered that an address was locked out, or that a good key came from there.
const MEMORY: Duration = Duration::from_hours(24);
/// How many addresses are watched at a time.
const WATCHED: usize = 4096;

#[derive(Default)]
pub struct Lockout(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    all: Count,
    addresses: HashMap<IpAddr, Address>,
}

#[derive(Default)]
struct Count {
    since: Option<Instant>,
    mistakes: u32,
}

struct Address {
    count: Count,
    /// When a good key last came from there.
    good: Option<Instant>,
    locked: Option<Instant>,
    /// How often it was locked out.
    times: u32,
    seen: Instant,
}

impl Count {
    /// One more; how many there are by now in this window.
    fn add(&mut self, now: Instant) -> u32 {
        if self.since.is_none_or(|since| now.duration_since(since) >= WINDOW) {
            (self.since, self.mistakes) = (Some(now), 0);
        }
        self.mistakes = self.mistakes.saturating_add(1);
        self.mistakes
    }

    fn left(&self, now: Instant) -> Duration {
        let end = self.since.map_or(now, |since| since + WINDOW);
        end.saturating_duration_since(now)
    }
}

impl Lockout {
    /// How long nobody from there is listened to, whatever they present.
    ///
    /// Never from this machine, where a proxy may stand for everybody, and never where a good key came
    /// from lately: a page that makes the owner's own browser present wrong keys locks nobody out.
    pub fn shuts(&self, from: Option<IpAddr>) -> Option<Duration> {
        let (from, now) = (part(from?), Instant::now());
        let inner = self.inner();
        let address = inner.addresses.get(&from)?;
        if from.is_loopback() || address.is_known(now) {
            return None;
        }
        let left = address.locked?.saturating_duration_since(now);
        (!left.is_zero()).then_some(left)
    }

    /// Counts a wrong key. Says how long to wait if too many came from there, or from everywhere.
    pub fn mistook(&self, from: Option<IpAddr>) -> Option<Duration> {
        let (from, now) = (part(from?), Instant::now());
        let mut inner = self.inner();
        inner.make_room(now);
        let everybody = inner.all.add(now) > ALL_MISTAKES;
        let wait = inner.all.left(now);
        let address = inner.addresses.entry(from).or_insert_with(|| Address::new(now));
        address.seen = now;
        match address.count.add(now) {
            1 if everybody => (),
            1 => {
                tracing::warn!(%from, "a wrong key was presented; more within a minute are not told of");
            }
            count if count == MISTAKES + 1 => address.lock(from, now),
            _ => (),
        }
        if address.count.mistakes > MISTAKES {
            let locked = address.locked.map(|until| until.saturating_duration_since(now));
            return locked.max(Some(address.count.left(now)));
        }
        everybody.then_some(wait)
    }

    /// A good key came from there.
    pub fn greeted(&self, from: Option<IpAddr>) {
        let Some(from) = from.map(part) else { return };
        let now = Instant::now();
        let mut inner = self.inner();
        inner.make_room(now);
        let address = inner.addresses.entry(from).or_insert_with(|| Address::new(now));
        (address.good, address.seen) = (Some(now), now);
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Those who were heard of longest ago are forgotten, strangers before those who are known.
    fn make_room(&mut self, now: Instant) {
        if self.addresses.len() < WATCHED {
            return;
        }
        self.addresses.retain(|_, it| now.duration_since(it.seen) < MEMORY);
        if self.addresses.len() < WATCHED {
            return;
        }
        let standing = |it: &Address| (it.is_known(now), it.seen);
        let mut all: Vec<_> = self.addresses.values().map(standing).collect();
        // Many at once, or every new stranger would be as much work.
        let (_, newest_gone, _) = all.select_nth_unstable(WATCHED / 4);
        let newest_gone = *newest_gone;
        self.addresses.retain(|_, it| standing(it) > newest_gone);
    }
}

impl Address {
    fn new(now: Instant) -> Self {
        Self { count: Count::default(), good: None, locked: None, times: 0, seen: now }
    }

    fn is_known(&self, now: Instant) -> bool {
        self.good.is_some_and(|good| now.duration_since(good) < MEMORY)
    }

    /// Twice as long each time.
    fn lock(&mut self, from: IpAddr, now: Instant) {
        let lasts = LOCKED.saturating_mul(2_u32.saturating_pow(self.times)).min(LONGEST);
        self.times = self.times.saturating_add(1);
        self.locked = Some(now + lasts);
        metrics::counter!("megaron_locked_out_total").increment(1);
        let seconds = lasts.as_secs();
        tracing::warn!(%from, seconds, "too many wrong keys: this address is locked out");
    }
}

/// One network of the sixth version is one caller: they have addresses to waste.
fn part(from: IpAddr) -> IpAddr {
    match from.to_canonical() {
        IpAddr::V6(ip) if !ip.is_loopback() => {
            let [a, b, c, d, ..] = ip.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        ip => ip,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[expect(clippy::unnecessary_wraps, reason = "it may be unknown where a request is from")]
    fn address(text: &str) -> Option<IpAddr> {
        Some(text.parse().unwrap())
    }

    /// So many wrong keys; what the last was told.
    fn wrong(lockout: &Lockout, from: Option<IpAddr>, count: u32) -> Option<Duration> {
        let mut told = None;
        for _ in 0..count {
            told = lockout.mistook(from);
        }
        told
    }

    #[tokio::test(start_paused = true)]
    async fn a_stranger_is_locked_out_for_longer_each_time_and_nobody_else_is() {
        let lockout = Lockout::default();
        let (stranger, owner) = (address("192.0.2.1"), address("192.0.2.2"));
        assert_eq!(wrong(&lockout, stranger, MISTAKES), None);
        assert_eq!(lockout.shuts(stranger), None);
        for seconds in [60, 120, 240] {
            let wait = Some(Duration::from_secs(seconds));
            assert_eq!(wrong(&lockout, stranger, MISTAKES + 1), wait);
            assert_eq!(lockout.shuts(stranger), wait);
            assert_eq!(lockout.shuts(owner), None);
            tokio::time::advance(Duration::from_secs(seconds)).await;
            assert_eq!(lockout.shuts(stranger), None);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn who_has_shown_a_good_key_is_listened_to_whatever_else_comes_from_there() {
        let lockout = Lockout::default();
        for known in ["192.0.2.2", "2001:db8::7"] {
            lockout.greeted(address(known));
            assert!(wrong(&lockout, address(known), MISTAKES + 1).is_some());
            assert_eq!(lockout.shuts(address(known)), None);
        }
        // Behind this machine's own address may be a proxy with everybody behind it.
        for here in ["127.0.0.1", "::1"] {
            assert!(wrong(&lockout, address(here), MISTAKES + 1).is_some());
            assert_eq!(lockout.shuts(address(here)), None);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn strangers_from_everywhere_are_answered_at_a_pace() {
        let lockout = Lockout::default();
        let mut waits = Vec::new();
        for number in 0..=ALL_MISTAKES {
            let [.., high, low] = number.to_be_bytes();
            let from = IpAddr::from([10, 0, high, low]);
            waits.push(lockout.mistook(Some(from)));
        }
        assert_eq!(waits.iter().position(Option::is_some), Some(ALL_MISTAKES as usize));
        assert_eq!(lockout.shuts(address("10.0.0.0")), None, "nobody is locked out for others");
        tokio::time::advance(WINDOW).await;
        assert_eq!(lockout.mistook(address("10.0.0.0")), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_network_of_addresses_is_one_stranger_and_memory_has_an_end() {
        let lockout = Lockout::default();
        for number in 0..=MISTAKES {
            let from = address(&format!("2001:db8::{number:x}"));
            lockout.mistook(from);
        }
        assert!(lockout.shuts(address("2001:db8::ffff")).is_some());
        lockout.greeted(address("192.0.2.2"));
        for number in 0..2 * WATCHED {
            tokio::time::advance(Duration::from_millis(1)).await;
            let [.., high, low] = number.to_be_bytes();
            lockout.mistook(Some(IpAddr::from([10, 1, high, low])));
        }
        let inner = lockout.inner();
        assert!(inner.addresses.len() <= WATCHED);
        assert!(inner.addresses.contains_key(&"192.0.2.2".parse().unwrap()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_wrong_key_is_told_of_once_a_minute() {
        let (lines, lockout) = (tempfile::NamedTempFile::new().unwrap(), Lockout::default());
        let writer = Arc::new(lines.reopen().unwrap());
        let told = tracing_subscriber::fmt().with_writer(writer).finish();
        let _told = tracing::subscriber::set_default(told);
        for _ in 0..3 {
            for _ in 0..MISTAKES {
                lockout.mistook(address("192.0.2.1"));
            }
            tokio::time::advance(WINDOW).await;
        }
        let text = std::fs::read_to_string(lines.path()).unwrap();
        assert_eq!(text.lines().count(), 3, "{text}");
        assert!(text.lines().all(|line| line.contains("a wrong key was presented")), "{text}");
    }
}
