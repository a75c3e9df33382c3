//! What tools have put out for a person to look at: kept with its session, and gone with it.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::{
    ports::{Catalog, Clock, Shelf, StoreError},
    update::SessionId,
};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Output {
    pub id: String,
    pub session: SessionId,
    /// Text, or base64 if `binary`.
    pub data: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub binary: bool,
    /// What kind of thing it is, and what is known of it.
    pub metadata: Map<String, Value>,
    pub created_at: Timestamp,
}

/// Something of another site, shown in the conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Embed {
    /// The [`Output`] that has all of it.
    pub output: String,
    /// For a person: `YouTube`.
    pub provider: String,
    pub title: String,
}

pub struct Outputs {
    catalog: Arc<dyn Catalog>,
}

impl Outputs {
    pub fn new(catalog: Arc<dyn Catalog>) -> Self {
        Self { catalog }
    }

    pub async fn keep(&self, output: &Output) -> Result<(), StoreError> {
        self.catalog.save(Shelf::Outputs, &output.id, output).await
    }

    pub async fn get(&self, id: &str) -> Result<Option<Output>, StoreError> {
        self.catalog.load(Shelf::Outputs, id).await
    }

    pub(crate) async fn forget(&self, session: SessionId) -> Result<(), StoreError> {
        for (id, text) in self.catalog.list(Shelf::Outputs, "").await? {
            let kept: Option<Output> = serde_json::from_str(&text).ok();
            if kept.is_some_and(|kept| kept.session == session) {
                self.catalog.discard(Shelf::Outputs, &id).await?;
            }
        }
        Ok(())
    }
}

/// A new name: `out_<milliseconds>_<six digits of base 36>`.
pub fn name(clock: &dyn Clock) -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let mut rest = chance(clock.id());
    let end: String = std::iter::repeat_with(|| {
        let digit = usize::try_from(rest % 36).unwrap_or_default();
        rest /= 36;
        char::from(DIGITS[digit])
    })
    .take(6)
    .collect();
    format!("out_{}_{end}", clock.now().as_millisecond())
}

/// The end of it is left to chance; the beginning is the time.
fn chance(id: Uuid) -> u64 {
    id.as_u64_pair().1
}
