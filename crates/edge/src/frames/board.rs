//! The built-in app, a notice board: keeps notes, and says them to the agent when asked to.

use std::sync::Arc;

use futures::future::BoxFuture;
use kernel::{
    host::Host,
    ports::{Shelf, StoreError},
    update::{Message, Origin, WhenBusy},
};
use rust_embed::{EmbeddedFile, RustEmbed};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::Mutex;
use uuid::Uuid;

use super::tenant::{Offer, Speaker, Tenant};
use crate::sandbox::{
    policy::{Face, Flag},
    site::{Embedded, Site},
};

const ID: &str = "demo";
const TITLE: &str = "Notice board";
/// Where its notes are on the shelf.
const RECORD: &str = "demo/notes";
const NOTES: usize = 100;
const NOTE_CHARS: usize = 2000;

#[derive(RustEmbed)]
#[folder = "../../apps/demo"]
struct Files;

pub struct Board {
    host: Arc<Host>,
    offer: Offer,
    site: Arc<dyn Site>,
    /// Held from reading to writing.
    changing: Mutex<()>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Note {
    id: Uuid,
    text: String,
}

/// What its page can ask for.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
enum Wish {
    Note { text: String },
    Remove { id: Uuid },
    Say { text: String },
}

impl Board {
    pub fn new(host: Arc<Host>) -> Self {
        let face = Face { title: TITLE.to_owned(), flags: Flag::ALL.to_vec(), ..Face::default() };
        let offer = Offer {
            kind: "app",
            id: ID.to_owned(),
            title: TITLE.to_owned(),
            description: "Keep notes, and tell them to the agent".to_owned(),
        };
        let site = Arc::new(Embedded {
            face,
            files: <Files as RustEmbed>::get as fn(&str) -> Option<EmbeddedFile>,
        });
        Self { host, offer, site, changing: Mutex::default() }
    }

    async fn obey(&self, frame: &Speaker, message: Value) -> Result<(), String> {
        let wish = serde_json::from_value(message)
            .map_err(|error| format!("expected a note, remove or say: {error}"))?;
        match wish {
            Wish::Note { text } => {
                let text = worth(&text)?;
                let note = Note { id: self.host.ports.clock.id(), text };
                self.change(frame, |notes| {
                    if notes.len() >= NOTES {
                        return Err(format!("there are {NOTES} notes already"));
                    }
                    notes.push(note);
                    Ok(())
                })
                .await
            }
            Wish::Remove { id } => {
                self.change(frame, |notes| {
                    notes.retain(|note| note.id != id);
                    Ok(())
                })
                .await
            }
            Wish::Say { text } => self.say(frame, worth(&text)?).await,
        }
    }

    async fn say(&self, frame: &Speaker, text: String) -> Result<(), String> {
        let session = frame.session.ok_or("there is no session to tell it in yet")?;
        let origin = Origin::App { id: ID.to_owned(), window: None };
        let message = Message { origin, ..Message::from_user(text) };
        let receipt = self.host.post(session, message, WhenBusy::Queue).await;
        let receipt = receipt.map_err(|error| error.to_string())?;
        frame.tell(&json!({ "type": "said", "queued": receipt.queued.is_some() }));
        Ok(())
    }

    async fn change(
        &self,
        frame: &Speaker,
        how: impl FnOnce(&mut Vec<Note>) -> Result<(), String>,
    ) -> Result<(), String> {
        let _changing = self.changing.lock().await;
        let mut notes = self.notes().await.map_err(|error| error.to_string())?;
        how(&mut notes)?;
        let saved = self.host.ports.catalog.save(Shelf::Apps, RECORD, &notes).await;
        saved.map_err(|error| error.to_string())?;
        frame.tell_all(&told(&notes));
        Ok(())
    }

    async fn notes(&self) -> Result<Vec<Note>, StoreError> {
        Ok(self.host.ports.catalog.load(Shelf::Apps, RECORD).await?.unwrap_or_default())
    }
}

impl Tenant for Board {
    fn offer(&self) -> &Offer {
        &self.offer
    }

    fn site(&self) -> Arc<dyn Site> {
        self.site.clone()
    }

    fn shown<'a>(&'a self, frame: &'a Speaker) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move {
            // Under the lock, so that nothing newer can overtake it.
            let _changing = self.changing.lock().await;
            let notes = self.notes().await.map_err(|error| error.to_string())?;
            frame.tell(&told(&notes));
            Ok(())
        })
    }

    fn heard<'a>(
        &'a self,
        frame: &'a Speaker,
        message: Value,
    ) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(self.obey(frame, message))
    }
}

fn told(notes: &[Note]) -> Value {
    json!({ "type": "notes", "notes": notes })
}

/// A text that says something, and not too much.
fn worth(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err("an empty text says nothing".to_owned());
    }
    if text.chars().count() > NOTE_CHARS {
        return Err(format!("a text may have {NOTE_CHARS} characters at most"));
    }
    Ok(text.to_owned())
}
