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
    url: String,
    local: bool,
    fingerprint: Option<String>,
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
    if args.plain_ws {
        wish["plainWs"] = true.into();
    }
    if args.everything {
        wish["scope"] = "everything".into();
    }
    let paired = client.pair(&wish).await?;
    let paired: Paired =
        serde_json::from_value(paired).context("the server's answer is not understood")?;
    let named = args.host.is_some();
    let url = match (args.host, &paired.fingerprint) {
        (None, _) => paired.url,
        (Some(host), _) if host.contains("://") => host,
        (Some(host), Some(_)) => format!("https://{host}"),
        (Some(host), None) => format!("http://{host}"),
    };
    let url = url.trim_end_matches('/');
    // The key is behind the `#`, which no browser sends to anybody.
    println!("{}", code(&format!("{url}/pair#key={}", paired.key))?);
    // In plain words a phone needs no more than the name.
    let host = url.strip_prefix("http://").unwrap_or(url);
    println!("Host  {host}\nKey   {}", paired.key);
    if let Some(fingerprint) = &paired.fingerprint {
        println!("Certificate  SHA-256 {fingerprint}");
    }
    let name = plain(&paired.name);
    eprintln!(
        "This is `{name}`. The key is not shown again; `megaron key revoke \"{name}\"` ends it."
    );
    if paired.local && !named {
        eprintln!(
            "The server listens for this machine alone, so no phone reaches it: start it with \
             `megaron serve --lan`, or give it a way in and name that with --host."
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

/// Dark on light whatever the colours of the terminal, or cameras would not see it.
fn code(text: &str) -> anyhow::Result<String> {
    let code = QrCode::with_error_correction_level(text, EcLevel::L);
    let code = code.context("the link is too long for a QR code")?;
    let picture =
        code.render::<Dense1x2>().dark_color(Dense1x2::Light).light_color(Dense1x2::Dark).build();
    Ok(picture)
}
