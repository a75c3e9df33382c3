//! The files of the workspace, and nothing outside of it: no `..`, link or race leads out.

use std::{
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use cap_std::{ambient_authority, fs::Dir};
use rmcp::model::{Resource, ResourceContents};
use url::Url;

/// How many files are listed.
const MOST: usize = 1000;
/// How many entries are looked at for that.
const LOOKS: usize = 20_000;
const DEPTH: usize = 8;
/// How much of a file can be read at once.
const BYTES: u64 = 4 << 20;
/// Folders that programs fill.
const FILLED: &[&str] = &["node_modules", "target", "__pycache__"];

/// The address of a file in the workspace.
pub fn address(root: &Path, path: &Path) -> Option<String> {
    Url::from_file_path(root.join(path)).ok().map(String::from)
}

/// Every file that is worth listing, by its path within the workspace, in order.
pub async fn list(root: PathBuf) -> Vec<(String, Resource)> {
    let look = move || {
        let Ok(dir) = Dir::open_ambient_dir(&root, ambient_authority()) else { return Vec::new() };
        let mut walk = Walk { found: Vec::new(), looks: 0 };
        walk.visit(&dir, Path::new(""), 0);
        let named = walk.found.into_iter().filter_map(|(path, size)| {
            let name = path.to_str()?.to_owned();
            let mime = mime_guess::from_path(&path).first_raw();
            let mut resource = Resource::new(address(&root, &path)?, name.clone()).with_size(size);
            resource.mime_type = mime.map(str::to_owned);
            Some((name, resource))
        });
        let mut files: Vec<_> = named.collect();
        files.sort_by(|one, other| one.0.cmp(&other.0));
        files
    };
    // Looking does not break down; if it did, there would be nothing to tell.
    tokio::task::spawn_blocking(look).await.unwrap_or_default()
}

/// What is in the file at this address; `None` if there is no such file in the workspace.
pub async fn read(root: PathBuf, uri: String) -> Option<io::Result<ResourceContents>> {
    let read = move || {
        let path = Url::parse(&uri).ok().filter(|url| url.scheme() == "file")?;
        let path = path.to_file_path().ok()?;
        let path = path.strip_prefix(&root).ok().filter(|path| *path != Path::new(""))?;
        match contents(&root, path, uri.clone()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            // Only what would lead outside is refused without a reason of the system's.
            Err(error) if error.raw_os_error().is_none() && is_refusal(&error) => None,
            read => Some(read),
        }
    };
    tokio::task::spawn_blocking(read).await.ok()?
}

fn is_refusal(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied
}

fn contents(root: &Path, path: &Path, uri: String) -> io::Result<ResourceContents> {
    let dir = Dir::open_ambient_dir(root, ambient_authority())?;
    // Looked at first: opening a pipe would wait for somebody to write.
    let metadata = dir.metadata(path)?;
    if !metadata.is_file() {
        return Err(io::Error::other("this is not a file"));
    }
    let mut bytes = Vec::new();
    dir.open(path)?.take(BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > BYTES {
        let size = metadata.len();
        return Err(io::Error::other(format!("at most {BYTES} bytes can be read; it has {size}")));
    }
    let mime = mime_guess::from_path(path).first_raw();
    Ok(match String::from_utf8(bytes) {
        Ok(text) => ResourceContents::text(text, uri).with_mime_type(mime.unwrap_or("text/plain")),
        Err(error) => ResourceContents::blob(BASE64_STANDARD.encode(error.as_bytes()), uri)
            .with_mime_type(mime.unwrap_or("application/octet-stream")),
    })
}

struct Walk {
    found: Vec<(PathBuf, u64)>,
    looks: usize,
}

impl Walk {
    fn visit(&mut self, dir: &Dir, at: &Path, depth: usize) {
        // What cannot be looked at is not listed.
        for entry in dir.entries().into_iter().flatten().flatten() {
            self.looks += 1;
            if self.found.len() >= MOST || self.looks >= LOOKS {
                return;
            }
            let name = entry.file_name();
            let Some(text) = name.to_str().filter(|name| !name.starts_with('.')) else { continue };
            // Of the entry itself: links are not followed.
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_file() {
                let size = entry.metadata().map_or(0, |metadata| metadata.len());
                self.found.push((at.join(text), size));
            } else if kind.is_dir() && depth < DEPTH && !FILLED.contains(&text) {
                let Ok(inner) = entry.open_dir() else { continue };
                self.visit(&inner, &at.join(text), depth + 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use tempfile::TempDir;

    use super::*;

    fn house() -> (TempDir, PathBuf) {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap().join("room");
        fs::create_dir_all(root.join("a/b c")).unwrap();
        fs::create_dir_all(root.join("node_modules/x")).unwrap();
        fs::write(root.join("../secret"), "hush").unwrap();
        fs::write(root.join("a/b c/notes.md"), "# hi").unwrap();
        fs::write(root.join("picture.png"), [0x89, 0xff]).unwrap();
        fs::write(root.join(".hidden"), "x").unwrap();
        fs::write(root.join("node_modules/x/index.js"), "x").unwrap();
        symlink("../secret", root.join("link")).unwrap();
        symlink("..", root.join("door")).unwrap();
        (temp, root)
    }

    #[tokio::test]
    async fn files_are_listed_without_what_is_hidden_filled_or_linked() {
        let (_temp, root) = house();
        let listed: Vec<Resource> = list(root.clone()).await.into_iter().map(|it| it.1).collect();
        let base = format!("file://{}", root.display());
        let notes = Resource::new(format!("{base}/a/b%20c/notes.md"), "a/b c/notes.md");
        let picture = Resource::new(format!("{base}/picture.png"), "picture.png");
        let expected = [
            notes.with_size(4).with_mime_type("text/markdown"),
            picture.with_size(2).with_mime_type("image/png"),
        ];
        assert_eq!(listed, expected);
    }

    #[tokio::test]
    async fn text_comes_as_text_and_everything_else_as_it_is() {
        let (_temp, root) = house();
        let base = format!("file://{}", root.display());
        let get = async |path: &str| {
            let uri = format!("{base}/{path}");
            (uri.clone(), read(root.clone(), uri).await.unwrap().unwrap())
        };
        let (uri, notes) = get("a/b%20c/notes.md").await;
        assert_eq!(notes, ResourceContents::text("# hi", uri).with_mime_type("text/markdown"));
        let (uri, picture) = get("picture.png").await;
        assert_eq!(picture, ResourceContents::blob("if8=", uri).with_mime_type("image/png"));
    }

    #[tokio::test]
    async fn nothing_leads_out_of_the_workspace() {
        let (_temp, root) = house();
        let base = format!("file://{}", root.display());
        for way in ["link", "door/secret", "../secret", "%2e%2e/secret", "a/../../secret", "none"] {
            let found = read(root.clone(), format!("{base}/{way}")).await;
            assert!(found.is_none(), "{way}");
        }
        for uri in ["file:///etc/hostname", "file://elsewhere/x", "http://x/", "nonsense", &base] {
            assert!(read(root.clone(), uri.to_owned()).await.is_none(), "{uri}");
        }
        let folder = read(root.clone(), format!("{base}/a")).await.unwrap().unwrap_err();
        assert_eq!(folder.to_string(), "this is not a file");
    }
}
