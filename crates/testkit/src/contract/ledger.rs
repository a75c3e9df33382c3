//! What a ledger must do.

use jiff::civil::{Date, date};
use kernel::{
    ledger::{Spending, Sum},
    ports::{Catalog, Ledger, Log},
    update::Usage,
};

use super::assert_conflict;
use crate::Author;

const ALL: std::ops::RangeInclusive<Date> = Date::MIN..=Date::MAX;

/// `make` makes a new, empty store.
pub async fn ledger<S: Ledger + Log + Catalog>(make: impl AsyncFn() -> S) {
    each_day_and_model_has_a_sum(&make().await).await;
    only_the_days_asked_for_are_told(&make().await).await;
    what_a_batch_used_is_stored_with_its_facts(&make().await).await;
    a_batch_that_is_refused_used_nothing(&make().await).await;
    what_a_removed_session_used_remains(&make().await).await;
    counts_stay_at_their_highest(&make().await).await;
}

fn spending(day: i8, model: &str, tokens: u64) -> Spending {
    let usage = Usage {
        input_tokens: tokens,
        output_tokens: 2 * tokens,
        cache_read_tokens: 3 * tokens,
        cache_write_tokens: 4 * tokens,
        reasoning_tokens: 5 * tokens,
        cost: Some(0.5),
    };
    Spending::new(date(2026, 2, day), model, usage)
}

fn sum(spending: &[Spending]) -> Sum {
    spending.iter().fold(Sum::default(), |sum, one| sum.plus(one.sum))
}

async fn each_day_and_model_has_a_sum(ledger: &impl Ledger) {
    assert_eq!(ledger.spending(ALL).await.unwrap(), []);
    let (one, two) = (spending(1, "b", 7), spending(1, "b", 70));
    let (other, later) = (spending(1, "a/ä '%", 1), spending(2, "a/ä '%", 1));
    for each in [&later, &one, &other, &two] {
        ledger.spend(each.clone()).await.unwrap();
    }
    let both = Spending { sum: sum(&[one.clone(), two]), ..one };
    assert_eq!((both.sum.requests, both.sum.reasoning_tokens), (2, 385));
    assert_eq!(ledger.spending(ALL).await.unwrap(), [other, both, later]);
}

async fn only_the_days_asked_for_are_told(ledger: &impl Ledger) {
    for day in 1..=5 {
        ledger.spend(spending(day, "m", 1)).await.unwrap();
    }
    let days = async |first, last| {
        let told = ledger.spending(date(2026, 2, first)..=date(2026, 2, last)).await.unwrap();
        told.into_iter().map(|spending| spending.day.day()).collect::<Vec<_>>()
    };
    assert_eq!(days(2, 4).await, [2, 3, 4]);
    assert_eq!(days(3, 3).await, [3]);
    assert_eq!(days(4, 28).await, [4, 5]);
    assert_eq!(days(6, 28).await, [0_i8; 0]);
}

async fn what_a_batch_used_is_stored_with_its_facts<S: Ledger + Log>(store: &S) {
    let mut author = Author::new(1);
    let (one, two) = (spending(1, "m", 1), spending(1, "m", 2));
    let mut batch = author.small(2);
    batch.spent = vec![one.clone(), two.clone()];
    store.append(batch).await.unwrap();
    store.append(author.small(1)).await.unwrap();
    let both = Spending { sum: sum(&[one.clone(), two]), ..one };
    assert_eq!(store.spending(ALL).await.unwrap(), [both]);
}

async fn a_batch_that_is_refused_used_nothing<S: Ledger + Log>(store: &S) {
    let mut author = Author::new(1);
    let mut batch = author.small(1);
    batch.spent = vec![spending(1, "m", 1)];
    store.append(batch.clone()).await.unwrap();
    assert_conflict(&store.append(batch).await, author.session);
    assert_eq!(store.spending(ALL).await.unwrap(), [spending(1, "m", 1)]);
}

async fn what_a_removed_session_used_remains<S: Ledger + Log + Catalog>(store: &S) {
    let mut author = Author::new(1);
    let mut batch = author.small(1);
    batch.spent = vec![spending(1, "m", 1)];
    store.append(batch).await.unwrap();
    store.remove(author.session).await.unwrap();
    assert_eq!(store.spending(ALL).await.unwrap(), [spending(1, "m", 1)]);
}

async fn counts_stay_at_their_highest(ledger: &impl Ledger) {
    let usage = Usage { input_tokens: u64::MAX, cost: Some(f64::MAX), ..Usage::default() };
    for _ in 0..2 {
        ledger.spend(Spending::new(date(2026, 2, 1), "m", usage)).await.unwrap();
    }
    let Sum { requests, input_tokens, cost, .. } = sum(&ledger.spending(ALL).await.unwrap());
    assert!(input_tokens >= i64::MAX.unsigned_abs(), "{input_tokens}");
    assert!((requests, cost) == (2, f64::MAX), "{requests} {cost}");
}
