//! What is in a window of a session that is shown in a frame: an app, or a document that speaks to nobody here.

use std::sync::Arc;

use bytes::Bytes;
use futures::future::BoxFuture;
use kernel::{update::SessionId, windows::Renderer};
use serde_json::Value;

use super::{
    Kept,
    tenant::{Offer, Speaker, Tenant},
};
use crate::{
    App, cabinet,
    error::ApiError,
    sandbox::{
        policy::{Face, Flag},
        site::{Served, Site},
    },
};

pub const KIND: &str = "window";

/// Whoever shows what is in a window of a session.
pub async fn open(
    app: &App,
    name: &str,
    session: Option<SessionId>,
    given: &Kept,
) -> Result<Arc<dyn Tenant>, ApiError> {
    let session = session.ok_or_else(|| {
        ApiError::bad_request("sessionId is required for windows: each belongs to a session")
    })?;
    let windows = app.host.windows(session).await?;
    let pane = windows.find(name, None).map_err(|error| ApiError::not_found(error.to_string()))?;
    let (window, content) = (&pane.window, &pane.window.content);
    match (content.renderer, &content.data, content.app()) {
        (Renderer::Html, Value::String(html), _) => Ok(Arc::new(Page::new(&window.title, html))),
        (Renderer::Iframe, _, Some(id)) => {
            let key = window.key();
            let shown = cabinet::open(app, id, Some(session), Some(&key), given).await?;
            Ok(Arc::new(shown.at(content.address().unwrap_or_default()).await))
        }
        (renderer, ..) => Err(ApiError::bad_request(format!(
            "{} window is not framed; html and apps of this server are",
            renderer.name()
        ))),
    }
}

/// A document that is all there is of its site.
struct Page {
    offer: Offer,
    site: Arc<dyn Site>,
}

struct OnePage {
    face: Face,
    html: Bytes,
}

impl Page {
    fn new(title: &str, html: &str) -> Self {
        let title = title.to_owned();
        let face = Face {
            title: title.clone(),
            flags: vec![Flag::Scripts, Flag::Forms],
            // It is one file, and of an origin that is nobody's.
            inline: true,
            ..Face::default()
        };
        let site = Arc::new(OnePage { face, html: document(html).into() });
        let offer = Offer { kind: KIND, id: String::new(), title, description: String::new() };
        Self { offer, site }
    }
}

/// A part of a document is made a whole one, in the colours of the page around it.
fn document(html: &str) -> String {
    let start: String = html.trim_start().chars().take(9).collect();
    let start = start.to_ascii_lowercase();
    if start.starts_with("<!doctype") || start.starts_with("<html") {
        return html.to_owned();
    }
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title></title>\n<style>{}</style>\n</head>\n<body>\n{html}\n</body>\n</html>\n",
        include_str!("window.css")
    )
}

impl Site for OnePage {
    fn file<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Option<Served>> {
        let mime = "text/html; charset=utf-8".to_owned();
        let served = (path == "index.html").then(|| Served { mime, bytes: self.html.clone() });
        Box::pin(std::future::ready(served))
    }

    fn face(&self) -> &Face {
        &self.face
    }
}

impl Tenant for Page {
    fn offer(&self) -> &Offer {
        &self.offer
    }

    fn site(&self) -> Arc<dyn Site> {
        self.site.clone()
    }

    fn shown<'a>(&'a self, _: &'a Speaker) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn heard<'a>(&'a self, _: &'a Speaker, _: Value) -> BoxFuture<'a, Result<(), String>> {
        let nobody = "nobody listens to this window; apps say what they have to say by yaar.app";
        Box::pin(std::future::ready(Err(nobody.to_owned())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_document_is_made_a_whole_one() {
        for whole in ["<!DOCTYPE html><p>a", "  <html><p>a", "<HTML lang=\"en\">"] {
            assert_eq!(document(whole), whole);
        }
        let made = document("<p>é</p>");
        assert!(made.starts_with("<!doctype html>\n"), "{made}");
        assert!(made.contains("<body>\n<p>é</p>\n</body>"), "{made}");
    }
}
