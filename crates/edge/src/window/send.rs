//! What a phone says to the agent: said once, however often it is sent.

use jiff::SignedDuration;
use kernel::{
    host::PostError,
    ports::{Log, StoreError},
    session::SayError,
    update::{Entry, Fact, Message, Outcome, Seq, SessionId, WhenBusy},
};

use super::{
    attachments,
    frames::Frame,
    hear::{self, Complaint, Send},
    history,
    line::Line,
    pump::Sent,
    rows::{self, Role, Row},
    story::Asker,
    values::row_id,
};
use crate::App;

/// For so long the same name and the same words are the same message.
const SAME: SignedDuration = SignedDuration::from_hours(24);
const PAGE: usize = 128;

pub async fn obey(line: &mut Line, frame: &[u8]) -> Sent {
    let send = match hear::hear(frame) {
        Ok(send) => send,
        Err(complaint) => {
            let unreadable = matches!(complaint.code, "bad_json" | "bad_frame" | "unknown_type");
            complain(line, &complaint);
            return if unreadable { Sent::Unreadable } else { Sent::Refused };
        }
    };
    let id = send.id.clone().unwrap_or_else(|| line.app.host.ports.clock.id().to_string());
    if !line.presence.may_send() {
        let message = "too many messages in a short time; wait a little";
        complain(line, &Complaint::new(Some(id), "rate_limited", message));
        return Sent::Refused;
    }
    match say(line, &id, send).await {
        Ok(()) => Sent::Taken,
        Err(error) => {
            let (code, message) = match &error {
                PostError::Say(SayError::QueueFull) => ("queue_full", error.to_string()),
                PostError::Open(_) | PostError::Say(_) => ("internal", error.to_string()),
                PostError::Rejected(_) => ("rate_limited", error.to_string()),
            };
            complain(line, &Complaint::new(Some(id), code, message));
            Sent::Refused
        }
    }
}

/// The phone shows no errors, so words are sent that it does show.
fn complain(line: &mut Line, Complaint { reply_to, code, message }: &Complaint) {
    line.push(&Frame::Error { reply_to: reply_to.as_deref(), code, message });
    if let Some(reply_to) = reply_to {
        let id = format!("note_{}", line.app.host.ports.clock.id());
        line.complete(reply_to, &id, &format!("Not accepted: {message}"), None);
    }
}

async fn say(line: &mut Line, id: &str, send: Send) -> Result<(), PostError> {
    let asker = Asker { device: line.device.id.clone(), id: id.to_owned() };
    let (host, session) = (line.app.host.clone(), line.session);
    let mut try_no = 0;
    // Other words under a name that was used are another message: some phones count from one anew.
    loop {
        let key = asker.key(try_no);
        let known = host.ports.log.keyed(session, &key).await.map_err(store)?;
        match known {
            Some(entry) if is_same(&line.app, &entry, &send.content) => {
                return repeat(line, id, entry.seq).await.map_err(store);
            }
            Some(_) => try_no += 1,
            None => {
                let message = Message { key: Some(key), ..Message::from_user(&send.content) };
                match host.post(session, message, WhenBusy::Queue).await {
                    // Sent twice at once, with other words.
                    Err(PostError::Say(SayError::KeyReused)) => try_no += 1,
                    posted => return posted.map(drop),
                }
            }
        }
    }
}

fn store(error: StoreError) -> PostError {
    PostError::Say(SayError::Store(error))
}

pub fn is_same(app: &App, entry: &Entry, content: &str) -> bool {
    let age = app.host.ports.clock.now().duration_since(entry.at);
    let said = |message: &Message| {
        let words = message.text.split(attachments::MARK).next().unwrap_or_default();
        message.text == content || words == content
    };
    rows::taken(&entry.fact).is_some_and(said) && age < SAME
}

/// It is not said again; if it was answered, the answer is, to whoever asked again.
async fn repeat(line: &mut Line, id: &str, question: Seq) -> Result<(), StoreError> {
    let log = line.app.host.ports.log.clone();
    let answered = answered(log.as_ref(), line.session, question).await?;
    let Some((row, _)) = answered else { return Ok(()) };
    let name = row_id(line.session, row.seq, row.at);
    line.complete(id, &name, &row.content, Some(&row));
    Ok(())
}

/// The answer to what was taken there, if it has ended.
pub async fn answered(
    log: &dyn Log,
    session: SessionId,
    question: Seq,
) -> Result<Option<(Row, Outcome)>, StoreError> {
    let (mut after, mut running) = (question.before(), false);
    loop {
        let facts = log.read(session, after, PAGE).await?;
        let Some(last) = facts.last() else { return Ok(None) };
        after = last.seq;
        for Entry { seq, at, fact } in facts {
            match fact {
                Fact::Said { queued, .. } => {
                    running = queued.unwrap_or(seq) == question;
                }
                Fact::Unqueued { queued } if queued == question => {
                    let content = rows::CALLED_OFF.to_owned();
                    let row = Row::new(seq, at, Role::Agent, content);
                    return Ok(Some((row, Outcome::Cancelled)));
                }
                Fact::TurnEnded(outcome) if running => {
                    let row = history::page_before(log, session, seq.next(), 1).await?.pop();
                    return Ok(row.map(|row| (row, outcome)));
                }
                _ => (),
            }
        }
    }
}
