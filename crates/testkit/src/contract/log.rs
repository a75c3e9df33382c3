//! What a log must do.

use std::sync::Arc;

use futures::future::join_all;
use kernel::{
    ports::{Batch, Catalog, Log},
    update::{Answer, Entry, Fact, Message, Outcome, Seq, SessionId},
};

use super::{all, assert_conflict, entries, states};
use crate::{Author, every_fact};

/// `make` makes a new, empty store.
pub async fn log<S: Log + Catalog>(make: impl AsyncFn() -> S) {
    facts_come_back_exactly_as_they_were(&make().await).await;
    a_page_is_read_in_either_direction(&make().await).await;
    a_batch_that_does_not_fit_leaves_nothing(&make().await).await;
    the_state_is_stored_with_the_facts(&make().await).await;
    a_message_is_found_by_its_key(&make().await).await;
    a_key_is_used_once(&make().await).await;
    a_draft_lasts_until_it_is_said(&make().await).await;
    a_removed_session_is_forgotten(&make().await).await;
    many_sessions_are_written_at_once(&make().await).await;
}

async fn facts_come_back_exactly_as_they_were(store: &impl Log) {
    let (mut one, mut other) = (Author::new(1), Author::new(2));
    let together = one.batch(every_fact());
    store.append(together.clone()).await.unwrap();
    let mut apart = Vec::new();
    for fact in every_fact() {
        let batch = other.batch([fact]);
        store.append(batch.clone()).await.unwrap();
        apart.extend(entries(&batch));
    }
    assert_eq!(all(store, one.session).await, entries(&together));
    assert_eq!(all(store, other.session).await, apart);
    assert_eq!(all(store, Author::new(3).session).await, []);
}

async fn a_page_is_read_in_either_direction(store: &impl Log) {
    const NONE: [u64; 0] = [];
    let mut author = Author::new(1);
    let session = author.session;
    store.append(author.small(10)).await.unwrap();
    let seqs = |page: Vec<Entry>| page.into_iter().map(|entry| entry.seq.0).collect::<Vec<_>>();
    let read = async |after, limit| seqs(store.read(session, Seq(after), limit).await.unwrap());
    assert_eq!(read(0, 3).await, [1, 2, 3]);
    assert_eq!(read(3, 3).await, [4, 5, 6]);
    assert_eq!(read(8, 3).await, [9, 10]);
    assert_eq!(read(10, 3).await, NONE);
    assert_eq!(read(u64::MAX, 3).await, NONE);
    assert_eq!(read(0, 0).await, NONE);
    assert_eq!(read(7, usize::MAX).await, [8, 9, 10]);
    let back = async |before, n| seqs(store.read_back(session, Seq(before), n).await.unwrap());
    assert_eq!(back(11, 3).await, [10, 9, 8]);
    assert_eq!(back(8, 3).await, [7, 6, 5]);
    assert_eq!(back(3, 3).await, [2, 1]);
    assert_eq!(back(1, 3).await, NONE);
    assert_eq!(back(0, 3).await, NONE);
    assert_eq!(back(11, 0).await, NONE);
    assert_eq!(back(u64::MAX, 2).await, [10, 9]);
    assert_eq!(back(4, usize::MAX).await, [3, 2, 1]);
}

async fn a_batch_that_does_not_fit_leaves_nothing<S: Log + Catalog>(store: &S) {
    let mut author = Author::new(1);
    let session = author.session;
    let first = author.small(3);
    store.append(first.clone()).await.unwrap();
    store.draft(session, "half a sen");
    let (kept, state) = (entries(&first), author.state.clone());
    let next = author.small(3);
    let after_a_hole = author.small(1);
    let missing = |at: usize| {
        let mut batch = Batch { ends_draft: true, ..next.clone() };
        batch.entries.remove(at);
        batch
    };
    let mut backwards = next.clone();
    backwards.entries.reverse();
    let mut twice = next.clone();
    twice.entries.extend(next.entries.clone());
    let stranger = Batch { session: Author::new(2).session, ..next.clone() };
    for batch in [first, after_a_hole, missing(0), missing(1), backwards, twice, stranger] {
        let session = batch.session;
        assert_conflict(&store.append(batch).await, session);
    }
    assert_eq!(all(store, session).await, kept);
    assert_eq!(states(store).await, [(session, (*state).clone())].into());
    assert_eq!(store.drafted(session).await.unwrap(), "half a sen");
    store.append(next.clone()).await.unwrap();
    assert_eq!(all(store, session).await, [kept, entries(&next)].concat());
}

async fn the_state_is_stored_with_the_facts<S: Log + Catalog>(store: &S) {
    assert_eq!(states(store).await, [].into());
    let (mut one, mut other) = (Author::new(1), Author::new(2));
    store.append(one.batch(every_fact())).await.unwrap();
    store.append(other.small(1)).await.unwrap();
    let both = |one: &Author, other: &Author| {
        [one, other].map(|author| (author.session, (*author.state).clone())).into()
    };
    assert_eq!(states(store).await, both(&one, &other));
    store.append(other.batch(every_fact())).await.unwrap();
    assert_eq!(states(store).await, both(&one, &other));
}

fn message(text: &str, key: &str) -> Message {
    Message { key: Some(key.to_owned()), ..Message::from_user(text) }
}

async fn a_message_is_found_by_its_key(store: &impl Log) {
    let (mut one, mut other) = (Author::new(1), Author::new(2));
    let said = Fact::Said { message: message("a", "K%_'"), queued: None };
    let queued = Fact::Queued(message("b", "🗝"));
    let batch = one.batch([said, queued, Fact::Queued(Message::from_user("c"))]);
    store.append(batch.clone()).await.unwrap();
    store.append(other.batch([Fact::Queued(message("d", "🗝"))])).await.unwrap();
    let found = async |key| store.keyed(one.session, key).await.unwrap();
    let entry = |at: usize| Some(Entry::clone(&batch.entries[at]));
    assert_eq!(found("K%_'").await, entry(0));
    assert_eq!(found("🗝").await, entry(1));
    for absent in ["", "k%_'", "K%_", "K"] {
        assert_eq!(found(absent).await, None, "{absent}");
    }
    assert_eq!(store.keyed(Author::new(3).session, "🗝").await.unwrap(), None);
}

async fn a_key_is_used_once(store: &impl Log) {
    let mut author = Author::new(1);
    let session = author.session;
    let first = author.batch([Fact::Queued(message("a", "key"))]);
    store.append(first.clone()).await.unwrap();
    let mut other = author.clone();
    let again = other.batch([Fact::Observed, Fact::Queued(message("b", "key"))]);
    assert_conflict(&store.append(again).await, session);
    let mut other = author.clone();
    let double = ["x", "y"].map(|text| Fact::Queued(message(text, "new")));
    assert_conflict(&store.append(other.batch(double)).await, session);
    assert_eq!(all(store, session).await, entries(&first));
    store.append(author.batch([Fact::Queued(message("b", "new"))])).await.unwrap();
}

async fn a_draft_lasts_until_it_is_said(store: &impl Log) {
    let (mut one, mut other) = (Author::new(1), Author::new(2));
    let drafted = async |session: SessionId| store.drafted(session).await.unwrap();
    for author in [&mut one, &mut other] {
        store.append(author.small(1)).await.unwrap();
    }
    assert_eq!(drafted(one.session).await, "");
    for word in ["Hel", "", "lo ", "🏛", "\u{0}!"] {
        store.draft(one.session, word);
    }
    store.draft(other.session, "Other");
    assert_eq!(drafted(one.session).await, "Hello 🏛\u{0}!");
    store.draft(one.session, "!");
    // What is stored meanwhile does not end it.
    store.append(one.batch([Fact::Observed])).await.unwrap();
    assert_eq!(drafted(one.session).await, "Hello 🏛\u{0}!!");
    store.draft(one.session, "?");
    let answer = Answer { text: "Hello".into(), ..Answer::to(Seq(1)) };
    store.append(one.batch([Fact::Answered(answer)])).await.unwrap();
    assert_eq!(drafted(one.session).await, "");
    assert_eq!(drafted(other.session).await, "Other");
    store.draft(one.session, "Next");
    assert_eq!(drafted(one.session).await, "Next");
    store.append(one.batch([Fact::TurnEnded(Outcome::Cancelled)])).await.unwrap();
    assert_eq!(drafted(one.session).await, "");
    // Nobody knows this one, so nothing is kept of it.
    store.draft(Author::new(3).session, "lost");
    assert_eq!(drafted(Author::new(3).session).await, "");
}

async fn a_removed_session_is_forgotten<S: Log + Catalog>(store: &S) {
    let (mut one, mut other) = (Author::new(1), Author::new(2));
    let session = one.session;
    store.append(one.batch(every_fact())).await.unwrap();
    store.append(one.small(2000)).await.unwrap();
    store.append(other.batch(every_fact())).await.unwrap();
    let of_other = all(store, other.session).await;
    for author in [&one, &other] {
        store.draft(author.session, "draft");
    }
    store.remove(session).await.unwrap();
    let nothing_is_left = async || {
        assert_eq!(all(store, session).await, []);
        assert_eq!(store.read_back(session, Seq(u64::MAX), 9).await.unwrap(), []);
        assert_eq!(store.keyed(session, "first").await.unwrap(), None);
        assert_eq!(store.drafted(session).await.unwrap(), "");
    };
    nothing_is_left().await;
    assert_eq!(states(store).await, [(other.session, (*other.state).clone())].into());
    assert_eq!(all(store, other.session).await, of_other);
    assert_eq!(store.drafted(other.session).await.unwrap(), "draft");
    // Its log does not go on where it was, but it may begin again.
    assert_conflict(&store.append(one.small(1)).await, session);
    nothing_is_left().await;
    let mut anew = Author::new(1);
    let batch = anew.batch(every_fact());
    store.append(batch.clone()).await.unwrap();
    assert_eq!(all(store, session).await, entries(&batch));
    store.remove(session).await.unwrap();
    store.remove(session).await.unwrap();
    nothing_is_left().await;
}

async fn many_sessions_are_written_at_once<S: Log + Catalog>(store: &S) {
    let store = Arc::new(store);
    let write = async |number: u64| {
        let mut author = Author::new(number);
        let mut expected = Vec::new();
        for _ in 0..20 {
            let batch = author.small(3);
            expected.extend(entries(&batch));
            store.append(batch.clone()).await.unwrap();
            // Its neighbours in a group are none the worse for one that is refused.
            assert_conflict(&store.append(batch).await, author.session);
        }
        (author, expected)
    };
    let written = join_all((1..=32).map(write)).await;
    let mut expected_states = Vec::new();
    for (author, expected) in written {
        assert_eq!(all(*store, author.session).await, expected);
        expected_states.push((author.session, (*author.state).clone()));
    }
    assert_eq!(states(*store).await, expected_states.into_iter().collect());
}
