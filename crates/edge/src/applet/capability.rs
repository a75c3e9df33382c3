//! What one applet in one frame may do, and what it was given leave for.

use std::sync::Arc;

use kernel::{
    gallery::{Applet, Permission},
    host::Host,
    leave::Wish,
    toolbox::{Caller, Deed, Detail, Risk},
    update::SessionId,
};
use serde_json::json;

use crate::{error::ApiError, frames::asking::Asking};

/// Handlers find it among the extensions of a request that an applet makes.
pub struct Capability {
    asking: Asking,
    pub slug: String,
    name: String,
}

impl Capability {
    pub fn new(host: Arc<Host>, applet: &Applet, session: Option<SessionId>) -> Self {
        let (slug, name) = (applet.slug.clone(), applet.name.clone());
        let caller = Caller::Applet { slug: slug.clone() };
        Self { asking: Asking::new(host, session, caller), slug, name }
    }

    pub fn session(&self) -> Option<SessionId> {
        self.asking.session
    }

    /// Returns once the person has allowed this.
    pub async fn ask(&self, permission: Permission, request: &str) -> Result<(), ApiError> {
        let (name, slug) = (permission.name(), &self.slug);
        if !self.declares(permission).await {
            return Err(ApiError::forbidden(format!(
                "The applet \"{slug}\" needs the permission \"{name}\", which its meta.json does not declare"
            )));
        }
        let Some(session) = self.asking.session else {
            return Err(ApiError::forbidden(format!(
                "The permission \"{name}\" is asked for in a session, and this applet is in none"
            )));
        };
        if self.asking.ask(session, name, self.wish(permission, request)).await? {
            return Ok(());
        }
        let text = format!("The permission \"{name}\" was not given to the applet \"{slug}\"");
        Err(ApiError::forbidden(text))
    }

    /// As its description says now.
    async fn declares(&self, permission: Permission) -> bool {
        let applets = self.asking.host.ports.gallery.list().await;
        let applet = applets.iter().find(|applet| applet.slug == self.slug);
        applet.is_some_and(|applet| applet.needs.permissions.contains(&permission))
    }

    fn wish(&self, permission: Permission, request: &str) -> Wish {
        let (risk, what) = match permission {
            Permission::FilesWrite => (Risk::Edits, "write files"),
            Permission::SchedulesWrite => (Risk::Acts, "change schedules"),
            Permission::Shell => (Risk::Runs, "run commands"),
        };
        let detail = Detail::Arguments { args: json!({ "request": request }) };
        Wish {
            name: permission.name().to_owned(),
            title: format!("The applet {} wants to {what}", self.name),
            deed: Deed { risk, detail, subjects: Vec::new() },
        }
    }
}
