//! What can be shown in a frame: files by name, and what they are allowed.

use std::borrow::Cow;

use bytes::Bytes;
use futures::future::BoxFuture;
use rust_embed::EmbeddedFile;

use super::policy::Face;

/// Files that belong together, wherever they come from: this program, a folder, a widget's one page.
pub trait Site: Send + Sync {
    /// The file of this name, which is a plain path without a way out.
    fn file<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Option<Served>>;

    fn face(&self) -> &Face;

    /// What browsers are told that its files may do, framed by `ancestor` alone.
    fn policy(&self, own: &str, ancestor: &str) -> String {
        self.face().policy(own, ancestor)
    }

    /// For how long browsers may keep its files.
    fn cache(&self) -> &'static str {
        "no-store"
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Served {
    pub mime: String,
    pub bytes: Bytes,
}

/// A site that is part of this program.
pub struct Embedded {
    pub face: Face,
    pub files: fn(&str) -> Option<EmbeddedFile>,
}

impl Site for Embedded {
    fn file<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Option<Served>> {
        let served = (self.files)(path).map(|file| Served {
            mime: mime(path),
            bytes: match file.data {
                Cow::Borrowed(data) => Bytes::from_static(data),
                Cow::Owned(data) => data.into(),
            },
        });
        Box::pin(std::future::ready(served))
    }

    fn face(&self) -> &Face {
        &self.face
    }
}

/// What a file is, by its name.
pub fn mime(path: &str) -> String {
    let kind = mime_guess::from_path(path).first_or_octet_stream();
    match kind.type_() {
        mime_guess::mime::TEXT => format!("{kind}; charset=utf-8"),
        _ => kind.to_string(),
    }
}
