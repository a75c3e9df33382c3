//! A phone whose connection is cut: nothing is lost, nothing is left open, whenever it happens.

use std::collections::HashSet;

use phone::Event;
use serde_json::json;
use testkit::{
    Gate, TestTool, World,
    model::{call, text, wait},
};

use crate::{
    common::{Deaf, House, Phone},
    phone_talk::{ANSWER, golden},
};

/// How the app comes back.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Back {
    /// It kept running, and opens a socket again.
    Same,
    /// It was started anew, and reads the history first.
    Fresh,
    /// It kept running and was cut once more.
    Twice,
}

/// Reads until the turn is over, or until so many frames came.
async fn read(phone: &mut Phone, most: usize) {
    for _ in 0..most {
        if is_over(phone) {
            return;
        }
        phone.next().await;
    }
}

fn is_over(phone: &Phone) -> bool {
    let whole = |bubble: &phone::Bubble| bubble.content == ANSWER && !bubble.streaming;
    !phone.screen.busy && phone.screen.bubbles.iter().any(whole)
}

/// What is shown, without what came twice because its pong was cut off.
fn distinct(phone: &Phone) -> Vec<&str> {
    let mut seen = HashSet::new();
    let shown = phone.screen.bubbles.iter().filter(|bubble| seen.insert(&bubble.id));
    shown.map(|bubble| bubble.content.as_str()).collect()
}

#[tokio::test]
async fn a_cut_after_any_frame_loses_nothing_and_leaves_nothing_open() {
    let house = House::new([]).await;
    for back in [Back::Same, Back::Fresh, Back::Twice] {
        for cut in 0..10 {
            for script in golden() {
                house.world.model.push(script);
            }
            let model = format!("{back:?} {cut}");
            let mut phone = Phone::open(&house, &model).await;
            // What was said before is none of this phone's turn.
            phone.screen.bubbles.clear();
            let before = house.world.model.prompts().len();
            phone.say("msg_0000000A", "Where is it?").await;
            // What a phone sends while its connection dies may never arrive; this has.
            while house.world.model.prompts().len() == before {
                tokio::task::yield_now().await;
            }
            read(&mut phone, cut).await;
            phone.cut();
            if back == Back::Fresh {
                phone.screen = phone::Screen::default();
                phone.load().await;
                let own = phone.screen.bubbles.iter().rposition(|it| it.content == "Where is it?");
                phone.screen.bubbles.drain(..own.unwrap());
            }
            phone.connect().await;
            if back == Back::Twice {
                read(&mut phone, 2).await;
                phone.cut();
                phone.connect().await;
            }
            read(&mut phone, usize::MAX).await;
            let shown = format!("{model}: {:#?} after {:#?}", phone.screen, phone.heard);
            assert!(phone.screen.bubbles.iter().all(|bubble| !bubble.streaming), "{shown}");
            assert!(phone.screen.cards.len() <= 1, "{shown}");
            let mut words = phone.words();
            words.dedup();
            assert_eq!(words, ["Where is it?", ANSWER], "{shown}");
            let open = phone.screen.cards.iter().any(|card| card.result.is_none());
            assert!(!open, "{shown}");
            phone.cut();
        }
    }
}

#[tokio::test]
async fn what_came_meanwhile_is_told_on_return_in_order_and_once() {
    let world = World::new([]);
    world.model.otherwise(vec![text("Noted.")]);
    let house = House::over(world).await;
    let mut phone = Phone::open(&house, "away").await;
    phone.say("a", "hello").await;
    phone.until_idle().await;
    phone.cut();
    let id = house.host().roster.all()[0].0.to_string();
    for number in 1..=3 {
        house.turn(&id, json!({ "prompt": format!("news {number}") })).await;
    }
    phone.connect().await;
    let expected = [
        "hello",
        "Noted.",
        "Browser: news 1",
        "Noted.",
        "Browser: news 2",
        "Noted.",
        "Browser: news 3",
        "Noted.",
    ];
    while distinct(&phone).len() < expected.len() {
        phone.next().await;
    }
    assert_eq!(distinct(&phone), expected);
    // Once more, with all of it acknowledged by what is said next.
    phone.say("b", "and?").await;
    phone.until_idle().await;
    phone.cut();
    phone.connect().await;
    phone.say("c", "well").await;
    phone.until_idle().await;
    let news = phone.words().iter().filter(|word| word.starts_with("Browser: news")).count();
    assert_eq!(news, 3);
}

#[tokio::test]
async fn a_killed_server_ends_the_card_and_the_answer_truthfully() {
    let gate = Gate::default();
    let world = World::new([
        vec![text("Working"), call("1", "echo", json!({})), call("2", "wait", json!({}))],
        vec![text("Next.")],
    ]);
    let mut house = House::over(world.tool(&TestTool::waiting(&gate))).await;
    let mut phone = Phone::open(&house, "killed").await;
    phone.say("a", "do it").await;
    phone.until(|event| matches!(event, Event::TaskCreated(_))).await;
    phone.say("b", "and then?").await;
    let waits = || house.host().roster.all()[0].1.queue.len() == 1;
    while !waits() {
        tokio::task::yield_now().await;
    }
    gate.reached().await;
    house.kill().await;
    phone.cut();
    house.start().await;
    phone.moved(&house);
    phone.connect().await;
    while phone.words().len() < 4 || phone.screen.busy {
        phone.next().await;
    }
    let lost = "Working\n\nInterrupted: the server stopped before the answer was finished.";
    assert_eq!(phone.words(), ["do it", "and then?", lost, "Next."], "{:#?}", phone.heard);
    let result = phone.screen.cards[0].result.as_deref();
    assert_eq!((phone.screen.cards.len(), result), (1, Some("Failed: the server restarted")));
}

#[tokio::test]
async fn whoever_comes_in_the_middle_hears_the_answer_from_its_beginning() {
    let gate = Gate::default();
    let house = House::new([vec![text("One, "), wait(&gate), text("two.")]]).await;
    let mut phone = Phone::open(&house, "first").await;
    phone.say("a", "count").await;
    phone.until(|event| matches!(event, Event::Stream { .. })).await;
    gate.reached().await;
    let mut late = Phone::open(&house, "late").await;
    let first = late.next().await;
    assert!(matches!(&first, Event::Stream { delta, .. } if delta == "One, "), "{first:?}");
    // The first one has a piece already, which is never repeated.
    phone.cut();
    phone.connect().await;
    gate.open();
    late.until_idle().await;
    phone.until_idle().await;
    assert_eq!(late.words(), ["count", "One, two."]);
    assert_eq!(phone.words(), ["count", "One, two."]);
}

#[tokio::test]
async fn a_phone_that_answers_no_ping_loses_nothing_and_hears_at_most_the_last_words_twice() {
    let world = World::new([]);
    world.model.otherwise(vec![text("Yes.")]);
    let house = House::over(world).await;
    let path = format!("/ws?token={}", house.key());
    let mut heard = Vec::new();
    for number in 0..3 {
        let mut deaf = Deaf::open(house.address(), &path).await;
        let id = number.to_string();
        deaf.send(&json!({ "type": "message.send", "id": id, "content": "Are you there?" })).await;
        loop {
            let event = deaf.next().await;
            let Event::Complete { reply_to, .. } = &event else { continue };
            heard.push(reply_to.clone());
            if *reply_to == id {
                break;
            }
        }
    }
    assert_eq!(heard, ["0", "0", "1", "1", "2"]);
}

#[tokio::test]
async fn a_socket_that_is_dead_without_a_word_is_found_out_by_the_next_status() {
    let house = House::new([vec![text("Yes.")], vec![text("Yes again.")]]).await;
    let (_, paired) = house.post("/api/keys", json!({ "name": "phone" })).await;
    let mut phone = Phone::new(&house, paired["key"].as_str().unwrap(), "phone");
    phone.start().await;
    // When the second is heard, so was the pong that came before it.
    for id in ["a", "b"] {
        phone.say(id, "hello").await;
        phone.until_idle().await;
    }
    // Its network is gone: nothing is read any more, and nobody says so.
    let asking = tokio::spawn(phone.ask("/status"));
    while house.get("/api/keys").await.1["keys"][0]["connected"] == true {
        tokio::task::yield_now().await;
    }
    let dead = phone.detach();
    phone.connect().await;
    assert_eq!(asking.await.unwrap().status, 200);
    drop(dead);
    assert!(!phone.status().await.busy);
}
