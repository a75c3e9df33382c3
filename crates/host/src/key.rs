//! `megaron key`: our own API key, and the keys of providers.

use std::{path::Path, process::ExitCode};

use crate::{
    cli::{KeyAction, KeyArgs},
    config::{self, Config, edit, provider},
    inbox, pair, place, prompt, secrets, vault, wire,
};

/// What a shell says of a command that Ctrl-C ended.
const CANCELLED: u8 = 130;

pub async fn run(args: KeyArgs) -> anyhow::Result<ExitCode> {
    let KeyArgs { action, home } = args;
    let data_dir = config::data_dir(&home)?;
    match action.as_ref().unwrap_or(&KeyAction::Show) {
        KeyAction::Show => {
            let Some(key) = wire::keys(&data_dir)?.show()? else {
                eprintln!("megaron: the key was revoked; `megaron key new` makes another");
                return Ok(ExitCode::FAILURE);
            };
            println!("{key}");
        }
        KeyAction::New => {
            println!("{}", wire::keys(&data_dir)?.renew()?);
            eprintln!("The old key is void, and everyone is logged out.");
        }
        KeyAction::Revoke { device: Some(name) } => {
            inbox::client(&data_dir, None).await?.revoke_device(name).await?;
            eprintln!("The key of `{name}` is revoked.");
        }
        KeyAction::Devices => print!("{}", pair::list(&data_dir).await?),
        KeyAction::Revoke { device: None } => {
            wire::keys(&data_dir)?.revoke()?;
            eprintln!(
                "The key is revoked, and everyone is logged out. `megaron key new` makes another."
            );
        }
        KeyAction::List => list(&data_dir)?,
        KeyAction::Set { provider, keyring } => return set(&data_dir, provider, *keyring),
        KeyAction::Forget { provider } => return forget(&data_dir, provider),
    }
    Ok(ExitCode::SUCCESS)
}

fn list(data_dir: &Path) -> anyhow::Result<()> {
    let config = Config::load(data_dir)?.defaulting_to_demo();
    let mut keys = wire::models(data_dir, &config)?.keys();
    let unused = secrets::kept(data_dir).into_iter();
    let unused = unused.filter(|name| !config.providers.contains_key(name));
    keys.extend(unused.map(|name| {
        let words = format!("kept, and not used: config.toml has no [providers.{name}]");
        (name, words)
    }));
    if keys.is_empty() {
        eprintln!("There are no providers yet; `megaron models detect` looks for some.");
    }
    let width = keys.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, from) in keys {
        println!("{name:width$}  {from}");
    }
    Ok(())
}

fn set(data_dir: &Path, name: &str, keyring: bool) -> anyhow::Result<ExitCode> {
    // Before anything is typed for nothing.
    provider::check_name(name)?;
    let instead = |error| anyhow::anyhow!("{error}; {}", vault::instead(name));
    if keyring {
        vault::reach().map_err(instead)?;
    }
    let Some(secret) = prompt::secret(&format!("Key for {name} (it is not shown): "))? else {
        return Ok(ExitCode::from(CANCELLED));
    };
    if keyring {
        let secret = secrets::checked(&secret)?;
        place::prepare(data_dir)?;
        vault::keep(data_dir, name, secret).map_err(instead)?;
        secrets::forget(data_dir, name)?;
        eprintln!("The key for `{name}` is kept in the keyring.");
    } else {
        secrets::keep(data_dir, name, &secret)?;
        eprintln!("The key for `{name}` is kept.");
    }
    point_to(data_dir, name, keyring)?;
    Ok(ExitCode::SUCCESS)
}

/// Lets the provider take its key from where it is now, unless it names a place of its own.
fn point_to(data_dir: &Path, name: &str, keyring: bool) -> anyhow::Result<()> {
    let config = Config::load(data_dir)?;
    let Some(it) = config.providers.get(name) else {
        let and = if keyring { " with api_key_keyring = true" } else { "" };
        eprintln!("It is used once config.toml has a [providers.{name}]{and}.");
        return Ok(());
    };
    if it.api_key_env.is_some() || it.api_key_file.is_some() {
        eprintln!(
            "It is not used: [providers.{name}] in config.toml takes its key from elsewhere."
        );
        return Ok(());
    }
    if it.api_key_keyring == keyring {
        return Ok(());
    }
    edit::set_keyring(data_dir, name, keyring)?;
    if !keyring {
        // Often there is none any more, which is why the key is here now.
        vault::forget(data_dir, name).ok();
    }
    let said = if keyring { "now says" } else { "no longer says" };
    eprintln!("[providers.{name}] in config.toml {said} api_key_keyring = true.");
    Ok(())
}

/// From wherever it is kept.
fn forget(data_dir: &Path, name: &str) -> anyhow::Result<ExitCode> {
    let in_file = secrets::forget(data_dir, name)?;
    let in_keyring = vault::forget(data_dir, name);
    let config = Config::load(data_dir)?;
    let is_there = config.providers.get(name).is_some_and(|it| it.api_key_keyring);
    match in_keyring {
        // Most servers have no keyring, and it matters only where one is used.
        Err(error) if is_there => return Err(error.into()),
        Ok(false) | Err(_) if !in_file => {
            eprintln!("megaron: no key is kept for `{name}`");
            return Ok(ExitCode::FAILURE);
        }
        Ok(_) | Err(_) => eprintln!("The key for `{name}` is forgotten."),
    }
    Ok(ExitCode::SUCCESS)
}
