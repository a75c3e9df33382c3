//! The files of an app, as they are when they are asked for.

use std::sync::Arc;

use futures::future::BoxFuture;
use kernel::{
    cabinet::{Card, Permission},
    host::Host,
};

use crate::sandbox::{
    policy::{Face, Flag},
    site::{Served, Site, mime},
};

pub struct AppSite {
    host: Arc<Host>,
    id: String,
    face: Face,
}

impl AppSite {
    pub fn new(host: Arc<Host>, card: &Card) -> Self {
        let asks = |permission: &Permission| card.asks.permissions.contains(permission);
        let mut flags = vec![Flag::Scripts, Flag::Forms];
        for (permission, flag) in [
            (Permission::Popups, Flag::Popups),
            (Permission::Modals, Flag::Modals),
            (Permission::Downloads, Flag::Downloads),
        ] {
            flags.extend(asks(&permission).then_some(flag));
        }
        let clipboard = asks(&Permission::Clipboard).then_some("clipboard-write");
        let face = Face {
            title: card.name.clone(),
            flags,
            features: clipboard.into_iter().chain(["fullscreen"]).collect(),
            // Apps are written by hand or compiled, with scripts in their documents, and have an
            // origin that is nobody's.
            inline: true,
            eval: true,
            connects: card.asks.connect.clone(),
            loads: card.asks.load.clone(),
            frames: Vec::new(),
        };
        Self { host, id: card.id.clone(), face }
    }
}

impl Site for AppSite {
    fn file<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Option<Served>> {
        Box::pin(async move {
            let bytes = self.host.ports.cabinet.file(&self.id, path).await?;
            Some(Served { mime: mime(path), bytes: bytes.into() })
        })
    }

    fn face(&self) -> &Face {
        &self.face
    }

    fn cache(&self) -> &'static str {
        "no-cache"
    }
}
