//! What a client of the App Protocol wishes, done: to windows, in the conversation, in answer to questions.

use std::collections::BTreeSet;

use jiff::Timestamp;
use kernel::{
    apps::AppFact,
    host::Host,
    question::{About, Decision, Scope},
    update::{Message, Origin, SessionId, WhenBusy},
    windows::{
        Bounds, By, Content, MONITOR, Named, Opening, Renderer, WindowChange, Windows,
        Wish as Arrangement,
    },
};
use serde_json::Value;
use uuid::Uuid;

use super::{
    frames::{AGENT, Frame},
    hear::{AppWords, Bounds as Told, Opened, Remember, Touch, Wish},
    party::Party,
    say,
};
use crate::frames::allowance::Allowance;

/// Turns cost something: so many at once, and then one in three seconds.
const TURNS: (f64, f64) = (10.0, 1.0 / 3.0);
/// What begins no turn costs less.
const NOTES: (f64, f64) = (30.0, 1.0);
/// What all apps of a page may say of themselves; more is left out.
const REMARKS: (f64, f64) = (400.0, 100.0);
/// How much an app may say at once.
const WORDS_BYTES: usize = 64 << 10;
/// Who answers a question, for a person.
const HERE: &str = "a client that shows windows";

pub async fn obey(party: &mut Party, wish: Wish) {
    let Some(session) = party.session() else {
        tracing::debug!("a client of the App Protocol has joined no session");
        return;
    };
    let done = match wish {
        // Those it does itself.
        Wish::Nothing | Wish::Join { .. } => Ok(()),
        Wish::Ready { window, instance, replayed } => {
            let (monitor, seat) = (party.monitor(), party.attendance());
            seat.map(|it| it.ready_after(window, monitor, instance, replayed)).ok_or_else(nobody)
        }
        Wish::Answer { request, window, response } => {
            party.attendance().map(|it| it.answered(request, window, response)).ok_or_else(nobody)
        }
        Wish::Touched { window } => {
            let monitor = party.monitor();
            party.attendance().map(|it| it.touched(window, monitor)).ok_or_else(nobody)
        }
        Wish::Hand { window, to } => {
            let monitor = party.monitor();
            party.attendance().map(|it| it.hand(window, monitor, to)).ok_or_else(nobody)
        }
        Wish::Remark { window, remark } => {
            let (may, monitor) = (may_remark(party), party.monitor());
            if let Some(place) = party.attendance().filter(|_| may) {
                place.remarked(window, monitor, remark);
            }
            Ok(())
        }
        Wish::Inspect { window } => inspect(party, session, window).await,
        Wish::Say { key, window, text } => say(party, session, key, window, text).await,
        Wish::Tell { window, words } => tell(party, session, &window, words).await,
        Wish::Touch(touches) => {
            for touch in touches {
                arrange(party, session, touch).await;
            }
            Ok(())
        }
        Wish::Interrupt => {
            party.app.host.cancel(session).await.map(drop).map_err(|it| it.to_string())
        }
        Wish::Decide { dialog, confirmed, remember } => {
            decide(party, &dialog, confirmed, remember).await
        }
    };
    if let Err(error) = done {
        party.complain(&error);
    }
}

fn nobody() -> String {
    "no session was joined".to_owned()
}

fn may_remark(party: &mut Party) -> bool {
    let now = party.app.host.ports.clock.now();
    let full = || Allowance::of(REMARKS.0, REMARKS.1, now);
    party.allowances.entry("remarks".to_owned()).or_insert_with(full).spend(now)
}

async fn inspect(
    party: &mut Party,
    session: SessionId,
    window: Option<String>,
) -> Result<(), String> {
    let key = match window {
        Some(name) => {
            let windows = party.app.host.windows(session).await.map_err(|it| it.to_string())?;
            let monitor = party.monitor();
            let found = windows.find(&name, monitor.as_deref()).map_err(|it| it.to_string())?;
            Some(found.window.key())
        }
        None => None,
    };
    party.inspect(key);
    Ok(())
}

async fn say(
    party: &mut Party,
    session: SessionId,
    key: Option<String>,
    window: Option<String>,
    text: String,
) -> Result<(), String> {
    let text = match window {
        Some(window) => format!("[window:{window}] {text}"),
        None => text,
    };
    let message = Message { key: key.clone(), ..Message::from_user(text) };
    let receipt = party.app.host.post(session, message, WhenBusy::Queue).await;
    let receipt = receipt.map_err(|error| error.to_string())?;
    let message_id = key.as_deref().unwrap_or_default();
    party.answer(&match receipt.queued {
        Some(position) => Frame::MessageQueued { message_id, position },
        None => Frame::MessageAccepted { message_id, agent_id: AGENT },
    });
    Ok(())
}

/// What an app says is its own, whoever brings it here.
async fn tell(
    party: &mut Party,
    session: SessionId,
    window: &str,
    words: AppWords,
) -> Result<(), String> {
    let windows = party.app.host.windows(session).await.map_err(|error| error.to_string())?;
    let Ok(pane) = windows.find(window, None) else {
        tracing::debug!(%session, "an app speaks in a window that is not there");
        return Ok(());
    };
    let (window, app_id) = (pane.window.key(), pane.window.app.clone());
    let id = app_id.clone().unwrap_or_else(|| pane.window.id.clone());
    let AppWords { content, instructions, inform, to_monitor } = words;
    if let Some(monitor) = to_monitor {
        reach(&windows, &monitor)?;
    }
    if content.len() + instructions.as_deref().map_or(0, str::len) > WORDS_BYTES {
        return Err(format!("an app says at most {WORDS_BYTES} bytes at once"));
    }
    match spend(party, &window, inform) {
        Pace::Fine => (),
        Pace::TooFast => return Err(format!("the app {id} says too much, and is not heard now")),
        Pace::StillTooFast => return Ok(()),
    }
    if inform {
        let fact = AppFact::Interaction { window, content, instructions, app_id, inform };
        return note(party, session, fact).await;
    }
    let text = match instructions {
        Some(instructions) => format!("{content}\n\n{instructions}"),
        None => content,
    };
    let message =
        Message { origin: Origin::App { id, window: Some(window) }, ..Message::from_user(text) };
    let posted = party.app.host.post(session, message, WhenBusy::Queue).await;
    posted.map(drop).map_err(|error| error.to_string())
}

/// A session has one agent for all of its monitors, who hears what is said to any that is there.
fn reach(windows: &Windows, monitor: &str) -> Result<(), String> {
    let monitors = windows.list().into_iter().map(|pane| pane.window.monitor.as_str());
    let monitors: BTreeSet<&str> = monitors.chain([MONITOR]).collect();
    if monitors.iter().any(|known| say::same(known, monitor)) {
        return Ok(());
    }
    let known = monitors.into_iter().collect::<Vec<_>>().join(", ");
    let monitor: String = monitor.chars().take(100).collect();
    Err(format!("toMonitor: no monitor is called \"{monitor}\" in this session; it has {known}"))
}

async fn note(party: &Party, session: SessionId, fact: AppFact) -> Result<(), String> {
    loop {
        let session = party.app.host.open(session).await.map_err(|error| error.to_string())?;
        // One that was let go in between is opened again.
        if let Ok(noted) = session.note_apps(vec![fact.clone()]).await {
            return noted.map(drop).map_err(|error| error.to_string());
        }
    }
}

enum Pace {
    Fine,
    TooFast,
    /// As before, and that was said already.
    StillTooFast,
}

fn spend(party: &mut Party, window: &str, inform: bool) -> Pace {
    let now: Timestamp = party.app.host.ports.clock.now();
    let (name, (at_once, a_second)) =
        if inform { (format!("{window} informs"), NOTES) } else { (window.to_owned(), TURNS) };
    let full = || Allowance::of(at_once, a_second, now);
    let allowance = party.allowances.entry(name).or_insert_with(full);
    let warned = allowance.is_spent();
    match (allowance.spend(now), warned) {
        (true, _) => Pace::Fine,
        (false, false) => Pace::TooFast,
        (false, true) => Pace::StillTooFast,
    }
}

/// What cannot be done is noted: it was done there already, and whoever did it hears how it is.
async fn arrange(party: &Party, session: SessionId, touch: Touch) {
    let wish = match touch {
        Touch::Close { window } => Arrangement::Close { window: Named::new(window) },
        Touch::Focus { window } => change(window, vec![WindowChange::Focused]),
        Touch::Minimise { window } => change(window, vec![WindowChange::Minimised]),
        Touch::Maximise { window } => change(window, vec![WindowChange::Maximised]),
        Touch::Place { window, bounds } => {
            let Bounds { x, y, w, h } = bounds.into();
            change(window, vec![WindowChange::Moved { x, y }, WindowChange::Resized { w, h }])
        }
        Touch::Open(opened) => {
            let Opened { window, title, renderer, data, bounds, app, monitor } = *opened;
            let Some(renderer) = Renderer::parse(&renderer) else {
                tracing::debug!(renderer, "nothing is shown that way");
                return;
            };
            let opening = Opening {
                bounds: Some(bounds.into()),
                app,
                monitor,
                ..Opening::new(window, title, Content { renderer, data })
            };
            Arrangement::Open(Box::new(opening))
        }
    };
    if let Err(error) = party.app.host.arrange(session, wish, By::Person).await {
        tracing::debug!(%session, %error, "a window is not as a client has it");
    }
}

fn change(window: String, changes: Vec<WindowChange>) -> Arrangement {
    Arrangement::Change { window: Named::new(window), changes }
}

impl From<Told> for Bounds {
    fn from(Told { x, y, w, h }: Told) -> Self {
        // Numbers that are out of reach come as far as they can, and are refused where that is too far.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "as said")]
        let (x, y, w, h) = (x.round() as i32, y.round() as i32, w.round() as u32, h.round() as u32);
        Self { x, y, w, h }
    }
}

async fn decide(
    party: &Party,
    dialog: &str,
    confirmed: bool,
    remember: Remember,
) -> Result<(), String> {
    let id = Uuid::try_parse(dialog).map_err(|_| format!("no dialog is called {dialog}"))?;
    let scope = match remember {
        Remember::Once => Scope::Once,
        Remember::Always => Scope::Always,
    };
    let host = &party.app.host;
    let decision = if !confirmed {
        Decision::Deny { reason: None }
    } else if is_visit(host, id).await? {
        // There is nothing to say but that it is done.
        Decision::Answer(Value::Null)
    } else {
        Decision::Allow { scope, pattern: None, lasts: None }
    };
    let decided = host.decide(id, decision, HERE).await;
    decided.map(drop).map_err(|error| error.to_string())
}

async fn is_visit(host: &Host, id: Uuid) -> Result<bool, String> {
    let open = host.questions().await.map_err(|error| error.to_string())?;
    let asked = open.into_iter().find(|it| it.question.id == id);
    Ok(asked.is_some_and(|it| matches!(it.question.about, About::Visit { .. })))
}
