//! Runs as they come to pass: in time, once, on record, whatever happens to the server and its clock.

use std::{collections::BTreeMap, sync::Arc};

use jiff::{SignedDuration, Timestamp};
use kernel::{
    host::Host,
    ports::Log as _,
    schedule::{Definition, Missed, Run, RunError, RunOutcome, Timing},
    update::{Fact, Message, Origin, Seq, SessionId, WhenBusy},
};
use testkit::{
    Gate, World,
    model::{Script, fail, hang, text, wait},
};

use crate::support::{NAME, at, cron, ended, hourly, ledger, until};

fn answers(count: usize) -> impl Iterator<Item = Script> {
    std::iter::repeat_with(|| vec![text("ok")]).take(count)
}

/// Opens the house as a start of the server does.
async fn open(host: &Arc<Host>) {
    host.recover().await;
    host.keep_schedules();
}

async fn said(world: &World, session: SessionId) -> Vec<Message> {
    let entries = world.store.read(session, Seq(0), usize::MAX).await.unwrap();
    let said = entries.into_iter().filter_map(|entry| match entry.fact {
        Fact::Said { message, .. } => Some(message),
        _ => None,
    });
    said.collect()
}

#[test]
fn a_run_begins_when_it_is_due_and_ends_as_its_turn_does() {
    let world = World::new(answers(1));
    world.until_crash(async |host| {
        open(&host).await;
        let put = host.schedules.put(NAME, hourly()).await.unwrap();
        assert_eq!(put, (Some(at("2026-02-01T11:00:00Z")), true));
        world.clock.set(at("2026-02-01T11:00:00.004Z"));
        let run = ended(&host, NAME, "2026-02-01T11:00:00Z").await;
        let session = run.session.unwrap();
        let expected = Run {
            id: run.id,
            due: at("2026-02-01T11:00:00Z"),
            manual: false,
            started: Some(at("2026-02-01T11:00:00.004Z")),
            finished: Some(at("2026-02-01T11:00:00.004Z")),
            outcome: Some(RunOutcome::Success),
            error: None,
            reason: None,
            session: Some(session),
            needed: Vec::new(),
        };
        assert_eq!(run, expected);
        let messages = said(&world, session).await;
        assert_eq!(messages.len(), 1);
        assert_eq!(messages[0].text, "what is new?");
        assert!(matches!(&messages[0].origin, Origin::Schedule { slug, .. } if slug == NAME));
        assert_eq!(host.roster.get(session).unwrap().name, NAME);
        let by_session = host.schedules.by_session();
        let next = Some(at("2026-02-01T12:00:00Z"));
        assert_eq!(by_session, BTreeMap::from([(session, (NAME.to_owned(), next))]));
    });
}

#[test]
fn runs_share_a_session_or_have_one_each() {
    for (persist, sessions) in [(true, 1), (false, 2)] {
        let world = World::new(answers(2));
        world.until_crash(async |host| {
            open(&host).await;
            host.schedules.put(NAME, Definition { persist, ..hourly() }).await.unwrap();
            for hour in ["2026-02-01T11:00:00Z", "2026-02-01T12:00:00Z"] {
                world.clock.set(at(hour));
                ended(&host, NAME, hour).await;
            }
            assert_eq!(host.roster.len(), sessions);
        });
    }
}

#[test]
fn a_lasting_session_that_was_removed_is_made_anew() {
    let world = World::new(answers(2));
    world.until_crash(async |host| {
        open(&host).await;
        host.schedules.put(NAME, hourly()).await.unwrap();
        world.clock.set(at("2026-02-01T11:00:00Z"));
        let first = ended(&host, NAME, "2026-02-01T11:00:00Z").await.session.unwrap();
        host.delete(first).await.unwrap();
        world.clock.set(at("2026-02-01T12:00:00Z"));
        let second = ended(&host, NAME, "2026-02-01T12:00:00Z").await;
        assert_eq!(second.outcome, Some(RunOutcome::Success));
        assert_ne!(second.session, Some(first));
    });
}

#[test]
fn what_is_due_while_it_runs_waits_for_its_end_and_is_then_ruled_upon() {
    for (missed, then) in [
        (Missed::Once, &["2026-02-01T13:00:00Z success"][..]),
        (Missed::All, &["2026-02-01T12:00:00Z success", "2026-02-01T13:00:00Z success"][..]),
        (Missed::Skip, &["2026-02-01T13:00:00Z skipped"][..]),
    ] {
        let gate = Gate::default();
        let slow = vec![wait(&gate), text("at last")];
        let world = World::new(std::iter::once(slow).chain(answers(9)));
        world.until_crash(async |host| {
            open(&host).await;
            host.schedules.put(NAME, Definition { missed, ..hourly() }).await.unwrap();
            world.clock.set(at("2026-02-01T11:00:00Z"));
            until(&host, NAME, |it| it.session.is_some()).await;
            world.clock.set(at("2026-02-01T12:00:00Z"));
            let busy = host.run_schedule(NAME).await.unwrap_err();
            assert!(matches!(busy, RunError::Running(_)), "{busy}");
            world.clock.set(at("2026-02-01T13:30:00Z"));
            gate.open();
            until(&host, NAME, |it| {
                it.decided == at("2026-02-01T13:00:00Z") && it.running.is_none()
            })
            .await;
            let mut expected = vec!["2026-02-01T11:00:00Z success"];
            expected.extend(then);
            assert_eq!(ledger(&host, NAME).await, expected, "{missed:?}");
        });
    }
}

#[test]
fn a_run_in_a_busy_session_waits_its_turn() {
    let gate = Gate::default();
    let world = World::new([vec![text("ok")], vec![wait(&gate), text("slow")], vec![text("late")]]);
    world.until_crash(async |host| {
        open(&host).await;
        host.schedules.put(NAME, hourly()).await.unwrap();
        world.clock.set(at("2026-02-01T11:00:00Z"));
        let session = ended(&host, NAME, "2026-02-01T11:00:00Z").await.session.unwrap();
        let mine = Message::from_user("mine first");
        host.post(session, mine, WhenBusy::Refuse).await.unwrap();
        assert_eq!(host.run_schedule(NAME).await.unwrap(), session);
        assert_eq!(host.roster.get(session).unwrap().queue.len(), 1);
        gate.open();
        let run = until(&host, NAME, |it| it.last.as_ref().unwrap().manual).await;
        assert_eq!(run.last.as_ref().unwrap().outcome, Some(RunOutcome::Success));
        let texts: Vec<String> =
            said(&world, session).await.into_iter().map(|it| it.text).collect();
        assert_eq!(texts, ["what is new?", "mine first", "what is new?"]);
    });
}

#[test]
fn what_fails_or_is_cancelled_is_on_record_as_that() {
    let world =
        World::new([vec![fail(kernel::update::Failure::BadKey, "no such key")], vec![hang()]]);
    world.until_crash(async |host| {
        open(&host).await;
        host.schedules.put(NAME, hourly()).await.unwrap();
        world.clock.set(at("2026-02-01T11:00:00Z"));
        let failed = ended(&host, NAME, "2026-02-01T11:00:00Z").await;
        assert_eq!(failed.outcome, Some(RunOutcome::Error));
        assert_eq!(failed.error.as_deref(), Some("no such key"));
        let session = host.run_schedule(NAME).await.unwrap();
        host.cancel(session).await.unwrap();
        let cancelled = until(&host, NAME, |it| it.last.as_ref().unwrap().manual).await;
        assert_eq!(cancelled.last.as_ref().unwrap().outcome, Some(RunOutcome::Cancelled));
    });
}

#[test]
fn a_server_that_was_off_goes_by_the_rule_when_it_is_back() {
    for (missed, expected) in [
        (Missed::Skip, &["2026-02-01T13:00:00Z skipped"][..]),
        (Missed::Once, &["2026-02-01T13:00:00Z success"][..]),
        (
            Missed::All,
            &[
                "2026-02-01T11:00:00Z success",
                "2026-02-01T12:00:00Z success",
                "2026-02-01T13:00:00Z success",
            ][..],
        ),
    ] {
        let world = World::new(answers(9));
        world.until_crash(async |host| {
            open(&host).await;
            host.schedules.put(NAME, Definition { missed, ..hourly() }).await.unwrap();
        });
        world.clock.set(at("2026-02-01T13:20:00Z"));
        world.until_crash(async |host| {
            open(&host).await;
            until(&host, NAME, |it| {
                it.decided == at("2026-02-01T13:00:00Z") && it.running.is_none()
            })
            .await;
            assert_eq!(ledger(&host, NAME).await, expected, "{missed:?}");
        });
        // And is done with it for good.
        world.until_crash(async |host| {
            open(&host).await;
            world.clock.set(at("2026-02-01T14:00:00Z"));
            ended(&host, NAME, "2026-02-01T14:00:00Z").await;
            assert_eq!(ledger(&host, NAME).await.len(), expected.len() + 1);
        });
    }
}

#[test]
fn one_run_that_stands_for_others_says_so() {
    let world = World::new(answers(1));
    world.until_crash(async |host| {
        open(&host).await;
        host.schedules.put(NAME, hourly()).await.unwrap();
        world.clock.set(at("2026-02-01T13:20:00Z"));
        let run = ended(&host, NAME, "2026-02-01T13:00:00Z").await;
        let reason = "it also stands for 2 planned times that had passed";
        assert_eq!(run.reason.as_deref(), Some(reason));
    });
}

#[test]
fn a_kill_before_the_prompt_is_said_leaves_a_run_that_is_never_repeated() {
    let world = World::new(answers(1));
    world.until_crash(async |host| {
        open(&host).await;
        host.schedules.put(NAME, hourly()).await.unwrap();
        // The run is on record, and nothing more can be: not even a session.
        let gate = world.store.hold_appends();
        world.clock.set(at("2026-02-01T11:00:00Z"));
        gate.reached().await;
    });
    world.store.release_appends();
    world.until_crash(async |host| {
        open(&host).await;
        let run = ended(&host, NAME, "2026-02-01T11:00:00Z").await;
        assert_eq!(run.error.as_deref(), Some("interrupted by restart"));
        world.clock.set(at("2026-02-01T12:00:00Z"));
        ended(&host, NAME, "2026-02-01T12:00:00Z").await;
        let expected = ["2026-02-01T11:00:00Z error", "2026-02-01T12:00:00Z success"];
        assert_eq!(ledger(&host, NAME).await, expected);
    });
    assert_eq!(world.model.prompts().len(), 1, "the model was asked once in all");
}

#[test]
fn a_kill_in_the_middle_of_a_turn_leaves_a_run_that_is_never_repeated() {
    let world = World::new([vec![text("so far"), hang()], vec![text("ok")]]);
    let session = world.until_crash(async |host| {
        open(&host).await;
        host.schedules.put(NAME, hourly()).await.unwrap();
        world.clock.set(at("2026-02-01T11:00:00Z"));
        let session = until(&host, NAME, |it| it.session.is_some()).await.session.unwrap();
        let mut news = host.roster.listen();
        while host.roster.get(session).is_none_or(|it| it.turn.is_none()) {
            news.recv().await.ok();
        }
        session
    });
    world.until_crash(async |host| {
        open(&host).await;
        let run = ended(&host, NAME, "2026-02-01T11:00:00Z").await;
        assert_eq!(run.error.as_deref(), Some("interrupted by restart"));
        assert_eq!(said(&world, session).await.len(), 1, "it was said once");
    });
}

#[test]
fn a_run_that_waited_in_a_queue_through_a_kill_is_heard_out() {
    let world = World::new([vec![text("ok")], vec![hang()], vec![text("late")]]);
    world.until_crash(async |host| {
        open(&host).await;
        host.schedules.put(NAME, hourly()).await.unwrap();
        world.clock.set(at("2026-02-01T11:00:00Z"));
        let session = ended(&host, NAME, "2026-02-01T11:00:00Z").await.session.unwrap();
        host.post(session, Message::from_user("mine"), WhenBusy::Refuse).await.unwrap();
        world.clock.set(at("2026-02-01T12:00:00Z"));
        let mut news = host.roster.listen();
        while host.roster.get(session).unwrap().queue.is_empty() {
            news.recv().await.ok();
        }
    });
    world.until_crash(async |host| {
        open(&host).await;
        let run = ended(&host, NAME, "2026-02-01T12:00:00Z").await;
        assert_eq!((run.outcome, run.error), (Some(RunOutcome::Success), None));
    });
}

#[test]
fn a_clock_that_is_set_back_repeats_nothing_and_holds_nothing_up() {
    let world = World::new(answers(9));
    world.until_crash(async |host| {
        open(&host).await;
        host.schedules.put(NAME, hourly()).await.unwrap();
        for hour in ["2026-02-01T11:00:00Z", "2026-02-01T12:00:00Z"] {
            world.clock.set(at(hour));
            ended(&host, NAME, hour).await;
        }
        // By little: what has been is not planned again.
        world.clock.set(at("2026-02-01T10:30:00Z"));
        let timing = Timing::Interval { minutes: 30 };
        host.schedules.put("witness", Definition { timing, ..hourly() }).await.unwrap();
        world.clock.set(at("2026-02-01T11:00:00Z"));
        ended(&host, "witness", "2026-02-01T11:00:00Z").await;
        assert_eq!(ledger(&host, NAME).await.len(), 2);
        host.remove_schedule("witness").await.unwrap();
        world.clock.set(at("2026-02-01T13:00:00Z"));
        ended(&host, NAME, "2026-02-01T13:00:00Z").await;
        // By far: it had been wrong, and nobody waits for it to catch up.
        world.clock.set(at("2026-01-01T10:30:00Z"));
        until(&host, NAME, |it| it.decided == at("2026-01-01T10:30:00Z")).await;
        world.clock.set(at("2026-01-01T11:00:00Z"));
        ended(&host, NAME, "2026-01-01T11:00:00Z").await;
        let expected = [
            "2026-01-01T11:00:00Z success",
            "2026-02-01T11:00:00Z success",
            "2026-02-01T12:00:00Z success",
            "2026-02-01T13:00:00Z success",
        ];
        assert_eq!(ledger(&host, NAME).await, expected);
        // And forward again, over what has been.
        world.clock.set(at("2026-02-01T11:00:05Z"));
        until(&host, NAME, |it| it.decided == at("2026-02-01T11:00:00Z")).await;
        assert_eq!(ledger(&host, NAME).await, expected, "a planned time is run once");
    });
}

#[test]
fn a_clock_that_jumps_a_year_ahead_is_no_year_of_runs() {
    let world = World::new(answers(2));
    world.until_crash(async |host| {
        open(&host).await;
        host.schedules.put(NAME, hourly()).await.unwrap();
        world.clock.set(at("2027-02-01T10:30:00Z"));
        let run = ended(&host, NAME, "2027-02-01T10:00:00Z").await;
        let reason = "it also stands for 24 planned times or more that had passed";
        assert_eq!(run.reason.as_deref(), Some(reason));
        assert_eq!(ledger(&host, NAME).await.len(), 1);
    });
}

#[test]
fn a_year_of_schedules_passes_in_a_moment() {
    let zones = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe"];
    let world = World::new(answers(3 * 52 + 12));
    world.clock.set(at("2026-01-01T00:00:00Z"));
    world.until_crash(async |host| {
        open(&host).await;
        for (index, zone) in zones.iter().enumerate() {
            // On Sundays, which is when clocks are changed.
            let timing = cron("30 2 * * SUN", Some(zone));
            let weekly = Definition { timing, ..hourly() };
            host.schedules.put(&format!("zone-{index}"), weekly).await.unwrap();
        }
        let monthly = Definition { timing: cron("@monthly", Some("UTC")), ..hourly() };
        host.schedules.put("monthly", monthly).await.unwrap();
        let end = at("2027-01-01T00:00:00Z");
        let next = |host: &Host| -> Timestamp {
            host.schedules.all().into_iter().filter_map(|(_, next)| next).min().unwrap()
        };
        while next(&host) < end {
            let due = next(&host);
            let all = host.schedules.all();
            world.clock.set(due);
            for (schedule, _) in all.iter().filter(|(_, next)| *next == Some(due)) {
                ended(&host, &schedule.slug, &due.to_string()).await;
            }
        }
        for (index, zone) in zones.iter().enumerate() {
            let runs = ledger(&host, &format!("zone-{index}")).await;
            assert_eq!(runs.len(), 52, "{zone}");
            assert!(runs.iter().all(|it| it.ends_with("success")), "{zone}");
        }
        let berlin = ledger(&host, "zone-0").await;
        for changed in ["2026-03-29T01:00:00Z success", "2026-10-25T00:30:00Z success"] {
            assert!(berlin.iter().any(|it| it == changed), "{changed}");
        }
        assert_eq!(ledger(&host, "monthly").await.len(), 11, "the first of January had begun");
    });
}

#[test]
fn a_schedule_that_is_off_rests_and_one_that_is_changed_begins_anew() {
    let world = World::new(answers(2));
    world.until_crash(async |host| {
        open(&host).await;
        let off = Definition { enabled: false, ..hourly() };
        assert_eq!(host.schedules.put(NAME, off).await.unwrap(), (None, true));
        host.schedules.put("other", hourly()).await.unwrap();
        world.clock.set(at("2026-02-01T11:00:00Z"));
        ended(&host, "other", "2026-02-01T11:00:00Z").await;
        assert_eq!(ledger(&host, NAME).await, [""; 0]);
        world.clock.advance(SignedDuration::from_mins(7));
        let timing = Timing::Interval { minutes: 30 };
        let on = Definition { timing, ..hourly() };
        let put = host.schedules.put(NAME, on).await.unwrap();
        assert_eq!(put, (Some(at("2026-02-01T11:37:00Z")), false));
        assert!(host.remove_schedule(NAME).await.unwrap());
        assert!(!host.remove_schedule(NAME).await.unwrap());
        let unknown = host.run_schedule(NAME).await.unwrap_err();
        assert_eq!(unknown.to_string(), "Schedule not found: daily-news");
    });
}
