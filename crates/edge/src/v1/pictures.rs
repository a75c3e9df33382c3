//! Pictures in a question, kept as files for as long as it is being answered.

use std::fs;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use kernel::update::Attachment;
use serde::Deserialize;
use tempfile::TempDir;
use utoipa::ToSchema;

use super::error::Failed;

/// Where it is, in the words of either API.
#[derive(Deserialize, ToSchema)]
#[serde(untagged)]
pub enum ImageUrl {
    Bare(String),
    Object {
        /// `data:image/png;base64,...`
        url: String,
    },
}

/// The pictures of one question. Dropping this removes them.
#[derive(Default)]
pub struct Pictures {
    folder: Option<TempDir>,
    count: usize,
}

impl Pictures {
    /// Writes a file, so not for a thread that has others waiting.
    pub fn take(&mut self, url: &ImageUrl) -> Result<Attachment, Failed> {
        let (ImageUrl::Bare(url) | ImageUrl::Object { url }) = url;
        let (kind, bytes) = read(url)?;
        let failed = |error: std::io::Error| {
            tracing::error!(%error, "a picture cannot be kept for the time of a question");
            Failed::internal("the picture cannot be kept while the question is answered")
        };
        let folder = match self.folder.take() {
            Some(folder) => folder,
            None => TempDir::with_prefix("megaron-").map_err(failed)?,
        };
        let folder = self.folder.insert(folder);
        self.count += 1;
        let name = format!("image-{}.{kind}", self.count);
        let path = folder.path().join(&name);
        fs::write(&path, bytes).map_err(failed)?;
        Ok(Attachment { path, mime: format!("image/{kind}"), name })
    }
}

const KINDS: [&str; 4] = ["png", "jpeg", "gif", "webp"];

/// The kind and the bytes of `data:image/KIND;base64,BYTES`.
fn read(url: &str) -> Result<(String, Vec<u8>), Failed> {
    let shape = "a picture is a data URL: data:image/png;base64,...";
    let Some(data) = url.strip_prefix("data:") else {
        let message = format!("pictures are not fetched from elsewhere; {shape}");
        return Err(Failed::bad_request(message));
    };
    let (head, encoded) = data.split_once(',').ok_or_else(|| Failed::bad_request(shape))?;
    let mut head = head.split(';');
    let mime = head.next().unwrap_or_default().to_ascii_lowercase();
    if head.next_back() != Some("base64") {
        return Err(Failed::bad_request(shape));
    }
    let kind = match mime.strip_prefix("image/") {
        Some("jpg") => "jpeg",
        Some(kind) if KINDS.contains(&kind) => kind,
        _ => {
            let kinds = "send png, jpeg, gif or webp";
            let message = format!("pictures of type `{mime}` are not taken; {kinds}");
            return Err(Failed::bad_request(message));
        }
    };
    let bytes = STANDARD.decode(encoded.trim());
    let bytes = bytes.ok().filter(|bytes| !bytes.is_empty());
    let bytes = bytes.ok_or_else(|| Failed::bad_request("the picture is not valid base64"))?;
    Ok((kind.to_owned(), bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_a_picture_is_refused_with_a_reason() {
        let why = |url: &str| read(url).unwrap_err().problem.message;
        let shape = "a picture is a data URL: data:image/png;base64,...";
        let elsewhere = format!("pictures are not fetched from elsewhere; {shape}");
        assert_eq!(why("https://example.com/cat.png"), elsewhere);
        for url in ["data:", "data:image/png,abc", "data:image/png;utf8,abc"] {
            assert_eq!(why(url), shape, "{url}");
        }
        for url in ["data:image/png;base64,", "data:image/png;base64,?"] {
            assert_eq!(why(url), "the picture is not valid base64", "{url}");
        }
        let svg = "pictures of type `image/svg+xml` are not taken; send png, jpeg, gif or webp";
        assert_eq!(why("data:image/svg+xml;base64,YQ=="), svg);
    }

    #[test]
    fn a_picture_is_read_as_programs_write_it() {
        for url in ["data:image/JPG;base64,YQ==", "data:image/jpeg;name=a;base64,YQ==\n"] {
            assert_eq!(read(url).unwrap(), ("jpeg".to_owned(), b"a".to_vec()));
        }
    }
}
