//! Pages of widgets, kept by what is in them for as long as a session has shown them, so that they can be shown
//! when their server is gone.

use std::{collections::BTreeSet, sync::Arc};

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use sha2::{Digest as _, Sha256};

use crate::{
    ports::{Catalog, Shelf, StoreError},
    update::SessionId,
    widget::WidgetPage,
};

/// Which session holds which page.
const HELD: &str = "held/";

pub struct Pages {
    catalog: Arc<dyn Catalog>,
}

/// A page that is kept.
pub struct Kept {
    pub digest: String,
    /// Its server had another there before.
    pub changed: bool,
}

impl Pages {
    pub fn new(catalog: Arc<dyn Catalog>) -> Self {
        Self { catalog }
    }

    pub async fn keep(
        &self,
        (session, call): (SessionId, &str),
        server: &str,
        page: &WidgetPage,
    ) -> Result<Kept, StoreError> {
        let digest = digest(page);
        // Before the page is looked for: whoever lets go of it now sees that it is held.
        self.catalog.put(Shelf::Widgets, &hold(&digest, session), String::new()).await?;
        let name = page_of(&digest);
        if self.catalog.get(Shelf::Widgets, &name).await?.is_none() {
            self.catalog.save(Shelf::Widgets, &name, page).await?;
        }
        let newest = format!("newest/{server}/{}", page.uri);
        let before: Option<String> = self.catalog.load(Shelf::Widgets, &newest).await?;
        // The page of one call may be kept by the call and by whoever shows it: both tell the same.
        let changer = format!("changer/{server}/{}", page.uri);
        let mine = format!("{session}/{call}");
        let other = before.as_ref().is_some_and(|before| *before != digest);
        if other {
            self.catalog.save(Shelf::Widgets, &changer, &mine).await?;
        }
        let changed = other || self.catalog.load(Shelf::Widgets, &changer).await? == Some(mine);
        if before.as_ref() != Some(&digest) {
            self.catalog.save(Shelf::Widgets, &newest, &digest).await?;
        }
        Ok(Kept { digest, changed })
    }

    pub async fn get(&self, digest: &str) -> Result<Option<WidgetPage>, StoreError> {
        self.catalog.load(Shelf::Widgets, &page_of(digest)).await
    }

    /// A session is deleted: what it alone held goes.
    pub(crate) async fn forget(&self, session: SessionId) -> Result<(), StoreError> {
        let holds = self.holds().await?;
        for (digest, _) in holds.into_iter().filter(|(_, of)| *of == session) {
            self.let_go(&digest, session).await?;
        }
        Ok(())
    }

    /// Finishes what was cut off when sessions were deleted.
    pub(crate) async fn sweep(
        &self,
        is_there: impl Fn(SessionId) -> bool,
    ) -> Result<(), StoreError> {
        let holds = self.holds().await?;
        let gone: BTreeSet<SessionId> =
            holds.into_iter().map(|(_, session)| session).filter(|it| !is_there(*it)).collect();
        for session in gone {
            self.forget(session).await?;
        }
        Ok(())
    }

    /// Last of all the hold itself, or what is left could not be found again after a crash.
    async fn let_go(&self, digest: &str, session: SessionId) -> Result<(), StoreError> {
        if !self.is_held_beside(digest, session).await? {
            let name = page_of(digest);
            let page = self.catalog.get(Shelf::Widgets, &name).await?;
            self.catalog.discard(Shelf::Widgets, &name).await?;
            // Somebody may have come to hold it just now, and counted on its being there.
            if let (Some(page), true) = (page, self.is_held_beside(digest, session).await?) {
                self.catalog.put(Shelf::Widgets, &name, page).await?;
            }
        }
        self.catalog.discard(Shelf::Widgets, &hold(digest, session)).await
    }

    async fn is_held_beside(&self, digest: &str, session: SessionId) -> Result<bool, StoreError> {
        let own = hold(digest, session);
        let held = self.catalog.list(Shelf::Widgets, &format!("{HELD}{digest}/")).await?;
        Ok(held.iter().any(|(name, _)| *name != own))
    }

    async fn holds(&self) -> Result<Vec<(String, SessionId)>, StoreError> {
        let held = self.catalog.list(Shelf::Widgets, HELD).await?.into_iter();
        let read = |name: &str| {
            let (digest, session) = name.strip_prefix(HELD)?.split_once('/')?;
            Some((digest.to_owned(), SessionId::parse(session)?))
        };
        Ok(held.filter_map(|(name, _)| read(&name)).collect())
    }
}

fn page_of(digest: &str) -> String {
    format!("page/{digest}")
}

fn hold(digest: &str, session: SessionId) -> String {
    format!("{HELD}{digest}/{session}")
}

/// Of all that decides how it is shown.
fn digest(page: &WidgetPage) -> String {
    // What can be read can be written.
    let text = serde_json::to_string(page).unwrap_or_default();
    BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(text))
}
