//! What the shipped app takes and what it drops.

use phone::{Event, News, Screen, Timeline, event, messages, status, telling};

#[test]
fn canonical_payloads_are_read() {
    status(r#"{"agent":"megaron","status":"idle","context_remaining":0.72,"tokens_used":0,"version":"1.0.0"}"#)
        .unwrap();
    status(
        r#"{"agent":"a","status":"busy","context_remaining":1,"tokens_used":12.0,"version":null}"#,
    )
    .unwrap();
    messages(r#"{"messages":[{"id":"msg_1","role":"user","content":"hi","timestamp":"2026-02-07T10:30:00Z"}]}"#)
        .unwrap();
    for frame in [
        r#"{"type":"connected","agent":"megaron","status":"idle","context_remaining":0.72,"tokens_used":0}"#,
        r#"{"type":"message.stream","reply_to":"msg_1A2B3C4D","delta":"text"}"#,
        r#"{"type":"message.complete","reply_to":"","id":"msg_3","content":"x","timestamp":"2026-02-07T10:31:00Z"}"#,
        r#"{"type":"task.created","task_id":"t1","title":"Search","visibility":"auto","show_progress":true,"status":"in_progress","progress":0.0,"steps":[{"name":"A","status":"pending"}]}"#,
        r#"{"type":"task.updated","task_id":"t1","progress":0.5,"steps":[{"name":"A","status":"in_progress"}]}"#,
        r#"{"type":"task.completed","task_id":"t1","progress":1.0,"result":"Done"}"#,
        r#"{"type":"status.update","status":"busy","context_remaining":0.58}"#,
    ] {
        assert!(!matches!(event(frame).unwrap(), Event::Other(_)), "{frame}");
    }
    assert_eq!(event(r#"{"type":"news"}"#), Ok(Event::Other("news".to_owned())));
}

#[test]
fn whatever_the_app_drops_is_refused_with_its_place() {
    for (body, place) in [
        (
            r#"{"agent":"openclaw","status":"idle","context_remaining":0.72,"version":"1.0.0"}"#,
            "/status.tokens_used",
        ),
        (
            r#"{"agent":"a","status":"Idle","context_remaining":1,"tokens_used":0}"#,
            "/status.status",
        ),
        (
            r#"{"agent":"a","status":"offline","context_remaining":1,"tokens_used":0}"#,
            "/status.status",
        ),
        (
            r#"{"agent":"a","status":"idle","context_remaining":1,"tokens_used":12.5}"#,
            "/status.tokens_used",
        ),
        (
            r#"{"agent":"a","status":"idle","context_remaining":"0.5","tokens_used":0}"#,
            "/status.context_remaining",
        ),
        (
            r#"{"agent":"a","status":"idle","context_remaining":null,"tokens_used":0}"#,
            "/status.context_remaining",
        ),
    ] {
        assert_eq!(status(body).unwrap_err().place, place, "{body}");
    }
    for (frame, place) in [
        (r#"{"type":"message.stream","reply_to":null,"delta":"x"}"#, "message.stream.reply_to"),
        (r#"{"type":"message.stream","delta":"x"}"#, "message.stream.reply_to"),
        (
            r#"{"type":"message.complete","id":"m","content":"","timestamp":"2026-02-07T10:31:00Z"}"#,
            "message.complete.reply_to",
        ),
        (
            r#"{"type":"task.created","task_id":"t","title":"x","progress":0,"steps":[]}"#,
            "task.created.status",
        ),
        (
            r#"{"type":"task.created","task_id":"t","title":"x","status":"","progress":0}"#,
            "task.created.steps",
        ),
        (
            r#"{"type":"task.updated","task_id":"t","progress":0,"steps":[{"name":"a"}]}"#,
            "task.updated.steps[0].status",
        ),
        (r#"{"type":"task.updated","task_id":"t","progress":0}"#, "task.updated.steps"),
        (r#"{"type":"task.completed","task_id":"t","progress":1.0}"#, "task.completed.result"),
        (r#"{"type":"task.completed","task_id":"t","result":"x"}"#, "task.completed.progress"),
        (r#"{"type":"connected","status":"idle","context_remaining":1}"#, "connected.agent"),
        (
            r#"{"type":"task.updated","task_id":"t","progress":7,"steps":[]}"#,
            "task.updated.progress",
        ),
        (
            r#"{"type":"task.updated","task_id":"t","progress":0,"steps":[{"name":"a","status":"pending"},{"name":"a","status":"pending"}]}"#,
            "task.updated.steps[1].name",
        ),
    ] {
        assert_eq!(event(frame).unwrap_err().place, place, "{frame}");
    }
    for timestamp in ["2026-02-07T10:30:00.5Z", "2026-02-07 10:30:00Z", "2026-02-07T10:30:00", ""] {
        let body = format!(
            r#"{{"messages":[{{"id":"m","role":"user","content":"hi","timestamp":"{timestamp}"}}]}}"#
        );
        assert_eq!(messages(&body).unwrap_err().place, "/messages.messages[0].timestamp");
    }
    let huge = format!(r#"{{"type":"news","text":"{}"}}"#, "x".repeat(1 << 20));
    assert_eq!(event(&huge).unwrap_err().place, "frame");
}

#[test]
fn a_card_is_shown_by_what_was_known_when_it_was_made() {
    let shown = |visibility: &str, show: &str, steps: usize| {
        let steps: Vec<String> =
            (0..steps).map(|it| format!(r#"{{"name":"{it}","status":"pending"}}"#)).collect();
        let frame = format!(
            r#"{{"type":"task.created","task_id":"t","title":"x","status":"in_progress","progress":0{visibility}{show},"steps":[{}]}}"#,
            steps.join(",")
        );
        let mut screen = Screen::default();
        screen.hear(event(&frame).unwrap());
        !screen.cards.is_empty()
    };
    let named = [
        ("", [true, true, true]),
        (r#","visibility":"show""#, [true, true, true]),
        (r#","visibility":"Hide""#, [false, false, false]),
        (r#","visibility":"auto""#, [false, false, true]),
    ];
    for (visibility, by_steps) in named {
        for (steps, expected) in by_steps.into_iter().enumerate() {
            assert_eq!(shown(visibility, "", steps), expected, "{visibility} {steps}");
            assert!(shown(visibility, r#","show_progress":true"#, steps));
            assert!(!shown(visibility, r#","show_progress":false"#, steps));
        }
    }
}

#[test]
fn what_version_2_adds_is_read_and_told_twice_is_told_once() {
    let frames = [
        r#"{"type":"connected","agent":"a","status":"idle","context_remaining":1,"v":2,"session":"s","device":"d","capabilities":["resume"],"limits":{},"seq":3}"#,
        r#"{"type":"message.user","id":"msg_1","content":"hi","timestamp":"2026-02-07T10:30:00Z","origin":"browser","seq":4}"#,
        r#"{"type":"task.created","task_id":"t","title":"x","visibility":"auto","status":"in_progress","progress":0,"steps":[],"seq":5}"#,
        r#"{"type":"message.stream","reply_to":"msg_1","delta":"Hel","replace":true,"seq":5}"#,
        r#"{"type":"message.stream","reply_to":"msg_1","delta":"lo","seq":5}"#,
        r#"{"type":"approval.request","approval_id":"q","title":"May I?","detail":"","tool":"shell","options":["once","deny"],"seq":6}"#,
        r#"{"type":"approval.resolved","approval_id":"q","decision":"deny","by":"Anna","seq":7}"#,
        r#"{"type":"task.failed","task_id":"t","progress":1,"steps":[],"error":"Failed: no","seq":8}"#,
        r#"{"type":"message.complete","reply_to":"msg_1","id":"msg_2","content":"Hello","timestamp":"2026-02-07T10:30:05Z","outcome":"ok","seq":9}"#,
        r#"{"type":"caught_up","seq":9}"#,
        r#"{"type":"error","code":"not_found","message":"no"}"#,
        r#"{"type":"typing","device":"d","active":true,"seq":9}"#,
        r#"{"type":"session.list","reply_to":"a","sessions":[{"id":"s","name":"n","updated_at":"2026-02-07T10:30:00Z","status":"idle"}],"seq":9}"#,
        r#"{"type":"message.accepted","reply_to":"a","id":"msg_3","timestamp":"2026-02-07T10:30:00Z","position":0,"seq":9}"#,
    ];
    let mut timeline = Timeline::default();
    timeline.sending.push(("a".to_owned(), "mine".to_owned()));
    for frame in frames.iter().chain(&frames) {
        let told = telling(frame).unwrap();
        assert!(!matches!(told.news, News::Known(Event::Other(_))), "{frame}");
        timeline.hear(&told);
    }
    let words: Vec<_> = timeline.rows.iter().map(|row| row.content.as_str()).collect();
    assert_eq!(words, ["hi", "Hello", "mine"]);
    assert_eq!(timeline.tasks, [("t".to_owned(), Some("Failed: no".to_owned()))]);
    assert_eq!((timeline.seq, timeline.asked.len(), timeline.writing.len()), (Some(9), 0, 0));
    let placeless = r#"{"type":"caught_up"}"#;
    assert_eq!(telling(placeless).unwrap_err().place, "caught_up.seq");
}
