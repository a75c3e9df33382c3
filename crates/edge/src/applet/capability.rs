//! What one applet in one frame may do, and what it was given leave for.

use std::{collections::BTreeMap, sync::Arc};

use kernel::{
    gallery::{Applet, Parts, Permission},
    host::Host,
    inbox::CallError,
    leave::{Leave, Wish},
    toolbox::{Caller, Deed, Detail, Risk},
    update::SessionId,
};
use serde_json::json;
use tokio::sync::{Mutex, watch};

use super::edition::edition;
use crate::error::ApiError;

/// Handlers find it among the extensions of a request that an applet makes.
pub struct Capability {
    host: Arc<Host>,
    pub slug: String,
    name: String,
    /// What runs in the frame, and nothing else does under its ticket.
    edition: String,
    declared: Vec<Permission>,
    pub session: Option<SessionId>,
    /// What was answered for this frame alone. Each is held while the person is asked about it, so
    /// that they are asked once.
    answers: BTreeMap<Permission, Mutex<Option<bool>>>,
    /// Whether the frame is gone, and with it whoever wanted to know.
    ended: watch::Sender<bool>,
}

impl Capability {
    pub fn new(host: Arc<Host>, parts: &Parts, session: Option<SessionId>) -> Self {
        let Applet { slug, name, needs, .. } = &parts.applet;
        Self {
            host,
            slug: slug.clone(),
            name: name.clone(),
            edition: edition(parts),
            declared: needs.permissions.clone(),
            session,
            answers: Permission::ALL.into_iter().map(|it| (it, Mutex::default())).collect(),
            ended: watch::Sender::new(false),
        }
    }

    pub fn edition(&self) -> &str {
        &self.edition
    }

    /// The frame is gone: what it has asked is not asked any longer.
    pub fn end(&self) {
        self.ended.send_replace(true);
    }

    /// Returns once the person has allowed this, or the frame is gone.
    pub async fn ask(&self, permission: Permission, request: &str) -> Result<(), ApiError> {
        let mut ended = self.ended.subscribe();
        tokio::select! {
            biased;
            // Its sender is our own, so it does not fail.
            _ = ended.wait_for(|ended| *ended) => {
                Err(ApiError::forbidden("The applet was closed before anyone answered"))
            }
            answered = self.ask_person(permission, request) => answered,
        }
    }

    async fn ask_person(&self, permission: Permission, request: &str) -> Result<(), ApiError> {
        let (name, slug) = (permission.name(), &self.slug);
        if !self.declared.contains(&permission) {
            return Err(ApiError::forbidden(format!(
                "The applet \"{slug}\" needs the permission \"{name}\", which its meta.json does not declare"
            )));
        }
        let Some(session) = self.session else {
            return Err(ApiError::forbidden(format!(
                "The permission \"{name}\" is asked for in a session, and this applet is in none"
            )));
        };
        let refused = || {
            let text = format!("The permission \"{name}\" was not given to the applet \"{slug}\"");
            ApiError::forbidden(text)
        };
        let Some(answer) = self.answers.get(&permission) else { return Err(refused()) };
        let mut answer = answer.lock().await;
        match *answer {
            Some(true) => return Ok(()),
            Some(false) => return Err(refused()),
            None => (),
        }
        let caller = Caller::Applet { slug: slug.clone(), edition: Some(self.edition.clone()) };
        match self.host.leave(session, caller, self.wish(permission, request)).await {
            Ok(Leave::Granted) => Ok(()),
            Ok(Leave::Once) => {
                *answer = Some(true);
                Ok(())
            }
            Err(CallError::Tool(_)) => {
                *answer = Some(false);
                Err(refused())
            }
            Err(CallError::Open(error)) => Err(error.into()),
        }
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
            deed: Deed { risk, detail, subjects: Vec::new(), within: None },
        }
    }
}
