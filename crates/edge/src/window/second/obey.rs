//! What a phone of version 2 wishes, done or refused.

use kernel::{
    host::PostError,
    inbox::DecideError,
    ports::StoreError,
    question::{Decision as Ruling, Scope as Lasting},
    session::SayError,
    update::{Fact, Message, Seq, SessionId, WhenBusy},
};
use uuid::Uuid;

use super::{
    Second,
    frames::{Frame, Listed},
    hear::{self, Decision, Wish},
    telling::outcome_name,
};
use crate::{
    devices::Scope,
    error::ApiError,
    window::{
        attachments,
        frames::{self as first, Status},
        hear::Complaint,
        own,
        pump::Sent,
        sees, send,
        story::Asker,
        typing::Typing,
        values::{row_id, time},
    },
};

/// How many conversations are listed, the latest first.
const LISTED: usize = 200;
const NAME_CHARS: usize = 200;

/// Why nothing came of a wish: the code and the words for it.
struct Refusal(&'static str, String);

impl Refusal {
    fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self(code, message.into())
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        tracing::error!(%error, "a phone cannot be served");
        Self::new("internal", "something of our own broke")
    }
}

impl From<ApiError> for Refusal {
    fn from(error: ApiError) -> Self {
        tracing::error!(?error, "a phone cannot be served");
        Self::new("internal", "something of our own broke")
    }
}

pub async fn obey(line: &mut Second, frame: &[u8]) -> Sent {
    let wish = match hear::hear(frame) {
        Ok(wish) => wish,
        Err(Complaint { reply_to, code, message }) => {
            line.complain(reply_to.as_deref(), code, &message);
            let unreadable = matches!(code, "bad_json" | "bad_frame" | "unknown_type");
            return if unreadable { Sent::Unreadable } else { Sent::Refused };
        }
    };
    let (reply_to, done) = match wish {
        Wish::Send { id, content, attachments } => {
            let id = id.unwrap_or_else(|| line.app.host.ports.clock.id().to_string());
            (Some(id.clone()), line.say(&id, content, &attachments).await)
        }
        Wish::Cancel { id } => (id.clone(), line.cancel(id.as_deref()).await),
        Wish::Respond { id, approval, decision } => (id, line.respond(&approval, decision).await),
        Wish::Typing { active } => {
            let (session, device) = (line.session, line.device.id.clone());
            // Nobody else may be there to hear it.
            line.app.phones.typing.send(Typing { session, device, active }).ok();
            (None, Ok(()))
        }
        Wish::Sessions { id } => {
            let listed = line.list(&id).await;
            (Some(id), listed)
        }
        Wish::Select { id, session } => {
            let chosen = line.choose(&id, &session).await;
            (Some(id), chosen)
        }
    };
    let Err(Refusal(code, message)) = done else { return Sent::Taken };
    let reply_to = reply_to.as_deref().filter(|it| !it.is_empty());
    line.complain(reply_to, code, &message);
    Sent::Refused
}

impl Second {
    fn complain(&mut self, reply_to: Option<&str>, code: &str, message: &str) {
        self.push(&Frame::Same(first::Frame::Error { reply_to, code, message }));
    }

    async fn say(&mut self, id: &str, content: String, files: &[Uuid]) -> Result<(), Refusal> {
        if !self.app.phones.of(&self.device.id).may_send() {
            let message = "too many messages in a short time; wait a little";
            return Err(Refusal::new("rate_limited", message));
        }
        let (app, session) = (self.app.clone(), self.session);
        let log = &app.host.ports.log;
        let key = Asker { device: self.device.id.clone(), id: id.to_owned() }.key(0);
        let conflict = || Refusal::new("id_conflict", "this id was used for another message");
        if let Some(entry) = log.keyed(session, &key).await? {
            if !send::is_same(&app, &entry, &content) {
                return Err(conflict());
            }
            return self.repeat(id, entry.seq).await;
        }
        let brought = attachments::bring(&app, session, files).await?;
        let absent =
            || Refusal::new("not_found", "an attachment is not there, or was sent already");
        let brought = brought.ok_or_else(absent)?;
        let text = format!("{content}{}", brought.words);
        let attachments = brought.pictures.clone();
        let message = Message { key: Some(key), attachments, ..Message::from_user(text) };
        match app.host.post(session, message, WhenBusy::Queue).await {
            // It was sent twice at once.
            Ok(receipt) if receipt.repeated => self.repeat(id, receipt.seq).await,
            Ok(receipt) => {
                // That it is taken is told where it was taken, which the feed brings.
                self.own.insert(id.to_owned(), receipt.queued.unwrap_or_default());
                Ok(attachments::sent(&app, brought).await?)
            }
            Err(PostError::Say(SayError::KeyReused)) => Err(conflict()),
            Err(PostError::Say(error @ SayError::QueueFull)) => {
                Err(Refusal::new("queue_full", error.to_string()))
            }
            Err(error @ PostError::Rejected(_)) => {
                Err(Refusal::new("rate_limited", error.to_string()))
            }
            Err(error @ (PostError::Open(_) | PostError::Say(_))) => {
                Err(Refusal::new("internal", error.to_string()))
            }
        }
    }

    /// It is not said again; if it was answered, the answer is.
    async fn repeat(&mut self, id: &str, seq: Seq) -> Result<(), Refusal> {
        let state = self.app.host.roster.get(self.session).unwrap_or_default();
        let queued = state.queue.iter().position(|waiting| *waiting == seq);
        let entry = self.app.host.ports.log.read(self.session, seq.before(), 1).await?.pop();
        let at = entry.map_or_else(|| self.app.host.ports.clock.now(), |entry| entry.at);
        self.push(&Frame::Accepted {
            reply_to: id,
            id: &row_id(self.session, seq, at),
            timestamp: &time(at),
            position: queued.map_or(0, |place| place + 1),
            duplicate: true,
        });
        let log = self.app.host.ports.log.clone();
        if let Some((row, outcome)) = send::answered(log.as_ref(), self.session, seq).await? {
            let files = self.files(&row).await?;
            self.push(&Frame::Complete {
                reply_to: id,
                id: &row_id(self.session, row.seq, row.at),
                content: &row.content,
                timestamp: &time(row.at),
                outcome: outcome_name(&outcome),
                attachments: &files,
            });
        }
        Ok(())
    }

    async fn cancel(&self, id: Option<&str>) -> Result<(), Refusal> {
        let (app, session) = (&self.app, self.session);
        let absent =
            || Refusal::new("not_found", "nothing of this name waits or is being answered");
        let state = app.host.roster.get(session).unwrap_or_default();
        let place = match id {
            Some(id) => Some(self.place(id).await?.ok_or_else(absent)?),
            None => None,
        };
        if let Some(place) = place.filter(|place| state.queue.contains(place)) {
            let called_off = app.host.unqueue(session, place).await;
            match called_off {
                Ok(true) => return Ok(()),
                // Its turn has begun in between.
                Ok(false) => (),
                Err(error) => return Err(Refusal::new("internal", error.to_string())),
            }
        }
        let running = self.running().await?;
        let meant = running.filter(|running| place.is_none_or(|place| place == *running));
        if meant.is_some() && app.host.cancel(session).await? { Ok(()) } else { Err(absent()) }
    }

    /// Where a message was taken that this phone knows by its own name, or everybody by its row.
    async fn place(&self, id: &str) -> Result<Option<Seq>, StoreError> {
        let log = &self.app.host.ports.log;
        let key = Asker { device: self.device.id.clone(), id: id.to_owned() }.key(0);
        if let Some(entry) = log.keyed(self.session, &key).await? {
            return Ok(Some(entry.seq));
        }
        let state = self.app.host.roster.get(self.session).unwrap_or_default();
        let open = state.queue.iter().copied().chain(self.running().await?);
        for seq in open {
            let entry = log.read(self.session, seq.before(), 1).await?.pop();
            if entry.is_some_and(|entry| row_id(self.session, seq, entry.at) == id) {
                return Ok(Some(seq));
            }
        }
        Ok(None)
    }

    /// Where the message was taken that is being answered.
    async fn running(&self) -> Result<Option<Seq>, StoreError> {
        let state = self.app.host.roster.get(self.session).unwrap_or_default();
        let Some(said) = state.turn.as_ref().map(|turn| turn.said) else { return Ok(None) };
        let entry = self.app.host.ports.log.read(self.session, said.before(), 1).await?.pop();
        Ok(Some(match entry.map(|entry| entry.fact) {
            Some(Fact::Said { queued: Some(place), .. }) => place,
            _ => said,
        }))
    }

    async fn respond(&self, approval: &str, decision: Decision) -> Result<(), Refusal> {
        let absent = || Refusal::new("not_found", "no such question is open here");
        let settled = || Refusal::new("already_resolved", "this was answered already, or given up");
        let id = Uuid::try_parse(approval).map_err(|_| absent())?;
        let host = &self.app.host;
        let open = host.roster.get(self.session).unwrap_or_default();
        if !open.questions.iter().any(|question| question.id == id) {
            return Err(if open.settled.contains(&id) { settled() } else { absent() });
        }
        let allow = |scope| Ruling::Allow { scope, pattern: None, lasts: None };
        let ruling = match decision {
            Decision::Once => allow(Lasting::Once),
            Decision::Session => allow(Lasting::Session),
            Decision::Deny => Ruling::Deny { reason: None },
            Decision::Answer(text) => Ruling::Answer(text.into()),
        };
        match host.decide(id, ruling, &self.device.name).await {
            Ok(_) => Ok(()),
            Err(DecideError::Settled) => Err(settled()),
            Err(DecideError::Unknown(_)) => Err(absent()),
            Err(DecideError::Wrong(problem)) => Err(Refusal::new("bad_frame", problem)),
            Err(DecideError::Open(error)) => Err(Refusal::new("internal", error.to_string())),
        }
    }

    async fn list(&mut self, reply_to: &str) -> Result<(), Refusal> {
        let mut all = self.app.host.roster.all();
        if self.device.scope != Scope::Everything {
            let own = own(&self.app, &self.device).await?;
            all.retain(|(id, _)| *id == own);
        }
        all.sort_by_key(|(id, state)| (std::cmp::Reverse(state.updated_at), *id));
        let listed = |(id, state): (SessionId, std::sync::Arc<kernel::state::State>)| {
            let name = Some(&state.name).filter(|name| !name.is_empty());
            let name = name.or(state.summary.as_ref()).map(String::as_str).unwrap_or_default();
            Listed {
                id: id.to_string(),
                name: name.chars().take(NAME_CHARS).collect(),
                updated_at: time(state.updated_at),
                status: Status::of(state.is_unfinished()),
            }
        };
        let sessions: Vec<Listed> = all.into_iter().take(LISTED).map(listed).collect();
        self.push(&Frame::Sessions { reply_to, sessions: &sessions });
        Ok(())
    }

    async fn choose(&mut self, reply_to: &str, session: &str) -> Result<(), Refusal> {
        let id = SessionId::parse(session);
        let seen = match id {
            Some(id) => sees(&self.app, &self.device, id).await?,
            None => false,
        };
        let Some(id) = id.filter(|_| seen) else {
            let message = "this key opens no such conversation";
            return Err(Refusal::new("forbidden", message));
        };
        Ok(self.select(reply_to, id).await?)
    }
}
