//! What views keep for themselves: the newest of each, for as long as its session is there.

use std::sync::Arc;

use serde_json::Value;

use crate::{
    ports::{Catalog, Shelf, StoreError},
    update::SessionId,
};

const STATE: &str = "state/";

pub struct States {
    catalog: Arc<dyn Catalog>,
}

impl States {
    pub fn new(catalog: Arc<dyn Catalog>) -> Self {
        Self { catalog }
    }

    pub async fn keep(
        &self,
        session: SessionId,
        call: &str,
        state: &Value,
    ) -> Result<(), StoreError> {
        self.catalog.save(Shelf::Widgets, &format!("{STATE}{session}/{call}"), state).await
    }

    pub async fn get(&self, session: SessionId, call: &str) -> Result<Option<Value>, StoreError> {
        self.catalog.load(Shelf::Widgets, &format!("{STATE}{session}/{call}")).await
    }

    /// A session is deleted.
    pub(crate) async fn forget(&self, session: SessionId) -> Result<(), StoreError> {
        for (name, _) in self.catalog.list(Shelf::Widgets, &format!("{STATE}{session}/")).await? {
            self.catalog.discard(Shelf::Widgets, &name).await?;
        }
        Ok(())
    }

    /// Finishes what was cut off when sessions were deleted.
    pub(crate) async fn sweep(
        &self,
        is_there: impl Fn(SessionId) -> bool,
    ) -> Result<(), StoreError> {
        for (name, _) in self.catalog.list(Shelf::Widgets, STATE).await? {
            let of = name.strip_prefix(STATE).and_then(|rest| rest.split_once('/'));
            if of.and_then(|(id, _)| SessionId::parse(id)).is_some_and(|id| !is_there(id)) {
                self.catalog.discard(Shelf::Widgets, &name).await?;
            }
        }
        Ok(())
    }
}
