//! The one page of a widget, with its own policy.

use bytes::Bytes;
use futures::future::BoxFuture;
use kernel::widget::{Wants, WidgetPage};
use widgets::{Bridge, Declared, Policy};

use crate::sandbox::{
    inject::inject,
    policy::{Face, Flag},
    site::{Served, Site},
};

/// Where the bridge is, beside the page.
const BRIDGE: &str = "frontmcp-bridge.js";

pub struct WidgetSite {
    face: Face,
    html: Bytes,
    wants: Wants,
}

impl WidgetSite {
    pub fn new(title: &str, page: WidgetPage, features: Vec<&'static str>) -> Self {
        let flags = vec![Flag::Scripts, Flag::Forms];
        let face =
            Face { title: title.to_owned(), flags, features, inline: true, ..Face::default() };
        let html = if wants_bridge(&page.html) {
            let tag = format!("<script src=\"{BRIDGE}\"></script>");
            inject(page.html.as_bytes(), &tag).into()
        } else {
            page.html.into()
        };
        Self { face, html, wants: page.wants }
    }
}

/// Whether a page counts on a bridge that its host lends it.
fn wants_bridge(html: &str) -> bool {
    ["FrontMcpBridge", "data-tool-call", "__mcpAppsEnabled"].iter().any(|sign| html.contains(sign))
}

/// The bridge, and what tells one that the widget brought itself how it is shown.
fn bridge() -> Bytes {
    let script = Bridge::default().script();
    format!("window.__mcpPlatform = 'ext-apps';\n{script}").into()
}

impl Site for WidgetSite {
    fn file<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Option<Served>> {
        let served = match path {
            "index.html" => Some(("text/html; charset=utf-8", self.html.clone())),
            BRIDGE => Some(("text/javascript; charset=utf-8", bridge())),
            _ => None,
        };
        let served = served.map(|(mime, bytes)| Served { mime: mime.to_owned(), bytes });
        Box::pin(std::future::ready(served))
    }

    fn face(&self) -> &Face {
        &self.face
    }

    fn policy(&self, own: &str, ancestor: &str) -> String {
        let declared = self.wants.domains.as_ref().map(|domains| Declared {
            connect: &domains.connect,
            resource: &domains.resource,
            frame: &domains.frame,
            base_uri: &domains.base_uri,
        });
        let Policy { header, dropped } = widgets::policy(own, declared, ancestor);
        if !dropped.is_empty() {
            tracing::warn!(?dropped, "a widget declared what is no host");
        }
        header
    }
}
