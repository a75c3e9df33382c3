//! Changes to config.toml by our own hand, which leave all that a person wrote there as it is.

use std::{fs, io, path::Path};

use anyhow::Context as _;
use toml_edit::{DocumentMut, Item, Value};

use super::{
    Config,
    lender::{self, Lender},
    provider::{self, Provider},
};
use crate::place;

/// Makes this the model of sessions that name none.
pub fn set_default(data_dir: &Path, id: &str) -> anyhow::Result<()> {
    edit(data_dir, |text| {
        let mut document: DocumentMut = text.parse()?;
        let mut value = Value::from(id);
        if let Some(old) = document.get("default_model").and_then(Item::as_value) {
            // The remark after it stays.
            *value.decor_mut() = old.decor().clone();
        }
        document["default_model"] = Item::Value(value);
        Ok(document.to_string())
    })
}

/// Says that the key of a provider is in the keyring, or is not.
pub fn set_keyring(data_dir: &Path, provider: &str, is_there: bool) -> anyhow::Result<()> {
    edit(data_dir, |text| {
        let mut document: DocumentMut = text.parse()?;
        let table = document.get_mut("providers").and_then(|it| it.get_mut(provider));
        let table = table.and_then(Item::as_table_like_mut);
        let table = table.with_context(|| format!("there is no [providers.{provider}]"))?;
        if is_there {
            table.insert("api_key_keyring", Item::Value(true.into()));
        } else {
            table.remove("api_key_keyring");
        }
        Ok(document.to_string())
    })
}

/// Adds providers whose names are free.
pub fn add(data_dir: &Path, providers: &[(&str, &Provider)]) -> anyhow::Result<()> {
    let table = |(name, provider): &(&str, &Provider)| provider::written(name, provider);
    append(data_dir, providers.iter().map(table).collect::<Result<_, _>>()?)
}

/// Adds servers of tools whose names are free.
pub fn lend(data_dir: &Path, lenders: &[(&str, &Lender)]) -> anyhow::Result<()> {
    let table = |(name, lender): &(&str, &Lender)| lender::written(name, lender);
    append(data_dir, lenders.iter().map(table).collect::<Result<_, _>>()?)
}

/// Takes a server of tools out; says whether it was there.
pub fn return_to(data_dir: &Path, name: &str) -> anyhow::Result<bool> {
    let mut found = false;
    edit(data_dir, |text| {
        let mut document: DocumentMut = text.parse()?;
        let servers = document.get_mut("mcp").and_then(|mcp| mcp.get_mut("servers"));
        let servers = servers.and_then(Item::as_table_like_mut);
        found = servers.is_some_and(|servers| servers.remove(name).is_some());
        Ok(document.to_string())
    })?;
    Ok(found)
}

fn append(data_dir: &Path, tables: Vec<String>) -> anyhow::Result<()> {
    edit(data_dir, |text| {
        let mut text = text.to_owned();
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        for table in tables {
            // A new file need not begin with an empty line.
            text.push_str(if text.is_empty() { table.trim_start() } else { &table });
        }
        Ok(text)
    })
}

/// Writes what came of it only if it can be read again.
fn edit(
    data_dir: &Path,
    change: impl FnOnce(&str) -> anyhow::Result<String>,
) -> anyhow::Result<()> {
    place::prepare(data_dir)?;
    let path = data_dir.join("config.toml");
    // It may be a link to where a person keeps such files.
    let path = path.canonicalize().unwrap_or(path);
    let old = match fs::read_to_string(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        read => read.with_context(|| format!("cannot read {}", path.display()))?,
    };
    Config::parse(&old).with_context(|| format!("{} is not valid", path.display()))?;
    let new = change(&old)?;
    Config::parse(&new).context("the change would not leave a valid file")?;
    place::write_private(&path, new.as_bytes())
        .with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_default_is_set_and_all_else_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        for (before, after) in [
            ("", "default_model = \"a/b\"\n"),
            (
                "# mine\n default_model  =  \"demo\"  # for now\n\n[server]\ndrain_seconds=3\n",
                "# mine\n default_model  =  \"a/b\"  # for now\n\n[server]\ndrain_seconds=3\n",
            ),
            (
                "[server] # here\ndrain_seconds = 3",
                "default_model = \"a/b\"\n[server] # here\ndrain_seconds = 3\n",
            ),
        ] {
            fs::write(&path, before).unwrap();
            set_default(dir.path(), "a/b").unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), after);
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no draft is left");
    }

    #[test]
    fn a_provider_is_told_where_its_key_is_and_all_else_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        for (without, with) in [
            (
                "[providers.a] # mine\nkind = \"gemini\"\n\n[providers.b]\nkind = \"gemini\"\n",
                "[providers.a] # mine\nkind = \"gemini\"\napi_key_keyring = true\n\n[providers.b]\nkind = \"gemini\"\n",
            ),
            (
                "providers = { a = { kind = \"gemini\" } }\n",
                "providers = { a = { kind = \"gemini\" , api_key_keyring = true } }\n",
            ),
        ] {
            fs::write(&path, without).unwrap();
            set_keyring(dir.path(), "a", true).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), with);
            set_keyring(dir.path(), "a", false).unwrap();
            assert!(!Config::load(dir.path()).unwrap().providers["a"].api_key_keyring);
        }
        let error = set_keyring(dir.path(), "none", true).unwrap_err();
        assert_eq!(error.to_string(), "there is no [providers.none]");
    }

    #[test]
    fn a_broken_file_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        fs::write(&path, "default_modle = 1").unwrap();
        let error = format!("{:#}", set_default(dir.path(), "demo").unwrap_err());
        assert!(error.contains("there is no key `default_modle`"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "default_modle = 1");
    }

    #[test]
    fn a_link_stays_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let (home, kept) = (dir.path().join("home"), dir.path().join("kept.toml"));
        fs::create_dir(&home).unwrap();
        fs::write(&kept, "").unwrap();
        std::os::unix::fs::symlink(&kept, home.join("config.toml")).unwrap();
        set_default(&home, "demo").unwrap();
        assert!(fs::symlink_metadata(home.join("config.toml")).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&kept).unwrap(), "default_model = \"demo\"\n");
    }
}
