//! What becomes of planned times that have passed, under each rule.

use jiff::{SignedDuration, Timestamp};
use kernel::schedule::{
    Missed,
    due::{CATCH_UP, Decision, Passed, due},
};

use crate::support::{at, cron, rhythm};

const NONE: Passed = Passed { count: 0, more: false };

fn decide(missed: Missed, decided: &str, now: &str) -> Option<Decision> {
    let hourly = rhythm(&cron("0 * * * *", None), at(decided));
    due(&hourly, missed, at(decided), at(now))
}

fn run(time: &str) -> Decision {
    Decision { run: Some(at(time)), merged: NONE, skipped: None, decided: at(time) }
}

#[test]
fn what_comes_in_time_runs_under_every_rule() {
    for missed in [Missed::Skip, Missed::Once, Missed::All] {
        assert_eq!(decide(missed, "2026-02-01T10:00:00Z", "2026-02-01T10:59:59.999Z"), None);
        for now in ["2026-02-01T11:00:00Z", "2026-02-01T11:00:09Z"] {
            let decision = decide(missed, "2026-02-01T10:00:00Z", now);
            assert_eq!(decision, Some(run("2026-02-01T11:00:00Z")), "{missed:?}");
        }
        let again = decide(missed, "2026-02-01T11:00:00Z", "2026-02-01T11:00:09Z");
        assert_eq!(again, None, "once for a planned time");
        let back = decide(missed, "2026-02-01T11:00:00Z", "2026-02-01T08:30:00Z");
        assert_eq!(back, None, "also when the clock is set back");
    }
}

#[test]
fn a_server_that_slept_skips_runs_once_or_makes_up_for_all() {
    let (fell_asleep, woke) = ("2026-02-01T10:30:00Z", "2026-02-01T13:20:00Z");
    let three = Passed { count: 3, more: false };
    let skipped = Decision {
        run: None,
        merged: NONE,
        skipped: Some((at("2026-02-01T13:00:00Z"), three)),
        decided: at("2026-02-01T13:00:00Z"),
    };
    assert_eq!(decide(Missed::Skip, fell_asleep, woke), Some(skipped));
    let two = Passed { count: 2, more: false };
    let once = Decision { merged: two, ..run("2026-02-01T13:00:00Z") };
    assert_eq!(decide(Missed::Once, fell_asleep, woke), Some(once));
    let mut decided = fell_asleep.to_owned();
    for expected in ["2026-02-01T11:00:00Z", "2026-02-01T12:00:00Z", "2026-02-01T13:00:00Z"] {
        let decision = decide(Missed::All, &decided, woke);
        assert_eq!(decision, Some(run(expected)));
        expected.clone_into(&mut decided);
    }
    assert_eq!(decide(Missed::All, &decided, woke), None);
}

#[test]
fn one_that_wakes_just_in_time_skips_only_what_is_past() {
    let decision = decide(Missed::Skip, "2026-02-01T10:30:00Z", "2026-02-01T13:00:03Z");
    let two = (at("2026-02-01T12:00:00Z"), Passed { count: 2, more: false });
    let expected = Decision { skipped: Some(two), ..run("2026-02-01T13:00:00Z") };
    assert_eq!(decision, Some(expected));
}

#[test]
fn however_long_it_slept_no_more_than_a_day_of_hours_is_made_up_for() {
    let (fell_asleep, woke) = (at("2026-01-01T00:30:00Z"), at("2026-12-31T12:00:20Z"));
    let hourly = rhythm(&cron("0 * * * *", None), fell_asleep);
    let mut runs: Vec<Timestamp> = Vec::new();
    let mut decided = fell_asleep;
    while let Some(decision) = due(&hourly, Missed::All, decided, woke) {
        let dropped = decision.skipped.map(|(at, passed)| (at, passed.more));
        let first = runs.is_empty();
        assert_eq!(dropped, first.then_some((at("2026-12-30T12:00:00Z"), true)));
        runs.extend(decision.run);
        decided = decision.decided;
    }
    assert_eq!(runs.len(), CATCH_UP);
    assert_eq!(runs.first(), Some(&at("2026-12-30T13:00:00Z")));
    assert_eq!(runs.last(), Some(&at("2026-12-31T12:00:00Z")));
    assert!(runs.is_sorted(), "the oldest first");
    let once = due(&hourly, Missed::Once, fell_asleep, woke).unwrap();
    assert_eq!(once.merged, Passed { count: CATCH_UP, more: true });
}

#[test]
fn a_year_of_looking_now_and_then_runs_every_planned_time_once() {
    let start = at("2026-01-01T00:00:00Z");
    for zone in ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe"] {
        let daily = rhythm(&cron("30 2 * * *", Some(zone)), start);
        let (mut runs, mut decided, mut now) = (Vec::new(), start, start);
        while now < at("2027-01-01T00:00:00Z") {
            while let Some(decision) = due(&daily, Missed::All, decided, now) {
                runs.extend(decision.run);
                decided = decision.decided;
            }
            now += SignedDuration::from_mins(301);
        }
        let planned: Vec<_> = daily.following(start).take(runs.len()).collect();
        assert_eq!((runs.len(), &runs), (365, &planned), "{zone}");
    }
}
