//! Who is connected, under which name, and who else may be.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::AtomicUsize},
};

use jiff::Timestamp;
use kernel::{
    desktop::Devices,
    ports::{Catalog, Clock},
};
use remote::hello;
use tokio::sync::watch;
use uuid::Uuid;

use super::{
    passes::{Bearer, Passes},
    remote::Remote,
};
use crate::socket::Farewell;

/// What the one is told whose name another has taken.
const REPLACED: Farewell = Farewell { code: 1000, reason: "New desktop connected" };
/// And the one that has another name now.
const RENAMED: Farewell = Farewell { code: 1000, reason: "This device has a new name" };
/// And the one whose key was taken away.
const FORGOTTEN: Farewell = Farewell { code: 1008, reason: "This device was forgotten" };

/// What one is told that wants the name of another.
pub const TAKEN: &str = "that name belongs to another key";

pub struct Hub {
    devices: Arc<Devices>,
    clock: Arc<dyn Clock>,
    pub passes: Passes,
    seats: Mutex<HashMap<String, Seat>>,
    /// How many look at screens.
    pub lookers: AtomicUsize,
}

#[derive(Clone)]
struct Seat {
    client: Uuid,
    /// By whose key.
    bearer: Bearer,
    since: Timestamp,
    remote: Arc<Remote>,
    dismiss: watch::Sender<Option<Farewell>>,
}

/// Somebody who is connected, as it is told.
pub struct Guest {
    pub name: String,
    pub client: Uuid,
    pub since: Timestamp,
    pub remote: Arc<Remote>,
}

/// A connection has its name while this is there.
pub struct Place {
    hub: Arc<Hub>,
    name: String,
    client: Uuid,
}

impl Place {
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut seats = self.hub.seats();
        // Who was replaced must not take the other along.
        if seats.get(&self.name).is_some_and(|seat| seat.client == self.client) {
            seats.remove(&self.name);
        }
    }
}

impl Hub {
    pub fn new(devices: Arc<Devices>, clock: Arc<dyn Clock>, catalog: Arc<dyn Catalog>) -> Self {
        let passes = Passes::new(clock.clone(), catalog);
        Self { devices, clock, passes, seats: Mutex::default(), lookers: AtomicUsize::new(0) }
    }

    pub fn devices(&self) -> &Arc<Devices> {
        &self.devices
    }

    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Whether a connection may go by this name; else what it is told.
    pub fn may_be_called(&self, name: &str, bearer: &Bearer) -> Result<(), &'static str> {
        if !hello::is_name(name) {
            return Err("a name has 1 to 64 letters, digits, dots, dashes and underscores");
        }
        match bearer {
            _ if self.is_held_by_another(name, bearer) => Err(TAKEN),
            Bearer::Device(_) => Ok(()),
            _ if name == Devices::LOCAL => Err("that is the name of the hub's own machine"),
            _ if self.passes.is_taken(name) => Err(TAKEN),
            _ => Ok(()),
        }
    }

    /// Whether somebody is connected by this name who came with another key.
    pub fn is_held_by_another(&self, name: &str, bearer: &Bearer) -> bool {
        self.seats().get(name).is_some_and(|seat| seat.bearer != *bearer)
    }

    /// Gives a connection its name, and sends away whoever had it.
    pub fn seat(
        self: &Arc<Self>,
        name: String,
        bearer: Bearer,
        remote: Arc<Remote>,
        dismiss: watch::Sender<Option<Farewell>>,
    ) -> Place {
        let (client, since) = (self.clock.id(), self.clock.now());
        let seat = Seat { client, bearer, since, remote, dismiss };
        let before = self.seats().insert(name.clone(), seat);
        if let Some(before) = before {
            before.dismiss.send_replace(Some(REPLACED));
        }
        Place { hub: self.clone(), name, client }
    }

    /// Everybody who is connected, by name.
    pub fn guests(&self) -> Vec<Guest> {
        let guest = |(name, seat): (&String, &Seat)| Guest {
            name: name.clone(),
            client: seat.client,
            since: seat.since,
            remote: seat.remote.clone(),
        };
        let mut guests: Vec<Guest> = self.seats().iter().map(guest).collect();
        guests.sort_by(|a, b| a.name.cmp(&b.name));
        guests
    }

    /// Sends away whoever goes by this name, for a moment or for good. Says whether anybody did
    /// who was not about to leave already.
    pub fn dismiss(&self, name: &str, may_return: bool) -> bool {
        let seat = self.seats().get(name).cloned();
        let farewell = if may_return { RENAMED } else { FORGOTTEN };
        seat.is_some_and(|seat| seat.dismiss.send_replace(Some(farewell)).is_none())
    }

    fn seats(&self) -> MutexGuard<'_, HashMap<String, Seat>> {
        self.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
