//! Apps in frames: what they show, and what they may ask for under their tickets.

pub mod cellar;
mod fetch;
pub mod gate;
mod keeping;
pub mod launch;
pub mod lease;
pub mod routes;
mod site;

use std::sync::{Arc, Mutex, PoisonError};

use futures::future::BoxFuture;
use kernel::{cabinet::Card, host::Host, roster::News, update::SessionId};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json};
use tokio::{sync::broadcast::error::RecvError, task::AbortHandle};

use crate::{
    App,
    error::ApiError,
    frames::{
        Kept,
        capability::Capability,
        tenant::{Offer, Speaker, Tenant},
    },
    near::{did_you_mean, near},
    sandbox::site::Site,
};
use lease::Lease;
use site::AppSite;

pub const KIND: &str = "app";

/// One app in one frame.
pub struct Shown {
    host: Arc<Host>,
    offer: Offer,
    entry: String,
    query: Option<String>,
    site: Arc<dyn Site>,
    lease: Arc<Lease>,
    /// What tells this window of the app from others, today and tomorrow.
    place: Option<String>,
    /// Ends with the frame.
    listening: Mutex<Option<AbortHandle>>,
}

pub fn offer(card: &Card) -> Offer {
    Offer {
        kind: KIND,
        id: card.id.clone(),
        title: card.name.clone(),
        description: card.description.clone().unwrap_or_default(),
    }
}

/// An app for a frame of its own: in a window of a session, or by itself.
pub async fn open(
    app: &App,
    id: &str,
    session: Option<SessionId>,
    window: Option<&str>,
    given: &Kept,
) -> Result<Shown, ApiError> {
    let cards = app.host.ports.cabinet.list().await;
    let Some(card) = cards.iter().find(|card| card.id == id) else {
        let demo = app.frames.tenants().iter().map(|it| it.offer().id.as_str());
        let known = cards.iter().map(|card| card.id.as_str()).chain(demo);
        let hint = did_you_mean(&near(id, known));
        return Err(ApiError::not_found(format!("no app is called `{id}`{hint}")));
    };
    let lease = Lease::new(app.host.clone(), card, session, given);
    Ok(Shown {
        host: app.host.clone(),
        offer: offer(card),
        entry: card.entry.clone(),
        query: None,
        site: Arc::new(AppSite::new(app.host.clone(), card)),
        lease: Arc::new(lease),
        place: window.map(|window| place(session, window)),
        listening: Mutex::default(),
    })
}

/// A name for a file that no other window has.
fn place(session: Option<SessionId>, window: &str) -> String {
    let plain = |it: char| if it.is_ascii_alphanumeric() || it == '-' { it } else { '_' };
    let window: String = window.chars().take(64).map(plain).collect();
    session.map_or_else(|| window.clone(), |session| format!("{session}-{window}"))
}

impl Shown {
    /// Begins with the document that an address names, if the app has it.
    pub async fn at(mut self, address: &str) -> Self {
        let address = address.split_once('#').map_or(address, |(before, _)| before);
        let (path, query) = address.split_once('?').map_or((address, None), |(path, query)| {
            (path, Some(query).filter(|query| !query.is_empty()))
        });
        let within = path.strip_prefix("/api/apps/").and_then(|path| path.split_once('/'));
        let path = within.map(|(_, path)| percent_decode_str(path).decode_utf8_lossy());
        let Some(path) = path.filter(|path| !path.is_empty()) else { return self };
        if *path == self.entry || self.site.file(&path).await.is_some() {
            self.entry = path.into_owned();
            self.query = query.map(str::to_owned);
        }
        self
    }

    /// Has the frame load anew whenever files of the app change.
    fn listen(&self, frame: &Speaker) {
        let mut listening = self.listening.lock().unwrap_or_else(PoisonError::into_inner);
        if listening.is_some() {
            return;
        }
        let (mut news, frame) = (self.host.roster.listen(), frame.clone());
        let own = self.offer.id.clone();
        let task = tokio::spawn(async move {
            loop {
                match news.recv().await {
                    Ok(News::AppChanged { id }) if id == own => {
                        frame.tell(&json!({ "type": "reload" }));
                    }
                    // Among what was missed may have been a change; the next one shows it.
                    Ok(_) | Err(RecvError::Lagged(_)) => (),
                    Err(RecvError::Closed) => return,
                }
            }
        });
        *listening = Some(task.abort_handle());
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        let listening = self.listening.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(listening) = listening {
            listening.abort();
        }
    }
}

impl Tenant for Shown {
    fn offer(&self) -> &Offer {
        &self.offer
    }

    fn site(&self) -> Arc<dyn Site> {
        self.site.clone()
    }

    fn query(&self) -> Option<String> {
        self.query.clone()
    }

    fn entry(&self) -> Option<String> {
        Some(self.entry.clone()).filter(|entry| entry != "index.html")
    }

    fn capability(&self) -> Option<Capability> {
        Some(Capability::App(self.lease.clone()))
    }

    fn told(&self) -> Map<String, Value> {
        let mut told = self.lease.told();
        told.extend(self.place.clone().map(|place| ("place".to_owned(), place.into())));
        told
    }

    fn shown<'a>(&'a self, frame: &'a Speaker) -> BoxFuture<'a, Result<(), String>> {
        self.listen(frame);
        Box::pin(std::future::ready(Ok(())))
    }

    fn heard<'a>(&'a self, _: &'a Speaker, _: Value) -> BoxFuture<'a, Result<(), String>> {
        let error = "an app speaks by the App Protocol: yaar.app and yaar.storage".to_owned();
        Box::pin(std::future::ready(Err(error)))
    }
}
