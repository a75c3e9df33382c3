//! What the tools of a session have put out.

use std::{collections::BTreeMap, fs, path::Path};

use jiff::Timestamp;
use kernel::{
    outputs::{Embed, Output},
    update::SessionId,
};
use serde_json::{Map, Value};

use super::entries;
use crate::wire;

/// All of them by name, with the names of those that cannot be read.
pub fn read(dir: &Path, session: SessionId) -> (BTreeMap<String, Output>, Vec<String>) {
    let (mut outputs, mut problems) = (BTreeMap::new(), Vec::new());
    for (name, path) in entries(dir) {
        let Some(id) = name.strip_suffix(".meta.json") else { continue };
        match one(dir, id, &path, session) {
            Some(output) => drop(outputs.insert(id.to_owned(), output)),
            None => problems.push(format!("its output {id} cannot be read")),
        }
    }
    (outputs, problems)
}

fn one(dir: &Path, id: &str, meta: &Path, session: SessionId) -> Option<Output> {
    let mut metadata: Map<String, Value> = serde_json::from_slice(&fs::read(meta).ok()?).ok()?;
    let kept = ["json", "txt", "b64"].into_iter().find_map(|ending| {
        let data = fs::read_to_string(dir.join(format!("{id}.{ending}"))).ok()?;
        Some((data, ending == "b64"))
    });
    let (data, binary) = kept?;
    let data = if binary { data.split_whitespace().collect() } else { data };
    let created = metadata.get("createdAt").and_then(Value::as_str);
    let created_at = created.and_then(|it| it.parse().ok()).unwrap_or(Timestamp::UNIX_EPOCH);
    let plays = metadata.get("url").and_then(Value::as_str).and_then(wire::player);
    if let Some(player) = plays {
        metadata.insert("playerUrl".into(), player.into());
    }
    Some(Output { id: id.to_owned(), session, data, binary, metadata, created_at })
}

/// It as it is shown in a conversation, if it is.
pub fn embed(output: &Output) -> Option<Embed> {
    let text = |name| output.metadata.get(name).and_then(Value::as_str);
    (text("type") == Some("embed")).then(|| {
        let provider = text("provider").unwrap_or("another site").to_owned();
        let title = text("title").map_or_else(|| provider.clone(), str::to_owned);
        Embed { output: output.id.clone(), provider, title }
    })
}
