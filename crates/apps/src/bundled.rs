//! The applets that come with the program.

use std::collections::BTreeSet;

use jiff::Timestamp;
use kernel::gallery::{Applet, Parts};
use rust_embed::RustEmbed;

use crate::meta;

#[derive(RustEmbed)]
#[folder = "../../apps/applets"]
#[allow_missing = true]
struct Files;

pub fn list() -> Vec<Applet> {
    let slugs: BTreeSet<String> = Files::iter().filter_map(|path| folder(&path)).collect();
    slugs.iter().filter_map(|slug| applet(slug)).collect()
}

pub fn load(slug: &str) -> Option<Parts> {
    Some(Parts {
        applet: applet(slug)?,
        html: text(slug, "content.html")?,
        script: text(slug, "script.js"),
        style: text(slug, "style.css"),
    })
}

fn applet(slug: &str) -> Option<Applet> {
    let (applet, _) = meta::read(slug, &text(slug, "meta.json")?, Timestamp::UNIX_EPOCH).ok()?;
    Some(applet)
}

fn text(slug: &str, name: &str) -> Option<String> {
    let file = Files::get(&format!("{slug}/{name}"))?;
    String::from_utf8(file.data.into_owned()).ok()
}

fn folder(path: &str) -> Option<String> {
    path.split_once('/').map(|(folder, _)| folder.to_owned())
}

#[cfg(test)]
mod tests {
    use kernel::gallery::is_slug;

    use super::*;

    #[test]
    fn every_bundled_applet_is_whole_and_described() {
        let folders: BTreeSet<String> = Files::iter().filter_map(|path| folder(&path)).collect();
        let listed: BTreeSet<String> = list().into_iter().map(|it| it.slug).collect();
        assert_eq!(folders, listed);
        for slug in listed {
            assert!(is_slug(&slug), "{slug}");
            let parts = load(&slug).unwrap();
            let (_, remarks) =
                meta::read(&slug, &text(&slug, "meta.json").unwrap(), Timestamp::UNIX_EPOCH)
                    .unwrap();
            assert_eq!(remarks, [""; 0], "{slug}");
            assert!(parts.applet.description.is_some() && parts.applet.purpose.is_some(), "{slug}");
            assert!(parts.applet.updated > Timestamp::UNIX_EPOCH, "{slug} has no updatedAt");
        }
    }
}
