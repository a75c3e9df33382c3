//! What the shipped app takes and what it drops.

use phone::{Event, Screen, event, messages, status};

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
