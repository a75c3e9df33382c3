//! Where the person was last, unless they have been here since.

use std::{collections::HashSet, fs, path::Path, sync::Arc};

use kernel::{
    ports::{Catalog, Shelf},
    update::SessionId,
};
use serde_json::{Map, Value};

use super::{Report, source::Source};
use crate::wire::{PREFERENCES, Preferences};

pub async fn take(
    source: &Source,
    catalog: Option<&Arc<dyn Catalog>>,
    sessions: &HashSet<SessionId>,
    model: &str,
    report: &mut Report,
) -> anyhow::Result<()> {
    let Ok(bytes) = fs::read(source.preferences()) else { return Ok(()) };
    let Ok(kept) = serde_json::from_slice::<Map<String, Value>>(&bytes) else {
        report.problems.push("preferences: they cannot be read".to_owned());
        return Ok(());
    };
    if let Some(catalog) = catalog
        && catalog.get(Shelf::Preferences, PREFERENCES).await?.is_some()
    {
        report.known_preferences = true;
        return Ok(());
    }
    let text = |name: &str| kept.get(name).and_then(Value::as_str).filter(|it| !it.is_empty());
    let Some(cwd) = text("lastCwd").filter(|cwd| Path::new(cwd).is_dir()) else {
        report.problems.push("preferences: the folder that was last used is gone".to_owned());
        return Ok(());
    };
    let session = text("lastSessionId").and_then(SessionId::parse);
    if text("lastModel").is_some_and(|last| last != model) {
        let other = "preferences: new sessions are answered by the model that is configured here";
        report.problems.push(other.to_owned());
    }
    let preferences = Preferences {
        cwd: cwd.to_owned(),
        model: model.to_owned(),
        session: session.filter(|id| sessions.contains(id)),
    };
    if let (Some(catalog), false) = (catalog, report.dry_run) {
        catalog.save(Shelf::Preferences, PREFERENCES, &preferences).await?;
    }
    report.preferences = true;
    Ok(())
}
