//! The way to a hub: connects, carries frames both ways, and tries again for as long as it takes.

use std::{convert::Infallible, sync::Arc, time::Duration};

use futures::{SinkExt as _, StreamExt as _};
use kernel::ports::Clock;
use tokio::{
    io::AsyncReadExt as _,
    net::TcpStream,
    time::{Instant, interval_at, sleep_until, timeout},
};
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream, connect_async_with_config,
    tungstenite::{
        self, Message,
        client::IntoClientRequest as _,
        error::CapacityError,
        http::{HeaderValue, StatusCode, header},
        protocol::{CloseFrame, WebSocketConfig, frame::coding::CloseCode},
    },
};

use super::{
    address::Address,
    delay::Delays,
    engine::Engine,
    shown::{Change, Shown},
};
use crate::{hello, say::FRAME_BYTES};

const CONNECTING: Duration = Duration::from_secs(10);
const PING: Duration = Duration::from_secs(20);
/// A hub that has been silent for so long, our pings included, is gone.
const SILENCE: Duration = Duration::from_secs(65);
/// How long a hub may take to read what it is told.
const STALL: Duration = Duration::from_secs(30);
/// A connection that lasted so long was a good one.
const GOOD: Duration = Duration::from_mins(1);
/// How often a hub may say that it does not want us before it is believed.
const REFUSALS: u32 = 3;

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// How we introduce ourselves.
#[derive(Clone, Debug)]
pub struct Identity {
    /// `megaron/1.0.0`.
    pub app: String,
    pub device: String,
    /// Of this process alone.
    pub instance: String,
}

/// Why it is no use to try again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    #[error("key refused by {0}")]
    Refused(String),
    #[error("{0} does not want this device: {1}")]
    Unwanted(String, String),
    #[error("{0}")]
    NoDesktop(#[from] kernel::desktop::DesktopError),
}

/// What happened, for whoever sits before this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    Connected,
    /// The hub has answered, with a name for us if it has one; whether it may do nothing until
    /// that is said here.
    Greeted {
        device: Option<String>,
        needs_leave: bool,
    },
    /// Who may drive this machine, or who has it, is not as it was.
    Changed(Change),
    Lost {
        why: String,
        wait: Duration,
    },
}

pub struct Link {
    address: Address,
    identity: Identity,
    engine: Engine,
    clock: Arc<dyn Clock>,
    delays: Delays,
    shown: Shown,
}

/// Why a connection is no more.
enum Ended {
    Lost(String),
    /// The hub does not want us, for this reason, which is its own words.
    Unwanted(String),
}

enum Connecting {
    /// Later, perhaps.
    Failed(String),
    Never(LinkError),
}

impl Link {
    pub fn new(
        address: Address,
        identity: Identity,
        engine: Engine,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let shown = Shown::new(engine.window(), engine.desktop().states());
        Self { address, identity, engine, clock, delays: Delays::default(), shown }
    }

    /// Obeys the hub until that is no use any more. Whoever drops this calls [`Link::close`] next.
    pub async fn run(&mut self, mut tell: impl FnMut(Event)) -> Result<Infallible, LinkError> {
        // Whether there is anything to drive is known before anybody is told that there is.
        let desktop = self.engine.desktop().clone();
        desktop.info().await?;
        let mut refusals = 0;
        loop {
            let ended = match connect(&self.address).await {
                Ok(socket) => {
                    tell(Event::Connected);
                    let begun = Instant::now();
                    let ended = self.serve(socket, &mut tell).await;
                    self.engine.disconnected().await;
                    if begun.elapsed() >= GOOD {
                        self.delays.reset();
                    }
                    ended
                }
                Err(Connecting::Failed(why)) => Ended::Lost(why),
                Err(Connecting::Never(error)) => return Err(error),
            };
            let why = match ended {
                Ended::Lost(why) => {
                    refusals = 0;
                    why
                }
                Ended::Unwanted(why) => {
                    refusals += 1;
                    let unwanted = LinkError::Unwanted(self.address.host(), why);
                    // A name may have become free meanwhile.
                    if refusals >= REFUSALS {
                        return Err(unwanted);
                    }
                    unwanted.to_string()
                }
            };
            let wait = self.delays.next(self.clock.chance());
            tell(Event::Lost { why, wait });
            self.rest(wait, &mut tell).await;
        }
    }

    /// Whoever sits here is told what changes meanwhile.
    async fn rest(&mut self, wait: Duration, tell: &mut impl FnMut(Event)) {
        let over = Instant::now() + wait;
        loop {
            tokio::select! {
                () = sleep_until(over) => return,
                change = self.shown.next() => tell(Event::Changed(change)),
            }
        }
    }

    /// Lets go of all that is held.
    pub async fn close(&mut self) {
        self.engine.disconnected().await;
    }

    /// Returns why it ended.
    async fn serve(&mut self, mut socket: Socket, tell: &mut impl FnMut(Event)) -> Ended {
        let Identity { app, device, instance } = &self.identity;
        let desktop = self.engine.desktop().clone();
        let info = match desktop.info().await {
            Ok(info) => info,
            Err(error) => return Ended::Lost(error.to_string()),
        };
        let hello = hello::handshake(app, device, instance, &info).to_string();
        if let Err(why) = send(&mut socket, Message::text(hello)).await {
            return Ended::Lost(why);
        }
        let mut ping = interval_at(Instant::now() + PING, PING);
        let (mut heard_at, mut greeted) = (Instant::now(), false);
        loop {
            let message = tokio::select! {
                message = socket.next() => message,
                reply = self.engine.next() => match send(&mut socket, Message::text(reply)).await {
                    Ok(()) => continue,
                    Err(why) => return Ended::Lost(why),
                },
                change = self.shown.next() => {
                    tell(Event::Changed(change));
                    continue;
                }
                _ = ping.tick() => {
                    if heard_at.elapsed() > SILENCE {
                        return Ended::Lost("the hub has fallen silent".to_owned());
                    }
                    match send(&mut socket, Message::Ping(Vec::new().into())).await {
                        Ok(()) => continue,
                        Err(why) => return Ended::Lost(why),
                    }
                }
            };
            heard_at = Instant::now();
            match message {
                Some(Ok(Message::Text(text))) => self.engine.hear(&text),
                Some(Ok(Message::Close(frame))) => return farewell(frame),
                Some(Ok(_)) => (),
                Some(Err(error)) => return Ended::Lost(give_up(socket, &error)),
                None => return farewell(None),
            }
            if !greeted && self.engine.is_greeted() {
                greeted = true;
                let device = self.engine.name().map(str::to_owned);
                tell(Event::Greeted { device, needs_leave: self.engine.needs_leave() });
            }
        }
    }
}

async fn connect(address: &Address) -> Result<Socket, Connecting> {
    let failed = |error: &dyn ToString| Connecting::Failed(error.to_string());
    let request = address.url().into_client_request();
    let mut request = request.map_err(|error| failed(&error))?;
    if let Some(key) = address.key() {
        let mut value = HeaderValue::try_from(format!("Bearer {key}"))
            .map_err(|_| Connecting::Never(LinkError::Refused(address.host())))?;
        value.set_sensitive(true);
        request.headers_mut().insert(header::AUTHORIZATION, value);
    }
    let config = WebSocketConfig::default()
        .max_message_size(Some(FRAME_BYTES))
        .max_frame_size(Some(FRAME_BYTES));
    let connecting = connect_async_with_config(request, Some(config), true);
    match timeout(CONNECTING, connecting).await {
        Ok(Ok((socket, _))) => Ok(socket),
        Ok(Err(tungstenite::Error::Http(answer))) => Err(refused(address, answer.status())),
        Ok(Err(error)) => Err(failed(&error)),
        Err(_) => Err(Connecting::Failed("no answer".to_owned())),
    }
}

fn refused(address: &Address, status: StatusCode) -> Connecting {
    let host = address.host();
    match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            Connecting::Never(LinkError::Refused(host))
        }
        StatusCode::CONFLICT => {
            let why = "its name belongs to another key".to_owned();
            Connecting::Never(LinkError::Unwanted(host, why))
        }
        status => Connecting::Failed(format!("the hub answered {status}")),
    }
}

async fn send(socket: &mut Socket, message: Message) -> Result<(), String> {
    match timeout(STALL, socket.send(message)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err("the hub does not read".to_owned()),
    }
}

fn farewell(frame: Option<CloseFrame>) -> Ended {
    let said = frame.filter(|frame| !frame.reason.is_empty());
    match said.map(|frame| (frame.code, frame.reason.to_string())) {
        Some((CloseCode::Policy, reason)) => Ended::Unwanted(reason),
        Some((_, reason)) => Ended::Lost(format!("the hub closed the connection: {reason}")),
        None => Ended::Lost("the hub closed the connection".to_owned()),
    }
}

fn give_up(socket: Socket, error: &tungstenite::Error) -> String {
    if let tungstenite::Error::Capacity(CapacityError::MessageTooLong { .. }) = error {
        // Nobody waits for this, least of all whoever wants their keyboard back.
        tokio::spawn(timeout(STALL, part(socket)));
    }
    error.to_string()
}

/// Says why we go, and hears out who is still speaking: else they are cut off and never learn it.
async fn part(mut socket: Socket) {
    let close = CloseFrame { code: CloseCode::Size, reason: "frame larger than 1 MB".into() };
    if socket.send(Message::Close(Some(close))).await.is_err() {
        return;
    }
    let mut unread = vec![0; 64 * 1024];
    while socket.get_mut().read(&mut unread).await.is_ok_and(|count| count > 0) {}
}

#[cfg(test)]
mod tests;
