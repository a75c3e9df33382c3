//! What must hold for phones, case by case, and where it is shown.
//!
//! | case | what | test |
//! |---|---|---|
//! | 1 | strict decoder | every test through `common::Phone` and `common::Newer`, which read with the crate `phone` |
//! | 2 | its control | `whatever_the_app_drops_is_refused_with_its_place` |
//! | 3 | a client of the written protocol | `a_client_from_the_written_protocol_alone_has_a_whole_conversation` |
//! | 4 | a new server | `a_turn_comes_in_the_order_that_the_app_needs`; `window/values.rs` |
//! | 5 | the way in, also mid-turn | `common::Phone::connect` in every test; `whoever_comes_in_the_middle_hears_the_answer_from_its_beginning` |
//! | 6 | the golden turn, its pace | `a_turn_comes_in_the_order_that_the_app_needs`; `window/line/pace.rs`, in paused time |
//! | 7, 8 | paths, keys, tokens | `a_key_and_nothing_else_opens_the_doors`, `secrets_appear_in_no_answer_and_in_no_log`; `window/door.rs` |
//! | 9, 10 | drops and kills at any phase | `the_app_comes_back_from_every_cut_and_every_kill`, `an_answer_in_between_would_lose_the_app_for_ever` in `window/hold/phases.rs`, in paused time |
//! | 11 | a silent death | `a_socket_that_is_dead_without_a_word_is_found_out_by_the_next_status`, `a_socket_that_does_not_prove_itself_is_given_up` |
//! | 12 | limits of waiting | `window/hold.rs` and `window/hold/phases.rs`, in paused time |
//! | 13, 14 | cut after every frame, fresh, twice | `a_cut_after_any_frame_loses_nothing_and_leaves_nothing_open`, `two_phones_and_a_page_agree_however_often_they_are_cut` |
//! | 15 | killed server | `a_killed_server_ends_the_card_and_the_answer_truthfully`, `a_phone_sees_a_task_fail_whose_server_was_killed` |
//! | 16 | cut while idle | `what_came_meanwhile_is_told_on_return_in_order_and_once` |
//! | 17 | no pongs | `a_phone_that_answers_no_ping_loses_nothing_and_hears_at_most_the_last_words_twice` |
//! | 18 | two devices | `what_one_says_all_see_and_each_by_its_own_names` |
//! | 19 | every door | `whoever_speaks_in_the_conversation_is_shown_at_once_and_in_the_history` |
//! | 20 | a device that stops reading | `a_phone_that_stops_reading_delays_nobody_and_misses_nothing` |
//! | 21 | repeated sends | `the_same_message_is_said_once_and_its_answer_repeated`; version 2 in `what_waits_or_runs_is_called_off_by_name` |
//! | 22 | waiting sends | `what_waits_is_answered_in_order_and_the_agent_is_busy_throughout`, and killed in between `a_killed_server_ends_the_card_and_the_answer_truthfully` |
//! | 23 | durable first | `nothing_is_told_before_it_is_safe` |
//! | 24 | however a turn ends | `every_message_is_answered_however_its_turn_ends` |
//! | 25 | failed steps | the same; version 2 in `a_plan_is_shown_on_the_phone_as_the_agent_says_or_as_soon_as_it_is_worth_it` |
//! | 26 | progress, names of steps | `progress_never_falls_and_no_two_steps_share_a_name` in `window/cards.rs` |
//! | 27 | visibility | `a_card_is_shown_by_what_was_known_when_it_was_made`, `a_plan_is_shown_on_the_phone_as_the_agent_says_or_as_soon_as_it_is_worth_it` |
//! | 28 | paging | `walking_back_by_the_oldest_time_finds_each_row_once` |
//! | 29 | `limit` and `before`, long logs | `pages_may_be_asked_for_in_many_ways`, `three_hundred_rows_of_one_instant_are_one_page`, `a_page_of_a_hundred_thousand_rows_reads_little_more_than_the_page`, `a_page_is_found_by_its_place_and_not_by_looking_through_the_log` |
//! | 30 | huge answers | `a_huge_answer_comes_in_frames_that_the_app_survives` |
//! | 31, 32 | hostile frames and fields | `hostile_frames_are_answered_and_hurt_nobody`, `the_second_version_bears_hostile_frames_too`; `window/hear.rs`, `window/second/hear.rs` |
//! | 33 | floods | `a_flood_is_refused_in_words_and_others_are_served`; `window/bucket.rs` |
//! | 34 | wrong keys | `wrong_keys_are_refused_and_then_not_even_that`; `lockout.rs`, in paused time; `a_wrong_key_is_told_of_once_a_minute` |
//! | 35 | revoking | `a_device_has_a_key_of_its_own_until_it_is_revoked`, `a_revoked_device_is_shut_out_of_every_door_at_once_and_no_other_is` |
//! | 36 | pairing, TLS | `a_phone_is_paired_listed_used_and_revoked`, `other_machines_come_by_a_certificate_that_they_know`, `encrypted.rs` |
//! | 37 | going on from any place | `whoever_goes_on_from_any_place_hears_every_later_fact_once_and_in_order`, `whoever_is_far_behind_is_told_to_read_the_history` |
//! | 38 | both versions | `the_first_version_sees_nothing_of_the_second` |
//! | 39 | cancelling, approvals, typing | `what_waits_or_runs_is_called_off_by_name`, `a_question_is_answered_from_a_phone_and_the_first_answer_counts`; `window/typing.rs`, in paused time |
//! | 40 | attachments | `files_come_with_a_message_and_are_read_by_those_who_see_it`, `pictures_of_tools_come_with_the_answer` |
//! | 41 | notifications | `phone_push.rs`, `push.rs`; killed in between `what_waits_to_be_sent_when_the_server_is_killed_is_sent_by_the_next_and_once` |

use serde_json::Value;
use testkit::{World, model::text};
use tokio_tungstenite::tungstenite::Message;

use crate::{
    common::{House, Newer},
    phone_talk::{ANSWER, golden},
};

/// What a page heard of the conversation: who said what.
fn spoken(frames: &[Value]) -> Vec<String> {
    let event = |frame: &Value| {
        let (kind, data) = (frame["event"]["type"].as_str()?, &frame["event"]["data"]);
        let said = matches!(kind, "user.message" | "assistant.message");
        let content = data["content"].as_str().filter(|content| said && !content.is_empty())?;
        Some(content.to_owned())
    };
    frames.iter().filter_map(event).collect()
}

#[tokio::test]
async fn two_phones_and_a_page_agree_however_often_they_are_cut() {
    let house = House::new([]).await;
    let mut one = Newer::paired(&house, "one").await;
    let mut other = Newer::paired(&house, "other").await;
    let id = house.host().roster.all()[0].0.to_string();
    let mut page = house.listener(&id).await;
    let mut heard = Vec::new();
    for round in 0..10 {
        for script in golden() {
            house.world.model.push(script);
        }
        let question = format!("question {round}");
        let (speaker, listener) =
            if round % 2 == 0 { (&mut one, &mut other) } else { (&mut other, &mut one) };
        let before = house.world.model.prompts().len();
        speaker.say(&format!("msg_{round:08X}"), &question).await;
        // What is sent while a connection dies may never arrive; this has.
        while house.world.model.prompts().len() == before {
            tokio::task::yield_now().await;
        }
        // One is cut after as many frames as there were rounds, the other after each frame.
        for _ in 0..round {
            if speaker.timeline.rows.len() >= 2 * (round + 1) {
                break;
            }
            speaker.next().await;
        }
        speaker.cut();
        speaker.connect(&house).await;
        for _ in 0..round.min(4) {
            listener.cut();
            listener.connect(&house).await;
        }
        for phone in [&mut *speaker, &mut *listener] {
            phone.until_rows(2 * (round + 1)).await;
        }
        heard.extend(page.turn().await);
    }
    let rows = phone::messages(&one.ask(&house, "/messages?limit=200").await.text()).unwrap();
    assert_eq!(rows.len(), 20);
    assert_eq!(one.timeline.rows, rows);
    assert_eq!(other.timeline.rows, rows);
    for phone in [&one, &other] {
        assert!(phone.timeline.writing.is_empty() && phone.timeline.sending.is_empty());
        assert_eq!(phone.timeline.tasks.len(), 10);
        assert!(phone.timeline.tasks.iter().all(|(_, end)| end.as_deref() == Some("Done.")));
    }
    let parts: Vec<String> = (0..10)
        .flat_map(|round| {
            let answer = ANSWER.split("\n\n").map(str::to_owned);
            [format!("question {round}")].into_iter().chain(answer)
        })
        .collect();
    assert_eq!(spoken(&heard), parts);
}

#[tokio::test]
async fn the_second_version_bears_hostile_frames_too() {
    let house = House::new([vec![text("Still here.")]]).await;
    let mut good = Newer::paired(&house, "good").await;
    let mut bad = Newer::paired(&house, "bad").await;
    let deep = "[".repeat(10_000);
    for (frame, code) in [
        ("[]", "bad_frame"),
        ("{", "bad_json"),
        (deep.as_str(), "bad_json"),
        (r#"{"type":"dance"}"#, "unknown_type"),
        (r#"{"type":"message.send","content":"\ud800"}"#, "bad_json"),
        (r#"{"type":"message.send","content":null}"#, "bad_frame"),
        (r#"{"type":"message.send","content":" "}"#, "empty"),
        (r#"{"type":"message.cancel","id":{}}"#, "bad_frame"),
        (r#"{"type":"session.select","session":"../../etc"}"#, "forbidden"),
        (r#"{"type":"typing"}"#, "bad_frame"),
    ] {
        bad.socket.as_mut().unwrap().send_raw(Message::text(frame.to_owned())).await;
        assert_eq!(bad.until("error").await["code"], code, "{frame:.40}");
    }
    for _ in 0..20 {
        bad.socket.as_mut().unwrap().send_raw(Message::text("1")).await;
    }
    let closed = bad.socket.as_mut().unwrap().closed().await.unwrap().unwrap();
    assert_eq!(u16::from(closed.code), 1008);
    bad.connect(&house).await;
    bad.socket.as_mut().unwrap().send_raw(Message::text("x".repeat((1 << 20) + 1))).await;
    let closed = bad.socket.as_mut().unwrap().closed().await.unwrap().unwrap();
    assert_eq!(u16::from(closed.code), 1009);
    let revoked = house.delete("/api/keys/bad").await;
    assert_eq!(revoked.0, 200);
    assert_eq!(bad.connect_with(&house, "").await.unwrap_err().0, 401);
    good.say("a", "are you there?").await;
    good.until_rows(2).await;
    assert_eq!(good.words(), ["are you there?", "Still here."]);
}

#[tokio::test]
async fn nothing_is_told_before_it_is_safe() {
    let world = World::new([]);
    world.model.otherwise(vec![text("Yes.")]);
    let mut house = House::over(world).await;
    for round in 1..4 {
        let mut phone = Newer::paired(&house, &format!("phone {round}")).await;
        phone.say("a", &format!("question {round}")).await;
        phone.until("message.accepted").await;
        house.restart().await;
        phone.cut();
        phone.connect(&house).await;
        phone.until_rows(2 * round).await;
        let said = format!("question {round}");
        assert_eq!(phone.words().iter().filter(|word| **word == said).count(), 1);
    }
}
