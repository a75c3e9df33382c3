//! Whoever lives behind frames: what they show, and how they are spoken with.

use std::sync::{Arc, Weak};

use futures::future::BoxFuture;
use kernel::update::SessionId;
use serde_json::{Map, Value};
use tokio::sync::mpsc;
use uuid::Uuid;

use super::{Frames, capability::Capability, outbox::Word};
use crate::sandbox::site::Site;

/// What can be opened, as the person chooses from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Who speaks with its frames: `app`, and others to come.
    pub kind: &'static str,
    pub id: String,
    pub title: String,
    pub description: String,
}

pub trait Tenant: Send + Sync {
    fn offer(&self) -> &Offer;

    fn site(&self) -> Arc<dyn Site>;

    /// What stands in the address of its first document, behind the question mark.
    fn query(&self) -> Option<String> {
        None
    }

    /// Its first document; none for the one that stands for the folder.
    fn entry(&self) -> Option<String> {
        None
    }

    /// What it may ask of us under its ticket.
    fn capability(&self) -> Option<Capability> {
        None
    }

    /// What its documents are told, besides the word by which they are known.
    fn told(&self) -> Map<String, Value> {
        Map::new()
    }

    /// A page shows the frame, perhaps not for the first time: what it needs to know is told now.
    fn shown<'a>(&'a self, frame: &'a Speaker) -> BoxFuture<'a, Result<(), String>>;

    /// Nobody shows the frame for now, and perhaps never again.
    fn left(&self) {}

    /// The page around the frame said something, which is not what is in the frame.
    fn noted<'a>(&'a self, frame: &'a Speaker, note: Value) -> BoxFuture<'a, Result<(), String>> {
        let _ = (frame, note);
        Box::pin(std::future::ready(Err("nobody heeds notes on this frame".to_owned())))
    }

    /// The frame is about to end: returns when it has put its things in order, or has had its time.
    fn part(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    /// The frame said something. What is wrong with it is told to the frame.
    fn heard<'a>(&'a self, frame: &'a Speaker, message: Value)
    -> BoxFuture<'a, Result<(), String>>;
}

#[derive(Debug)]
pub enum Said {
    Shown,
    Message(Value),
    Note(Value),
    Left,
}

/// Listens to one frame until it ends, to one thing after another.
pub async fn listen(tenant: Arc<dyn Tenant>, speaker: Speaker, mut said: mpsc::Receiver<Said>) {
    while let Some(said) = said.recv().await {
        let answered = match said {
            Said::Shown => tenant.shown(&speaker).await,
            Said::Message(message) => tenant.heard(&speaker, message).await,
            Said::Note(note) => tenant.noted(&speaker, note).await,
            Said::Left => {
                tenant.left();
                Ok(())
            }
        };
        if let Err(error) = answered {
            speaker.complain(&error);
        }
    }
}

/// One frame, as its tenant speaks with it.
#[derive(Clone)]
pub struct Speaker {
    /// Weak, or a frame would keep alive what keeps it.
    frames: Weak<Frames>,
    pub frame: Uuid,
    pub session: Option<SessionId>,
}

impl Speaker {
    pub fn new(frames: Weak<Frames>, frame: Uuid, session: Option<SessionId>) -> Self {
        Self { frames, frame, session }
    }

    /// The connection of the page that shows it.
    pub fn connection(&self) -> Option<u64> {
        self.frames.upgrade()?.holder(self.frame)
    }

    pub fn tell(&self, message: &Value) {
        if let Some(frames) = self.frames.upgrade() {
            frames.tell(self.frame, &Word::Message(message));
        }
    }

    /// Says something to the page around the frame; whether anybody shows it.
    pub fn wish(&self, wish: &Value) -> bool {
        let Some(frames) = self.frames.upgrade() else { return false };
        frames.tell(self.frame, &Word::Wish(wish));
        frames.holder(self.frame).is_some()
    }

    /// To this frame and all others of the same tenant.
    pub fn tell_all(&self, message: &Value) {
        if let Some(frames) = self.frames.upgrade() {
            frames.tell_all(self.frame, &Word::Message(message));
        }
    }

    /// Lets it go; whoever shows it asks for another.
    pub fn end(&self) {
        if let Some(frames) = self.frames.upgrade() {
            frames.tell(self.frame, &Word::Gone);
            frames.end(self.frame);
        }
    }

    fn complain(&self, error: &str) {
        if let Some(frames) = self.frames.upgrade() {
            frames.tell(self.frame, &Word::Error(error));
        }
    }
}
