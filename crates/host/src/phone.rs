//! `megaron phone`: what the app for phones does, in a terminal.

mod check;
mod link;
mod talk;
mod trust;

use std::process::ExitCode;

use anyhow::Context as _;

use crate::{
    ask,
    cli::{LogFormat, PhoneArgs},
    config, logs, place,
};
use link::Link;

pub async fn run(args: PhoneArgs) -> anyhow::Result<ExitCode> {
    logs::begin(LogFormat::Text, "error")?;
    let data_dir = config::data_dir(&args.home)?;
    let (url, key) = if let Some(url) = args.url {
        (url, args.key.context("another server needs --key, or MEGARON_KEY")?)
    } else {
        let note = place::find(&data_dir);
        let note = note.context("no server runs on this data directory; name one by its URL")?;
        let own = match args.key {
            Some(key) => Some(key),
            None => ask::key(&data_dir)?,
        };
        (note.url, own.context("the key was revoked; `megaron key new` makes another")?)
    };
    let link = Link::new(&url, key, args.fingerprint.as_deref())?;
    if args.check { check::run(&link).await } else { talk::run(&link).await }
}
