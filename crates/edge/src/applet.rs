//! Applets in frames: what they show, what they say, and what they may ask for.

pub mod capability;
mod edition;
pub mod gate;
mod site;
mod table;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use futures::future::BoxFuture;
use kernel::{
    applets::{AppletKey, Teller},
    gallery::{Applet, is_slug},
    host::Host,
    roster::News,
    update::SessionId,
};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::{
    sync::broadcast::{self, error::RecvError},
    task::AbortHandle,
};

use crate::{
    App,
    error::ApiError,
    frames::{
        self,
        tenant::{Offer, Speaker, Tenant},
    },
    sandbox::site::Site,
};
use capability::Capability;
use edition::edition;
use site::AppletSite;

pub const KIND: &str = "applet";
/// How many parameters an address may have, and how long all of them may be.
const PARAMS: usize = 64;
const PARAM_BYTES: usize = 8 << 10;
/// How much an applet may keep in place of a browser's storage.
const STORAGE_BYTES: usize = 512 << 10;
/// Under which of its keys.
const STORAGE: &str = "__storage";

/// An applet as it is to be opened.
pub struct Opening<'a> {
    pub slug: &'a str,
    pub session: Option<SessionId>,
    pub params: &'a BTreeMap<String, String>,
    pub client: &'a str,
}

/// One applet in one frame.
pub struct Shown {
    host: Arc<Host>,
    offer: Offer,
    key: AppletKey,
    query: String,
    site: Arc<dyn Site>,
    capability: Arc<Capability>,
    /// Whatever happens since its parts were read.
    news: Mutex<Option<broadcast::Receiver<News>>>,
    /// Ends with the frame.
    listening: Mutex<Option<AbortHandle>>,
}

/// What the runtime of an applet says.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
enum Wish {
    /// The applet tells of itself.
    SetState { data: Map<String, Value> },
    /// The person went elsewhere in it.
    Navigated { params: BTreeMap<String, String> },
    /// It keeps something, in place of what a browser would keep for it.
    Store { items: BTreeMap<String, String> },
}

pub fn offer(applet: &Applet) -> Offer {
    Offer {
        kind: KIND,
        id: applet.slug.clone(),
        title: applet.name.clone(),
        description: applet.description.clone().unwrap_or_default(),
    }
}

/// Opens an applet, which the client then has open.
pub async fn open(
    app: &App,
    Opening { slug, session, params, client }: Opening<'_>,
    keep_state: bool,
) -> Result<Shown, ApiError> {
    check(params).map_err(ApiError::bad_request)?;
    let absent = || ApiError::not_found(format!("Applet \"{slug}\" not found"));
    if !is_slug(slug) {
        return Err(absent());
    }
    let news = app.host.roster.listen();
    let parts = app.host.ports.gallery.load(slug).await.map_err(ApiError::internal)?;
    let parts = parts.ok_or_else(absent)?;
    let key = AppletKey { session, slug: Some(slug.to_owned()) };
    if !keep_state {
        app.host.applets.clear(&key).await?;
    }
    app.clients.set_applet(client, slug).await?;
    if let Some(session) = session {
        app.host.applets.set_current(session, slug).await?;
    }
    let offer = offer(&parts.applet);
    app.host.applets.navigate(&key, &trail(&offer, params)).await?;
    Ok(Shown {
        host: app.host.clone(),
        offer,
        query: query(session, slug, params),
        capability: Arc::new(Capability::new(app.host.clone(), &parts, session)),
        site: Arc::new(AppletSite::new(app.host.clone(), parts, session)),
        news: Mutex::new(Some(news)),
        listening: Mutex::default(),
        key,
    })
}

fn check(params: &BTreeMap<String, String>) -> Result<(), String> {
    let length: usize = params.iter().map(|(name, value)| name.len() + value.len()).sum();
    if params.len() > PARAMS || length > PARAM_BYTES {
        return Err(format!("params: at most {PARAMS}, with {PARAM_BYTES} bytes in all"));
    }
    Ok(())
}

/// Where the person is, as agents are told.
fn trail(offer: &Offer, params: &BTreeMap<String, String>) -> Map<String, Value> {
    let stack = json!([{ "slug": offer.id, "label": offer.title }]);
    Map::from_iter([("stack".to_owned(), stack), ("urlParams".to_owned(), json!(params))])
}

/// The address as the page itself has it.
fn query(session: Option<SessionId>, slug: &str, params: &BTreeMap<String, String>) -> String {
    let session = session.map(|session| ("session".to_owned(), session.to_string()));
    let first = session.into_iter().chain([("applet".to_owned(), slug.to_owned())]);
    let named = |name: &str| name == "session" || name == "applet";
    let more = params.iter().filter(|(name, _)| !named(name));
    let all = first.chain(more.map(|(name, value)| (name.clone(), value.clone())));
    let write = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    let pairs = all.map(|(name, value)| format!("{}={}", write(&name), write(&value)));
    pairs.collect::<Vec<_>>().join("&")
}

/// Where an applet keeps what outlives its sessions.
fn storage(slug: &str) -> AppletKey {
    AppletKey { session: None, slug: Some(slug.to_owned()) }
}

impl Shown {
    async fn obey(&self, frame: &Speaker, message: Value) -> Result<(), String> {
        let wish = serde_json::from_value(message)
            .map_err(|error| format!("this is nothing that an applet can say: {error}"))?;
        match wish {
            Wish::SetState { data } => {
                let teller = Teller { from: frame.connection(), frame: Some(frame.frame) };
                let pushed = self.host.applets.push(&self.key, data, self.key.session, teller);
                pushed.await.map_err(|error| error.to_string())
            }
            Wish::Navigated { params } => {
                check(&params)?;
                let trail = trail(&self.offer, &params);
                let noted = self.host.applets.navigate(&self.key, &trail).await;
                noted.map_err(|error| error.to_string())
            }
            Wish::Store { items } => {
                let size: usize = items.iter().map(|(name, value)| name.len() + value.len()).sum();
                if size > STORAGE_BYTES {
                    return Err(format!("an applet may keep {STORAGE_BYTES} bytes at most"));
                }
                let kept = Map::from_iter([(STORAGE.to_owned(), json!(items))]);
                let merged = self.host.applets.merge(&storage(&self.offer.id), kept).await;
                merged.map_err(|error| error.to_string())
            }
        }
    }

    /// Passes on what concerns this applet, until the frame ends.
    fn listen(&self, frame: &Speaker) {
        let Some(news) = self.news.lock().unwrap_or_else(PoisonError::into_inner).take() else {
            return;
        };
        let listener = Listener {
            host: self.host.clone(),
            key: self.key.clone(),
            slug: self.offer.id.clone(),
            edition: self.capability.edition().to_owned(),
            frame: frame.clone(),
        };
        let task = tokio::spawn(listener.listen(news));
        let mut listening = self.listening.lock().unwrap_or_else(PoisonError::into_inner);
        *listening = Some(task.abort_handle());
    }
}

/// Hears for one frame what happens elsewhere.
struct Listener {
    host: Arc<Host>,
    key: AppletKey,
    slug: String,
    edition: String,
    frame: Speaker,
}

impl Listener {
    async fn listen(self, mut news: broadcast::Receiver<News>) {
        loop {
            let outdated = match news.recv().await {
                Ok(News::AppletChanged { slug }) if slug == self.slug => self.is_outdated().await,
                Ok(news) => {
                    if let Some(word) = told(&news, &self.key, &self.frame) {
                        self.frame.tell(&word);
                    }
                    false
                }
                // State that was missed cannot be had again; the next comes whole enough.
                Err(RecvError::Lagged(_)) => self.is_outdated().await,
                Err(RecvError::Closed) => return,
            };
            if outdated {
                // What it is now has to be asked for anew, under another ticket.
                return self.frame.end();
            }
        }
    }

    /// Whether the applet consists of something else by now. One that cannot be read is about to
    /// change again.
    async fn is_outdated(&self) -> bool {
        let parts = self.host.ports.gallery.load(&self.slug).await.ok().flatten();
        parts.is_some_and(|parts| edition(&parts) != self.edition)
    }
}

/// What news means for an applet.
fn told(news: &News, key: &AppletKey, heard_by: &Speaker) -> Option<Value> {
    match news {
        News::AppletState { session, slug, data, from, frame } => {
            let is_own = *frame == Some(heard_by.frame);
            let from_agent = from.is_none() && frame.is_none();
            let for_all = from_agent && session.is_none();
            let here = for_all || *session == key.session;
            let meant = slug.is_none() || *slug == key.slug;
            (!is_own && here && meant).then(|| json!({ "type": "state", "data": **data }))
        }
        News::AppletChanged { .. }
        | News::AppChanged { .. }
        | News::Session { .. }
        | News::Schedules
        | News::Devices => None,
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.capability.end();
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
        Some(self.query.clone())
    }

    fn capability(&self) -> Option<frames::capability::Capability> {
        Some(frames::capability::Capability::Applet(self.capability.clone()))
    }

    fn shown<'a>(&'a self, frame: &'a Speaker) -> BoxFuture<'a, Result<(), String>> {
        self.listen(frame);
        Box::pin(std::future::ready(Ok(())))
    }

    fn heard<'a>(
        &'a self,
        frame: &'a Speaker,
        message: Value,
    ) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(self.obey(frame, message))
    }
}
