//! The store and the memory store agree, whatever is asked of them in whatever order.

#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::{path::Path, sync::Arc};

use jiff::civil::Date;
use kernel::{
    ledger::Spending,
    ports::{Batch, Catalog, Clock as _, Ledger, Log, Shelf},
    state::State,
    update::{Answer, Entry, Fact, Message, Seq, SessionId, ToolRequest},
};
use proptest::prelude::*;
use serde_json::json;
use store::Store;
use testkit::{Author, ManualClock, MemoryStore, every_fact};

#[derive(Clone, Debug)]
enum Step {
    Append { session: u64, from: u64, facts: Vec<Fact>, ends_draft: bool },
    Draft { session: u64, text: String },
    Drafted { session: u64 },
    Read { session: u64, after: u64, limit: usize },
    ReadBack { session: u64, before: u64, limit: usize },
    Keyed { session: u64, key: String },
    Remove { session: u64 },
    Put { name: String, value: String },
    Discard { name: String },
    List { prefix: String },
    Sessions,
    Spending,
    Reopen,
}

fn fact() -> impl Strategy<Value = Fact> {
    let known = (0..every_fact().len()).prop_map(|index| every_fact()[index].clone());
    let keyed = (".*", "[ab]?").prop_map(|(text, key)| {
        Fact::Queued(Message { key: Some(key), ..Message::from_user(text) })
    });
    let number = any::<f64>().prop_filter("JSON has no others", |number| number.is_finite());
    let called = number.prop_map(|number| {
        let args = json!({ "number": number });
        let call = ToolRequest { id: "1".into(), name: "t".into(), args, title: "t".into() };
        Fact::Answered(Answer { calls: vec![call], ..Answer::to(Seq(1)) })
    });
    prop_oneof![known, keyed, called]
}

fn step() -> impl Strategy<Value = Step> {
    let session = 1..=3u64;
    let name = "[a%_ä/]{0,3}";
    prop_oneof![
        6 => (session.clone(), 0..10u64, prop::collection::vec(fact(), 0..4), any::<bool>())
            .prop_map(|(session, from, facts, ends_draft)| Step::Append {
                session, from, facts, ends_draft
            }),
        3 => (session.clone(), ".{0,5}").prop_map(|(session, text)| Step::Draft { session, text }),
        2 => session.clone().prop_map(|session| Step::Drafted { session }),
        1 => (session.clone(), 0..12u64, 0..6usize)
            .prop_map(|(session, after, limit)| Step::Read { session, after, limit }),
        1 => (session.clone(), 0..12u64, 0..6usize)
            .prop_map(|(session, before, limit)| Step::ReadBack { session, before, limit }),
        1 => (session.clone(), "[ab]?").prop_map(|(session, key)| Step::Keyed { session, key }),
        1 => session.prop_map(|session| Step::Remove { session }),
        2 => (name, ".{0,5}").prop_map(|(name, value)| Step::Put { name, value }),
        1 => name.prop_map(|name| Step::Discard { name }),
        1 => name.prop_map(|prefix| Step::List { prefix }),
        1 => Just(Step::Sessions),
        1 => Just(Step::Spending),
        1 => Just(Step::Reopen),
    ]
}

fn id(session: u64) -> SessionId {
    Author::new(session).session
}

/// Takes the step, and tells whatever there is to tell of it.
async fn take(store: &(impl Log + Catalog + Ledger), step: Step) -> String {
    match step {
        Step::Append { session, from, facts, ends_draft } => {
            let session = id(session);
            let all = store.read(session, Seq(0), usize::MAX).await.unwrap();
            // Mostly where the log ends, sometimes elsewhere.
            let start = if from < 8 { all.len() as u64 } else { from - 8 };
            let mut state = State::default();
            let at = Author::new(1).batch([Fact::Observed]).entries[0].at;
            let entry = |(seq, fact)| Arc::new(Entry { seq: Seq(seq), at, fact });
            let entries: Vec<_> = (start + 1..).zip(facts).map(entry).collect();
            for entry in &entries {
                state.apply(entry);
            }
            let day = ManualClock::default().today();
            let spent = entries.iter().filter_map(|entry| Spending::of(&entry.fact, day)).collect();
            let batch = Batch { session, entries, state: Arc::new(state), spent, ends_draft };
            format!("{:?}", store.append(batch).await)
        }
        Step::Draft { session, text } => {
            // Only who is there speaks.
            if store.sessions().await.unwrap().iter().any(|(known, _)| *known == id(session)) {
                store.draft(id(session), &text);
            }
            String::new()
        }
        Step::Drafted { session } => format!("{:?}", store.drafted(id(session)).await),
        Step::Read { session, after, limit } => {
            format!("{:?}", store.read(id(session), Seq(after), limit).await)
        }
        Step::ReadBack { session, before, limit } => {
            format!("{:?}", store.read_back(id(session), Seq(before), limit).await)
        }
        Step::Keyed { session, key } => format!("{:?}", store.keyed(id(session), &key).await),
        Step::Remove { session } => format!("{:?}", store.remove(id(session)).await),
        Step::Put { name, value } => {
            format!("{:?}", store.put(Shelf::Clients, &name, value).await)
        }
        Step::Discard { name } => format!("{:?}", store.discard(Shelf::Clients, &name).await),
        Step::List { prefix } => format!("{:?}", store.list(Shelf::Clients, &prefix).await),
        Step::Sessions => {
            let mut sessions = store.sessions().await.unwrap();
            sessions.sort_by_key(|(id, _)| *id);
            format!("{sessions:?}")
        }
        Step::Spending => {
            let mut spending = store.spending(Date::MIN..=Date::MAX).await.unwrap();
            // What a count stops at is each store's own.
            for one in &mut spending {
                one.sum.input_tokens = one.sum.input_tokens.min(1 << 62);
            }
            format!("{spending:?}")
        }
        Step::Reopen => String::new(),
    }
}

async fn compare(dir: &Path, steps: Vec<Step>) {
    let memory = MemoryStore::default();
    let mut store = Store::open(dir).unwrap();
    for (count, step) in steps.into_iter().enumerate() {
        if matches!(step, Step::Reopen) {
            drop(store);
            store = Store::open(dir).unwrap();
        }
        let shown = format!("step {count}: {step:?}");
        assert_eq!(take(&store, step.clone()).await, take(&memory, step).await, "{shown}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn both_stores_tell_the_same_story(steps in prop::collection::vec(step(), 1..40)) {
        let dir = tempfile::tempdir().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(compare(dir.path(), steps));
    }
}
