//! The document of an applet, put together from its parts as they were when its frame was opened.

use std::sync::Arc;

use bytes::Bytes;
use futures::future::BoxFuture;
use kernel::{
    gallery::{Applet, Parts},
    host::Host,
    update::SessionId,
};
use serde_json::{Value, json};

use super::{STORAGE, storage};
use crate::{
    page,
    sandbox::{
        policy::{Face, Flag},
        site::{Served, Site, mime},
    },
};

pub struct AppletSite {
    host: Arc<Host>,
    /// As they were when the frame was opened: what it may do hangs on what it is.
    parts: Parts,
    session: Option<SessionId>,
    face: Face,
}

impl AppletSite {
    pub fn new(host: Arc<Host>, parts: Parts, session: Option<SessionId>) -> Self {
        let applet = &parts.applet;
        let face = Face {
            title: applet.name.clone(),
            flags: Flag::ALL.to_vec(),
            features: vec!["clipboard-write", "fullscreen"],
            // Applets have `onclick` and `style` in their HTML, and an origin that is nobody's.
            inline: true,
            eval: true,
            connects: applet.needs.connect.clone(),
            loads: applet.needs.resources.clone(),
            frames: Vec::new(),
        };
        Self { host, parts, session, face }
    }

    async fn find(&self, path: &str) -> Option<Served> {
        let served = |bytes: Bytes| Some(Served { mime: mime(path), bytes });
        if path == "__applet/runtime.js" {
            return served(runtime());
        }
        let parts = &self.parts;
        let text = match path {
            "index.html" => document(&parts.applet),
            "__applet/config.js" => self.config().await,
            "__applet/script.js" => script(parts.script.as_deref().unwrap_or_default()),
            "__applet/style.css" => style(parts.style.as_deref().unwrap_or_default()),
            "__applet/base.css" => include_str!("base.css").to_owned(),
            _ => return None,
        };
        served(text.into())
    }

    /// What the runtime has to know before anything of the applet runs.
    async fn config(&self) -> String {
        let Parts { applet, html, .. } = &self.parts;
        let kept = self.host.applets.state(&storage(&applet.slug)).await;
        let kept = kept.unwrap_or_default().remove(STORAGE).filter(Value::is_object);
        let config = json!({
            "slug": applet.slug,
            "sessionId": self.session,
            "html": html,
            "storage": kept.unwrap_or_else(|| json!({})),
        });
        format!("globalThis.__applet = {config};\n")
    }
}

impl Site for AppletSite {
    fn file<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Option<Served>> {
        Box::pin(self.find(path))
    }

    fn face(&self) -> &Face {
        &self.face
    }
}

/// In a function of its own, so that none of its names are the applet's.
fn runtime() -> Bytes {
    match page::applet_runtime() {
        Some(text) => Bytes::from([b"(() => {\n", &*text, b"\n})();\n"].concat()),
        None => Bytes::from_static(b"console.error('This build of Megaron has no runtime.');\n"),
    }
}

/// The HTML of the applet is put in by the runtime, as a page would do it: scripts in it do not run,
/// and what it loads is loaded from the right place.
fn document(applet: &Applet) -> String {
    let (name, slug) = (escaped(&applet.name), &applet.slug);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{name}</title>\n<link rel=\"stylesheet\" href=\"__applet/base.css\">\n\
         <link rel=\"stylesheet\" href=\"__applet/style.css\">\n</head>\n<body>\n\
         <div class=\"applet-instance applet-content\" data-slug=\"{slug}\"></div>\n\
         <script src=\"__applet/config.js\"></script>\n\
         <script src=\"__applet/runtime.js\"></script>\n\
         <script src=\"__applet/script.js\"></script>\n</body>\n</html>\n"
    )
}

/// In a function of its own: what it declares stays there, and `return` ends it.
fn script(script: &str) -> String {
    format!("(function () {{ var appletContainer = window.appletContainer;\n{script}\n}})();\n")
}

/// With what it loads from us under its ticket.
fn style(style: &str) -> String {
    ["url(\"", "url('", "url("].iter().fold(style.to_owned(), |style, open| {
        style.replace(&format!("{open}/api/"), &format!("{open}../api/"))
    })
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}
