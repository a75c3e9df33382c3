//! Pages of widgets, kept by what is in them, so that they can be shown when their server is gone.

use std::sync::Arc;

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use sha2::{Digest as _, Sha256};

use crate::{
    ports::{Catalog, Shelf, StoreError},
    widget::WidgetPage,
};

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

    pub async fn keep(&self, server: &str, page: &WidgetPage) -> Result<Kept, StoreError> {
        let digest = digest(page);
        let name = format!("page/{digest}");
        if self.catalog.get(Shelf::Widgets, &name).await?.is_none() {
            self.catalog.save(Shelf::Widgets, &name, page).await?;
        }
        let newest = format!("newest/{server}/{}", page.uri);
        let before: Option<String> = self.catalog.load(Shelf::Widgets, &newest).await?;
        let changed = before.as_ref().is_some_and(|before| *before != digest);
        if before.as_ref() != Some(&digest) {
            self.catalog.save(Shelf::Widgets, &newest, &digest).await?;
        }
        Ok(Kept { digest, changed })
    }

    pub async fn get(&self, digest: &str) -> Result<Option<WidgetPage>, StoreError> {
        self.catalog.load(Shelf::Widgets, &format!("page/{digest}")).await
    }
}

/// Of all that decides how it is shown.
fn digest(page: &WidgetPage) -> String {
    // What can be read can be written.
    let text = serde_json::to_string(page).unwrap_or_default();
    BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(text))
}
