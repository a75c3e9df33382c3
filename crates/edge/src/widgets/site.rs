//! The one page of a widget, with its own policy.

use bytes::Bytes;
use futures::future::BoxFuture;
use kernel::widget::{Wants, WidgetPage};
use widgets::{Declared, Policy};

use crate::sandbox::{
    policy::{Face, Flag},
    site::{Served, Site},
};

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
        Self { face, html: page.html.into(), wants: page.wants }
    }
}

impl Site for WidgetSite {
    fn file<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Option<Served>> {
        let mime = "text/html; charset=utf-8".to_owned();
        let served = (path == "index.html").then(|| Served { mime, bytes: self.html.clone() });
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
