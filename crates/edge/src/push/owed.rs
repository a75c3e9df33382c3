//! What is owed to each browser, and how far the log of each session was read for that. Outlives a crash.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use jiff::{SignedDuration, Timestamp};
use kernel::{
    ports::{Catalog, Shelf, StoreError},
    update::{Seq, SessionId},
};
use serde::{Deserialize, Serialize};

use super::notice::Notice;

const OWED: &str = "push/owed/";
const CURSOR: &str = "push/cursor/";
/// Whoever looks at the page has so long to see it there.
pub const GRACE: SignedDuration = SignedDuration::from_secs(5);
/// What is older is no news.
pub const LIFE: SignedDuration = SignedDuration::from_hours(24);
/// How many sessions one browser can be told of at a time.
const MOST: usize = 64;

/// A browser and a session: a newer message takes the place of the older one.
pub type Place = (String, SessionId);

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Owed {
    pub notice: Notice,
    /// Not before.
    pub due: Timestamp,
    #[serde(default)]
    pub attempts: u32,
}

pub struct Debts {
    catalog: Arc<dyn Catalog>,
    pub owed: BTreeMap<Place, Owed>,
    cursors: HashMap<SessionId, Seq>,
}

impl Debts {
    pub async fn load(catalog: Arc<dyn Catalog>) -> Result<Self, StoreError> {
        let (mut owed, mut cursors) = (BTreeMap::new(), HashMap::new());
        for (name, text) in catalog.list(Shelf::Devices, OWED).await? {
            let place = name.strip_prefix(OWED).and_then(place);
            let debt = serde_json::from_str::<Owed>(&text).ok();
            owed.extend(place.zip(debt));
        }
        for (name, text) in catalog.list(Shelf::Devices, CURSOR).await? {
            let session = name.strip_prefix(CURSOR).and_then(SessionId::parse);
            cursors.extend(session.zip(serde_json::from_str(&text).ok()));
        }
        Ok(Self { catalog, owed, cursors })
    }

    pub fn cursor(&self, session: SessionId) -> Option<Seq> {
        self.cursors.get(&session).copied()
    }

    /// All up to here was read, and nothing in it is owed that is not on record.
    pub async fn read(
        &mut self,
        session: SessionId,
        upto: Seq,
        matters: bool,
    ) -> Result<(), StoreError> {
        if matters {
            let name = format!("{CURSOR}{session}");
            self.catalog.save(Shelf::Devices, &name, &upto).await?;
        }
        self.cursors.insert(session, upto);
        Ok(())
    }

    /// It is owed from now on, in place of what was owed about this session.
    pub async fn owe(&mut self, subscription: &str, notice: Notice) -> Result<(), StoreError> {
        let place = (subscription.to_owned(), notice.session);
        let due = notice.at.saturating_add(GRACE).unwrap_or(notice.at);
        self.put(place, Owed { notice, due, attempts: 0 }).await?;
        let own = || self.owed.iter().filter(|((id, _), _)| id == subscription);
        if own().count() > MOST {
            let oldest = own().min_by_key(|(_, owed)| owed.notice.at).map(|(place, _)| place);
            if let Some(oldest) = oldest.cloned() {
                self.settle(&oldest).await?;
            }
        }
        Ok(())
    }

    pub async fn put(&mut self, place: Place, owed: Owed) -> Result<(), StoreError> {
        self.catalog.save(Shelf::Devices, &record(&place), &owed).await?;
        self.owed.insert(place, owed);
        Ok(())
    }

    /// It was sent, or is not to be.
    pub async fn settle(&mut self, place: &Place) -> Result<(), StoreError> {
        self.catalog.discard(Shelf::Devices, &record(place)).await?;
        self.owed.remove(place);
        Ok(())
    }

    /// A session is gone.
    pub async fn forget(&mut self, session: SessionId) -> Result<(), StoreError> {
        let places: Vec<Place> =
            self.owed.keys().filter(|(_, it)| *it == session).cloned().collect();
        for place in places {
            self.settle(&place).await?;
        }
        if self.cursors.remove(&session).is_some() {
            self.catalog.discard(Shelf::Devices, &format!("{CURSOR}{session}")).await?;
        }
        Ok(())
    }
}

fn record((subscription, session): &Place) -> String {
    format!("{OWED}{subscription}/{session}")
}

fn place(name: &str) -> Option<Place> {
    let (subscription, session) = name.rsplit_once('/')?;
    Some((subscription.to_owned(), SessionId::parse(session)?))
}
