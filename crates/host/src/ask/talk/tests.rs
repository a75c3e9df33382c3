//! A question put to a server that follows a script.

use std::io::{self, Write};

use serde_json::{Value, json};
use tokio::sync::watch;

use super::{
    fake::{Fake, SESSION, Step},
    *,
};
use crate::ask::screen::Style;

#[derive(Clone, Default)]
struct Paper(watch::Sender<String>);

impl Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.send_modify(|text| text.push_str(str::from_utf8(bytes).unwrap()));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Paper {
    fn text(&self) -> String {
        self.0.borrow().clone()
    }

    async fn shows(&self, part: &str) {
        self.0.subscribe().wait_for(|text| text.contains(part)).await.unwrap();
    }
}

#[expect(clippy::needless_pass_by_value, reason = "`json!` reads best without a `&`")]
fn event(seq: u64, kind: &str, data: Value) -> Step {
    let event = json!({"type": kind, "data": data, "id": format!("e{seq}")});
    Step::Send(json!({"type": "event", "sessionId": SESSION, "seq": seq, "event": event}))
}

fn delta(text: &str, replace: bool) -> Step {
    let data = json!({"deltaContent": text, "replace": replace});
    let event = json!({"type": "assistant.message_delta", "data": data, "ephemeral": true});
    Step::Send(json!({"type": "event", "sessionId": SESSION, "event": event}))
}

fn accepted() -> (u16, Value) {
    (200, json!({"ok": true, "sessionId": SESSION}))
}

/// Who asks `hi`, and how.
struct Person {
    key: &'static str,
    session: Option<&'static str>,
    model: Option<&'static str>,
    json: bool,
    stops: Stops,
    out: Paper,
    err: Paper,
    keyboard: Option<Keyboard>,
}

impl Default for Person {
    fn default() -> Self {
        let (out, err) = (Paper::default(), Paper::default());
        let (_, stops) = Stops::by_hand();
        Self {
            key: "mgr_right",
            session: None,
            model: None,
            json: false,
            stops,
            out,
            err,
            keyboard: None,
        }
    }
}

impl Person {
    /// The end, what was answered, and what was remarked.
    async fn ask(mut self, fake: &Fake) -> (anyhow::Result<End>, String, String) {
        let client = Client::new(fake.url.clone(), Some(self.key.into()), None).unwrap();
        let style = Style { json: self.json, to_terminal: false, dim: false };
        let (out, err) = (Box::new(self.out.clone()), Box::new(self.err.clone()));
        let mut screen = Screen::new(out, err, style);
        let session = self.session.map(Into::into);
        let model = self.model.map(Into::into);
        let wish = Wish { prompt: "hi".into(), session, model, mode: None };
        let end = Talk::new(client, &mut screen, self.keyboard).run(wish, &mut self.stops).await;
        (end, self.out.text(), self.err.text())
    }
}

#[tokio::test]
async fn an_answer_is_streamed_and_its_session_named() {
    let script = vec![
        Step::Await("/messages"),
        event(2, "user.message", json!({"content": "hi"})),
        delta("Hel", false),
        delta("lo", false),
        event(4, "assistant.message", json!({"content": "Hello"})),
        event(5, "session.idle", json!({})),
    ];
    let fake = Fake::start(vec![script], accepted()).await;
    let (end, out, err) = Person::default().ask(&fake).await;
    assert_eq!(end.unwrap(), End::Finished);
    assert_eq!(out, "Hello\n");
    assert!(err.contains(&format!("megaron ask --session {SESSION}")), "{err}");
    let heard = fake.heard();
    assert!(heard[0].starts_with("POST /api/sessions "), "{heard:?}");
    let subscribed =
        json!({"type": "subscribe", "sessionId": SESSION, "after": 0, "deltas": "native"});
    assert_eq!(serde_json::from_str::<Value>(&heard[1]).unwrap(), subscribed);
}

#[tokio::test]
async fn a_session_that_goes_on_is_given_the_model_first_if_that_is_news() {
    for (model, is_news) in [("box/big", true), ("demo", false)] {
        let script = vec![
            Step::Await("/messages"),
            event(4, "user.message", json!({"content": "hi"})),
            event(5, "session.idle", json!({})),
        ];
        let fake = Fake::start(vec![script], accepted()).await;
        let person = Person { session: Some(SESSION), model: Some(model), ..Person::default() };
        let (end, _, err) = person.ask(&fake).await;
        assert_eq!(end.unwrap(), End::Finished);
        let heard = fake.heard();
        let at = |part: &str| heard.iter().position(|line| line.starts_with(part));
        let change = at(&format!("PATCH /api/sessions/{SESSION} "));
        let said = at(&format!("POST /api/sessions/{SESSION}/messages"));
        assert_eq!((change.is_some(), change < said), (is_news, true), "{heard:?}");
        assert_eq!(err.contains("is answered by box/big from now on"), is_news, "{err}");
        if let Some(change) = change {
            assert!(heard[change].ends_with(r#"{"model":"box/big"}"#), "{heard:?}");
        }
    }
}

#[tokio::test]
async fn a_cut_in_the_middle_does_not_show() {
    let first = vec![
        Step::Await("/messages"),
        event(4, "user.message", json!({"content": "hi"})),
        delta("Hello ", false),
        Step::Cut,
    ];
    let second = vec![
        delta("Hello y", true),
        delta("ou", false),
        event(6, "assistant.message", json!({"content": "Hello you"})),
        event(7, "session.idle", json!({})),
    ];
    let fake = Fake::start(vec![first, second], accepted()).await;
    let (end, out, _) = Person { session: Some(SESSION), ..Person::default() }.ask(&fake).await;
    assert_eq!(end.unwrap(), End::Finished);
    assert_eq!(out, "Hello you\n");
    let heard = fake.heard();
    let places: Vec<_> = heard.iter().filter(|line| line.contains("subscribe")).collect();
    assert!(places[0].contains(r#""after":3"#) && places[1].contains(r#""after":4"#), "{places:?}");
}

#[tokio::test]
async fn a_stop_cancels_the_turn_and_waits_for_its_end() {
    let script = vec![
        Step::Await("/messages"),
        event(2, "user.message", json!({"content": "hi"})),
        delta("Hel", false),
        Step::Await("/cancel"),
        event(4, "assistant.message", json!({"content": "Hel"})),
        event(5, "session.idle", json!({})),
    ];
    let fake = Fake::start(vec![script], accepted()).await;
    let (stop, stops) = Stops::by_hand();
    let person = Person { stops, ..Person::default() };
    let out = person.out.clone();
    let press = async {
        out.shows("Hel").await;
        stop.send(()).await.unwrap();
    };
    let ((end, out, _), ()) = tokio::join!(person.ask(&fake), press);
    assert_eq!(end.unwrap(), End::Cancelled);
    assert_eq!(out, "Hel\n");
}

#[tokio::test]
async fn a_message_that_waits_is_left_waiting_by_a_stop() {
    let receipt = (200, json!({"ok": true, "sessionId": SESSION, "queued": true, "position": 1}));
    let fake = Fake::start(vec![vec![]], receipt).await;
    let (stop, stops) = Stops::by_hand();
    let person = Person { session: Some(SESSION), stops, ..Person::default() };
    let err = person.err.clone();
    let press = async {
        err.shows("waits at place 1").await;
        stop.send(()).await.unwrap();
    };
    let ((end, _, err), ()) = tokio::join!(person.ask(&fake), press);
    assert_eq!(end.unwrap(), End::Cancelled);
    assert!(err.contains("still waits"), "{err}");
    assert!(!fake.heard().iter().any(|line| line.contains("/cancel")), "that turn is not ours");
}

#[tokio::test]
async fn a_failed_turn_says_why() {
    let script = vec![
        Step::Await("/messages"),
        event(2, "user.message", json!({"content": "hi"})),
        event(3, "session.error", json!({"errorType": "query", "message": "no quota"})),
    ];
    let fake = Fake::start(vec![script], accepted()).await;
    assert_eq!(Person::default().ask(&fake).await.0.unwrap(), End::Failed("no quota".into()));
}

#[tokio::test]
async fn a_refusal_is_an_error_in_the_servers_words() {
    let fake = Fake::start(vec![vec![]], (404, json!({"error": "Session not found: x"}))).await;
    let error = Person::default().ask(&fake).await.0.unwrap_err();
    assert_eq!(error.to_string(), "Session not found: x");
    let (end, ..) = Person { key: "mgr_wrong", ..Person::default() }.ask(&fake).await;
    let error = end.unwrap_err().to_string();
    assert!(error.starts_with("Authentication required"), "{error}");
    let error =
        Person { session: Some("../x"), ..Person::default() }.ask(&fake).await.0.unwrap_err();
    assert_eq!(error.to_string(), "Session not found: ../x");
}

#[tokio::test]
async fn events_can_be_had_as_they_are() {
    let script = vec![
        Step::Await("/messages"),
        event(2, "user.message", json!({"content": "hi"})),
        event(2, "user.message", json!({"content": "hi"})),
        event(3, "session.idle", json!({})),
    ];
    let fake = Fake::start(vec![script], accepted()).await;
    let (end, out, _) = Person { json: true, ..Person::default() }.ask(&fake).await;
    assert_eq!(end.unwrap(), End::Finished);
    let lines: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let seqs: Vec<_> = lines.iter().map(|line| line["seq"].as_u64()).collect();
    assert_eq!(seqs, [Some(2), Some(3)]);
}

const APPROVAL: &str = "0190f5fe-7c00-7a00-8000-00000000000a";

fn wanted(seq: u64) -> Step {
    let approval = json!({
        "id": APPROVAL, "sessionId": SESSION, "kind": "approval", "tool": "act", "title": "Acting",
        "caller": "model", "why": "it acts", "detail": {"type": "address", "url": "https://a.example"},
        "patterns": [], "askedAt": "now",
    });
    event(seq, "permission.requested", json!({"approval": approval}))
}

fn settled(seq: u64, verdict: &str, by: &str) -> Step {
    let data = json!({"approvalId": APPROVAL, "verdict": verdict, "by": by});
    event(seq, "permission.completed", data)
}

#[tokio::test]
async fn at_a_terminal_a_question_is_answered_where_it_is_asked() {
    let script = vec![
        Step::Await("/messages"),
        event(2, "user.message", json!({"content": "hi"})),
        wanted(3),
        Step::Await("/api/approvals/"),
        settled(4, "allowed", "the terminal"),
        event(5, "assistant.message", json!({"content": "Done"})),
        event(6, "session.idle", json!({})),
    ];
    let fake = Fake::start(vec![script], accepted()).await;
    let (typed, keyboard) = Keyboard::by_hand();
    let person = Person { keyboard: Some(keyboard), ..Person::default() };
    let err = person.err.clone();
    let typing = async {
        err.shows("y once").await;
        typed.send("what?".to_owned()).await.unwrap();
        typed.send("s".to_owned()).await.unwrap();
    };
    let ((end, out, err), ()) = tokio::join!(person.ask(&fake), typing);
    assert_eq!(end.unwrap(), End::Finished);
    assert_eq!(out, "Done\n");
    assert!(err.starts_with("? Acting (act): it acts\n    https://a.example\n"), "{err}");
    assert_eq!(err.matches("y once").count(), 2, "what is no answer is asked again: {err}");
    let heard = fake.heard();
    let answers: Vec<_> = heard.iter().filter(|line| line.contains("/api/approvals/")).collect();
    let expected = format!(r#"POST /api/approvals/{APPROVAL} HTTP/1.1 {{"decision":"session"}}"#);
    assert_eq!(answers, [&expected]);
}

#[tokio::test]
async fn a_question_that_is_answered_elsewhere_is_asked_no_longer() {
    let script = vec![
        Step::Await("/messages"),
        event(2, "user.message", json!({"content": "hi"})),
        wanted(3),
        settled(4, "denied", "the page"),
        event(5, "session.idle", json!({})),
    ];
    let fake = Fake::start(vec![script], accepted()).await;
    let (typed, keyboard) = Keyboard::by_hand();
    let (end, _, err) = Person { keyboard: Some(keyboard), ..Person::default() }.ask(&fake).await;
    assert_eq!(end.unwrap(), End::Finished);
    assert!(err.contains("denied: the page"), "{err}");
    assert!(!fake.heard().iter().any(|line| line.contains("/api/approvals/")));
    drop(typed);
}

#[tokio::test]
async fn without_a_terminal_it_is_said_where_to_answer() {
    let script = vec![
        Step::Await("/messages"),
        event(2, "user.message", json!({"content": "hi"})),
        wanted(3),
        event(4, "session.idle", json!({})),
    ];
    let fake = Fake::start(vec![script], accepted()).await;
    let (end, _, err) = Person::default().ask(&fake).await;
    assert_eq!(end.unwrap(), End::Finished);
    let command = format!("megaron approvals --server {} allow {APPROVAL}", fake.url);
    assert!(err.contains(&command), "{err}");
}
