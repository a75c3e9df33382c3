//! `megaron key`: our own API key, and the keys of providers.

use std::{path::Path, process::ExitCode};

use crate::{
    cli::{KeyAction, KeyArgs},
    config::{self, Config, provider},
    prompt, secrets, wire,
};

/// What a shell says of a command that Ctrl-C ended.
const CANCELLED: u8 = 130;

pub fn run(args: &KeyArgs) -> anyhow::Result<ExitCode> {
    let data_dir = config::data_dir(&args.home)?;
    match args.action.as_ref().unwrap_or(&KeyAction::Show) {
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
        KeyAction::Revoke => {
            wire::keys(&data_dir)?.revoke()?;
            eprintln!(
                "The key is revoked, and everyone is logged out. `megaron key new` makes another."
            );
        }
        KeyAction::Set { provider } => return set(&data_dir, provider),
        KeyAction::Forget { provider } => {
            if !secrets::forget(&data_dir, provider)? {
                eprintln!("megaron: no key is kept for `{provider}`");
                return Ok(ExitCode::FAILURE);
            }
            eprintln!("The key for `{provider}` is forgotten.");
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn set(data_dir: &Path, name: &str) -> anyhow::Result<ExitCode> {
    // Before anything is typed for nothing.
    provider::check_name(name)?;
    let Some(secret) = prompt::secret(&format!("Key for {name} (it is not shown): "))? else {
        return Ok(ExitCode::from(CANCELLED));
    };
    secrets::keep(data_dir, name, &secret)?;
    eprintln!("The key for `{name}` is kept.");
    match Config::load(data_dir)?.providers.get(name) {
        None => eprintln!("It is used once config.toml has a [providers.{name}]."),
        Some(it) if it.api_key_env.is_some() || it.api_key_file.is_some() => eprintln!(
            "It is not used: [providers.{name}] in config.toml takes its key from elsewhere."
        ),
        Some(_) => (),
    }
    Ok(ExitCode::SUCCESS)
}
