//! Transcripts in, what is shown out.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::*;

#[expect(clippy::needless_pass_by_value, reason = "`json!` reads best without a `&`")]
fn frame(seq: Option<u64>, id: &str, kind: &str, data: Value) -> EventFrame {
    let ephemeral = seq.is_none() && kind.ends_with("_delta");
    let event = json!({"type": kind, "id": id, "data": data, "ephemeral": ephemeral});
    serde_json::from_value(json!({"seq": seq, "event": event})).unwrap()
}

fn delta(text: &str) -> EventFrame {
    frame(None, "d", "assistant.message_delta", json!({"deltaContent": text}))
}

fn so_far(text: &str) -> EventFrame {
    let data = json!({"deltaContent": text, "replace": true});
    frame(None, "r", "assistant.message_delta", data)
}

fn said(seq: u64, text: &str) -> EventFrame {
    frame(Some(seq), &format!("m{seq}"), "assistant.message", json!({"content": text}))
}

fn asked(seq: u64, text: &str) -> EventFrame {
    frame(Some(seq), &format!("u{seq}"), "user.message", json!({"content": text}))
}

fn idle(seq: u64) -> EventFrame {
    frame(Some(seq), &format!("i{seq}"), "session.idle", json!({}))
}

/// All that is shown, as one text, and the end.
fn read(frames: impl IntoIterator<Item = EventFrame>) -> (String, Option<End>) {
    let mut reader = Reader::new("hi".into(), 3);
    let mut all = String::new();
    for frame in frames {
        if !reader.is_news(&frame) {
            continue;
        }
        let (shows, end) = reader.hear(frame);
        for show in shows {
            match show {
                Show::Text(text) => all.push_str(&text),
                Show::Stop => all.push('|'),
                Show::Reasoning(text) => write!(all, "<{text}>").unwrap(),
                Show::Doing(text) => write!(all, "[{text}]").unwrap(),
                Show::Asking(asked) => write!(all, "?{}", asked.id).unwrap(),
                Show::Settled(settled) => write!(all, "!{}", settled.approval_id).unwrap(),
            }
        }
        if end.is_some() {
            return (all, end);
        }
    }
    (all, None)
}

#[test]
fn a_streamed_answer_is_shown_once() {
    let turn = [asked(4, "hi"), delta("Hel"), delta("lo"), said(6, "Hello"), idle(7)];
    assert_eq!(read(turn), ("Hello|".into(), Some(End::Finished)));
}

#[test]
fn what_comes_before_our_own_message_is_not_ours() {
    let turn = [delta("other"), said(4, "other"), idle(5), asked(6, "not this"), idle(8)];
    let ours = [asked(9, "hi"), said(11, "yes"), idle(12)];
    assert_eq!(read(turn.into_iter().chain(ours)), ("yes|".into(), Some(End::Finished)));
}

#[test]
fn a_cut_at_any_point_neither_loses_nor_doubles() {
    let turn = || {
        vec![
            asked(4, "hi"),
            frame(None, "t1", "tool.execution_start", json!({"toolCallId": "a", "toolName": "x"})),
            frame(
                Some(6),
                "t2",
                "tool.execution_start",
                json!({"toolCallId": "b", "toolName": "y"}),
            ),
            delta("Hel"),
            delta("lo "),
            delta("you"),
            said(9, "Hello you"),
            idle(10),
        ]
    };
    let whole = read(turn());
    assert_eq!(whole, ("[x null][y null]Hello you|".into(), Some(End::Finished)));
    for cut in 0..turn().len() {
        let mut frames: Vec<_> = turn().into_iter().take(cut).collect();
        let last = frames.iter().filter_map(|frame| frame.seq).max().unwrap_or(3);
        let mut again = turn();
        again.retain(|frame| {
            frame.seq.is_none_or(|seq| seq > last) && frame.event.id.as_deref() != Some("d")
        });
        if last >= 6 {
            again.retain(|frame| frame.event.id.as_deref() != Some("t1"));
        }
        if (4..7).contains(&cut) {
            again.insert(0, so_far("Hello"));
            again.insert(1, delta(" you"));
        }
        frames.extend(again);
        assert_eq!(read(frames), whole, "cut at {cut}");
    }
}

#[test]
fn an_answer_that_comes_back_shorter_goes_on_where_it_was() {
    let turn =
        [asked(4, "hi"), delta("Hello y"), so_far("Hel"), delta("lo you"), said(6, "Hello you")];
    assert_eq!(read(turn), ("Hello you|".into(), None));
}

#[test]
fn an_answer_that_comes_back_different_is_shown_again() {
    let turn = [asked(4, "hi"), delta("Hello"), so_far("Good"), delta(" day"), said(6, "Good day")];
    assert_eq!(read(turn), ("Hello\nGood day|".into(), None));
}

#[test]
fn reasoning_is_shown_once_whether_it_was_streamed_or_not() {
    let thought = |seq| frame(Some(seq), "q", "assistant.reasoning", json!({"content": "hm"}));
    let streamed = frame(None, "d", "assistant.reasoning_delta", json!({"deltaContent": "hm"}));
    assert_eq!(read([asked(4, "hi"), streamed, thought(5)]).0, "<hm>");
    assert_eq!(read([asked(4, "hi"), thought(5)]).0, "<hm>");
}

#[test]
fn a_failure_and_a_cancellation_end_the_turn() {
    let failed = frame(Some(5), "e", "session.error", json!({"message": "no"}));
    assert_eq!(read([asked(4, "hi"), failed]).1, Some(End::Failed("no".into())));
    let info = json!({"infoType": "cancellation", "message": "Operation cancelled by user"});
    let info = frame(None, "c", "session.info", info);
    assert_eq!(read([asked(4, "hi"), info, idle(6)]).1, Some(End::Cancelled));
}

#[test]
fn a_tool_that_failed_says_why() {
    let start = json!({"toolCallId": "a", "toolName": "x", "arguments": {"n": 1}});
    let start = frame(Some(5), "s", "tool.execution_start", start);
    let end = json!({"toolCallId": "a", "success": false, "error": {"message": "no such file"}});
    let end = frame(Some(6), "e", "tool.execution_complete", end);
    assert_eq!(read([asked(4, "hi"), start, end]).0, r#"[x {"n":1}][x: no such file]"#);
}

#[test]
fn a_plan_is_told_beside_the_answer_unless_it_is_hidden() {
    let task = |id: &str, statuses: [&str; 2], visibility: &str| {
        let steps = statuses.map(|status| json!({"text": "look", "status": status}));
        json!({"task": {"id": id, "title": "Tidy up", "steps": steps, "visibility": visibility}})
    };
    let ended = |id: &str| json!({"taskId": id, "status": "cancelled", "reason": "1 is left"});
    let frames = [
        asked(4, "hi"),
        frame(Some(5), "a", "task.created", task("t", ["active", "pending"], "")),
        frame(Some(6), "b", "task.updated", task("t", ["done", "active"], "")),
        frame(Some(7), "c", "task.completed", ended("t")),
        frame(Some(8), "d", "task.created", task("u", ["active", "pending"], "hide")),
        frame(Some(9), "e", "task.completed", ended("u")),
        idle(10),
    ];
    let told = "[Tidy up: 0 of 2 · look][Tidy up: 1 of 2 · look][Tidy up: cancelled, 1 is left]";
    assert_eq!(read(frames), (told.to_owned(), Some(End::Finished)));
}
