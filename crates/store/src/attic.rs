//! The attic: files that came with messages, in a folder for each session.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use futures::{FutureExt as _, future};
use kernel::{
    ports::{Attic, StoreError, Stored},
    update::SessionId,
};
use tokio::task::spawn_blocking;
use uuid::Uuid;

use crate::{Store, files, unavailable};

impl Attic for Store {
    #[expect(clippy::disallowed_methods, reason = "a name that only has to differ from the others")]
    fn keep(&self, session: SessionId, extension: &str, bytes: Vec<u8>) -> Stored<'_, PathBuf> {
        let extension = extension.to_owned();
        async move {
            if !is_plain(&extension) {
                return Err(unavailable(format!(
                    "a file's extension is one to eight small letters or digits, not `{extension}`"
                )));
            }
            let folder = self.folder(session);
            let name = format!("{}.{extension}", Uuid::new_v4());
            on_disk(move || keep(&folder, &name, &bytes)).await
        }
        .boxed()
    }

    fn fetch(&self, session: SessionId, path: PathBuf) -> Stored<'_, Option<Vec<u8>>> {
        // Our own files and no others, whatever a log says.
        if path.parent() != Some(&self.folder(session)) {
            return future::ready(Ok(None)).boxed();
        }
        on_disk(move || match fs::read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            read => read.map(Some),
        })
        .boxed()
    }

    fn size(&self, session: SessionId, path: PathBuf) -> Stored<'_, Option<u64>> {
        if path.parent() != Some(&self.folder(session)) {
            return future::ready(Ok(None)).boxed();
        }
        on_disk(move || match fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            found => found.map(|found| Some(found.len())),
        })
        .boxed()
    }

    fn clear(&self, session: SessionId) -> Stored<'_, ()> {
        let folder = self.folder(session);
        on_disk(move || match fs::remove_dir_all(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            cleared => cleared,
        })
        .boxed()
    }
}

impl Store {
    fn folder(&self, session: SessionId) -> PathBuf {
        self.dir.join("attachments").join(session.to_string())
    }
}

fn is_plain(extension: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    (1..=8).contains(&extension.len()) && extension.bytes().all(plain)
}

async fn on_disk<T: Send + 'static>(
    act: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, StoreError> {
    spawn_blocking(act).await.map_err(unavailable)?.map_err(unavailable)
}

/// The name is given only to a file that is whole.
fn keep(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<PathBuf> {
    if !folder.is_dir() {
        files::create_dir(folder)?;
        for made in folder.ancestors().skip(1).take(2) {
            files::sync_dir(made)?;
        }
    }
    let (path, part) = (folder.join(name), folder.join(format!("{name}.part")));
    let written = (|| {
        let mut file = files::open_file(&part)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&part, &path)?;
        files::sync_dir(folder)
    })();
    if written.is_err() {
        // On a full disk half a file is worse than none; if that fails too, it goes with the session.
        fs::remove_file(&part).ok();
    }
    written.map(|()| path)
}
