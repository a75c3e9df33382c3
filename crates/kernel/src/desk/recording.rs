//! The one way in which facts come to be.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::{Desk, Draft};
use crate::{
    ledger::Spending,
    ports::{Batch, StoreError},
    state::State,
    update::{Entry, Fact, Update},
};

/// How far apart facts are that come while the clock is behind the last of them.
const STEP: SignedDuration = SignedDuration::from_millis(20);

impl Desk {
    /// Stores, then tells: nobody hears of a fact that could be lost.
    pub(super) async fn record(&mut self, facts: Vec<Fact>) -> Result<(), StoreError> {
        if facts.is_empty() {
            return Ok(());
        }
        let (at, today) = (later(self.ports.clock.now(), self.state.at), self.ports.clock.today());
        let mut state = State::clone(&self.state);
        let mut entries = Vec::with_capacity(facts.len());
        let mut ends_draft = false;
        for fact in facts {
            ends_draft |= matches!(fact, Fact::Answered(_) | Fact::TurnEnded(_));
            let entry = Arc::new(Entry { seq: state.last.next(), at, fact });
            state.apply(&entry);
            entries.push(entry);
        }
        let state = Arc::new(state);
        let spent = entries.iter().filter_map(|entry| Spending::of(&entry.fact, today)).collect();
        let batch = Batch {
            session: self.id,
            entries: entries.clone(),
            state: state.clone(),
            spent,
            ends_draft,
        };
        self.ports.log.append(batch).await?;
        let settles = |entry: &Arc<Entry>| matches!(entry.fact, Fact::CompactionEnded(_));
        if ends_draft || entries.iter().any(settles) {
            self.heard = None;
        }
        metrics::counter!("megaron_facts_total").increment(entries.len() as u64);
        self.roster.update(self.id, &state, &entries);
        self.seat.hear(&entries);
        self.state = state;
        if ends_draft {
            self.draft = Draft::default();
        }
        self.publish(entries.into_iter().map(Update::Fact).collect());
        Ok(())
    }
}

/// No fact is older than the one before it, even if the clock was set back: a place in the log can
/// be found by its time, and no second ever holds more than a few facts for want of a true one.
fn later(now: Timestamp, last: Timestamp) -> Timestamp {
    if now >= last { now } else { last.checked_add(STEP).unwrap_or(last) }
}
