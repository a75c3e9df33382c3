//! Whatever is said, taken back and summed up, the model is shown what it would be shown had nothing of what was taken back been said.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use kernel::{
    host::{Host, Settings},
    prompt::Part,
    update::{Message, Seq, SessionId, WhenBusy},
};
use proptest::{collection::vec, prelude::*};
use serde_json::json;
use testkit::{
    World,
    model::{call, text, usage},
};

#[derive(Clone, Debug)]
enum Act {
    Say,
    /// Says something instead of one of the messages that stand.
    Instead(usize),
    Compact,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![4 => Just(Act::Say), 3 => any::<usize>().prop_map(Act::Instead), 1 => Just(Act::Compact)]
}

/// Something that was done and still counts, by its number.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Done {
    Said(u64),
    SummedUp(u64),
}

struct House {
    world: World,
    host: std::sync::Arc<Host>,
    id: SessionId,
}

impl House {
    async fn new() -> Self {
        let world = World::new([]);
        let host = Host::start(world.ports(), Settings::default()).await.unwrap();
        let id = host.create("/".as_ref(), "test", "").await.unwrap();
        Self { world, host, id }
    }

    /// What is said, and all that comes of it, depends on the number alone.
    async fn say(&self, number: u64, replaces: Option<Seq>) -> Seq {
        if number.is_multiple_of(3) {
            let tool = call(&format!("c{number}"), "echo", json!({ "number": number }));
            self.world.model.push(vec![text("wait"), tool, usage(number, 1)]);
        }
        let reply = text(&format!("reply {number}"));
        let counted = usage(100 + number, number);
        self.world.model.push(vec![reply, counted]);
        let message = Message { replaces, ..Message::from_user(format!("message {number}")) };
        let receipt = self.host.post(self.id, message, WhenBusy::Refuse).await.unwrap();
        self.idle().await;
        receipt.seq
    }

    async fn sum_up(&self, number: u64) {
        self.world.model.push(vec![text(&format!("summary {number}"))]);
        assert!(self.host.compact(self.id).await.unwrap());
        self.idle().await;
    }

    async fn idle(&self) {
        let mut news = self.host.roster.listen();
        while self.host.roster.get(self.id).unwrap().is_unfinished() {
            news.recv().await.unwrap();
        }
    }

    /// How full the session is said to be, what the model is shown next, and when it sums up.
    async fn end(&self) -> (Option<u64>, Option<String>, Vec<Part>, Vec<Part>) {
        let state = self.host.roster.get(self.id).unwrap();
        self.say(1_000, None).await;
        let shown = self.shown();
        self.sum_up(1_001).await;
        (state.filled, state.summary.clone(), shown, self.shown())
    }

    fn shown(&self) -> Vec<Part> {
        self.world.model.prompts().pop().unwrap().parts
    }
}

async fn all_of_it(acts: Vec<Act>) -> (House, Vec<Done>) {
    let house = House::new().await;
    let mut standing: Vec<(Done, Seq)> = Vec::new();
    for (act, number) in acts.into_iter().zip(1..) {
        let said = |(done, _): &(Done, Seq)| matches!(done, Done::Said(_));
        let places: Vec<usize> = (0..standing.len()).filter(|it| said(&standing[*it])).collect();
        match act {
            Act::Instead(which) if !places.is_empty() => {
                let place = places[which % places.len()];
                let seq = house.say(number, Some(standing[place].1)).await;
                standing.truncate(place);
                standing.push((Done::Said(number), seq));
            }
            Act::Say | Act::Instead(_) => {
                let seq = house.say(number, None).await;
                standing.push((Done::Said(number), seq));
            }
            Act::Compact if places.is_empty() => (),
            Act::Compact => {
                house.sum_up(number).await;
                standing.push((Done::SummedUp(number), Seq(0)));
            }
        }
    }
    (house, standing.into_iter().map(|(done, _)| done).collect())
}

async fn what_stands(done: Vec<Done>) -> House {
    let house = House::new().await;
    for done in done {
        match done {
            Done::Said(number) => drop(house.say(number, None).await),
            Done::SummedUp(number) => house.sum_up(number).await,
        }
    }
    house
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_model_is_shown_what_stands_and_nothing_else(acts in vec(act(), 1..24)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let (all, standing) = all_of_it(acts).await;
            let only = what_stands(standing).await;
            assert_eq!(all.end().await, only.end().await);
        });
    }
}
