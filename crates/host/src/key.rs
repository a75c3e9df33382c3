//! `megaron key`: shows, replaces or revokes the API key.

use std::process::ExitCode;

use crate::{
    cli::{KeyAction, KeyArgs},
    config, wire,
};

pub fn run(args: &KeyArgs) -> anyhow::Result<ExitCode> {
    let keys = wire::keys(&config::data_dir(&args.home)?)?;
    match args.action {
        KeyAction::Show => {
            let Some(key) = keys.show()? else {
                eprintln!("megaron: the key was revoked; `megaron key new` makes another");
                return Ok(ExitCode::FAILURE);
            };
            println!("{key}");
        }
        KeyAction::New => {
            println!("{}", keys.renew()?);
            eprintln!("The old key is void, and everyone is logged out.");
        }
        KeyAction::Revoke => {
            keys.revoke()?;
            eprintln!(
                "The key is revoked, and everyone is logged out. `megaron key new` makes another."
            );
        }
    }
    Ok(ExitCode::SUCCESS)
}
