//! What one applet in one frame may do, and what it was given leave for.

use std::sync::Arc;

use kernel::{
    gallery::{Applet, Parts, Permission},
    host::Host,
    leave::Wish,
    toolbox::{Caller, Deed, Detail, Risk},
    update::SessionId,
};
use serde_json::json;

use super::edition::edition;
use crate::{error::ApiError, frames::asking::Asking};

/// Handlers find it among the extensions of a request that an applet makes.
pub struct Capability {
    asking: Asking,
    pub slug: String,
    name: String,
    /// What runs in the frame, and nothing else does under its ticket.
    edition: String,
    declared: Vec<Permission>,
}

impl Capability {
    pub fn new(host: Arc<Host>, parts: &Parts, session: Option<SessionId>) -> Self {
        let Applet { slug, name, needs, .. } = &parts.applet;
        let edition = edition(parts);
        let caller = Caller::Applet { slug: slug.clone(), edition: Some(edition.clone()) };
        Self {
            asking: Asking::new(host, session, caller),
            slug: slug.clone(),
            name: name.clone(),
            edition,
            declared: needs.permissions.clone(),
        }
    }

    pub fn session(&self) -> Option<SessionId> {
        self.asking.session
    }

    pub fn edition(&self) -> &str {
        &self.edition
    }

    /// The frame is gone: what it has asked is not asked any longer.
    pub fn end(&self) {
        self.asking.end();
    }

    /// Returns once the person has allowed this, or the frame is gone.
    pub async fn ask(&self, permission: Permission, request: &str) -> Result<(), ApiError> {
        let (name, slug) = (permission.name(), &self.slug);
        if !self.declared.contains(&permission) {
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

    fn wish(&self, permission: Permission, request: &str) -> Wish {
        let (risk, what) = match permission {
            Permission::AppsOpen => (Risk::Shows, "open files in apps"),
            Permission::FilesWrite => (Risk::Edits, "write files"),
            Permission::SchedulesWrite => (Risk::Acts, "change schedules"),
            Permission::Shell => (Risk::Runs, "run commands"),
        };
        let detail = Detail::Arguments { args: json!({ "request": request }) };
        Wish {
            name: permission.name().to_owned(),
            title: format!("The applet {} wants to {what}", self.name),
            deed: Deed { risk, detail, subjects: Vec::new(), within: None },
        }
    }
}
