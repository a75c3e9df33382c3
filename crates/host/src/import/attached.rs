//! Files that came with messages, as far as they are still where they were.

use std::{fs, path::PathBuf};

use kernel::update::Attachment;
use serde_json::Value;

/// What a message could carry here as well, in bytes.
const LARGEST: u64 = 12 << 20;

/// Those of one session.
#[derive(Default)]
pub struct Files {
    /// What is there, in the order in which messages name it.
    pub found: Vec<Picture>,
    pub gone: usize,
    /// What is no picture has no place in a message here.
    pub others: usize,
}

/// A picture that was found, and what it is to be kept as.
pub struct Picture {
    pub bytes: Vec<u8>,
    pub extension: &'static str,
}

impl Files {
    /// A file as its message names it. Its path is the place of its picture in `found`, until that
    /// has been kept.
    pub fn take(&mut self, named: &Value) -> Option<Attachment> {
        let path = PathBuf::from(named.get("path")?.as_str()?);
        let file = fs::metadata(&path).ok().filter(|it| it.is_file() && it.len() <= LARGEST);
        let Some(bytes) = file.and_then(|_| fs::read(&path).ok()) else {
            self.gone += 1;
            return None;
        };
        let Some((mime, extension)) = kind(&bytes) else {
            self.others += 1;
            return None;
        };
        let name = named.get("displayName").and_then(Value::as_str).map(str::to_owned);
        let own = || path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let place = self.found.len().to_string().into();
        self.found.push(Picture { bytes, extension });
        Some(Attachment { path: place, mime: mime.to_owned(), name: name.unwrap_or_else(own) })
    }
}

/// By how it begins, whatever it is called.
fn kind(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some(("image/png", "png")),
        [0xff, 0xd8, 0xff, ..] => Some(("image/jpeg", "jpg")),
        [b'G', b'I', b'F', b'8', ..] => Some(("image/gif", "gif")),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => {
            Some(("image/webp", "webp"))
        }
        _ => None,
    }
}
