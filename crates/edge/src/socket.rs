//! One pump for every WebSocket, whatever is spoken on it: listens, speaks, and drops who is deaf.

use std::{future::pending, sync::Arc, time::Duration};

use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, close_code};
use futures::SinkExt as _;
use tokio::{
    sync::watch,
    time::{Instant, interval_at, timeout},
};

use crate::{devices::Device, listen::Peer};

/// Small, because most connections are idle most of the time.
pub const WRITE_BUFFER: usize = 8 * 1024;
/// It is held for as long as the connection is, and grows for whoever says more.
pub const READ_BUFFER: usize = 4 * 1024;
/// A peer that has not taken what waits for it in so long is told to come back when it can.
const STALL: Duration = Duration::from_secs(30);
const FAREWELL: Duration = Duration::from_secs(2);
/// The close code for a key that opens nothing any more.
pub const REVOKED: u16 = 4401;
/// How long the dialect may think about what is left to say when everything ends.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// How the peers of a dialect are treated.
#[derive(Clone, Copy, Debug)]
pub struct Manners {
    /// The largest frame a peer may send, in megabytes.
    pub megabytes: usize,
    /// How much of a larger one is read: who is cut off while still sending hears no reason.
    pub read_bytes: usize,
    pub ping: Duration,
    /// A peer that has been silent for so long, our pings included, is gone.
    pub silence: Duration,
    /// What one who sends too much is told.
    pub too_large: &'static str,
    /// Whether a frame that is not text is heard like one that is.
    pub hears_binary: bool,
}

impl Manners {
    /// Towards those who look at what happens here.
    pub const USUAL: Self = Self {
        megabytes: 1,
        read_bytes: 4 << 20,
        ping: Duration::from_secs(30),
        silence: Duration::from_secs(75),
        too_large: "frame larger than 1 MB",
        hears_binary: true,
    };
}

/// What is spoken on a socket.
pub trait Dialect: Send {
    const MANNERS: Manners = Manners::USUAL;

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

    /// Pictures and the like, which go out behind what was said.
    fn enclosed(&mut self) -> Vec<bytes::Bytes> {
        Vec::new()
    }

    /// Why this is over from our side, once all has been said.
    fn farewell(&self) -> Option<Farewell> {
        None
    }
}

/// How a peer is sent away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Farewell {
    pub code: u16,
    pub reason: &'static str,
}

/// Why a conversation ended, and how the peer is told.
enum End {
    Left,
    Silent,
    Slow,
    TooLarge(&'static str),
    Closing,
    Revoked,
    Dismissed(Farewell),
}

impl End {
    fn frame(&self) -> Option<CloseFrame> {
        let (code, reason) = match self {
            Self::Left | Self::Silent => return None,
            Self::Slow => (close_code::POLICY, "too slow: reconnect and resume with after"),
            Self::TooLarge(reason) => (close_code::SIZE, *reason),
            Self::Dismissed(Farewell { code, reason }) => (*code, *reason),
            Self::Closing => (close_code::AWAY, "the server is shutting down"),
            Self::Revoked => (REVOKED, "the key was revoked"),
        };
        Some(CloseFrame { code, reason: reason.into() })
    }
}

/// What ends a conversation whatever is being said.
pub struct Ends {
    pub closing: watch::Receiver<bool>,
    /// Whose key opened it; none where it was the owner's own.
    pub device: Option<Arc<Device>>,
}

pub async fn pump<D: Dialect>(
    mut socket: WebSocket,
    mut dialect: D,
    Ends { mut closing, device }: Ends,
    peer: Option<Peer>,
) {
    metrics::gauge!("megaron_sockets").increment(1);
    let manners = D::MANNERS;
    let mut ping = interval_at(Instant::now() + manners.ping, manners.ping);
    let mut heard_at = Instant::now();
    let mut out = Vec::new();
    let mut revoked = device.map(|device| device.revocation());
    let end = loop {
        tokio::select! {
            message = socket.recv() => {
                heard_at = Instant::now();
                match message {
                    Some(Ok(message)) if is_too_large(&dialect, &message) => {
                        break End::TooLarge(manners.too_large);
                    }
                    Some(Ok(Message::Text(text))) => dialect.hear(text.as_bytes()).await,
                    Some(Ok(Message::Binary(bytes))) if manners.hears_binary => {
                        dialect.hear(&bytes).await;
                    }
                    Some(Ok(Message::Binary(_) | Message::Ping(_) | Message::Pong(_))) => (),
                    Some(Err(error)) if is_size(&error) => break End::TooLarge(manners.too_large),
                    Some(Ok(Message::Close(_)) | Err(_)) | None => break End::Left,
                }
                continue;
            }
            () = dialect.say(&mut out) => (),
            _ = ping.tick() => {
                if heard_at.elapsed() > manners.silence {
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
            () = gone(&mut revoked) => break End::Revoked,
        }
        match timeout(STALL, send(&mut socket, &mut out, dialect.enclosed())).await {
            Ok(Ok(())) => (),
            Ok(Err(_)) => break End::Left,
            Err(_) => break End::Slow,
        }
        if let Some(farewell) = dialect.farewell() {
            break End::Dismissed(farewell);
        }
    };
    if matches!(end, End::Closing) {
        // The last words of a turn that ended in time are worth the wait.
        while timeout(LAST_WORDS, dialect.say(&mut out)).await.is_ok() {
            let sent = send(&mut socket, &mut out, dialect.enclosed());
            if !matches!(timeout(FAREWELL, sent).await, Ok(Ok(()))) {
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
        if !matches!(end, End::Closing) {
            hear_out(&mut socket, FAREWELL).await;
        }
    }
    metrics::gauge!("megaron_sockets").decrement(1);
    drop(peer);
}

/// Reads on until the peer has answered our goodbye: a connection that is shut while something of theirs is
/// unread takes back what they have not read.
pub async fn hear_out(socket: &mut WebSocket, patience: Duration) {
    let rest = async { while let Some(Ok(_)) = socket.recv().await {} };
    timeout(patience, rest).await.ok();
}

/// Returns when everything is to end.
async fn closed(closing: &mut watch::Receiver<bool>) {
    // An error means that whoever would say so is gone, which says it as well.
    closing.wait_for(|closing| *closing).await.ok();
}

/// Returns when the key is revoked that opened this, if it was a device's.
async fn gone(revoked: &mut Option<watch::Receiver<bool>>) {
    let Some(revoked) = revoked else { return pending().await };
    // A device that is known nowhere any more was revoked.
    revoked.wait_for(|revoked| *revoked).await.ok();
}

/// Everything that waits goes into one write.
async fn send(
    socket: &mut WebSocket,
    out: &mut Vec<Utf8Bytes>,
    enclosed: Vec<bytes::Bytes>,
) -> Result<(), axum::Error> {
    metrics::counter!("megaron_frames_total").increment(out.len() as u64);
    for frame in out.drain(..) {
        socket.feed(Message::Text(frame)).await?;
    }
    for bytes in enclosed {
        socket.feed(Message::Binary(bytes)).await?;
    }
    socket.flush().await
}

fn is_too_large<D: Dialect>(dialect: &D, message: &Message) -> bool {
    let frame = match message {
        Message::Text(text) => text.as_bytes(),
        Message::Binary(bytes) => bytes,
        // Of these no client can send a large one.
        Message::Ping(_) | Message::Pong(_) | Message::Close(_) => return false,
    };
    frame.len() > D::MANNERS.megabytes << 20 && !dialect.takes(frame)
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
