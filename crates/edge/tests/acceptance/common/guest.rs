//! The house's own models, and one more that can be changed to.

use std::sync::Arc;

use futures::future::BoxFuture;
use kernel::ports::{Model, ModelError, ModelInfo, Models};

pub struct WithGuest {
    pub own: Arc<dyn Models>,
    pub guest: Arc<dyn Model>,
}

impl Models for WithGuest {
    fn list(&self) -> BoxFuture<'_, Result<Vec<ModelInfo>, ModelError>> {
        self.own.list()
    }

    fn find(&self, id: &str) -> Option<Arc<dyn Model>> {
        if id == "guest" { Some(self.guest.clone()) } else { self.own.find(id) }
    }

    fn default_id(&self) -> String {
        self.own.default_id()
    }
}
