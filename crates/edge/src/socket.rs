//! One pump for every WebSocket, whatever is spoken on it: listens, speaks, and drops who is deaf.

use std::{sync::Arc, time::Duration};

use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, close_code};
use futures::SinkExt as _;
use tokio::{
    sync::watch,
    time::{Instant, interval_at, timeout},
};

use crate::listen::Peer;

/// The largest frame a client may send, unless what is spoken has a use for larger ones.
const FRAME_BYTES: usize = 1 << 20;
/// How much of a larger one is read: who is cut off while still sending hears no reason.
pub const READ_BYTES: usize = 4 * FRAME_BYTES;
/// Small, because most connections are idle most of the time.
pub const WRITE_BUFFER: usize = 8 * 1024;
const PING: Duration = Duration::from_secs(30);
/// A peer that has been silent for so long, our pings included, is gone.
const SILENCE: Duration = Duration::from_secs(75);
/// A peer that has not taken what waits for it in so long is told to come back when it can.
const STALL: Duration = Duration::from_secs(30);
const FAREWELL: Duration = Duration::from_secs(2);
/// How long the dialect may think about what is left to say when everything ends.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// What is spoken on a socket.
pub trait Dialect: Send {
    /// Takes in a frame, whatever it holds.
    fn hear(&mut self, frame: &[u8]) -> impl Future<Output = ()> + Send;

    /// Whether it takes a frame that is larger than usual.
    fn takes(&self, frame: &[u8]) -> bool {
        let _ = frame;
        false
    }

    /// Waits until there is something to say, and puts it into `out`, which comes empty. Dropping
    /// this in between must lose nothing.
    fn say(&mut self, out: &mut Vec<Utf8Bytes>) -> impl Future<Output = ()> + Send;
}

/// Why a conversation ended, and how the peer is told.
enum End {
    Left,
    Silent,
    Slow,
    TooLarge,
    Closing,
}

impl End {
    fn frame(&self) -> Option<CloseFrame> {
        let (code, reason) = match self {
            Self::Left | Self::Silent => return None,
            Self::Slow => (close_code::POLICY, "too slow: reconnect and resume with after"),
            Self::TooLarge => (close_code::SIZE, "frame larger than 1 MB"),
            Self::Closing => (close_code::AWAY, "the server is shutting down"),
        };
        Some(CloseFrame { code, reason: reason.into() })
    }
}

pub async fn pump(
    mut socket: WebSocket,
    mut dialect: impl Dialect,
    mut closing: watch::Receiver<bool>,
    peer: Option<Peer>,
) {
    metrics::gauge!("megaron_sockets").increment(1);
    let mut ping = interval_at(Instant::now() + PING, PING);
    let mut heard_at = Instant::now();
    let mut out = Vec::new();
    let end = loop {
        tokio::select! {
            message = socket.recv() => {
                heard_at = Instant::now();
                match message {
                    Some(Ok(message)) if is_too_large(&dialect, &message) => break End::TooLarge,
                    Some(Ok(Message::Text(text))) => dialect.hear(text.as_bytes()).await,
                    Some(Ok(Message::Binary(bytes))) => dialect.hear(&bytes).await,
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) => (),
                    Some(Ok(Message::Close(_))) | None => break End::Left,
                    Some(Err(error)) => break if is_size(&error) { End::TooLarge } else { End::Left },
                }
                continue;
            }
            () = dialect.say(&mut out) => (),
            _ = ping.tick() => {
                if heard_at.elapsed() > SILENCE {
                    break End::Silent;
                }
                let ping = socket.send(Message::Ping(bytes::Bytes::new()));
                match timeout(STALL, ping).await {
                    Ok(Ok(())) => continue,
                    Ok(Err(_)) => break End::Left,
                    Err(_) => break End::Slow,
                }
            }
            () = closed(&mut closing) => break End::Closing,
        }
        match timeout(STALL, send(&mut socket, &mut out)).await {
            Ok(Ok(())) => (),
            Ok(Err(_)) => break End::Left,
            Err(_) => break End::Slow,
        }
    };
    if matches!(end, End::Closing) {
        // The last words of a turn that ended in time are worth the wait.
        while timeout(LAST_WORDS, dialect.say(&mut out)).await.is_ok() {
            if !matches!(timeout(FAREWELL, send(&mut socket, &mut out)).await, Ok(Ok(()))) {
                break;
            }
        }
    }
    if let Some(frame) = end.frame() {
        if matches!(end, End::Slow) {
            tracing::info!("a reader was too slow and was dropped");
            metrics::counter!("megaron_slow_readers_total").increment(1);
        }
        // A courtesy: the peer may be past hearing.
        timeout(FAREWELL, socket.send(Message::Close(Some(frame)))).await.ok();
    }
    metrics::gauge!("megaron_sockets").decrement(1);
    drop(peer);
}

/// Returns when everything is to end.
async fn closed(closing: &mut watch::Receiver<bool>) {
    // An error means that whoever would say so is gone, which says it as well.
    closing.wait_for(|closing| *closing).await.ok();
}

/// Everything that waits goes into one write.
async fn send(socket: &mut WebSocket, out: &mut Vec<Utf8Bytes>) -> Result<(), axum::Error> {
    metrics::counter!("megaron_frames_total").increment(out.len() as u64);
    for frame in out.drain(..) {
        socket.feed(Message::Text(frame)).await?;
    }
    socket.flush().await
}

fn is_too_large(dialect: &impl Dialect, message: &Message) -> bool {
    let frame = match message {
        Message::Text(text) => text.as_bytes(),
        Message::Binary(bytes) => bytes,
        // Of these no client can send a large one.
        Message::Ping(_) | Message::Pong(_) | Message::Close(_) => return false,
    };
    frame.len() > FRAME_BYTES && !dialect.takes(frame)
}

pub fn is_size(error: &axum::Error) -> bool {
    let mut source: Option<&dyn std::error::Error> = Some(error);
    while let Some(error) = source {
        if error.to_string().contains("too long") {
            return true;
        }
        source = error.source();
    }
    false
}

/// Says when everything is to end.
pub type Closing = Arc<watch::Sender<bool>>;
