//! The apps that come with the program.

use std::collections::BTreeSet;

use kernel::cabinet::{Card, is_id};
use rust_embed::RustEmbed;

use crate::{
    drawer::{ICONS, candidates},
    manifest,
};

#[derive(RustEmbed)]
#[folder = "../../apps"]
#[exclude = "applets/*"]
#[exclude = "demo/*"]
#[allow_missing = true]
struct Files;

/// Every folder with an `app.json`.
pub fn list() -> Vec<Card> {
    let ids: BTreeSet<String> = Files::iter().filter_map(|path| id(&path)).collect();
    ids.iter().filter_map(|id| card(id)).collect()
}

pub fn file(id: &str, path: &str) -> Option<Vec<u8>> {
    candidates(path).find_map(|path| bytes(id, path))
}

pub fn icon(id: &str) -> Option<(&'static str, Vec<u8>)> {
    ICONS.into_iter().find_map(|ending| Some((ending, bytes(id, &format!("icon.{ending}"))?)))
}

pub fn card(id: &str) -> Option<Card> {
    let text = String::from_utf8(bytes(id, "app.json")?).ok()?;
    let has = |path: &str| Files::get(&format!("{id}/{path}")).is_some();
    Some(manifest::read(id, &text, has))
}

fn bytes(id: &str, path: &str) -> Option<Vec<u8>> {
    Files::get(&format!("{id}/{path}")).map(|file| file.data.into_owned())
}

fn id(path: &str) -> Option<String> {
    let id = path.strip_suffix("/app.json")?;
    is_id(id).then(|| id.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_app_that_comes_along_is_whole_and_described() {
        let cards = list();
        assert!(!cards.is_empty());
        for card in cards {
            assert_eq!(card.problems, [], "{}", card.id);
            assert!(card.description.is_some(), "{}", card.id);
            assert!(file(&card.id, &card.entry).is_some(), "{}", card.id);
            assert_eq!(file(&card.id, "src/main.ts"), None, "{}", card.id);
        }
    }
}
