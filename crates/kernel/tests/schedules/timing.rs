//! When a schedule is due, against a slow way to find out: looking at the clock on the wall all the time.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp, civil::DateTime, tz::TimeZone};
use kernel::schedule::{Rhythm, Timing, TimingError};
use proptest::{collection::btree_set, prelude::*, sample::select, test_runner::Config as Effort};

use crate::support::{at, cron, rhythm};

const DAY: SignedDuration = SignedDuration::from_hours(24);

/// Places that change their clocks, and when they do; one of them by half an hour.
const CHANGES: [(&str, &str); 6] = [
    ("Europe/Berlin", "2026-03-29T01:00:00Z"),
    ("Europe/Berlin", "2026-10-25T01:00:00Z"),
    ("America/New_York", "2026-03-08T07:00:00Z"),
    ("America/New_York", "2026-11-01T06:00:00Z"),
    ("Australia/Lord_Howe", "2026-04-04T15:00:00Z"),
    ("Australia/Lord_Howe", "2026-10-03T15:30:00Z"),
];

/// A pattern by what it matches. Where there is no set, anything does.
#[derive(Clone, Debug)]
struct Fields {
    seconds: BTreeSet<i8>,
    minutes: BTreeSet<i8>,
    hours: Option<BTreeSet<i8>>,
    days: Option<BTreeSet<i8>>,
    weekdays: Option<BTreeSet<i8>>,
}

impl Fields {
    fn expression(&self) -> String {
        let list =
            |set: &BTreeSet<i8>| set.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        let any = |set: &Option<BTreeSet<i8>>| set.as_ref().map_or("*".to_owned(), list);
        let Self { seconds, minutes, hours, days, weekdays } = self;
        let (seconds, minutes) = (list(seconds), list(minutes));
        format!("{seconds} {minutes} {} {} * {}", any(hours), any(days), any(weekdays))
    }

    fn match_wall(&self, wall: DateTime) -> bool {
        let within =
            |set: &Option<BTreeSet<i8>>, it: i8| set.as_ref().is_none_or(|all| all.contains(&it));
        let weekday = wall.date().weekday().to_sunday_zero_offset();
        let day = within(&self.days, wall.day());
        let weekday = within(&self.weekdays, weekday);
        // As ever with cron: where both are named, either will do.
        let date = match (&self.days, &self.weekdays) {
            (Some(_), Some(_)) => day || weekday,
            _ => day && weekday,
        };
        self.seconds.contains(&wall.second())
            && self.minutes.contains(&wall.minute())
            && within(&self.hours, wall.hour())
            && date
    }

    /// Every planned time in a window, by looking at the wall at every step.
    fn watch(
        &self,
        zone: &TimeZone,
        from: Timestamp,
        to: Timestamp,
        step: SignedDuration,
    ) -> Vec<Timestamp> {
        let mut planned = Vec::new();
        let mut shown = (from - step).to_zoned(zone.clone()).datetime();
        let mut now = from;
        while now < to {
            let wall = now.to_zoned(zone.clone()).datetime();
            let matches = match &self.hours {
                None => self.match_wall(wall),
                Some(_) => {
                    let first = zone.to_ambiguous_timestamp(wall).earlier().unwrap() == now;
                    let left_out = std::iter::successors(Some(shown + step), |it| Some(*it + step));
                    let mut left_out = left_out.take_while(|it| *it < wall);
                    (first && self.match_wall(wall)) || left_out.any(|it| self.match_wall(it))
                }
            };
            planned.extend(matches.then_some(now));
            shown = wall;
            now += step;
        }
        planned
    }
}

fn some(range: std::ops::RangeInclusive<i8>) -> impl Strategy<Value = BTreeSet<i8>> {
    btree_set(range, 1..5)
}

fn fields() -> impl Strategy<Value = Fields> {
    let hours = prop_oneof![1 => Just(None), 4 => some(0..=4).prop_map(Some)];
    let days = prop_oneof![3 => Just(None), 1 => some(1..=31).prop_map(Some)];
    let weekdays = prop_oneof![3 => Just(None), 1 => some(0..=6).prop_map(Some)];
    (some(0..=59), hours, days, weekdays).prop_map(|(minutes, hours, days, weekdays)| Fields {
        seconds: BTreeSet::from([0]),
        minutes,
        hours,
        days,
        weekdays,
    })
}

fn agree(fields: &Fields, zone: &str, change: &str, around: SignedDuration, step: SignedDuration) {
    let (change, tz) = (at(change), TimeZone::get(zone).unwrap());
    let (from, to) = (change - around, change + around);
    let seen = fields.watch(&tz, from, to, step);
    let rhythm = rhythm(&cron(&fields.expression(), Some(zone)), from);
    let before = from - SignedDuration::from_secs(1);
    let reckoned: Vec<_> = rhythm.following(before).take_while(|it| *it < to).collect();
    assert_eq!(reckoned, seen, "{} in {zone}", fields.expression());
    for (index, planned) in seen.iter().enumerate() {
        assert_eq!(rhythm.latest(*planned), Some(*planned), "looking back from the very time");
        let next = seen.get(index + 1).copied().unwrap_or(to);
        let shortly_before = next - SignedDuration::from_secs(1);
        assert_eq!(rhythm.latest(shortly_before), Some(*planned), "until the next");
    }
}

proptest! {
    #![proptest_config(Effort { cases: 48, ..Effort::default() })]

    #[test]
    fn what_is_reckoned_is_what_one_sees_on_the_wall(
        fields in fields(), (zone, change) in select(&CHANGES[..])
    ) {
        agree(&fields, zone, change, DAY * 2, SignedDuration::from_mins(1));
    }

    #[test]
    fn to_the_second(
        fields in fields(), seconds in some(0..=59), (zone, change) in select(&CHANGES[..])
    ) {
        let hours = SignedDuration::from_hours(2);
        agree(&Fields { seconds, ..fields }, zone, change, hours, SignedDuration::from_secs(1));
    }
}

/// The runs of a whole year.
fn year(expression: &str, zone: &str) -> Vec<Timestamp> {
    let rhythm = rhythm(&cron(expression, Some(zone)), at("2026-01-01T00:00:00Z"));
    let start = at("2025-12-31T23:59:59Z");
    rhythm.following(start).take_while(|it| *it < at("2027-01-01T00:00:00Z")).collect()
}

#[test]
fn a_year_has_every_day_once_also_those_when_clocks_are_changed() {
    for zone in ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "UTC"] {
        for hour in ["30 1", "30 2", "0 3", "15 2", "45 1"] {
            let runs = year(&format!("{hour} * * *"), zone);
            let tz = TimeZone::get(zone).unwrap();
            let days: BTreeSet<_> = runs.iter().map(|it| it.to_zoned(tz.clone()).date()).collect();
            assert_eq!((runs.len(), days.len()), (365, 365), "{hour} in {zone}");
        }
    }
    for zone in ["Europe/Berlin", "America/New_York", "UTC"] {
        assert_eq!(year("0 * * * *", zone).len(), 365 * 24, "no hour is lost in {zone}");
    }
}

#[test]
fn a_time_that_is_left_out_counts_as_the_first_moment_after_and_one_that_comes_twice_once() {
    let on = |expression: &str, zone: &str, day: &str| -> Vec<String> {
        let all = year(expression, zone);
        let of_day = all.iter().map(ToString::to_string).filter(|it| it.starts_with(day));
        of_day.collect()
    };
    assert_eq!(on("30 2 * * *", "Europe/Berlin", "2026-03-29"), ["2026-03-29T01:00:00Z"]);
    assert_eq!(on("30 2 * * *", "Europe/Berlin", "2026-10-25"), ["2026-10-25T00:30:00Z"]);
    assert_eq!(on("0,30 2 * * *", "America/New_York", "2026-03-08"), ["2026-03-08T07:00:00Z"]);
    assert_eq!(on("30 1 * * *", "America/New_York", "2026-11-01"), ["2026-11-01T05:30:00Z"]);
    assert_eq!(on("15 2 * * *", "Australia/Lord_Howe", "2026-10-03"), ["2026-10-03T15:30:00Z"]);
}

#[test]
fn the_twenty_ninth_of_february_comes_when_it_does() {
    let rhythm = rhythm(&cron("0 12 29 2 *", Some("UTC")), at("2026-01-01T00:00:00Z"));
    let next: Vec<String> = rhythm
        .following(at("2026-01-01T00:00:00Z"))
        .take(2)
        .map(|it: Timestamp| format!("{it}"))
        .collect();
    assert_eq!(next, ["2028-02-29T12:00:00Z", "2032-02-29T12:00:00Z"]);
}

#[test]
fn names_and_short_forms_are_understood() {
    let start = at("2026-02-01T10:00:00Z");
    for (expression, next) in [
        ("@hourly", "2026-02-01T11:00:00Z"),
        ("@daily", "2026-02-02T00:00:00Z"),
        ("@weekly", "2026-02-08T00:00:00Z"),
        ("@monthly", "2026-03-01T00:00:00Z"),
        ("@yearly", "2027-01-01T00:00:00Z"),
        ("0 9 * * MON-FRI", "2026-02-02T09:00:00Z"),
        ("0 0 1 jan *", "2027-01-01T00:00:00Z"),
        ("0 0 L * *", "2026-02-28T00:00:00Z"),
        ("0 0 * * FRI#2", "2026-02-13T00:00:00Z"),
        ("30 0 10 * * *", "2026-02-01T10:00:30Z"),
    ] {
        let rhythm = rhythm(&cron(expression, Some("UTC")), start);
        assert_eq!(
            rhythm.after(start).map(|it: Timestamp| format!("{it}")).as_deref(),
            Some(next),
            "{expression}"
        );
        assert_eq!(rhythm.check(start), Ok(()), "{expression}");
    }
}

#[test]
fn an_interval_is_counted_from_where_it_began_however_late_one_looks() {
    let anchor = at("2026-02-01T10:00:00.250Z");
    let rhythm = rhythm(&Timing::Interval { minutes: 90 }, anchor);
    assert_eq!(rhythm.after(anchor), Some(at("2026-02-01T11:30:00Z")));
    assert_eq!(rhythm.after(at("2026-02-01T11:30:00Z")), Some(at("2026-02-01T13:00:00Z")));
    assert_eq!(rhythm.after(at("2026-02-02T10:00:01Z")), Some(at("2026-02-02T11:30:00Z")));
    assert_eq!(rhythm.after(at("2020-01-01T00:00:00Z")), Some(at("2026-02-01T11:30:00Z")));
    assert_eq!(rhythm.latest(at("2026-02-01T11:29:59Z")), None, "the anchor is no run");
    assert_eq!(rhythm.latest(at("2026-02-01T13:59:59Z")), Some(at("2026-02-01T13:00:00Z")));
}

#[test]
fn what_cannot_be_planned_is_explained() {
    let start = at("2026-02-01T10:00:00Z");
    let tried = |timing: Timing| {
        let read = Rhythm::read(&timing, start, &TimeZone::UTC);
        read.and_then(|rhythm| rhythm.check(start)).unwrap_err()
    };
    for expression in
        ["", " ", "x", "61 * * * *", "* * * *", "* * * * * * *", "0 0 32 * *", "@often"]
    {
        let error = tried(cron(expression, None));
        assert_eq!(error.to_string(), "Invalid cron expression", "{expression}");
        assert!(error.explained().len() > "Invalid cron expression: ".len(), "{expression}");
    }
    let too_often = "Cron expression runs every 30 seconds. Minimum interval is 1 minute";
    assert_eq!(tried(cron("*/30 * * * * *", None)).to_string(), too_often);
    // The first two are far apart; a later pair is not.
    assert_eq!(tried(cron("0,30 0 0 * * *", None)).to_string(), too_often);
    assert_eq!(tried(cron("0 0 30 2 *", None)), TimingError::Never);
    assert_eq!(tried(Timing::Interval { minutes: 0 }), TimingError::TooShort);
    assert_eq!(tried(Timing::Interval { minutes: u32::MAX }), TimingError::TooLong);
    let nowhere = tried(cron("@daily", Some("Mars/Olympus")));
    assert_eq!(nowhere.to_string(), "Unknown timezone: Mars/Olympus");
}
