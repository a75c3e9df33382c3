//! Version 2 on one socket: the facts of a conversation from any point on, without a gap, and what is said between them.

pub mod frames;
mod hear;
mod obey;
mod standing;
mod telling;
mod voice;

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use kernel::{
    feed::Feed,
    update::{Seq, SessionId},
};
use tokio::{sync::broadcast, time::Instant};

use super::{
    attachments,
    frames::{FRAME_BYTES, Status, Step},
    hear::CONTENT_CHARS,
    history,
    line::AGENT,
    presence::SOCKETS,
    pump::Out,
    reply::Reply,
    story::Story,
    typing::{Typing, Typists},
    values::Filling,
};
use crate::{App, devices::Device, error::ApiError};
use frames::{CAPABILITIES, Frame, Limits, placed, written};

/// Who is further behind reads the history instead.
const BEHIND: u64 = 1000;

const LIMITS: Limits = Limits {
    content_chars: CONTENT_CHARS,
    frame_bytes: FRAME_BYTES,
    messages_per_minute: 60,
    burst: 20,
    waiting: 100,
    sockets: SOCKETS,
    page: history::MOST,
    attachment_bytes: attachments::BYTES,
    attachments: attachments::MOST,
};

pub struct Second {
    app: Arc<App>,
    device: Arc<Device>,
    session: SessionId,
    story: Story,
    reply: Option<Reply>,
    /// The next piece of the reply takes the place of all that was told of it.
    replace: bool,
    out: VecDeque<Out>,
    /// Facts are told from before this socket was opened.
    past: bool,
    /// The last fact that was put into words.
    told: Seq,
    piece_at: Option<Instant>,
    counted_at: Option<Instant>,
    /// What the phone was last told.
    busy: bool,
    /// Tasks that it was told of, and how their steps stood.
    cards: HashMap<String, Vec<Step>>,
    /// What was sent on this very socket, by the phone's own names, and how many go before it.
    own: HashMap<String, usize>,
    typing: broadcast::Receiver<Typing>,
    typists: Typists,
    /// What is listened to from now on.
    moved: Option<Feed>,
}

impl Second {
    /// From right after this fact, or from now on.
    pub async fn begin(
        app: Arc<App>,
        device: Arc<Device>,
        session: SessionId,
        after: Option<Seq>,
    ) -> Result<(Self, Feed), ApiError> {
        let last = app.host.roster.get(session).map(|state| state.last).unwrap_or_default();
        let far = after.filter(|after| last.0.saturating_sub(after.0) > BEHIND);
        let feed = app.host.feed(session, after.filter(|_| far.is_none())).await?;
        let reset = after.is_some_and(|after| after != feed.last());
        let typing = app.phones.typing.subscribe();
        let story = Story::load(app.host.ports.log.as_ref(), session, feed.last()).await?;
        let mut line = Self {
            app,
            device,
            session,
            story,
            reply: None,
            replace: false,
            out: VecDeque::new(),
            past: true,
            told: feed.last(),
            piece_at: None,
            counted_at: None,
            busy: false,
            cards: HashMap::new(),
            own: HashMap::new(),
            typing,
            typists: Typists::default(),
            moved: None,
        };
        line.greet();
        if reset {
            line.push(&Frame::Reset {});
        }
        Ok((line, feed))
    }

    fn greet(&mut self) {
        let (busy, filling) = self.standing();
        self.busy = busy;
        self.know_cards();
        let (session, device) = (self.session.to_string(), self.device.id.clone());
        self.push(&Frame::Connected {
            agent: AGENT,
            status: Status::of(busy),
            context_remaining: filling.remaining,
            tokens_used: filling.used,
            v: 2,
            session: &session,
            device: &device,
            capabilities: CAPABILITIES,
            limits: LIMITS,
        });
    }

    /// Goes over to another conversation, from now on.
    async fn select(&mut self, reply_to: &str, session: SessionId) -> Result<(), ApiError> {
        let feed = self.app.host.feed(session, None).await?;
        let log = self.app.host.ports.log.clone();
        self.story = Story::load(log.as_ref(), session, feed.last()).await?;
        (self.session, self.told, self.past) = (session, feed.last(), true);
        (self.reply, self.replace) = (None, false);
        self.cards.clear();
        self.own.clear();
        self.typists.clear();
        self.know_cards();
        self.push(&Frame::Selected { reply_to, session: &session.to_string() });
        self.busy = !self.standing().0;
        self.moved = Some(feed);
        Ok(())
    }

    /// The tasks that were open where this begins, which whoever goes on from there knows.
    fn know_cards(&mut self) {
        let open = self.story.cards().into_iter().filter(super::cards::Card::is_worth_showing);
        self.cards.extend(open.map(|card| (card.id, card.steps)));
    }

    fn push(&mut self, frame: &Frame<'_>) {
        self.out.push_back(Out::Frame(placed(written(frame), self.told)));
    }

    fn standing(&self) -> (bool, Filling) {
        let state = self.app.host.roster.get(self.session).unwrap_or_default();
        let filling = Filling::of(&state, self.app.host.ports.models.as_ref());
        (state.is_unfinished(), filling)
    }
}
