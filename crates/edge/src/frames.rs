//! Which frames there are, who may look at what is in them, and who hears what they say.

pub mod allowance;
pub mod asking;
pub mod board;
pub mod capability;
pub mod origin;
pub mod outbox;
pub mod routes;
pub mod tenant;
pub mod window;

use std::{
    collections::HashMap,
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use jiff::Timestamp;
use kernel::{host::Host, ports::Clock, update::SessionId};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use tokio::sync::mpsc;
use uuid::Uuid;

use crate::{keys::secret, listen::Way, sandbox::site::Site};
use allowance::Allowance;
use board::Board;
use capability::Capability;
use origin::FrameOrigin;
use outbox::Outbox;
use tenant::{Said, Speaker, Tenant};

/// How many frames there may be at once.
pub const FRAMES: usize = 256;
/// How much a frame may have said that its tenant has not listened to yet.
const WAITING: usize = 256;

pub struct Frames {
    clock: Arc<dyn Clock>,
    tenants: Vec<Arc<dyn Tenant>>,
    /// Where the other origin is, if there is one.
    address: OnceLock<SocketAddr>,
    /// What it is reached by, where a proxy has a name for it.
    named: Option<FrameOrigin>,
    table: Mutex<HashMap<Uuid, Frame>>,
}

struct Frame {
    /// What it is reached by is known to whoever asked for it, and to nobody else.
    ticket: [u8; 32],
    nonce: String,
    page: Page,
    tenant: Arc<dyn Tenant>,
    site: Arc<dyn Site>,
    holder: Option<Holder>,
    allowance: Allowance,
    /// Drops with the frame, which ends whoever listens at the other end.
    said: mpsc::Sender<Said>,
    used: Timestamp,
}

/// The connection of the page that shows it.
struct Holder {
    connection: u64,
    outbox: Arc<Outbox>,
}

/// The page that a frame was made for.
pub struct Page {
    /// Who may frame it.
    pub ancestor: String,
    /// The device whose key it came with; none for the owner's own.
    pub device: Option<String>,
}

/// What a ticket leads to.
pub struct Looked {
    pub site: Arc<dyn Site>,
    pub nonce: String,
    /// Who may frame it.
    pub ancestor: String,
    /// What it may ask of us.
    pub capability: Option<Capability>,
    /// What its documents are told before anything of them runs.
    pub told: Map<String, Value>,
}

/// What a page is given for a frame; the same again where it was given before the server was started
/// anew, and is still on show.
pub struct Kept {
    pub id: Uuid,
    pub ticket: String,
    pub nonce: String,
}

/// A frame that was just made.
pub struct Opened {
    pub id: Uuid,
    pub ticket: String,
    pub nonce: String,
    pub site: Arc<dyn Site>,
}

#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("{FRAMES} frames are on show already; close some of them first")]
    TooMany,
    #[error("cannot make a ticket: {0}")]
    Chance(#[from] io::Error),
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum HearError {
    #[error("there is no such frame")]
    Gone,
    #[error("another page shows this frame")]
    HeldElsewhere,
    #[error("messages come too fast; those that came meanwhile were dropped")]
    TooFast,
    /// As before, and that was said already.
    #[error("messages still come too fast")]
    StillTooFast,
    #[error("too many messages wait to be heard; this one was dropped")]
    Busy,
}

impl Frames {
    pub fn new(host: Arc<Host>, named: Option<FrameOrigin>) -> Self {
        Self {
            clock: host.ports.clock.clone(),
            tenants: vec![Arc::new(Board::new(host))],
            address: OnceLock::new(),
            named,
            table: Mutex::default(),
        }
    }

    /// From now on there is another origin, at this address.
    pub fn serve_at(&self, address: SocketAddr) {
        // Said once, when the server is put together.
        self.address.set(address).ok();
    }

    /// The origin of frames for a page that was reached by this `Host`, if it can be named in a
    /// policy: addresses of the sixth version cannot. One with a name of its own always can.
    pub fn origin(&self, host: &str, way: Way) -> Option<String> {
        let port = self.address.get()?.port();
        if let Some(named) = &self.named {
            return Some(named.to_string());
        }
        let name = crate::auth::without_port(host);
        let plain = |it: u8| it.is_ascii_alphanumeric() || it == b'.' || it == b'-';
        let scheme = if way == Way::Encrypted { "https" } else { "http" };
        (!name.is_empty() && name.bytes().all(plain)).then(|| format!("{scheme}://{name}:{port}"))
    }

    pub fn named(&self) -> Option<&FrameOrigin> {
        self.named.as_ref()
    }

    pub fn is_served(&self) -> bool {
        self.address.get().is_some()
    }

    pub fn tenants(&self) -> &[Arc<dyn Tenant>] {
        &self.tenants
    }

    pub fn tenant(&self, kind: &str, id: &str) -> Option<Arc<dyn Tenant>> {
        let mut tenants = self.tenants.iter();
        tenants.find(|it| it.offer().kind == kind && it.offer().id == id).cloned()
    }

    /// Something new to give to a page.
    pub fn fresh(&self) -> Result<Kept, OpenError> {
        Ok(Kept { id: self.clock.id(), ticket: secret()?, nonce: secret()? })
    }

    /// A new frame for a page. Where there are too many, the one goes that nobody
    /// shows and that has not been looked at for longest.
    pub fn open(
        self: &Arc<Self>,
        tenant: Arc<dyn Tenant>,
        session: Option<SessionId>,
        page: Page,
        Kept { id, ticket, nonce }: Kept,
    ) -> Result<Opened, OpenError> {
        let site = tenant.site();
        let (said, hearing) = mpsc::channel(WAITING);
        let now = self.clock.now();
        let frame = Frame {
            ticket: digest(&ticket),
            nonce: nonce.clone(),
            page,
            tenant: tenant.clone(),
            site: site.clone(),
            holder: None,
            allowance: Allowance::full(now),
            said,
            used: now,
        };
        {
            let mut table = self.table();
            if table.len() >= FRAMES && !table.contains_key(&id) {
                let unused = table.iter().filter(|(_, frame)| frame.holder.is_none());
                let oldest = unused.min_by_key(|(id, frame)| (frame.used, **id));
                let oldest = oldest.map(|(id, _)| *id).ok_or(OpenError::TooMany)?;
                table.remove(&oldest);
            }
            table.insert(id, frame);
        }
        let speaker = Speaker::new(Arc::downgrade(self), id, session);
        tokio::spawn(tenant::listen(tenant, speaker, hearing));
        Ok(Opened { id, ticket, nonce, site })
    }

    /// Whoever lives behind a frame.
    pub fn behind(&self, id: Uuid) -> Option<Arc<dyn Tenant>> {
        self.table().get(&id).map(|frame| frame.tenant.clone())
    }

    /// Whether there was such a frame.
    pub fn end(&self, id: Uuid) -> bool {
        self.table().remove(&id).is_some()
    }

    /// All that were made for pages of this device.
    pub fn end_of(&self, device: &str) {
        self.table().retain(|_, frame| frame.page.device.as_deref() != Some(device));
    }

    /// What is behind a ticket.
    pub fn look(&self, ticket: &str) -> Option<Looked> {
        let digest = digest(ticket);
        let now = self.clock.now();
        let mut table = self.table();
        let frame = table.values_mut().find(|frame| frame.ticket == digest)?;
        frame.used = now;
        let Frame { site, nonce, page, tenant, .. } = frame;
        Some(Looked {
            site: site.clone(),
            nonce: nonce.clone(),
            ancestor: page.ancestor.clone(),
            capability: tenant.capability(),
            told: tenant.told(),
        })
    }

    /// The connection of the page that shows a frame.
    pub fn holder(&self, id: Uuid) -> Option<u64> {
        Some(self.table().get(&id)?.holder.as_ref()?.connection)
    }

    /// From now on this connection, and no other, hears what is said to the frame. False if there
    /// is no such frame.
    pub fn hold(&self, id: Uuid, connection: u64, outbox: &Arc<Outbox>) -> bool {
        let now = self.clock.now();
        let mut table = self.table();
        let Some(frame) = table.get_mut(&id) else { return false };
        frame.used = now;
        frame.holder = Some(Holder { connection, outbox: outbox.clone() });
        // If so much waits that this does not fit, it is told of when it is its turn anyway.
        frame.said.try_send(Said::Shown).ok();
        true
    }

    /// Takes in what a frame said, by way of the page that shows it.
    pub fn hear(&self, id: Uuid, connection: u64, message: Value) -> Result<(), HearError> {
        self.take(id, connection, Said::Message(message))
    }

    /// Takes in what the page that shows a frame says of it.
    pub fn note(&self, id: Uuid, connection: u64, note: Value) -> Result<(), HearError> {
        self.take(id, connection, Said::Note(note))
    }

    fn take(&self, id: Uuid, connection: u64, said: Said) -> Result<(), HearError> {
        let now = self.clock.now();
        let mut table = self.table();
        let frame = table.get_mut(&id).ok_or(HearError::Gone)?;
        if frame.holder.as_ref().is_none_or(|holder| holder.connection != connection) {
            return Err(HearError::HeldElsewhere);
        }
        let warned = frame.allowance.is_spent();
        if !frame.allowance.spend(now) {
            return Err(if warned { HearError::StillTooFast } else { HearError::TooFast });
        }
        frame.used = now;
        frame.said.try_send(said).map_err(|_| HearError::Busy)
    }

    /// A connection is over; whatever it showed may go when there is need.
    pub fn leave(&self, connection: u64) {
        for frame in self.table().values_mut() {
            if frame.holder.take_if(|holder| holder.connection == connection).is_some() {
                // Where so much waits that this does not fit, it is told when it is shown again.
                frame.said.try_send(Said::Left).ok();
            }
        }
    }

    /// Says something to a frame, if anybody shows it.
    fn tell(&self, id: Uuid, word: &outbox::Word<'_>) {
        let holder = self.table().get(&id).and_then(|it| Some(it.holder.as_ref()?.outbox.clone()));
        if let Some(outbox) = holder {
            outbox.push(id, word);
        }
    }

    /// Says something to every frame of whoever is in this one.
    fn tell_all(&self, id: Uuid, word: &outbox::Word<'_>) {
        let like: Vec<(Uuid, Arc<Outbox>)> = {
            let table = self.table();
            let Some(tenant) = table.get(&id).map(|frame| &frame.tenant) else { return };
            let same = table.iter().filter(|(_, frame)| Arc::ptr_eq(&frame.tenant, tenant));
            same.filter_map(|(id, it)| Some((*id, it.holder.as_ref()?.outbox.clone()))).collect()
        };
        for (id, outbox) in like {
            outbox.push(id, word);
        }
    }

    fn table(&self) -> MutexGuard<'_, HashMap<Uuid, Frame>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Kept in place of the ticket, so that comparing takes no shorter for a good guess.
fn digest(ticket: &str) -> [u8; 32] {
    Sha256::digest(ticket.as_bytes()).into()
}
