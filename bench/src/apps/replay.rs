//! How fast an app is told again what was done in it, as far as the server decides that.

use std::{sync::Arc, time::Instant};

use anyhow::{Context as _, ensure};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use kernel::apps::{
    AppCall, Asked, Attendance, Kind, Line, Response, Word,
    protocol::{Answer, Outgoing},
};
use serde_json::json;
use tokio::sync::mpsc;

use super::house::House;
use crate::table::Row;

const COMMANDS: u64 = 10_000;
/// How many are made at once.
const AT_ONCE: usize = 500;
const ROUNDS: usize = 3;

pub async fn measure() -> anyhow::Result<Vec<Row>> {
    let house = House::open().await?;
    house.show("dock", "/api/apps/awkward/index.html").await?;
    let mut tab = Tab::open(&house, "first")?;
    tab.answer(1).await?;
    let begun = Instant::now();
    let calls = stream::iter(0..COMMANDS).map(|n| command(&house, n)).buffer_unordered(AT_ONCE);
    let (done, answered) = tokio::join!(calls.try_collect::<Vec<()>>(), tab.answer(COMMANDS));
    done?;
    answered?;
    let commands = rate(begun);
    let mut rates = Vec::new();
    for round in 0..ROUNDS {
        drop(tab);
        tab = Tab::open(&house, &format!("again {round}"))?;
        tab.answer(1).await?;
        let begun = Instant::now();
        tab.answer(COMMANDS).await?;
        rates.push(rate(begun));
    }
    rates.sort_by(f64::total_cmp);
    Ok(vec![
        Row::new("commands that are played again to an app", rates[ROUNDS / 2], "a second")
            .at_least(10_000.0),
        Row::new("commands of many callers at once, each safe on disk", commands, "a second"),
    ])
}

async fn command(house: &House, n: u64) -> anyhow::Result<()> {
    let (command, params) = ("add".to_owned(), Some(json!({ "n": n })));
    let call = AppCall::new("dock", Asked::Command { command, params });
    let answer = house.host.ask_app(house.session, call).await?;
    ensure!(matches!(answer, Answer::Said { .. }), "{answer:?}");
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "small enough")]
fn rate(begun: Instant) -> f64 {
    COMMANDS as f64 / begun.elapsed().as_secs_f64()
}

/// Somebody who shows the window, and answers at once.
struct Tab {
    seat: Attendance,
    asked: mpsc::UnboundedReceiver<Outgoing>,
}

struct Wire(mpsc::UnboundedSender<Outgoing>);

impl Line for Wire {
    fn tell(&self, Word::Request(request): Word) {
        // Nobody listens to one that is gone.
        self.0.send(request).ok();
    }
}

impl Tab {
    fn open(house: &House, instance: &str) -> anyhow::Result<Self> {
        let (sender, asked) = mpsc::unbounded_channel();
        let seat = house.host.attend(house.session, Arc::new(Wire(sender)))?;
        seat.ready_after("dock".to_owned(), None, Some(instance.to_owned()), Some(0));
        Ok(Self { seat, asked })
    }

    /// Answers so many requests.
    async fn answer(&mut self, count: u64) -> anyhow::Result<()> {
        for _ in 0..count {
            let Outgoing { request, window, asked, .. } =
                self.asked.recv().await.context("nothing is asked any more")?;
            let value = match asked.kind() {
                Kind::Manifest => json!({ "appId": "counter", "commands": { "add": {} } }),
                Kind::Query | Kind::Command => json!(1),
            };
            self.seat.answered(request, Some(window), Response::of(asked.kind(), Some(value)));
        }
        Ok(())
    }
}
