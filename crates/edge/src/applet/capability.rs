//! What one applet in one frame may do, and what it was given leave for.

use std::{collections::BTreeMap, sync::Arc};

use kernel::{
    gallery::{Applet, Permission},
    host::Host,
    inbox::CallError,
    leave::{Leave, Wish},
    toolbox::{Caller, Deed, Detail, Risk},
    update::SessionId,
};
use serde_json::json;
use tokio::sync::{Mutex, watch};

use crate::error::ApiError;

/// Handlers find it among the extensions of a request that an applet makes.
pub struct Capability {
    host: Arc<Host>,
    pub slug: String,
    name: String,
    pub session: Option<SessionId>,
    /// What was answered for this frame alone. Each is held while the person is asked about it, so
    /// that they are asked once.
    answers: BTreeMap<Permission, Mutex<Option<bool>>>,
    /// Whether the frame is gone, and with it whoever wanted to know.
    ended: watch::Sender<bool>,
}

impl Capability {
    pub fn new(host: Arc<Host>, applet: &Applet, session: Option<SessionId>) -> Self {
        let (slug, name) = (applet.slug.clone(), applet.name.clone());
        let answers = Permission::ALL.into_iter().map(|it| (it, Mutex::default())).collect();
        Self { host, slug, name, session, answers, ended: watch::Sender::new(false) }
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
        if !self.declares(permission).await {
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
        let caller = Caller::Applet { slug: slug.clone() };
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

    /// As its description says now.
    async fn declares(&self, permission: Permission) -> bool {
        let applets = self.host.ports.gallery.list().await;
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
