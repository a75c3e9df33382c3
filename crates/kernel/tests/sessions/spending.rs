//! What is used: counted exactly, whatever becomes of it, and stopped where a budget ends.

use std::sync::Arc;

use jiff::{SignedDuration, civil::Date};
use kernel::{
    budget::{Budgets, Level, Standing},
    feed::{Feed, Heard},
    host::{Host, Settings},
    ledger::{Spending, Sum},
    ports::{Clock as _, Ledger as _},
    update::{Amendment, Fact, Failure, SessionId, Signal, Update, Usage},
};
use serde_json::json;
use testkit::{
    Gate, World,
    model::{Line, call, fail, hang, priced, text, usage, wait},
};

use crate::support::{feed, house, log, say, short, shorts, until_signal, until_turn_ends};

async fn ledger(world: &World) -> Vec<Spending> {
    world.store.spending(Date::MIN..=Date::MAX).await.unwrap()
}

async fn total(world: &World) -> Sum {
    ledger(world).await.into_iter().fold(Sum::default(), |sum, it| sum.plus(it.sum))
}

fn sum(requests: u64, input_tokens: u64, output_tokens: u64, cost: f64) -> Sum {
    Sum { requests, input_tokens, output_tokens, cost, ..Sum::default() }
}

async fn frugal(world: &World, budgets: Budgets) -> (Arc<Host>, SessionId) {
    let settings = Settings { budgets, ..Settings::default() };
    let host = Host::start(world.ports(), settings).await.unwrap();
    let id = host.create("/".as_ref(), "test", "").await.unwrap();
    (host, id)
}

/// The budgets those present are told of until the turn ends, and how it ends.
async fn warnings(feed: &mut Feed) -> (Vec<String>, String) {
    let mut told = Vec::new();
    loop {
        let Heard::Live(heard) = feed.next().await.unwrap() else { continue };
        for update in &heard.updates {
            match update {
                Update::Signal { signal: Signal::NearBudget(standing), .. } => {
                    told.push(standing.to_string());
                }
                Update::Fact(entry) if matches!(entry.fact, Fact::TurnEnded(_)) => {
                    return (told, short(&entry.fact));
                }
                _ => (),
            }
        }
    }
}

fn finished(warnings: &[&str]) -> (Vec<String>, String) {
    (warnings.iter().map(|it| (*it).to_owned()).collect(), "ended Finished".to_owned())
}

#[tokio::test]
async fn each_step_is_put_down_to_its_day_and_to_the_model_that_answered() {
    let gate = Gate::default();
    let whole = Usage {
        input_tokens: 9,
        output_tokens: 8,
        cache_read_tokens: 7,
        cache_write_tokens: 6,
        reasoning_tokens: 5,
        cost: Some(0.5),
    };
    let world = World::new([
        vec![
            call("1", "echo", json!({})),
            wait(&gate),
            Line::Piece(kernel::ports::Piece::Usage(whole)),
        ],
        vec![text("ok"), usage(1, 1)],
        vec![text("ok"), priced(2, 1, 0.25)],
    ]);
    let (host, id) = house(&world).await;
    let mut feed = feed(&host, id).await;
    say(&host, id, "hi").await;
    gate.reached().await;
    // Another is chosen while this one still speaks.
    let other = Amendment { model: Some("other".into()), ..Amendment::default() };
    host.amend(id, other).await.unwrap();
    gate.open();
    assert_eq!(until_turn_ends(&mut feed).await.last().unwrap(), "ended Finished");
    let today = world.clock.today();
    let steps = Sum::of(whole).plus(sum(1, 1, 1, 0.0));
    let first = Spending { day: today, model: "test".into(), sum: steps };
    assert_eq!(ledger(&world).await, std::slice::from_ref(&first));
    host.amend(id, Amendment { model: Some("test".into()), ..Amendment::default() }).await.unwrap();
    world.clock.advance(SignedDuration::from_hours(24));
    say(&host, id, "and now?").await;
    until_turn_ends(&mut feed).await;
    let next =
        Spending { day: today.tomorrow().unwrap(), model: "test".into(), sum: sum(1, 2, 1, 0.25) };
    assert_eq!(ledger(&world).await, [first, next]);
}

#[tokio::test]
async fn what_a_summary_used_counts_whether_or_not_it_was_made() {
    let gate = Gate::default();
    let world = World::new([
        vec![text("ok"), priced(10, 1, 0.5)],
        vec![text("in short"), priced(20, 2, 0.25)],
        vec![priced(40, 0, 0.125), fail(Failure::Refused, "no")],
        vec![priced(80, 0, 1.0), wait(&gate)],
    ]);
    let (host, id) = house(&world).await;
    let mut feed = feed(&host, id).await;
    say(&host, id, "hi").await;
    until_turn_ends(&mut feed).await;
    for expected in [sum(2, 30, 3, 0.75), sum(3, 70, 3, 0.875)] {
        assert!(host.compact(id).await.unwrap());
        while host.roster.get(id).unwrap().is_busy() {
            feed.next().await.unwrap();
        }
        assert_eq!(total(&world).await, expected);
    }
    assert!(host.compact(id).await.unwrap());
    gate.reached().await;
    assert!(host.cancel(id).await.unwrap());
    assert_eq!(total(&world).await, sum(4, 150, 3, 1.875));
    let spent = host.roster.get(id).unwrap().spent;
    assert_eq!((spent.input_tokens, spent.output_tokens, spent.cost), (150, 3, 1.875));
}

#[tokio::test(start_paused = true)]
async fn what_was_cut_short_counts_if_it_told_what_it_used() {
    let world = World::new([
        vec![text("half"), usage(10, 1), fail(Failure::Network, "cut")],
        vec![usage(20, 0), fail(Failure::Refused, "no")],
        vec![usage(40, 2), text("half"), hang()],
        vec![text("half"), hang()],
        vec![usage(80, 0), fail(Failure::Overloaded, "busy")],
        vec![text("at last"), usage(160, 4)],
    ]);
    let (host, id) = house(&world).await;
    let mut feed = feed(&host, id).await;
    for expected in [sum(1, 10, 1, 0.0), sum(2, 30, 1, 0.0)] {
        say(&host, id, "hi").await;
        until_turn_ends(&mut feed).await;
        assert_eq!(total(&world).await, expected);
    }
    for expected in [sum(3, 70, 3, 0.0), sum(3, 70, 3, 0.0)] {
        say(&host, id, "hi").await;
        until_signal(&mut feed, |signal| matches!(signal, Signal::Text { .. })).await;
        host.cancel(id).await.unwrap();
        until_turn_ends(&mut feed).await;
        assert_eq!(total(&world).await, expected);
    }
    say(&host, id, "hi").await;
    assert_eq!(until_turn_ends(&mut feed).await.last().unwrap(), "ended Finished");
    assert_eq!(total(&world).await, sum(4, 310, 7, 0.0));
    assert_eq!(host.roster.get(id).unwrap().spent.input_tokens, 310);
    let prompt = world.model.prompts().pop().unwrap();
    let shown = format!("{:?}", prompt.parts);
    assert!(!shown.contains("text: \"\""), "what was not said is not shown: {shown}");
}

#[tokio::test]
async fn a_deleted_session_leaves_what_it_used() {
    let world = World::new([vec![text("ok"), priced(10, 1, 0.5)]]);
    let (host, id) = house(&world).await;
    let mut feed = feed(&host, id).await;
    say(&host, id, "hi").await;
    until_turn_ends(&mut feed).await;
    host.delete(id).await.unwrap();
    assert_eq!(total(&world).await, sum(1, 10, 1, 0.5));
}

#[test]
fn a_crash_counts_nothing_twice_and_loses_nothing_that_was_recorded() {
    let world = World::new([
        vec![call("1", "echo", json!({})), usage(10, 1)],
        vec![text("half"), usage(20, 1), hang()],
    ]);
    let id = world.until_crash(async |host| {
        let id = host.create("/".as_ref(), "test", "").await.unwrap();
        let mut feed = feed(&host, id).await;
        say(&host, id, "hi").await;
        until_signal(&mut feed, |signal| matches!(signal, Signal::Text { .. })).await;
        id
    });
    world.until_crash(async |host| {
        host.recover().await;
        assert_eq!(shorts(&world, id).await.last().unwrap(), "ended Interrupted");
        assert_eq!(total(&world).await, sum(1, 10, 1, 0.0));
        assert_eq!(host.roster.get(id).unwrap().spent.input_tokens, 10);
    });
}

#[tokio::test]
async fn a_step_that_could_not_be_recorded_is_counted_once() {
    let gate = Gate::default();
    let world = World::new([vec![text("ok"), wait(&gate), priced(10, 1, 0.5)], vec![text("ok")]]);
    let (host, id) = house(&world).await;
    let mut feed = feed(&host, id).await;
    say(&host, id, "hi").await;
    gate.reached().await;
    world.store.fail_appends(true);
    gate.open();
    until_signal(&mut feed, |signal| matches!(signal, Signal::Unrecorded { .. })).await;
    assert_eq!(total(&world).await, Sum::default());
    world.store.fail_appends(false);
    host.cancel(id).await.unwrap();
    assert_eq!(total(&world).await, sum(1, 10, 1, 0.5));
}

#[tokio::test]
async fn a_budget_stops_a_turn_between_two_steps_and_keeps_what_was_done() {
    let world = World::new([
        vec![call("1", "echo", json!({ "say": "hi" })), usage(80, 10)],
        vec![call("2", "echo", json!({ "say": "ho" })), usage(90, 10)],
    ]);
    let budgets = Budgets { session_tokens: Some(100), ..Budgets::default() };
    let (host, id) = frugal(&world, budgets).await;
    let mut feed = feed(&host, id).await;
    say(&host, id, "hi").await;
    until_turn_ends(&mut feed).await;
    let told = shorts(&world, id).await;
    let reason = "the budget session_tokens for this session is spent: 190 tokens of 100 tokens; \
                  raise it with PUT /api/budgets or under [budgets] in config.toml, or go on in a \
                  new session";
    let expected = [
        "opened",
        "said hi",
        "step 0",
        "answered  1",
        r#"1 {"say":"hi"}"#,
        "step 1",
        "answered  2",
        r#"2 {"say":"ho"}"#,
        &format!("ended OverBudget: {reason}"),
    ];
    assert_eq!(told, expected);
    assert_eq!(world.model.prompts().len(), 2);
    say(&host, id, "again").await;
    assert_eq!(until_turn_ends(&mut feed).await.last().unwrap(), expected.last().unwrap());
    assert!(host.compact(id).await.unwrap());
    while host.roster.get(id).unwrap().is_busy() {
        feed.next().await.unwrap();
    }
    let last = log(&world, id).await.pop().unwrap().fact;
    let failed = kernel::update::Compaction::failed(reason);
    assert_eq!(last, Fact::CompactionEnded(failed), "nor is it summed up");
    assert_eq!(world.model.prompts().len(), 2, "the model was not asked");

    let other = host.create("/".as_ref(), "test", "").await.unwrap();
    let mut feed = self::feed(&host, other).await;
    world.model.push(vec![text("hello")]);
    say(&host, other, "hi").await;
    assert_eq!(until_turn_ends(&mut feed).await.last().unwrap(), "ended Finished");
}

#[tokio::test]
async fn those_present_are_told_once_when_a_budget_is_nearly_spent() {
    let world = World::new([]);
    world.model.otherwise(vec![text("ok"), priced(1, 0, 1.0)]);
    let budgets =
        Budgets { session_usd: Some(4.0), day_usd: Some(5.0), warn_at: 0.6, ..Budgets::default() };
    let (host, id) = frugal(&world, budgets).await;
    let mut feed = feed(&host, id).await;
    let both = [
        "the budget session_usd for this session is nearly spent: $3.00 of $4.00",
        "the budget day_usd for today is nearly spent: $3.00 of $5.00",
    ];
    for told in [&[][..], &[], &both, &[]] {
        say(&host, id, "hi").await;
        assert_eq!(warnings(&mut feed).await, finished(told));
    }
    say(&host, id, "hi").await;
    let (told, end) = warnings(&mut feed).await;
    assert!(
        told.is_empty() && end.starts_with("ended OverBudget: the budget session_usd"),
        "{end}"
    );

    let other = host.create("/".as_ref(), "test", "").await.unwrap();
    let mut feed = self::feed(&host, other).await;
    say(&host, other, "hi").await;
    assert_eq!(warnings(&mut feed).await, finished(&[]), "the day's is no news");
}

#[tokio::test]
async fn a_restart_does_not_tell_again() {
    let world = World::new([]);
    world.model.otherwise(vec![text("ok"), priced(1, 0, 1.0)]);
    let budgets =
        Budgets { session_usd: Some(9.0), day_usd: Some(9.0), warn_at: 0.2, ..Budgets::default() };
    let (host, id) = frugal(&world, budgets).await;
    let mut feed = feed(&host, id).await;
    for count in [0, 2, 0] {
        say(&host, id, "hi").await;
        assert_eq!(warnings(&mut feed).await.0.len(), count);
    }
    drop((host, feed));
    let settings = Settings { budgets, ..Settings::default() };
    let host = Host::start(world.ports(), settings).await.unwrap();
    let mut feed = self::feed(&host, id).await;
    while !matches!(feed.next().await.unwrap(), Heard::Now { .. }) {}
    say(&host, id, "hi").await;
    assert_eq!(warnings(&mut feed).await, finished(&[]));
}

#[tokio::test]
async fn a_day_and_a_month_begin_anew() {
    let world = World::new([]);
    world.model.otherwise(vec![text("ok"), priced(10, 0, 1.0)]);
    let budgets = Budgets { day_usd: Some(1.0), month_tokens: Some(20), ..Budgets::default() };
    let (host, id) = frugal(&world, budgets).await;
    let mut feed = feed(&host, id).await;
    let mut turn = async |told: &[&str]| {
        say(&host, id, "hi").await;
        let (warned, end) = warnings(&mut feed).await;
        let warned: Vec<_> = warned.iter().map(|it| it.split(' ').nth(2).unwrap()).collect();
        assert_eq!(warned, told, "{end}");
        end
    };
    assert_eq!(turn(&["day_usd"]).await, "ended Finished");
    let over = turn(&[]).await;
    assert!(over.contains("day_usd for today is spent: $1.00 of $1.00"), "{over}");
    assert!(over.ends_with("or wait until tomorrow"), "{over}");
    let day = SignedDuration::from_hours(24);
    world.clock.advance(day);
    assert_eq!(turn(&["day_usd", "month_tokens"]).await, "ended Finished");
    world.clock.advance(day);
    let over = turn(&[]).await;
    assert!(over.contains("month_tokens for this month is spent: 20 tokens of 20"), "{over}");
    assert!(over.ends_with("or wait until next month"), "{over}");
    world.clock.advance(day * 27);
    assert_eq!(world.clock.today().to_string(), "2026-03-02");
    assert_eq!(turn(&["day_usd"]).await, "ended Finished");
}

#[tokio::test]
async fn a_free_model_is_stopped_by_tokens_only() {
    let world = World::new([]);
    world.model.otherwise(vec![text("ok"), priced(10, 0, 1.0)]);
    let budgets = Budgets { day_usd: Some(0.0), day_tokens: Some(20), ..Budgets::default() };
    let (host, id) = frugal(&world, budgets).await;
    let mut feed = feed(&host, id).await;
    let mut end = async || {
        say(&host, id, "hi").await;
        until_turn_ends(&mut feed).await.pop().unwrap()
    };
    assert!(end().await.contains("day_usd"));
    world.model.set_free(true);
    assert_eq!(end().await, "ended Finished");
    assert_eq!(end().await, "ended Finished");
    assert!(end().await.contains("day_tokens"));
}

#[tokio::test]
async fn budgets_are_changed_while_running_and_stay_so() {
    let world = World::new([]);
    world.model.otherwise(vec![text("ok"), priced(10, 0, 1.0)]);
    let configured = Budgets { day_usd: Some(1.0), ..Budgets::default() };
    let (host, id) = frugal(&world, configured).await;
    let mut feed = feed(&host, id).await;
    let mut end = async || {
        say(&host, id, "hi").await;
        until_turn_ends(&mut feed).await.pop().unwrap()
    };
    assert_eq!(end().await, "ended Finished");
    assert!(end().await.starts_with("ended OverBudget"));
    host.purse.change(|budgets| budgets.day_usd = Some(4.0)).await.unwrap();
    assert_eq!(end().await, "ended Finished");
    let bad = host.purse.change(|budgets| budgets.day_usd = Some(-4.0)).await;
    assert_eq!(bad.unwrap_err().to_string(), "day_usd must be an amount of US dollars, 0 or more");
    let (again, _) = frugal(&world, configured).await;
    let set = Budgets { day_usd: Some(4.0), ..Budgets::default() };
    assert_eq!((again.purse.budgets(), again.purse.is_set()), (set, true));
    let levels = |all: Vec<Standing>| all.iter().map(|it| it.level).collect::<Vec<_>>();
    assert_eq!(levels(again.purse.all().await.unwrap()), [Level::Fine]);
    again.purse.reset().await.unwrap();
    assert_eq!((again.purse.budgets(), again.purse.is_set()), (configured, false));
    assert_eq!(levels(again.purse.all().await.unwrap()), [Level::Spent]);
    let (last, _) = frugal(&world, configured).await;
    assert_eq!(last.purse.budgets(), configured);
}
