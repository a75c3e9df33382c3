//! What an agent reads through us: text files in the session's folder, and nothing outside of it.

use std::{
    io::Read as _,
    path::{Path, PathBuf},
};

use cap_std::{ambient_authority, fs::Dir};

/// How much is read at most, in bytes.
const MOST: u64 = 4 * 1024 * 1024;

/// Some lines of a file: from `line` on, which counts from 1, and at most `limit`.
pub async fn read(
    root: PathBuf,
    path: PathBuf,
    line: Option<u32>,
    limit: Option<u32>,
) -> Result<String, String> {
    let work = tokio::task::spawn_blocking(move || {
        let text = whole(&root, &path)?;
        if line.is_none() && limit.is_none() {
            return Ok(text);
        }
        let first = usize::try_from(line.unwrap_or(1).max(1) - 1).unwrap_or(usize::MAX);
        let count = limit.map_or(usize::MAX, |it| usize::try_from(it).unwrap_or(usize::MAX));
        Ok(text.split_inclusive('\n').skip(first).take(count).collect())
    });
    work.await.unwrap_or_else(|_| Err("reading broke down".to_owned()))
}

fn whole(root: &Path, path: &Path) -> Result<String, String> {
    let shown = path.display();
    let explain = |error: std::io::Error| format!("`{shown}` cannot be read: {error}");
    let inside = within(root, path)
        .ok_or_else(|| format!("`{shown}` leads outside the session's folder"))?;
    let dir = Dir::open_ambient_dir(root, ambient_authority()).map_err(explain)?;
    // Opening a pipe would wait for somebody to write to it.
    if !dir.metadata(&inside).map_err(explain)?.is_file() {
        return Err(format!("`{shown}` is not a regular file"));
    }
    let mut text = Vec::new();
    let file = dir.open(&inside).map_err(explain)?;
    file.take(MOST + 1).read_to_end(&mut text).map_err(explain)?;
    if text.len() as u64 > MOST {
        return Err(format!("`{shown}` is larger than {MOST} bytes"));
    }
    String::from_utf8(text).map_err(|_| format!("`{shown}` is not a text"))
}

/// The path seen from the folder. Says nothing of where its links lead.
fn within(root: &Path, path: &Path) -> Option<PathBuf> {
    if !path.has_root() {
        return Some(path.to_owned());
    }
    let real = root.canonicalize().ok();
    let roots = [Some(root), real.as_deref()];
    roots.into_iter().flatten().find_map(|root| path.strip_prefix(root).ok()).map(Path::to_owned)
}

/// Whether a file that may not be there yet is in the folder, wherever links lead.
pub fn is_inside(root: &Path, path: &Path) -> bool {
    let Ok(root) = root.canonicalize() else { return false };
    let full = root.join(path);
    let plain = |it: std::path::Component<'_>| it != std::path::Component::ParentDir;
    let there = full.ancestors().find_map(|it| it.canonicalize().ok());
    let hangs = full.symlink_metadata().is_ok_and(|it| it.is_symlink()) && !full.exists();
    full.components().all(plain) && !hangs && there.is_some_and(|it| it.starts_with(&root))
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    fn rooms() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let room = dir.path().join("room");
        fs::create_dir_all(&room).unwrap();
        fs::write(dir.path().join("secret"), "secret").unwrap();
        fs::write(room.join("a"), "one\ntwo\nthree").unwrap();
        symlink("../secret", room.join("link")).unwrap();
        symlink("..", room.join("door")).unwrap();
        symlink("../nothing", room.join("hanging")).unwrap();
        (dir, room)
    }

    #[tokio::test]
    async fn lines_are_counted_from_one() {
        let (_dir, room) = rooms();
        for (line, limit, text) in [
            (None, None, "one\ntwo\nthree"),
            (Some(2), None, "two\nthree"),
            (Some(0), Some(1), "one\n"),
            (Some(2), Some(1), "two\n"),
            (Some(9), Some(1), ""),
        ] {
            assert_eq!(read(room.clone(), "a".into(), line, limit).await.as_deref(), Ok(text));
        }
        let absolute = room.join("a");
        assert!(read(room, absolute, None, None).await.is_ok());
    }

    #[tokio::test]
    async fn nothing_outside_the_folder_is_read_or_counts_as_inside() {
        let (dir, room) = rooms();
        let absolute = dir.path().join("secret");
        let around = format!("{}/../secret", room.display());
        for path in ["../secret", "link", "door/secret", "/etc/hostname", &around] {
            let text = read(room.clone(), path.into(), None, None).await;
            assert!(text.is_err(), "{path}: {text:?}");
            assert!(!is_inside(&room, path.as_ref()), "{path}");
        }
        assert!(read(room.clone(), absolute, None, None).await.is_err());
        assert!(!is_inside(&room, "hanging".as_ref()));
        for path in ["a", "new", "new/newer"] {
            assert!(is_inside(&room, path.as_ref()), "{path}");
            assert!(is_inside(&room, &room.join(path)), "{path}");
        }
    }
}
