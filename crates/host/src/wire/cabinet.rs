//! Applets and apps of a data directory, looked at, put in and taken out.

use std::path::{Path, PathBuf};

use kernel::cabinet::Card;

use crate::place;

/// Where the owner's applets are, in the data directory.
pub(super) const APPLETS: &str = "applets";

/// Where the owner's apps are, in the data directory.
pub(super) const APPS: &str = "apps";

/// Folders of applets that are read and never written.
pub(super) fn other_applets() -> Vec<PathBuf> {
    let home = std::env::home_dir().filter(|home| home.is_absolute());
    home.map(|home| home.join(".caco/applets")).into_iter().collect()
}

/// What is wrong with applets, each with its folder.
pub fn applet_problems(data_dir: &Path) -> Vec<(PathBuf, String)> {
    let mut folders = other_applets();
    folders.push(data_dir.join(APPLETS));
    let problems = apps::Folders::problems(&folders).into_iter();
    problems.map(|apps::Problem { folder, what }| (folder, what)).collect()
}

/// What is wrong with apps, each with its folder.
pub fn app_problems(data_dir: &Path) -> Vec<(PathBuf, String)> {
    let problems = apps::Drawers::problems(&data_dir.join(APPS)).into_iter();
    problems.map(|apps::Problem { folder, what }| (folder, what)).collect()
}

/// Every app of this data directory, and those that came with the program.
pub fn app_cards(data_dir: &Path) -> Vec<Card> {
    apps::Drawers::look(&data_dir.join(APPS))
}

/// An app that could be put in, from a folder or an archive.
pub fn app_bundle(path: &Path, id: Option<&str>) -> anyhow::Result<apps::Bundle> {
    Ok(apps::Bundle::read(path, id)?)
}

pub fn install_app(data_dir: &Path, bundle: apps::Bundle) -> anyhow::Result<Card> {
    place::prepare(data_dir)?;
    Ok(bundle.install(&data_dir.join(APPS))?)
}

pub fn remove_app(data_dir: &Path, id: &str) -> anyhow::Result<()> {
    Ok(apps::Drawers::take_out(&data_dir.join(APPS), id)?)
}
