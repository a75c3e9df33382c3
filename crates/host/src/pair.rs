//! `megaron pair`: a key for a phone, as a QR code and in words.

use std::{fmt::Write as _, path::Path, process::ExitCode};

use anyhow::Context as _;
use qrcode::{EcLevel, QrCode, render::unicode::Dense1x2};
use serde::Deserialize;
use serde_json::json;

use crate::{asked::plain, cli::PairArgs, config, inbox};

#[derive(Deserialize)]
struct Paired {
    name: String,
    key: String,
    host: String,
    local: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Device {
    name: String,
    scope: String,
    last_seen_at: Option<String>,
    connected: bool,
}

pub async fn run(args: PairArgs) -> anyhow::Result<ExitCode> {
    let data_dir = config::data_dir(&args.home)?;
    let client = inbox::client(&data_dir, None).await?;
    let mut wish = json!({});
    if let Some(name) = args.name {
        wish["name"] = name.into();
    }
    if let Some(session) = args.session {
        wish["sessionId"] = session.into();
    }
    if args.everything {
        wish["scope"] = "everything".into();
    }
    let paired = client.pair(&wish).await?;
    let paired: Paired =
        serde_json::from_value(paired).context("the server's answer is not understood")?;
    let host = args.host.as_deref().unwrap_or(&paired.host);
    println!("{}", code(&link(host, &paired.key))?);
    println!("Host  {host}\nKey   {}", paired.key);
    let name = plain(&paired.name);
    eprintln!(
        "This is `{name}`. The key is not shown again; `megaron key revoke \"{name}\"` ends it."
    );
    if paired.local && args.host.is_none() {
        eprintln!(
            "The server listens for this machine alone, so no phone reaches it: start it with \
             `megaron serve --listen 0.0.0.0:53000`, or give it a way in and name that with --host."
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// The devices that were paired, one per line.
pub async fn list(data_dir: &Path) -> anyhow::Result<String> {
    let mut listed = inbox::client(data_dir, None).await?.devices().await?;
    let devices: Vec<Device> = serde_json::from_value(listed["keys"].take())
        .context("the server's answer is not understood")?;
    if devices.is_empty() {
        return Ok("no device is paired; `megaron pair` does that\n".to_owned());
    }
    let mut text = String::new();
    for Device { name, scope, last_seen_at, connected } in devices {
        let seen = match (connected, last_seen_at) {
            (true, _) => "connected".to_owned(),
            (false, Some(at)) => format!("last seen {at}"),
            (false, None) => "never seen".to_owned(),
        };
        writeln!(text, "{}  {scope}  {seen}", plain(&name))?;
    }
    Ok(text)
}

/// The key is behind the `#`, which no browser sends to anybody.
fn link(host: &str, key: &str) -> String {
    let host = if host.contains("://") { host.to_owned() } else { format!("http://{host}") };
    format!("{}/pair#key={key}", host.trim_end_matches('/'))
}

/// Dark on light whatever the colours of the terminal, or cameras would not see it.
fn code(text: &str) -> anyhow::Result<String> {
    let code = QrCode::with_error_correction_level(text, EcLevel::L);
    let code = code.context("the link is too long for a QR code")?;
    let picture =
        code.render::<Dense1x2>().dark_color(Dense1x2::Light).light_color(Dense1x2::Dark).build();
    Ok(picture)
}
