//! A model by the name that somebody gave it.

use std::sync::Arc;

use kernel::ports::Model;

use crate::{
    App,
    near::{did_you_mean, near},
};

/// Nobody has it.
pub struct Unknown {
    /// What may have been meant, beginning with `; `; empty if nobody knows.
    pub hint: String,
}

/// Asks who has what before it gives up.
pub async fn find_model(app: &App, id: &str) -> Result<Arc<dyn Model>, Unknown> {
    let models = &app.host.ports.models;
    if let Some(model) = models.find(id) {
        return Ok(model);
    }
    // Without a list there is no hint; that the name is unknown is true all the same.
    let listed = models.list().await.unwrap_or_default();
    let hint = || did_you_mean(&near(id, listed.iter().map(|model| model.id.as_str())));
    models.find(id).ok_or_else(|| Unknown { hint: hint() })
}
