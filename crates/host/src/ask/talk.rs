//! One question and its answer, through lost connections and changes of mind.

use std::time::Duration;

use anyhow::Context as _;
use kernel::ports::Clock as _;

use super::{
    client::{Client, Receipt, Refused, Socket},
    frames::{EventFrame, Frame, Request},
    keyboard::Keyboard,
    may_pass,
    person::Person,
    reader::{End, Reader, Show},
    screen::Screen,
};
use crate::{clock::SystemClock, stops::Stops};

/// How often a server that has gone is looked for, and how long in between.
const ATTEMPTS: u32 = 60;
const PAUSE: Duration = Duration::from_millis(500);
/// A session may be let go and opened again; one that complains more often than that is broken.
const MOST_COMPLAINTS: u32 = 5;
/// After the end of any log; the largest number that every JSON reader keeps whole.
const BEYOND: u64 = (1 << 53) - 1;

pub struct Wish {
    pub prompt: String,
    pub session: Option<String>,
    pub model: Option<String>,
    pub mode: Option<&'static str>,
}

pub struct Talk<'a> {
    client: Client,
    screen: &'a mut Screen,
    person: Person,
}

/// A session we listen to, and from where.
struct Place {
    session: String,
    socket: Socket,
    last: u64,
    /// Nobody else knows of it, so whatever goes on there is ours.
    new: bool,
}

impl<'a> Talk<'a> {
    pub fn new(client: Client, screen: &'a mut Screen, keyboard: Option<Keyboard>) -> Self {
        Self { client, screen, person: Person::new(keyboard) }
    }

    /// Says it and waits for the end of the turn. The first stop cancels the turn, the second leaves.
    pub async fn run(mut self, wish: Wish, stops: &mut Stops) -> anyhow::Result<End> {
        let place = tokio::select! {
            place = self.settle(&wish) => place?,
            () = stops.next() => return Ok(End::Cancelled),
        };
        let session = place.session.clone();
        let end = self.converse(place, wish.prompt, stops).await;
        self.screen.hint(&session);
        end
    }

    async fn settle(&mut self, wish: &Wish) -> anyhow::Result<Place> {
        let Some(session) = wish.session.clone() else {
            let cwd = std::env::current_dir().context("there is no current folder")?;
            let cwd = cwd.to_str().context("the name of the current folder is not Unicode")?;
            let session = self.client.create(cwd, wish.model.as_deref(), wish.mode).await?;
            let socket = self.client.connect().await?;
            return Ok(Place { session, socket, last: 0, new: true });
        };
        match &wish.model {
            Some(model) => {
                if self.client.use_model(&session, model).await? {
                    self.screen.note(&format!("this session is answered by {model} from now on"));
                }
            }
            // Only to learn whether there is such a session.
            None => drop(self.client.model(&session).await?),
        }
        if wish.mode.is_some() {
            self.screen.note("this session keeps its mode");
        }
        let mut socket = self.client.connect().await?;
        let last = end_of_log(&mut socket, &session).await?;
        Ok(Place { session, socket, last, new: false })
    }

    async fn converse(
        &mut self,
        place: Place,
        prompt: String,
        stops: &mut Stops,
    ) -> anyhow::Result<End> {
        let Place { session, mut socket, last, new } = place;
        subscribe(&mut socket, &session, last).await?;
        let receipt = tokio::select! {
            receipt = self.post(&session, &prompt) => receipt?,
            // It may have been said or not; nothing of it is wanted any more.
            () = stops.next() => {
                if new {
                    self.give_up(&session).await?;
                }
                return Ok(End::Cancelled);
            }
        };
        if let Some(position) = receipt.position {
            self.screen
                .note(&format!("the session is busy; the message waits at place {position}"));
        }
        let waits = receipt.position.is_some();
        let mut reader = Reader::new(prompt, last);
        let (mut stopping, mut complaints) = (false, 0);
        loop {
            tokio::select! {
                heard = socket.next_event() => match heard {
                    Ok((raw, event)) => {
                        if let Some(end) = self.hear(&mut reader, &raw, event, &session).await? {
                            return Ok(end);
                        }
                    }
                    Err(error) if complaints > MOST_COMPLAINTS => return Err(error),
                    Err(error) => {
                        complaints += u32::from(!may_pass(&error));
                        self.screen.note(&format!("{error:#}; trying again"));
                        socket = tokio::select! {
                            found = self.connect_again(&session, reader.last()) => found?,
                            () = stops.next() => return Ok(End::Cancelled),
                        };
                    }
                },
                typed = self.person.typed() => {
                    self.person.answer(&typed, &self.client, self.screen).await;
                }
                () = stops.next() => {
                    if stopping {
                        return Ok(End::Cancelled);
                    }
                    if waits && !reader.has_begun() {
                        self.screen.note("the message still waits in its session");
                        return Ok(End::Cancelled);
                    }
                    stopping = true;
                    self.screen.note("cancelling; Ctrl-C again leaves at once");
                    match self.client.cancel(&session).await {
                        Ok(()) => reader.cancel(),
                        Err(error) => self.screen.note(&format!("{error:#}")),
                    }
                }
            }
        }
    }

    async fn hear(
        &mut self,
        reader: &mut Reader,
        raw: &str,
        event: EventFrame,
        session: &str,
    ) -> anyhow::Result<Option<End>> {
        if !reader.is_news(&event) {
            return Ok(None);
        }
        let (shows, end) = reader.hear(event);
        let mut printed = self.screen.event(raw);
        for show in shows {
            match show {
                Show::Asking(asked) => self.person.ask(*asked, &self.client, self.screen),
                Show::Settled(settled) => self.person.settled(&settled, self.screen),
                show => printed = printed.and_then(|()| self.screen.show(show)),
            }
        }
        match (end, printed) {
            (None, Err(_)) => self.give_up(session).await.map(Some),
            (end, _) => Ok(end),
        }
    }

    /// Nobody wants the answer any more.
    async fn give_up(&self, session: &str) -> anyhow::Result<End> {
        self.client.cancel(session).await?;
        Ok(End::Cancelled)
    }

    async fn post(&mut self, session: &str, prompt: &str) -> anyhow::Result<Receipt> {
        let key = SystemClock.id().to_string();
        for _ in 0..ATTEMPTS {
            match self.client.post(session, prompt, &key).await {
                Err(error) if may_pass(&error) => self.wait().await,
                posted => return posted,
            }
        }
        self.client.post(session, prompt, &key).await
    }

    async fn connect_again(&mut self, session: &str, last: u64) -> anyhow::Result<Socket> {
        for _ in 0..ATTEMPTS {
            self.wait().await;
            let connected = async {
                let mut socket = self.client.connect().await?;
                subscribe(&mut socket, session, last).await?;
                Ok(socket)
            };
            match connected.await {
                Err(error) if may_pass(&error) => (),
                connected => return connected,
            }
        }
        anyhow::bail!("the server at {} is gone", self.client.url())
    }

    async fn wait(&mut self) {
        tokio::time::sleep(PAUSE).await;
        self.client.look_again();
    }
}

async fn subscribe(socket: &mut Socket, session_id: &str, after: u64) -> anyhow::Result<()> {
    socket.send(&Request::Subscribe { session_id, after, deltas: "native" }).await
}

/// The newest fact of a session, learnt by asking for all that comes after every fact.
async fn end_of_log(socket: &mut Socket, session_id: &str) -> anyhow::Result<u64> {
    socket.send(&Request::RequestHistory { session_id, after: BEYOND }).await?;
    loop {
        match socket.next().await?.1 {
            Frame::HistoryComplete { seq } => return Ok(seq),
            Frame::Error { error } => return Err(Refused(error).into()),
            Frame::Event(_) | Frame::Other => (),
        }
    }
}

#[cfg(test)]
mod fake;
#[cfg(test)]
mod tests;
