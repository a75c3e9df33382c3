//! Pictures that came with messages, ready for the wire.

use std::{
    collections::{HashMap, HashSet},
    fs,
    path::{Path, PathBuf},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use kernel::prompt::{Part, Prompt};

/// By path, in base64. What cannot be read is not in it.
#[derive(Clone, Debug, Default)]
pub struct Pictures(HashMap<PathBuf, String>);

impl Pictures {
    pub fn get(&self, path: &Path) -> Option<&str> {
        self.0.get(path).map(String::as_str)
    }

    #[cfg(test)]
    pub fn of(path: &str, bytes: &[u8]) -> Self {
        Self([(path.into(), STANDARD.encode(bytes))].into())
    }

    /// Reads files, so not for a thread that has others waiting.
    pub fn read(paths: HashSet<PathBuf>) -> Self {
        let read = |path: PathBuf| {
            let bytes = fs::read(&path).ok()?;
            Some((path, STANDARD.encode(bytes)))
        };
        Self(paths.into_iter().filter_map(read).collect())
    }
}

/// The files that a prompt shows.
pub fn paths(prompt: &Prompt) -> HashSet<PathBuf> {
    let images = prompt.parts.iter().filter_map(|part| match part {
        Part::User { images, .. } | Part::Pictures { images } => Some(images),
        Part::Assistant { .. } | Part::Result { .. } => None,
    });
    images.flatten().map(|image| image.path.clone()).collect()
}
