//! Pages of a conversation, by time: no row is lost between two pages, and none comes twice.

use jiff::{Timestamp, civil::DateTime, tz::TimeZone};
use kernel::{
    back::END,
    ports::{Log, StoreError},
    update::{Seq, SessionId},
};

use super::{
    rows::{Backwards, Row},
    values::second,
};

pub const LIMIT: usize = 20;
pub const MOST: usize = 200;
const PAGE: usize = 128;
/// A page ends after so many bytes, where the second of its oldest row does.
const PAGE_BYTES: usize = 4 << 20;

/// The newest rows before this time, oldest first: `limit` of them, and those that share the second of the
/// oldest. Times on the wire are whole seconds, and a second that is split could not be continued.
pub async fn page(
    log: &dyn Log,
    session: SessionId,
    last: Seq,
    before: Option<Timestamp>,
    limit: usize,
) -> Result<Vec<Row>, StoreError> {
    let place = match before {
        Some(before) => first_at(log, session, last, whole(before)).await?,
        None => END,
    };
    walk(log, session, place, |rows| end(rows, limit)).await
}

/// The newest rows before this place, oldest first, and no more than `limit`.
pub async fn page_before(
    log: &dyn Log,
    session: SessionId,
    place: Seq,
    limit: usize,
) -> Result<Vec<Row>, StoreError> {
    walk(log, session, place, |rows| {
        let mut bytes = 0;
        let large = rows.iter().position(|row| {
            bytes += row.content.len();
            bytes >= PAGE_BYTES
        });
        let end = large.map_or(limit, |large| limit.min(large + 1));
        (rows.len() > end).then_some(end)
    })
    .await
}

/// Back from a place until the rows that `end` wants are whole.
async fn walk(
    log: &dyn Log,
    session: SessionId,
    mut place: Seq,
    end: impl Fn(&[Row]) -> Option<usize>,
) -> Result<Vec<Row>, StoreError> {
    let mut back = Backwards::default();
    loop {
        let facts = log.read_back(session, place, PAGE).await?;
        let Some(oldest) = facts.last() else { break };
        place = oldest.seq;
        for fact in facts {
            back.hear(fact);
        }
        if let Some(end) = end(&back.rows)
            && back.is_whole(end)
        {
            back.rows.truncate(end);
            break;
        }
    }
    back.rows.reverse();
    Ok(back.rows)
}

/// Where a page of rows, newest first, may end: between two seconds, once it is full.
fn end(rows: &[Row], limit: usize) -> Option<usize> {
    let mut bytes = 0;
    for (index, pair) in rows.windows(2).enumerate() {
        bytes += pair[0].content.len();
        let full = index + 1 >= limit || bytes >= PAGE_BYTES;
        if full && second(pair[0].at) != second(pair[1].at) {
            return Some(index + 1);
        }
    }
    None
}

/// The first second that is not before this time.
fn whole(before: Timestamp) -> i64 {
    let second = second(before);
    if before.subsec_nanosecond() == 0 { second } else { second.saturating_add(1) }
}

/// The first fact of this second or a later one. Facts never go back in time, so it can be looked for
/// as in a dictionary.
async fn first_at(
    log: &dyn Log,
    session: SessionId,
    last: Seq,
    wanted: i64,
) -> Result<Seq, StoreError> {
    let (mut low, mut high) = (1, last.0 + 1);
    while low < high {
        let middle = Seq(low + (high - low) / 2);
        let found = log.read(session, middle.before(), 1).await?;
        match found.first() {
            Some(entry) if second(entry.at) < wanted => low = middle.0 + 1,
            _ => high = middle.0,
        }
    }
    Ok(Seq(low))
}

/// Any way to write a moment that RFC 3339 knows, with a blank where a form turned `+` into one, and
/// without a zone meaning UTC.
pub fn moment(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    let text = match text.rsplit_once(' ') {
        Some((date, zone)) if is_offset(zone) => format!("{date}+{zone}"),
        _ => text.to_owned(),
    };
    let zoned = text.parse::<Timestamp>().ok();
    zoned.or_else(|| {
        let local: DateTime = text.parse().ok()?;
        text.contains(['T', 't']).then_some(())?;
        local.to_zoned(TimeZone::UTC).ok().map(|it| it.timestamp())
    })
}

fn is_offset(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    digits == 4 && text.bytes().all(|it| it.is_ascii_digit() || it == b':')
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    };

    use futures::{FutureExt as _, future};
    use kernel::{
        ports::{Batch, Stored},
        state::State,
        update::{Answer, Entry, Fact, Message, Outcome},
    };
    use proptest::prelude::*;
    use testkit::MemoryStore;

    use super::*;

    const SESSION: SessionId = SessionId(uuid::Uuid::nil());

    /// A log whose facts are so many milliseconds apart.
    struct Diary {
        store: MemoryStore,
        state: State,
        millis: i64,
        /// What should be found in it: where, in which second, and what it says.
        rows: Vec<(Seq, i64, String)>,
    }

    impl Diary {
        fn new() -> Self {
            let (store, state, rows) = (MemoryStore::default(), State::default(), Vec::new());
            Self { store, state, millis: 1_000_000, rows }
        }

        fn write(&mut self, gap: i64, fact: Fact, row: Option<String>) {
            self.millis += gap;
            let at = Timestamp::from_millisecond(self.millis).unwrap();
            let entry = Entry { seq: self.state.last.next(), at, fact };
            self.state.apply(&entry);
            self.rows.extend(row.map(|row| (entry.seq, self.millis.div_euclid(1000), row)));
            let batch = Batch {
                session: SESSION,
                entries: vec![Arc::new(entry)],
                state: Arc::new(self.state.clone()),
                spent: Vec::new(),
                ends_draft: false,
            };
            self.store.append(batch).now_or_never().unwrap().unwrap();
        }

        /// A turn, in the middle of which somebody may say something that has to wait.
        fn turn(&mut self, gaps: [i64; 4], queued: bool) {
            let name = self.state.last.0.to_string();
            let message = || Message::from_user(format!("question {name}"));
            let asked = Some(message().text);
            self.write(gaps[0], Fact::Said { message: message(), queued: None }, asked.clone());
            self.write(0, Fact::StepStarted { index: 0 }, None);
            let answer = Answer { text: format!("answer {name}"), ..Answer::to(self.state.last) };
            self.write(gaps[1], Fact::Answered(answer), None);
            if queued {
                self.write(gaps[2], Fact::Queued(message()), asked);
                let waited = self.state.last;
                self.write(0, Fact::Unqueued { queued: waited }, Some("Stopped.".to_owned()));
            }
            let answered = Some(format!("answer {name}"));
            self.write(gaps[3], Fact::TurnEnded(Outcome::Finished), answered);
        }

        fn page(&self, before: Option<i64>, limit: usize) -> Vec<(Seq, i64, String)> {
            let before = before.map(|it| Timestamp::from_second(it).unwrap());
            let page = page(&self.store, SESSION, self.state.last, before, limit);
            let rows = page.now_or_never().unwrap().unwrap();
            rows.into_iter().map(|row| (row.seq, second(row.at), row.content)).collect()
        }
    }

    fn gaps() -> impl Strategy<Value = [i64; 4]> {
        let gap = || prop_oneof![4 => Just(0), 3 => 1..400i64, 2 => 400..3000i64];
        [gap(), gap(), gap(), gap()]
    }

    proptest! {
        #[test]
        fn walking_back_by_the_oldest_time_finds_each_row_once(
            turns in prop::collection::vec((gaps(), any::<bool>()), 1..30),
            meanwhile in prop::collection::vec((gaps(), any::<bool>()), 0..4),
            limit in 1..12usize,
        ) {
            let mut diary = Diary::new();
            for (gaps, queued) in turns {
                diary.turn(gaps, queued);
            }
            let expected = diary.rows.clone();
            let (mut found, mut before) = (Vec::new(), None);
            let mut meanwhile = meanwhile.into_iter();
            loop {
                let page = diary.page(before, limit);
                let Some((_, oldest, _)) = page.first() else { break };
                prop_assert!(page.is_sorted_by_key(|(seq, ..)| *seq));
                prop_assert!(before.is_none_or(|before| page.iter().all(|(_, at, _)| *at < before)));
                let split = found.first().is_some_and(|(_, at, _)| at == oldest);
                prop_assert!(!split, "a second is on two pages");
                before = Some(*oldest);
                found = [page, found].concat();
                // Others go on talking, later than all there is.
                if let Some((gaps, queued)) = meanwhile.next() {
                    diary.millis += 1000;
                    diary.turn(gaps, queued);
                }
            }
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn three_hundred_rows_of_one_instant_are_one_page() {
        let mut diary = Diary::new();
        diary.turn([0; 4], false);
        diary.millis += 5000;
        for _ in 0..150 {
            diary.turn([0; 4], false);
        }
        let newest = diary.page(None, 20);
        assert_eq!(newest, diary.rows[2..]);
        assert_eq!(diary.page(Some(newest[0].1), 20), diary.rows[..2]);
    }

    /// A log as long as one likes that is kept nowhere: turns of four facts, one fact a second.
    struct Endless {
        facts: u64,
        given: AtomicUsize,
    }

    impl Endless {
        fn give(&self, places: impl Iterator<Item = u64>) -> Stored<'_, Vec<Entry>> {
            let facts: Vec<Entry> = places.map(|seq| Self::fact(Seq(seq))).collect();
            self.given.fetch_add(facts.len(), Ordering::Relaxed);
            future::ready(Ok(facts)).boxed()
        }

        fn fact(seq: Seq) -> Entry {
            let at = Timestamp::from_second(i64::try_from(seq.0).unwrap()).unwrap();
            let fact = match seq.0 % 4 {
                1 => Fact::Said { message: Message::from_user("question"), queued: None },
                2 => Fact::StepStarted { index: 0 },
                3 => Fact::Answered(Answer { text: "answer".into(), ..Answer::to(seq.before()) }),
                _ => Fact::TurnEnded(Outcome::Finished),
            };
            Entry { seq, at, fact }
        }
    }

    impl Log for Endless {
        fn append(&self, _: Batch) -> Stored<'_, ()> {
            future::ready(Ok(())).boxed()
        }

        fn read(&self, _: SessionId, after: Seq, limit: usize) -> Stored<'_, Vec<Entry>> {
            self.give((after.0 + 1..=self.facts).take(limit))
        }

        fn read_back(&self, _: SessionId, before: Seq, limit: usize) -> Stored<'_, Vec<Entry>> {
            self.give((1..before.0.min(self.facts + 1)).rev().take(limit))
        }

        fn keyed(&self, _: SessionId, _: &str) -> Stored<'_, Option<Entry>> {
            future::ready(Ok(None)).boxed()
        }

        fn draft(&self, _: SessionId, _: &str) {}

        fn drafted(&self, _: SessionId) -> Stored<'_, String> {
            future::ready(Ok(String::new())).boxed()
        }
    }

    #[test]
    fn a_page_of_a_hundred_thousand_rows_reads_little_more_than_the_page() {
        let log = Endless { facts: 200_000, given: AtomicUsize::new(0) };
        let last = Seq(log.facts);
        for before in [None, Some(1), Some(2), Some(5000), Some(123_456), Some(199_999)] {
            let when = before.map(|second| Timestamp::from_second(second).unwrap());
            let rows = page(&log, SESSION, last, when, LIMIT).now_or_never().unwrap().unwrap();
            let given = log.given.swap(0, Ordering::Relaxed);
            let earlier = before.map_or(log.facts, |second| u64::try_from(second).unwrap() - 1);
            // Of each turn the first fact and the last are rows.
            let expected: Vec<Seq> =
                (1..=earlier).rev().filter(|seq| seq % 4 < 2).take(LIMIT).map(Seq).collect();
            let found: Vec<Seq> = rows.iter().rev().map(|row| row.seq).collect();
            assert_eq!(found, expected, "before {before:?}");
            assert!(given <= PAGE + 18, "{given} facts were read before {before:?}");
        }
    }

    #[test]
    fn a_moment_may_be_written_in_many_ways() {
        let same = [
            "2026-02-07T10:30:00Z",
            "2026-02-07t10:30:00z",
            "2026-02-07T10:30:00+00:00",
            "2026-02-07T11:30:00+01:00",
            "2026-02-07T11:30:00 01:00",
            "2026-02-07T04:30:00-06:00",
            "2026-02-07T10:30:00.000Z",
            "2026-02-07T10:30:00",
        ];
        let expected = "2026-02-07T10:30:00Z".parse::<Timestamp>().ok();
        for text in same {
            assert_eq!(moment(text), expected, "{text}");
        }
        for text in ["", "yesterday", "10:30", "2026-02-07", "2026-13-07T10:30:00Z", "1770460200"] {
            assert_eq!(moment(text), None, "{text}");
        }
    }
}
