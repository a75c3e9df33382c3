//! What a schedule may do: found out beforehand, granted to it alone, and never asked for in a run.

use std::sync::Arc;

use kernel::{
    host::Host,
    schedule::{Definition, Need, OnNewNeed, Run, RunOutcome},
    toolbox::{Caller, Deed, Detail, Risk},
    update::{Message, Origin, WhenBusy},
};
use serde_json::{Value, json};
use testkit::{
    TestTool, World,
    model::{Script, call, text},
};

use crate::support::{NAME, at, ended, hourly};

fn act() -> TestTool {
    TestTool::echo().named("act").risky(Risk::Acts)
}

/// An agent that looks, acts and says that it is done.
fn acting(on: &str) -> [Script; 2] {
    let calls = vec![
        call("", "echo", json!({ "look": on })),
        call("", "act", json!({ "on": on })),
        call("", "act", json!({ "on": on })),
    ];
    [calls, vec![text("Done")]]
}

fn need(on: &str) -> Need {
    let args = json!({ "on": on });
    let detail = Detail::Arguments { args: args.clone() };
    Need {
        tool: "act".into(),
        title: format!("Running act {args}"),
        caller: Caller::Model,
        deed: Deed { risk: Risk::Acts, detail, subjects: vec![on.to_owned()], within: None },
    }
}

async fn run(host: &Arc<Host>, world: &World, hour: &str) -> Run {
    world.clock.set(at(hour));
    ended(host, NAME, hour).await
}

#[test]
fn a_rehearsal_tells_what_is_needed_and_does_nothing() {
    let (tool, look) = (act(), TestTool::echo());
    let world = World::new(acting("a")).tool(&tool).tool(&look);
    world.until_crash(async |host| {
        let rehearsed = host.rehearse(NAME, &hourly()).await.unwrap();
        assert_eq!(rehearsed.needs, [need("a")]);
        assert_eq!(rehearsed.trouble, None);
        assert_eq!(tool.calls(), [] as [Value; 0]);
        assert_eq!(look.calls(), [json!({ "look": "a" })], "looking is part of it");
        assert_eq!(host.roster.len(), 0, "its session is gone");
        assert_eq!(host.schedules.all().len(), 0);
    });
}

#[test]
fn an_agent_that_acts_on_its_own_cannot_be_rehearsed() {
    let world = World::new([]);
    world.until_crash(async |host| {
        let guest = Definition { model: Some("agent/test".into()), ..hourly() };
        let error = host.rehearse(NAME, &guest).await.unwrap_err();
        assert_eq!(error.to_string(), "agent/test acts on its own and cannot be rehearsed");
        assert_eq!(host.roster.len(), 0);
    });
}

#[test]
fn a_run_without_leave_is_told_no_and_goes_on_and_what_it_needed_is_on_record() {
    let tool = act();
    let world = World::new(acting("a")).tool(&tool);
    world.until_crash(async |host| {
        host.keep_schedules();
        host.schedules.put(NAME, hourly()).await.unwrap();
        let run = run(&host, &world, "2026-02-01T11:00:00Z").await;
        assert_eq!((run.outcome, run.error), (Some(RunOutcome::Success), None));
        assert_eq!(run.needed, [need("a")]);
        assert_eq!(tool.calls(), [] as [Value; 0]);
        assert_eq!(host.questions().await.unwrap(), [], "nobody is asked");
    });
}

#[test]
fn a_run_without_leave_ends_where_its_schedule_says_so() {
    let tool = act();
    let world = World::new(acting("a")).tool(&tool);
    world.until_crash(async |host| {
        host.keep_schedules();
        let strict = Definition { on_new_need: OnNewNeed::End, ..hourly() };
        host.schedules.put(NAME, strict).await.unwrap();
        let run = run(&host, &world, "2026-02-01T11:00:00Z").await;
        assert_eq!(run.outcome, Some(RunOutcome::Error));
        let why = "it wanted something that it has no leave for: Running act {\"on\":\"a\"}";
        assert_eq!(run.error.as_deref(), Some(why));
        assert_eq!(run.needed, [need("a")]);
        assert_eq!(tool.calls(), [] as [Value; 0]);
        assert_eq!(world.model.prompts().len(), 1, "it did not go on");
    });
}

#[test]
fn what_was_granted_to_a_schedule_is_done_in_its_runs_and_nowhere_else() {
    let tool = act();
    let mut scripts = [acting("a"), acting("a"), acting("a"), acting("a")].concat();
    // The third is cut short.
    scripts.remove(5);
    let world = World::new(scripts).tool(&tool);
    world.until_crash(async |host| {
        host.keep_schedules();
        host.schedules.put(NAME, hourly()).await.unwrap();
        let grant = host.grant_schedule(NAME, None, "act".into(), Some("a*".into())).await.unwrap();
        let again = host.grant_schedule(NAME, None, "act".into(), Some("a*".into())).await.unwrap();
        assert_eq!(again, grant, "granted once");
        assert_eq!(host.approvals.all(), std::slice::from_ref(&grant));
        let first = run(&host, &world, "2026-02-01T11:00:00Z").await;
        assert_eq!(first.needed, []);
        assert_eq!(tool.calls().len(), 2);
        // Another schedule, whose run is as unattended.
        let off = Definition { enabled: false, ..hourly() };
        host.schedules.put("other", off).await.unwrap();
        let other = host.run_schedule("other").await.unwrap();
        let of_other = crate::support::until(&host, "other", |it| it.last.is_some()).await;
        assert_eq!(of_other.last.as_ref().unwrap().needed, [need("a")]);
        assert_ne!(Some(other), first.session);
        // Somebody who only says that it is the schedule, in its very session.
        let session = first.session.unwrap();
        let origin = Origin::Schedule { slug: NAME.into(), errand: None };
        let claim = Message { origin, ..Message::from_user("act") };
        host.post(session, claim, WhenBusy::Refuse).await.unwrap();
        let mut news = host.roster.listen();
        while host.questions().await.unwrap().is_empty() {
            news.recv().await.ok();
        }
        assert_eq!(tool.calls().len(), 2, "the person is asked as ever");
        host.cancel(session).await.unwrap();
        // Taken back, it is needed again.
        assert!(host.approvals.revoke(grant.id).await.unwrap());
        let last = run(&host, &world, "2026-02-01T12:00:00Z").await;
        assert_eq!(last.needed, [need("a")]);
        assert_eq!(tool.calls().len(), 2);
    });
}

#[test]
fn what_was_granted_goes_with_the_schedule_and_stays_through_a_restart() {
    let world = World::new([]);
    world.until_crash(async |host| {
        host.schedules.put(NAME, hourly()).await.unwrap();
        host.grant_schedule(NAME, None, "act".into(), None).await.unwrap();
    });
    world.until_crash(async |host| {
        assert_eq!(host.approvals.all().len(), 1);
        host.remove_schedule(NAME).await.unwrap();
        assert_eq!(host.approvals.all(), []);
    });
    world.until_crash(async |host| assert_eq!(host.approvals.all(), []));
}
