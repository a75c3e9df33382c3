//! Applets, copied with all their files.

use std::{fs, path::Path};

use anyhow::Context as _;

use super::{Report, entries, source::Source};

pub fn take(source: &Source, data_dir: &Path, report: &mut Report) -> anyhow::Result<()> {
    let target = data_dir.join("applets");
    for (slug, path) in entries(&source.applets()) {
        // Drafts and the like, which are no applets there either.
        if slug.starts_with(['.', '_']) || !path.is_dir() {
            continue;
        }
        if !is_slug(&slug) || !path.join("content.html").is_file() || !has_meta(&path) {
            report
                .problems
                .push(format!("applet {slug}: it has no valid name, meta.json or content"));
            continue;
        }
        if target.join(&slug).exists() {
            report.known_applets += 1;
            continue;
        }
        if !report.dry_run {
            fs::create_dir_all(&target)?;
            // Under another name until it is whole.
            let making = target.join(format!(".{slug}.new"));
            fs::remove_dir_all(&making).ok();
            copy(&path, &making, &slug, &mut report.problems)
                .with_context(|| format!("cannot copy the applet {slug}"))?;
            fs::rename(&making, target.join(&slug))?;
        }
        report.applets.push(slug);
    }
    Ok(())
}

fn copy(from: &Path, to: &Path, slug: &str, problems: &mut Vec<String>) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for (name, path) in entries(from) {
        let kind = path.symlink_metadata()?.file_type();
        if kind.is_dir() && name != ".git" {
            copy(&path, &to.join(name), slug, problems)?;
        } else if kind.is_file() {
            fs::write(to.join(name), fs::read(&path)?)?;
        } else {
            problems.push(format!("applet {slug}: {name} is neither a file nor a folder of it"));
        }
    }
    Ok(())
}

fn has_meta(path: &Path) -> bool {
    let text = fs::read(path.join("meta.json")).unwrap_or_default();
    serde_json::from_slice::<serde_json::Value>(&text).is_ok_and(|meta| meta.is_object())
}

fn is_slug(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let hyphened = text.starts_with('-') || text.ends_with('-');
    (1..=64).contains(&text.len()) && !hyphened && text.bytes().all(|it| plain(it) || it == b'-')
}
