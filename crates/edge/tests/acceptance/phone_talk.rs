//! A phone in conversation: every frame as the shipped app decodes it, in the order it needs.

use phone::{Event, Role};
use serde_json::json;
use testkit::{
    Gate, TestTool, World,
    model::{Script, call, fail, text, usage, wait},
};

use crate::common::{House, Phone};

/// A turn of three steps with two tools.
pub fn golden() -> [Script; 3] {
    [
        vec![text("Let me "), text("look."), call("", "echo", json!({ "n": 1 })), usage(900, 100)],
        vec![call("", "echo", json!({ "n": 2 })), usage(1900, 100)],
        vec![text("It is "), text("there."), usage(2900, 100)],
    ]
}

pub const ANSWER: &str = "Let me look.\n\nIt is there.";

/// What an event is, in a word; pieces of one reply are one.
fn kinds(events: &[Event]) -> Vec<&'static str> {
    let kind = |event: &Event| match event {
        Event::Connected { .. } => "connected",
        Event::Stream { .. } => "stream",
        Event::Complete { .. } => "complete",
        Event::TaskCreated(_) => "created",
        Event::TaskUpdated { .. } => "updated",
        Event::TaskCompleted { .. } => "completed",
        Event::StatusUpdate { busy: true, .. } => "busy",
        Event::StatusUpdate { busy: false, .. } => "idle",
        Event::Other(_) => "other",
    };
    let mut kinds: Vec<_> = events.iter().map(kind).collect();
    kinds.dedup();
    kinds
}

fn streamed(events: &[Event], to: &str) -> String {
    let piece = |event: &Event| match event {
        Event::Stream { reply_to, delta } if reply_to == to => Some(delta.clone()),
        _ => None,
    };
    events.iter().filter_map(piece).collect()
}

#[tokio::test]
async fn a_turn_comes_in_the_order_that_the_app_needs() {
    let house = House::new(golden()).await;
    let mut phone = Phone::open(&house, "golden").await;
    let status = phone.status().await;
    assert_eq!((status.busy, status.tokens_used), (false, 0));
    assert!((status.context_remaining - 1.0).abs() < f64::EPSILON);
    assert!(status.version.is_some());

    phone.say("msg_1A2B3C4D", "Where is it?").await;
    let events = phone.until_idle().await;
    let kinds = kinds(&events);
    assert_eq!(
        (kinds[0], &kinds[kinds.len() - 3..]),
        ("busy", &["completed", "complete", "idle"][..])
    );
    let place = |kind| kinds.iter().position(|it| *it == kind).unwrap();
    assert!(place("created") < place("completed"));
    assert_eq!(streamed(&events, "msg_1A2B3C4D"), ANSWER);
    let created = events.iter().find_map(|event| match event {
        Event::TaskCreated(task) => Some(task.clone()),
        _ => None,
    });
    let created = created.unwrap();
    assert_eq!(created.title, "Where is it?");
    assert_eq!(created.steps.len(), 2);

    let card = &phone.screen.cards[0];
    assert_eq!((phone.screen.cards.len(), card.result.as_deref()), (1, Some("Done.")));
    assert_eq!(phone.words(), ["Where is it?", ANSWER]);
    let answer = phone.screen.bubbles[1].clone();
    assert!(!answer.streaming && answer.id.starts_with("msg_"));
    let rows = phone.rows("").await;
    assert_eq!(rows.iter().map(|row| row.role).collect::<Vec<_>>(), [Role::User, Role::Agent]);
    assert_eq!((&rows[1].id, rows[1].content.as_str()), (&answer.id, ANSWER));
    let status = phone.status().await;
    assert_eq!(status.tokens_used, 3000);
    assert!(status.context_remaining < 1.0);
}

#[tokio::test]
async fn what_one_says_all_see_and_each_by_its_own_names() {
    let world = World::new([]);
    world.model.otherwise(vec![text("Yes.")]);
    let house = House::over(world).await;
    let (mut one, mut other) =
        (Phone::open(&house, "one").await, Phone::open(&house, "other").await);
    one.say("msg_00000001", "hello").await;
    one.until_idle().await;
    other.until_idle().await;
    let rows = one.rows("").await;
    assert_eq!(one.words(), ["hello", "Yes."]);
    assert_eq!(other.words(), ["Phone: hello", "Yes."]);
    let reply = other.heard.iter().find_map(|event| match event {
        Event::Complete { reply_to, content, .. } if content == "Yes." => Some(reply_to.clone()),
        _ => None,
    });
    assert_eq!(reply.as_ref(), Some(&rows[0].id));
    let ids: Vec<_> = other.screen.bubbles.iter().map(|bubble| &bubble.id).collect();
    assert_eq!(ids, rows.iter().map(|row| &row.id).collect::<Vec<_>>());

    // The same name at once from both.
    one.say("msg_00000002", "mine").await;
    other.say("msg_00000002", "yours").await;
    let both = |phone: &Phone| phone.words().iter().filter(|word| **word == "Yes.").count() == 3;
    while !both(&one) || one.screen.busy {
        one.next().await;
    }
    while !both(&other) || other.screen.busy {
        other.next().await;
    }
    assert_eq!(one.rows("").await, other.rows("").await);
    assert_eq!(one.rows("").await.len(), 6);

    // And the browser, in the same conversation.
    let (_, sessions) = house.get("/api/sessions").await;
    let id = sessions.to_string();
    let id = id.split("\"sessionId\":\"").nth(1).and_then(|it| it.get(..36)).unwrap();
    let mut page = house.listener(id).await;
    house.say(id, "from the page").await;
    one.until_idle().await;
    assert!(one.words().contains(&"Browser: from the page"));
    assert_eq!(one.words().last(), Some(&"Yes."));
    page.turn().await;
    one.say("msg_00000003", "from the phone").await;
    let heard = page.turn().await;
    let said = heard.iter().any(|frame| frame["event"]["data"]["content"] == "from the phone");
    assert!(said, "{heard:#?}");
}

#[tokio::test]
async fn what_waits_is_answered_in_order_and_the_agent_is_busy_throughout() {
    let gate = Gate::default();
    let world = World::new([vec![wait(&gate), text("1")], vec![text("2")], vec![text("3")]]);
    let house = House::over(world).await;
    let mut phone = Phone::open(&house, "queue").await;
    for id in ["a", "b", "c"] {
        phone.say(id, &format!("question {id}")).await;
    }
    gate.reached().await;
    while phone.rows("").await.len() < 3 {}
    assert!(phone.status().await.busy);
    gate.open();
    let events = phone.until_idle().await;
    let answers: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::Complete { reply_to, content, .. } => {
                Some((reply_to.as_str(), content.as_str()))
            }
            _ => None,
        })
        .collect();
    assert_eq!(answers, [("a", "1"), ("b", "2"), ("c", "3")]);
    let rows = phone.rows("").await;
    let words: Vec<_> = rows.iter().map(|row| row.content.as_str()).collect();
    assert_eq!(words, ["question a", "question b", "question c", "1", "2", "3"]);
}

#[tokio::test]
async fn the_same_message_is_said_once_and_its_answer_repeated() {
    let world = World::new([vec![text("first")], vec![text("second")]]);
    let mut house = House::over(world).await;
    let mut phone = Phone::open(&house, "again").await;
    phone.say("m", "hello").await;
    phone.until_idle().await;
    for _ in 0..3 {
        phone.send(json!({ "type": "message.send", "id": "m", "content": "hello" })).await;
        let again = phone.next().await;
        assert!(
            matches!(&again, Event::Complete { content, .. } if content == "first"),
            "{again:?}"
        );
    }
    // Also on another socket, and of another server.
    for restarts in [false, true] {
        if restarts {
            house.restart().await;
            phone.moved(&house);
        }
        phone.cut();
        phone.connect().await;
        phone.send(json!({ "type": "message.send", "id": "m", "content": "hello" })).await;
        let is_answer = |event: &Event| matches!(event, Event::Complete { reply_to, content, .. } if reply_to == "m" && content == "first");
        phone.until(is_answer).await;
    }
    assert_eq!(phone.rows("").await.len(), 2);
    assert_eq!(house.world.model.prompts().len(), 1);
    phone.send(json!({ "type": "message.send", "id": "m", "content": "other words" })).await;
    phone.until_idle().await;
    let rows = phone.rows("").await;
    assert_eq!((rows.len(), rows[3].content.as_str()), (4, "second"));
}

#[tokio::test]
async fn every_message_is_answered_however_its_turn_ends() {
    let gate = Gate::default();
    let world = World::new([
        vec![text("So far"), fail(kernel::update::Failure::Refused, "no")],
        vec![],
        vec![text("Wait"), call("1", "fail", json!({})), call("2", "wait", json!({}))],
    ]);
    let world = world.tool(&TestTool::failing("broken")).tool(&TestTool::waiting(&gate));
    let house = House::over(world).await;
    let mut phone = Phone::open(&house, "ends").await;
    phone.say("a", "fail").await;
    phone.until_idle().await;
    assert_eq!(phone.words()[1], "So far\n\nFailed: no");
    phone.say("b", "say nothing").await;
    phone.until_idle().await;
    assert_eq!(phone.words()[3], "Done.");
    phone.say("c", "stop").await;
    gate.reached().await;
    let id = house.host().roster.all()[0].0.to_string();
    house.post(&format!("/api/sessions/{id}/cancel"), json!({})).await;
    phone.until_idle().await;
    assert_eq!(phone.words()[5], "Wait\n\nStopped.");
    let result = phone.screen.cards[0].result.as_deref();
    assert_eq!(result, Some("Stopped: it was stopped"));
    let failed = phone.heard.iter().any(|event| match event {
        Event::TaskUpdated { steps, .. } => steps[0].status == "failed",
        _ => false,
    });
    assert!(failed, "{:#?}", phone.heard);
    assert!(phone.screen.bubbles.iter().all(|bubble| !bubble.streaming));
}

#[tokio::test]
async fn a_huge_answer_comes_in_frames_that_the_app_survives() {
    let long = "é\n".repeat(1_700_000);
    let house = House::new([vec![text(&long)]]).await;
    let mut phone = Phone::open(&house, "long").await;
    phone.say("a", "tell me all").await;
    phone.until_idle().await;
    let shown = phone.words()[1].to_owned();
    let shown = shown.strip_suffix("\n\n[Cut here: the whole of it is in the history.]").unwrap();
    assert!(long.starts_with(shown) && shown.len() > 100_000);
    assert!(phone.rows("").await[1].content == long);
}
