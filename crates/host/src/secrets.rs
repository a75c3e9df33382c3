//! Keys for providers, each a file of its own in `<data-dir>/secrets` that only its owner can read.

use std::{
    fs::{self, DirBuilder},
    io,
    os::unix::fs::{DirBuilderExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use anyhow::Context as _;

use crate::{
    config::provider::{self, Provider},
    place,
};

const FOLDER: &str = "secrets";

pub fn keep(data_dir: &Path, name: &str, secret: &str) -> anyhow::Result<()> {
    provider::check_name(name)?;
    let secret = checked(secret)?;
    place::prepare(data_dir)?;
    let folder = data_dir.join(FOLDER);
    let made = DirBuilder::new().recursive(true).mode(0o700).create(&folder);
    let made = made.and_then(|()| fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)));
    made.with_context(|| format!("cannot make {}", folder.display()))?;
    let path = folder.join(name);
    place::write_private(&path, secret.as_bytes())
        .with_context(|| format!("cannot write {}", path.display()))
}

/// What was typed or piped in, if it can be a key.
pub fn checked(secret: &str) -> anyhow::Result<&str> {
    let secret = secret.trim();
    anyhow::ensure!(!secret.is_empty(), "the key is empty");
    anyhow::ensure!(!secret.contains(char::is_control), "a key is one line of plain text");
    Ok(secret)
}

/// For whom there is one, in order.
pub fn kept(data_dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(data_dir.join(FOLDER)).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| provider::check_name(name).is_ok()).collect();
    names.sort();
    names
}

/// Says whether there was one.
pub fn forget(data_dir: &Path, name: &str) -> anyhow::Result<bool> {
    provider::check_name(name)?;
    let path = data_dir.join(FOLDER).join(name);
    match fs::remove_file(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        removed => {
            removed.with_context(|| format!("cannot remove {}", path.display()))?;
            Ok(true)
        }
    }
}

/// The provider with the place of its key: the one it names, else the one that was kept for it.
pub fn located(data_dir: &Path, name: &str, provider: &Provider) -> Provider {
    let mut provider = provider.clone();
    let kept: PathBuf = data_dir.join(FOLDER).join(name);
    match &mut provider.api_key_file {
        Some(file) => *file = data_dir.join(&file),
        None if provider.api_key_env.is_some() || provider.api_key_keyring => (),
        None if kept.exists() => provider.api_key_file = Some(kept),
        None => (),
    }
    provider
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_key_is_kept_for_its_owner_alone_and_forgotten() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("home");
        keep(&home, "mine", "old").unwrap();
        keep(&home, "mine", " s3cret\n").unwrap();
        let file = home.join("secrets/mine");
        assert_eq!(fs::read_to_string(&file).unwrap(), "s3cret");
        assert_eq!((mode(&file), mode(&home.join("secrets"))), (0o600, 0o700));
        assert_eq!(fs::read_dir(home.join("secrets")).unwrap().count(), 1);
        assert!(forget(&home, "mine").unwrap());
        assert!(!forget(&home, "mine").unwrap());
        assert!(!file.exists());
    }

    #[test]
    fn what_cannot_be_a_key_or_a_name_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        for (name, secret) in [("../key", "x"), ("mine", " \n"), ("mine", "a\nb"), ("a/b", "x")] {
            keep(dir.path(), name, secret).unwrap_err();
        }
        forget(dir.path(), "../key").unwrap_err();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_kept_key_is_for_a_provider_that_names_none() {
        let dir = tempfile::tempdir().unwrap();
        let text = r#"
            [providers.bare]
            kind = "anthropic"
            [providers.env]
            kind = "anthropic"
            api_key_env = "X"
            [providers.file]
            kind = "anthropic"
            api_key_file = "my.key"
            [providers.ring]
            kind = "anthropic"
            api_key_keyring = true
            [providers.none]
            kind = "anthropic"
            "#;
        fs::write(dir.path().join("config.toml"), text).unwrap();
        let config = Config::load(dir.path()).unwrap();
        for name in ["ring", "bare", "env", "file"] {
            keep(dir.path(), name, "s3cret").unwrap();
        }
        assert_eq!(kept(dir.path()), ["bare", "env", "file", "ring"]);
        let file = |name: &str| located(dir.path(), name, &config.providers[name]).api_key_file;
        assert_eq!(file("bare"), Some(dir.path().join("secrets/bare")));
        assert_eq!(file("env"), None);
        assert_eq!(file("file"), Some(dir.path().join("my.key")));
        assert_eq!(file("ring"), None);
        assert_eq!(file("none"), None);
    }
}
