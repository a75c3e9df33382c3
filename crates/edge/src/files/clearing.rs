//! Temporary files go when nobody has used them for a week.

use std::{io, path::Path, sync::Arc};

use cap_std::{
    ambient_authority,
    fs::{Dir, Metadata},
};
use jiff::{SignedDuration, Timestamp};

use crate::App;

const UNUSED: SignedDuration = SignedDuration::from_hours(7 * 24);
const EVERY: SignedDuration = SignedDuration::from_hours(6);

/// Clears at once, and then again and again for as long as the server runs.
pub async fn clear(app: Arc<App>) {
    let clock = app.host.ports.clock.clone();
    loop {
        let now = clock.now();
        let before = now.saturating_sub(UNUSED).unwrap_or(Timestamp::MIN);
        let app = app.clone();
        let swept = tokio::task::spawn_blocking(move || {
            let folder = &app.disk.temporary;
            // Asked at the last moment: what was noted while we looked around stays.
            let keep = |path: &Path| path.to_str().is_some_and(|path| needed(&app, path));
            let dir = Dir::open_ambient_dir(folder, ambient_authority());
            dir.and_then(|dir| sweep(&dir, folder, before, &keep))
        });
        match swept.await {
            Ok(Err(error)) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!(%error, "temporary files cannot be cleared");
            }
            Ok(_) | Err(_) => (),
        }
        clock.until(now.saturating_add(EVERY).unwrap_or(Timestamp::MAX)).await;
    }
}

/// Whether an agent has written this path down as worth remembering.
fn needed(app: &App, path: &str) -> bool {
    let states = app.host.roster.all();
    let mut noted = states.iter().flat_map(|(_, state)| &state.context).flat_map(|(_, it)| it);
    noted.any(|it| it == path)
}

/// Takes away what is older, and tells whether anything is left. No link is followed.
fn sweep(
    dir: &Dir,
    path: &Path,
    before: Timestamp,
    keep: &dyn Fn(&Path) -> bool,
) -> io::Result<bool> {
    let mut left = false;
    for entry in dir.entries()? {
        let entry = entry?;
        let (name, path) = (entry.file_name(), path.join(entry.file_name()));
        // What goes away meanwhile is gone.
        let Ok(about) = dir.symlink_metadata(&name) else { continue };
        let emptied = !about.is_dir() || !sweep(&dir.open_dir(&name)?, &path, before, keep)?;
        if !emptied || keep(&path) || used(&about) >= before {
            left = true;
            continue;
        }
        let removed = if about.is_dir() { dir.remove_dir(&name) } else { dir.remove_file(&name) };
        left |= removed.is_err();
    }
    Ok(left)
}

/// When something was written or read last, as far as the disk tells.
fn used(about: &Metadata) -> Timestamp {
    let times = [about.modified(), about.accessed()].into_iter().flatten();
    let times = times.filter_map(|time| Timestamp::try_from(time.into_std()).ok());
    times.max().unwrap_or(Timestamp::MAX)
}
