//! One socket of a phone: what it says goes in, its line goes out, and whoever is gone is noticed.

use std::{sync::Arc, time::Duration};

use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, close_code};
use bytes::Bytes;
use kernel::{
    feed::{Draft, Feed, Heard},
    ports::StoreError,
    update::{Entry, Seq, Signal, Update},
};
use tokio::{
    sync::watch,
    time::{Instant, Interval, interval_at, sleep_until, timeout},
};

use super::presence::Place;
use crate::{
    App,
    devices::Device,
    listen::Peer,
    socket::{REVOKED, hear_out},
};

/// The largest frame a phone may send.
const FRAME_BYTES: usize = 1 << 20;
const BEAT: Duration = Duration::from_secs(17);
/// How many pings a phone that answers them may leave unanswered.
const MISSES: u32 = 2;
/// How long a doubted socket may take to prove that it lives.
const PROOF: Duration = Duration::from_secs(2);
/// How long a phone may take to take what waits for it.
const STALL: Duration = Duration::from_secs(10);
const FAREWELL: Duration = Duration::from_secs(2);
/// So many frames that cannot be read within [`BAD_TIME`] are enough.
const BAD: usize = 20;
const BAD_TIME: Duration = Duration::from_secs(10);

/// Why it ended, and how the phone is told.
enum End {
    /// It said goodbye, as one does or with a complaint.
    Left {
        well: bool,
    },
    /// The connection broke.
    Lost,
    Silent,
    Slow,
    TooLarge,
    Bad,
    Revoked,
    Gone,
    Closing,
    Broken(StoreError),
}

impl End {
    fn frame(&self) -> Option<CloseFrame> {
        let (code, reason) = match self {
            Self::Left { .. } | Self::Lost | Self::Silent => return None,
            Self::Slow => (close_code::AGAIN, "too slow"),
            Self::TooLarge => (close_code::SIZE, "frame larger than 1 MiB"),
            Self::Bad => (close_code::POLICY, "too many frames that cannot be read"),
            Self::Revoked => (REVOKED, "the key was revoked"),
            Self::Gone => (close_code::AWAY, "the conversation is gone"),
            Self::Closing => (close_code::AWAY, "the server is shutting down"),
            Self::Broken(_) => (close_code::ERROR, "something of our own broke"),
        };
        Some(CloseFrame { code, reason: reason.into() })
    }
}

/// What is said next.
pub enum Out {
    Frame(Utf8Bytes),
    /// A piece of the answer to this question.
    Delta(Utf8Bytes, Seq),
    /// The end of an answer, or words said by themselves, and where they stand.
    Complete(Utf8Bytes, Seq),
    /// A ping whose answer says that all up to here has arrived.
    Ping(Seq),
}

/// What came of a frame.
pub enum Sent {
    Taken,
    Refused,
    /// It was nothing that is known here.
    Unreadable,
}

/// One version of what is spoken on a socket.
pub trait Voice: Send {
    fn app(&self) -> &Arc<App>;
    fn device(&self) -> &Arc<Device>;

    /// Whether this phone answers pings, so that silence means something.
    fn pongs(&self) -> bool;

    /// Something has happened for good.
    fn fact(&mut self, entry: &Entry) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// The past is told, up to here. Comes again after this socket had fallen behind.
    fn now(
        &mut self,
        last: Seq,
        draft: Option<&Draft>,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Something passes and is not kept.
    fn signal(&mut self, signal: &Signal);

    fn hear(&mut self, heard: Heard) -> impl Future<Output = Result<(), StoreError>> + Send {
        async move {
            match heard {
                Heard::Past(entry) => self.fact(&entry).await?,
                Heard::Now { last, draft } => self.now(last, draft.as_ref()).await?,
                Heard::Live(told) => {
                    for update in &told.updates {
                        match update {
                            Update::Fact(entry) => self.fact(entry).await?,
                            Update::Signal { signal, .. } => self.signal(signal),
                        }
                    }
                }
            }
            Ok(())
        }
    }

    /// When the next thing may be said, if there is something to say.
    fn due(&self) -> Option<Instant>;

    fn is_quiet(&self) -> bool;

    /// What is said now that something is due.
    fn next(&mut self) -> Option<Out>;

    fn obey(&mut self, frame: &[u8]) -> impl Future<Output = Sent> + Send;

    /// This is on its way.
    fn sent(&mut self, out: &Out);

    /// All up to there has arrived.
    fn ponged(&mut self, seq: Seq) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Waits for news that comes by no feed, and takes it in. Dropping this loses nothing.
    fn news(&mut self) -> impl Future<Output = ()> + Send;

    /// What is to be listened to from now on, if that has changed.
    fn moved(&mut self) -> Option<Feed>;

    /// The socket has ended; its place is given up next.
    fn left(&mut self);

    /// What is remembered beyond that.
    fn remember(&mut self) -> impl Future<Output = Result<(), StoreError>> + Send;
}

/// Over a socket `S`, once there is one.
pub struct Pump<V, S> {
    pub socket: S,
    pub line: V,
    pub feed: Feed,
    pub place: Place,
    pub closing: watch::Receiver<bool>,
    pub peer: Option<Peer>,
}

/// What goes on between one thing and the next.
struct Watch {
    beat: Interval,
    revoked: watch::Receiver<bool>,
    /// Pings since the phone was last heard of.
    misses: u32,
    /// When a doubted socket counts as dead.
    doubted: Option<Instant>,
    bad: Vec<Instant>,
    /// All up to here was sent.
    sent: Seq,
}

enum Woke {
    Heard(Option<Result<Message, axum::Error>>),
    Told(Option<Heard>),
    News,
    Due,
    Beat,
    Doubted,
    Dead,
    Revoked,
    Closing,
}

impl<V> Pump<V, ()> {
    pub fn over(self, socket: WebSocket) -> Pump<V, WebSocket> {
        let Self { line, feed, place, closing, peer, .. } = self;
        Pump { socket, line, feed, place, closing, peer }
    }
}

impl<V: Voice> Pump<V, WebSocket> {
    pub async fn run(mut self) {
        metrics::gauge!("megaron_phones").increment(1);
        let device = self.line.device().clone();
        let mut watch = Watch {
            beat: interval_at(Instant::now() + BEAT, BEAT),
            revoked: device.revocation(),
            misses: 0,
            doubted: None,
            bad: Vec::new(),
            sent: Seq(0),
        };
        let end = loop {
            let woke = self.wake(&mut watch).await;
            if let Err(end) = self.act(woke, &mut watch).await {
                break end;
            }
        };
        if let End::Broken(error) = &end {
            tracing::error!(%error, "a phone cannot be served");
        }
        if matches!(end, End::Left { .. }) {
            // The answer to its goodbye goes out while we listen for more.
            timeout(FAREWELL, self.socket.recv()).await.ok();
        }
        if let Some(frame) = end.frame() {
            // A courtesy: the phone may be past hearing.
            timeout(FAREWELL, self.socket.send(Message::Close(Some(frame)))).await.ok();
        }
        let told = end.frame().is_some() && !matches!(end, End::Closing);
        let (mut socket, peer) = self.leave(&end).await;
        if told {
            hear_out(&mut socket, FAREWELL).await;
        }
        drop(peer);
        metrics::gauge!("megaron_phones").decrement(1);
    }

    async fn wake(&mut self, watch: &mut Watch) -> Woke {
        let far = || Instant::now() + Duration::from_hours(1);
        let (due, dead) = (self.line.due(), watch.doubted);
        tokio::select! {
            heard = self.socket.recv() => Woke::Heard(heard),
            told = self.feed.next(), if self.line.is_quiet() => Woke::Told(told),
            () = sleep_until(due.unwrap_or_else(far)), if due.is_some() => Woke::Due,
            () = self.line.news() => Woke::News,
            _ = watch.beat.tick() => Woke::Beat,
            Ok(()) = self.place.doubts.changed() => Woke::Doubted,
            () = sleep_until(dead.unwrap_or_else(far)), if dead.is_some() => Woke::Dead,
            _ = watch.revoked.wait_for(|revoked| *revoked) => Woke::Revoked,
            () = closed(&mut self.closing) => Woke::Closing,
        }
    }

    async fn act(&mut self, woke: Woke, watch: &mut Watch) -> Result<(), End> {
        match woke {
            Woke::Heard(heard) => self.hear(heard, watch).await,
            Woke::Told(Some(heard)) => self.line.hear(heard).await.map_err(End::Broken),
            Woke::News => Ok(()),
            Woke::Told(None) if self.line.app().host.is_closing() => Err(End::Closing),
            Woke::Told(None) => Err(End::Gone),
            Woke::Due => match self.line.next() {
                Some(out) => self.say(out, watch).await,
                None => Ok(()),
            },
            Woke::Beat => {
                if watch.misses >= MISSES && self.line.pongs() {
                    return Err(End::Silent);
                }
                watch.misses += 1;
                self.ping(watch.sent).await
            }
            Woke::Doubted => {
                if self.line.pongs() {
                    watch.doubted = Some(Instant::now() + PROOF);
                }
                self.ping(watch.sent).await
            }
            Woke::Dead => Err(End::Silent),
            Woke::Revoked => Err(End::Revoked),
            Woke::Closing => Err(End::Closing),
        }
    }

    async fn hear(
        &mut self,
        heard: Option<Result<Message, axum::Error>>,
        watch: &mut Watch,
    ) -> Result<(), End> {
        watch.misses = 0;
        match heard {
            Some(Ok(Message::Text(text))) => self.wish(text.as_bytes(), watch).await,
            Some(Ok(Message::Binary(bytes))) => self.wish(&bytes, watch).await,
            Some(Ok(Message::Ping(_))) => Ok(()),
            Some(Ok(Message::Pong(payload))) => {
                watch.doubted = None;
                self.place.proved();
                self.ponged(&payload).await.map_err(End::Broken)
            }
            Some(Ok(Message::Close(frame))) => {
                Err(End::Left { well: frame.is_some_and(|frame| frame.code == close_code::NORMAL) })
            }
            Some(Err(error)) if crate::socket::is_size(&error) => Err(End::TooLarge),
            Some(Err(_)) | None => Err(End::Lost),
        }
    }

    async fn wish(&mut self, frame: &[u8], watch: &mut Watch) -> Result<(), End> {
        if frame.len() > FRAME_BYTES {
            return Err(End::TooLarge);
        }
        let sent = self.line.obey(frame).await;
        if let Some(feed) = self.line.moved() {
            self.feed = feed;
        }
        if let Sent::Unreadable = sent {
            let now = Instant::now();
            watch.bad.retain(|at| now.duration_since(*at) < BAD_TIME);
            watch.bad.push(now);
            if watch.bad.len() >= BAD {
                return Err(End::Bad);
            }
        }
        Ok(())
    }

    /// All up to there has arrived.
    async fn ponged(&mut self, payload: &[u8]) -> Result<(), StoreError> {
        let Ok(seq) = <[u8; 8]>::try_from(payload).map(u64::from_be_bytes) else { return Ok(()) };
        self.line.ponged(Seq(seq)).await
    }

    async fn say(&mut self, out: Out, watch: &mut Watch) -> Result<(), End> {
        self.line.sent(&out);
        match out {
            Out::Ping(seq) => {
                watch.sent = watch.sent.max(seq);
                self.ping(seq).await
            }
            Out::Complete(text, _) | Out::Frame(text) | Out::Delta(text, _) => {
                self.write(text).await
            }
        }
    }

    async fn write(&mut self, text: Utf8Bytes) -> Result<(), End> {
        metrics::counter!("megaron_frames_total").increment(1);
        self.send(Message::Text(text)).await
    }

    async fn ping(&mut self, seq: Seq) -> Result<(), End> {
        let payload = Bytes::copy_from_slice(&seq.0.to_be_bytes());
        self.send(Message::Ping(payload)).await
    }

    async fn send(&mut self, message: Message) -> Result<(), End> {
        match timeout(STALL, self.socket.send(message)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(End::Lost),
            Err(_) => Err(End::Slow),
        }
    }

    async fn leave(mut self, end: &End) -> (WebSocket, Option<Peer>) {
        self.line.left();
        self.place.well |= matches!(end, End::Left { well: true });
        drop(self.place);
        if !matches!(end, End::Revoked)
            && let Err(error) = self.line.remember().await
        {
            tracing::warn!(%error, "cannot note how far a phone has come");
        }
        (self.socket, self.peer)
    }
}

/// Returns when everything is to end.
async fn closed(closing: &mut watch::Receiver<bool>) {
    // An error means that whoever would say so is gone, which says it as well.
    closing.wait_for(|closing| *closing).await.ok();
}
