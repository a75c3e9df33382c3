//! A phone among others: whoever speaks in its conversation is shown, and whoever is slow delays nobody.

use std::collections::BTreeSet;

use kernel::{
    tasks::{Plan, Progress, Step, Visibility},
    update::{Message, Origin, WhenBusy},
};
use phone::{Event, Role, Row};
use testkit::{
    Gate, World,
    model::{text, wait},
};

use crate::common::{House, Newer, Phone};

#[tokio::test]
async fn whoever_speaks_in_the_conversation_is_shown_at_once_and_in_the_history() {
    let world = World::new([]);
    world.model.otherwise(vec![text("Noted.")]);
    let house = House::over(world).await;
    let mut phone = Phone::open(&house, "phone").await;
    let session = house.host().roster.all()[0].0;
    let schedule = Origin::Schedule { slug: "daily".into(), errand: None };
    let agent = Origin::Agent { session: house.session().await };
    for (origin, shown) in [
        (Origin::User, "Browser: hello"),
        (schedule, "Schedule daily: hello"),
        (agent, "Agent: hello"),
    ] {
        let message = Message { origin, ..Message::from_user("hello") };
        house.host().post(session, message, WhenBusy::Queue).await.unwrap();
        let told = phone.until_idle().await;
        let rows = phone.rows("?limit=2").await;
        let [question, answer] = &rows[..] else { panic!("{rows:?}") };
        assert_eq!((question.role, question.content.as_str()), (Role::User, "hello"));
        assert_eq!((answer.role, answer.content.as_str()), (Role::Agent, "Noted."));
        let complete = |event: &Event| match event {
            Event::Complete { reply_to, id, content, .. } => {
                Some((reply_to.clone(), id.clone(), content.clone()))
            }
            _ => None,
        };
        let told: Vec<_> = told.iter().filter_map(complete).collect();
        let expected = [
            (String::new(), question.id.clone(), shown.to_owned()),
            (question.id.clone(), answer.id.clone(), "Noted.".to_owned()),
        ];
        assert_eq!(told, expected);
        // The history is read a page at a time, and that is not without end.
        house.world.clock.advance(jiff::SignedDuration::from_secs(1));
    }
}

#[tokio::test]
async fn a_phone_that_stops_reading_delays_nobody_and_misses_nothing() {
    let answer = "x".repeat(200_000);
    let world = World::new([]);
    world.model.otherwise(vec![text(&answer)]);
    let house = House::over(world).await;
    let mut stopped = Phone::open(&house, "stopped").await;
    let mut other = Phone::open(&house, "other").await;
    // More than a connection holds that nobody reads from.
    for number in 0..30 {
        other.say(&number.to_string(), &format!("question {number}")).await;
        let id = number.to_string();
        let mine =
            |event: &Event| matches!(event, Event::Complete { reply_to, .. } if *reply_to == id);
        other.until(mine).await;
        // Twenty at once are taken, and then one a second.
        if number == 18 {
            other = Phone::open(&house, "another").await;
        }
    }
    let known = |phone: &Phone| -> BTreeSet<String> {
        phone.screen.bubbles.iter().map(|bubble| bubble.id.clone()).collect()
    };
    let reply = house.get("/messages?limit=200").await.1;
    let rows: Vec<Row> = phone::messages(&reply.to_string()).unwrap();
    let rows: BTreeSet<String> = rows.into_iter().map(|row| row.id).collect();
    assert_eq!(rows.len(), 60);
    // It reads on where it was, or was given up and comes back: it has everything either way.
    while !rows.is_subset(&known(&stopped)) {
        if !stopped.try_next().await {
            stopped.cut();
            stopped.connect().await;
        }
    }
    assert_eq!(known(&stopped), rows);
}

fn plan(visibility: Option<Visibility>, steps: usize) -> Plan {
    let step = |number| Step { text: format!("step {number}"), progress: Progress::Pending };
    Plan { title: "A plan".to_owned(), steps: (0..steps).map(step).collect(), visibility }
}

#[tokio::test]
async fn a_plan_is_shown_on_the_phone_as_the_agent_says_or_as_soon_as_it_is_worth_it() {
    let world = World::new([]);
    let house = House::over(world).await;
    let mut phone = Phone::open(&house, "phone").await;
    let mut newer = Newer::paired(&house, "newer").await;
    let session = house.host().roster.all()[0].0;
    let shown = |phone: &Phone| phone.screen.cards.iter().filter(|it| it.result.is_none()).count();
    let mut turns = 0;
    for (visibility, expected) in [
        (Some(Visibility::Show), [true, true]),
        (Some(Visibility::Hide), [false, false]),
        (Some(Visibility::Auto), [false, true]),
        (None, [false, true]),
    ] {
        for (steps, expected) in [1, 2].into_iter().zip(expected) {
            let gate = Gate::default();
            house.world.model.push(vec![wait(&gate), text("Done.")]);
            turns += 1;
            phone.say(&format!("msg_{turns:08}"), "go").await;
            gate.reached().await;
            let open = house.host().open(session).await.unwrap();
            open.plan(plan(visibility, steps)).await.unwrap().unwrap();
            gate.open();
            // The task ends with the turn, and all it came to was told before.
            let told = phone.until_idle().await;
            let created = told.iter().any(|it| matches!(it, Event::TaskCreated(_)));
            let ended = told.iter().any(|it| matches!(it, Event::TaskCompleted { .. }));
            assert_eq!(created, ended, "{told:#?}");
            let what = format!("{visibility:?} with {steps}");
            assert_eq!(phone.screen.cards.len() == 1, expected, "{what}: {told:#?}");
            assert_eq!(shown(&phone), 0, "{what}: {told:#?}");
            phone.screen.cards.clear();
            newer.until_idle().await;
        }
    }
    // Version 2 is told the same, and what became of it truly.
    let failed = newer.frames.iter().filter(|frame| frame["type"] == "task.failed");
    let errors: BTreeSet<String> = failed.map(|frame| frame["error"].to_string()).collect();
    let left = |steps| format!("\"Stopped: the turn ended with {steps} of {steps} steps left\"");
    assert_eq!(errors, BTreeSet::from([left(1), left(2)]));
    assert!(!newer.frames.iter().any(|frame| frame["type"] == "task.completed"));

    // One that grows from a single step to three is shown when it has them.
    let gate = Gate::default();
    house.world.model.push(vec![wait(&gate), text("Done.")]);
    phone.say("grows", "go").await;
    gate.reached().await;
    let open = house.host().open(session).await.unwrap();
    open.plan(plan(None, 1)).await.unwrap().unwrap();
    open.plan(plan(None, 3)).await.unwrap().unwrap();
    let told = phone.until(|event| matches!(event, Event::TaskCreated(_))).await;
    let Some(Event::TaskCreated(task)) = told.last() else { panic!("{told:#?}") };
    assert_eq!((task.steps.len(), shown(&phone)), (3, 1));
    gate.open();
    phone.until_idle().await;
}
