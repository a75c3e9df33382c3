//! Schedules to order, and a house that keeps them by a clock that the test turns.

use std::sync::Arc;

use jiff::{Timestamp, tz::TimeZone};
use kernel::{
    host::Host,
    schedule::{Definition, Missed, OnNewNeed, Rhythm, Run, Schedule, Timing},
};

pub const NAME: &str = "daily-news";

pub fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

pub fn cron(expression: &str, zone: Option<&str>) -> Timing {
    Timing::Cron { expression: expression.to_owned(), zone: zone.map(str::to_owned) }
}

pub fn rhythm(timing: &Timing, anchor: Timestamp) -> Rhythm {
    Rhythm::read(timing, anchor, &TimeZone::UTC).unwrap()
}

/// Every full hour, in a session that lasts.
pub fn hourly() -> Definition {
    Definition {
        prompt: "what is new?".into(),
        enabled: true,
        timing: cron("0 * * * *", Some("UTC")),
        model: None,
        cwd: None,
        persist: true,
        missed: Missed::Once,
        on_new_need: OnNewNeed::DenyAndContinue,
    }
}

/// Waits until the schedule is as wished; it is looked at whenever there is news.
pub async fn until(host: &Host, slug: &str, is: impl Fn(&Schedule) -> bool) -> Arc<Schedule> {
    let mut news = host.roster.listen();
    loop {
        if let Some((schedule, _)) = host.schedules.get(slug)
            && is(&schedule)
        {
            return schedule;
        }
        // Having missed some is as good as having heard it.
        news.recv().await.ok();
    }
}

/// Waits until the run for this planned time has ended.
pub async fn ended(host: &Host, slug: &str, due: &str) -> Run {
    let due = at(due);
    let is = |it: &Schedule| it.last.as_ref().is_some_and(|run| run.due == due);
    until(host, slug, is).await.last.clone().unwrap()
}

/// The ledger in short, the oldest first: planned time and outcome.
pub async fn ledger(host: &Host, slug: &str) -> Vec<String> {
    let runs = host.schedules.runs(slug, usize::MAX).await.unwrap();
    let short = |run: &Run| {
        let outcome = run.outcome.map_or("none".to_owned(), |it| format!("{it:?}").to_lowercase());
        format!("{} {outcome}", run.due)
    };
    runs.iter().rev().map(short).collect()
}
