//! What one phone is told on one socket: the story in frames, paced as the phone bears it.

mod missed;
#[cfg(test)]
mod pace;
mod showing;
mod voice;

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use kernel::{
    feed::Draft,
    ports::StoreError,
    update::{Entry, Seq, SessionId, Signal},
};
use tokio::time::Instant;

use missed::Missed;

use super::{
    attachments,
    cards::{Card, Change},
    frames::{DELTA_BYTES, Frame, Status, write},
    presence::{Presence, Talk},
    pump::Out,
    reply::Reply,
    rows::Row,
    story::{Asker, Question, Story, Told},
    values::{Filling, row_id, time},
};
use crate::{App, devices::Device};

/// Between two pieces of a reply, and before its end: the phone handles frames in no certain order.
pub const PACE: Duration = Duration::from_millis(40);
/// Between two tellings of how a task stands.
const CARDS: Duration = Duration::from_millis(250);
/// Between two tellings of what fills the context.
pub const COUNTS: Duration = Duration::from_secs(1);
pub const AGENT: &str = "megaron";

pub struct Line {
    pub app: Arc<App>,
    pub device: Arc<Device>,
    pub presence: Arc<Presence>,
    pub session: SessionId,
    story: Story,
    reply: Option<Reply>,
    out: VecDeque<Out>,
    /// What had been missed, until the present is reached.
    missed: Option<Missed>,
    /// The last fact that was put into words.
    told: Seq,
    piece_at: Option<Instant>,
    counted_at: Option<Instant>,
    /// What the phone was last told.
    busy: bool,
    /// Tasks whose standing was told lately, and how they stand by now.
    cards: HashMap<String, (Instant, Option<Card>)>,
}

impl Line {
    /// Begins right after this fact. The first thing to be said is that we are connected.
    pub async fn begin(
        app: Arc<App>,
        device: Arc<Device>,
        presence: Arc<Presence>,
        session: SessionId,
        after: Seq,
    ) -> Result<Self, StoreError> {
        let story = Story::load(app.host.ports.log.as_ref(), session, after).await?;
        let mut line = Self {
            app,
            device,
            presence,
            session,
            story,
            reply: None,
            out: VecDeque::new(),
            missed: Some(Missed::default()),
            told: after,
            piece_at: None,
            counted_at: None,
            busy: false,
            cards: HashMap::new(),
        };
        let (busy, filling) = line.standing();
        line.busy = busy;
        line.push(&Frame::Connected {
            agent: AGENT,
            status: Status::of(busy),
            context_remaining: filling.remaining,
            tokens_used: filling.used,
        });
        Ok(line)
    }

    /// Changes what is remembered of this phone in this conversation.
    pub fn note(&self, change: impl FnOnce(&mut Talk)) {
        self.presence.change(self.session, change);
    }

    pub fn push(&mut self, frame: &Frame<'_>) {
        self.out.push_back(Out::Frame(write(frame)));
    }

    /// An answer that this socket alone is given.
    pub fn complete(&mut self, reply_to: &str, id: &str, content: &str, row: Option<&Row>) {
        let at = row.map_or_else(|| self.app.host.ports.clock.now(), |row| row.at);
        let timestamp = time(at);
        let frame = write(&Frame::Complete { reply_to, id, content, timestamp: &timestamp });
        self.out.push_back(Out::Complete(frame, row.map_or(Seq(0), |row| row.seq)));
    }

    async fn fact(&mut self, entry: &Entry) -> Result<(), StoreError> {
        self.story.learn(self.app.host.ports.log.as_ref(), entry).await?;
        let told = self.story.hear(entry);
        self.told = entry.seq;
        for told in told {
            match &mut self.missed {
                Some(missed) => missed.note(told),
                None => self.tell(told),
            }
        }
        Ok(())
    }

    fn signal(&mut self, signal: &Signal) {
        if let (Signal::Text { step, delta, size }, Some(reply)) = (signal, &mut self.reply) {
            reply.piece(*step, delta, *size);
        }
    }

    /// The past is told. Comes again if this socket had fallen behind: then pieces may be missing.
    async fn now(&mut self, last: Seq, draft: Option<&Draft>) -> Result<(), StoreError> {
        self.told = last;
        let Some(missed) = self.missed.take() else {
            self.reply.iter_mut().for_each(Reply::freeze);
            return Ok(());
        };
        let talk = self.presence.talk(self.session).await?;
        let state = self.app.host.roster.get(self.session);
        let (waiting, plan) = state.as_ref().map(|it| (it.queue.iter(), it.task.as_ref())).unzip();
        self.story.arrive(waiting.into_iter().flatten().copied(), plan.flatten());
        let open = self.story.cards();
        let knows = |id: &str| talk.doubtful || talk.tasks.contains_key(id);
        for (id, result) in missed.closed.iter().filter(|(id, _)| !talk.fresh && knows(id)) {
            self.push(&Frame::TaskCompleted { task_id: id, progress: 1.0, result });
        }
        for told in missed.rows.iter().cloned() {
            self.tell(told);
        }
        self.presence.change(self.session, |it| {
            if talk.fresh {
                it.tasks.clear();
            } else if talk.doubtful {
                // When in doubt it is told how they stand, and never that they are new.
                it.tasks.extend(open.iter().map(|card| (card.id.clone(), None)));
            }
            for (id, _) in &missed.closed {
                it.tasks.entry(id.clone()).and_modify(|ended| *ended = Some(last));
            }
            (it.fresh, it.doubtful) = (false, false);
        });
        for card in open {
            self.show(card);
        }
        self.join(&talk, draft);
        self.busy(self.story.is_busy());
        self.out.push_back(Out::Ping(last));
        Ok(())
    }

    /// The answer being written, from its beginning, unless the phone has some of it.
    fn join(&mut self, talk: &Talk, draft: Option<&Draft>) {
        let Some((question, texts)) = self.story.running() else { return };
        let streamed = talk.streamed == Some(question.seq) || talk.doubtful;
        let question = question.clone();
        self.reply = Some(if streamed && !talk.fresh {
            Reply::frozen(question)
        } else {
            let draft = draft.map(|draft| (draft.step, draft.text.as_str()));
            Reply::joined(question, texts, draft)
        });
    }

    fn tell(&mut self, told: Told) {
        match told {
            Told::Busy(busy) => self.busy(busy),
            Told::Counted => {
                let lately = self.counted_at.is_some_and(|at| at.elapsed() < COUNTS);
                if !lately {
                    self.status(self.story.is_busy());
                }
            }
            Told::Said { row, asker, door } => self.said(&row, asker.as_ref(), &door),
            Told::Began(question) => self.reply = Some(Reply::new(question)),
            Told::Text { step, text } => {
                if let Some(reply) = &mut self.reply {
                    reply.whole(step, &text);
                }
            }
            Told::Card(Change::Shown(card)) => self.show(card),
            Told::Card(Change::Closed { id, result }) => self.close(&id, &result),
            Told::Ended { row, question } => self.end(&row, &question),
            Told::Note(row) => self.say("", &row, &row.content),
        }
    }

    /// Nothing to the phone that said it; to others it is words that come by themselves.
    fn said(&mut self, row: &Row, asker: Option<&Asker>, door: &str) {
        if asker.is_some_and(|asker| asker.device == self.device.id) {
            return;
        }
        let named = asker.map(|asker| self.app.access.devices.named(&asker.device));
        let name = match named {
            Some(Some(device)) => device.name.clone(),
            Some(None) => "Phone".to_owned(),
            None => door.to_owned(),
        };
        let words = attachments::linked(self.session, row);
        self.say("", row, &format!("{name}: {words}"));
    }

    fn end(&mut self, row: &Row, question: &Question) {
        if self.reply.as_ref().is_some_and(|reply| reply.question.seq == question.seq) {
            self.flush();
            self.reply = None;
        }
        let reply_to = self.name(question).to_owned();
        self.say(&reply_to, row, &row.content);
    }

    /// What waits of a reply. Of what is too much for one piece the phone hears at its end.
    fn flush(&mut self) {
        let Some(reply) = self.reply.as_mut().filter(|reply| reply.is_pending()) else { return };
        let (piece, question) = (reply.take(DELTA_BYTES), reply.question.clone());
        self.piece(&question, &piece);
    }

    fn say(&mut self, reply_to: &str, row: &Row, content: &str) {
        self.complete(reply_to, &row_id(self.session, row.seq, row.at), content, Some(row));
        self.out.push_back(Out::Ping(row.seq));
    }

    /// What this phone knows a question by.
    fn name<'a>(&self, question: &'a Question) -> &'a str {
        match &question.asker {
            Some(asker) if asker.device == self.device.id => &asker.id,
            _ => &question.row,
        }
    }

    fn piece(&mut self, question: &Question, delta: &str) {
        let frame = write(&Frame::Stream { reply_to: self.name(question), delta });
        self.out.push_back(Out::Delta(frame, question.seq));
    }

    fn busy(&mut self, busy: bool) {
        if busy != self.busy {
            self.status(busy);
        }
    }

    fn status(&mut self, busy: bool) {
        self.busy = busy;
        self.counted_at = Some(Instant::now());
        let (_, filling) = self.standing();
        self.push(&Frame::StatusUpdate {
            status: Status::of(busy),
            context_remaining: filling.remaining,
            tokens_used: filling.used,
        });
    }

    fn standing(&self) -> (bool, Filling) {
        let state = self.app.host.roster.get(self.session).unwrap_or_default();
        let filling = Filling::of(&state, self.app.host.ports.models.as_ref());
        (state.is_unfinished(), filling)
    }

    /// What has become due besides what is said in order.
    fn gather(&mut self) {
        let now = Instant::now();
        let due: Vec<Card> = self
            .cards
            .values_mut()
            .filter(|(at, _)| now.duration_since(*at) >= CARDS)
            .filter_map(|(at, card)| {
                *at = now;
                card.take()
            })
            .collect();
        for card in due {
            self.update(&card);
        }
        let paced = self.piece_at.is_none_or(|at| now.duration_since(at) >= PACE);
        let Some(reply) = self.reply.as_mut().filter(|reply| paced && reply.is_pending()) else {
            return;
        };
        let (piece, question) = (reply.take(DELTA_BYTES), reply.question.clone());
        self.piece(&question, &piece);
    }
}
