//! `megaron desktop`: obeys a hub until it is told to stop, and keeps the list of devices of our own.

use std::{path::Path, process::ExitCode, sync::Arc, time::Duration};

use anyhow::Context as _;
use jiff::tz::TimeZone;
use kernel::ports::Clock;
use serde_json::Value;

use crate::{
    ask,
    asked::plain,
    cli::{DesktopAction, DesktopArgs, LogFormat},
    clock::SystemClock,
    config, inbox, logs,
    stops::Stops,
    wire::{self, Address, Change, Engine, Event, Identity, Leave, Link, Pause, Window},
};

/// The longest time that can be asked for.
const LONGEST: Duration = Duration::from_hours(8);

pub async fn run(args: DesktopArgs) -> anyhow::Result<ExitCode> {
    let data_dir = config::data_dir(&args.home)?;
    match args.action.clone() {
        Some(action) => manage(action, &data_dir).await,
        None => obey(args, &data_dir).await,
    }
}

async fn manage(action: DesktopAction, data_dir: &Path) -> anyhow::Result<ExitCode> {
    let client = inbox::client(data_dir, None).await?;
    match action {
        DesktopAction::List => print!("{}", list(&client.desktops().await?)),
        DesktopAction::Add { name, viewer } => {
            let key = client.add_device(&name, if viewer { "viewer" } else { "device" }).await?;
            println!("{key}");
            eprintln!("This is the key of `{name}`. It is not shown again.");
        }
        DesktopAction::Forget { name } => {
            client.forget_device(&name).await?;
            eprintln!("`{name}` is forgotten.");
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn list(devices: &Value) -> String {
    let devices = devices["devices"].as_array().map(Vec::as_slice).unwrap_or_default();
    if devices.is_empty() {
        return "there are no devices; `megaron desktop add NAME` makes a key for one\n".to_owned();
    }
    devices.iter().map(line).collect()
}

fn line(device: &Value) -> String {
    let name = device["name"].as_str().map(plain).unwrap_or_default();
    let standing = &device["standing"];
    let stands = match (&device["scope"], standing) {
        (Value::String(scope), Value::Null) if scope == "viewer" => "watches".to_owned(),
        (_, Value::Null) => "not connected".to_owned(),
        (_, standing) => {
            let backend = standing["backend"].as_str().map(plain).unwrap_or_default();
            let armed = if standing["armed"] == true { "armed" } else { "not armed" };
            let regions = standing["regions"].as_array().map(Vec::as_slice).unwrap_or_default();
            let parts: Vec<String> = regions.iter().map(part).collect();
            let within = if parts.is_empty() {
                String::new()
            } else {
                format!(" for {}", parts.join(" and "))
            };
            let paused =
                standing["paused"].as_str().map(|why| format!(", paused ({})", plain(why)));
            format!("connected {backend}, {armed}{within}{}", paused.unwrap_or_default())
        }
    };
    format!("{name:20}  {stands}\n")
}

/// A part of a screen.
fn part(region: &Value) -> String {
    let side = |name: &str| region[name].as_u64().unwrap_or_default();
    format!("{} × {} at {}, {}", side("w"), side("h"), side("x"), side("y"))
}

async fn obey(args: DesktopArgs, data_dir: &Path) -> anyhow::Result<ExitCode> {
    logs::begin(LogFormat::Text, "warn")?;
    let mut stops = Stops::listen().context("cannot listen for signals")?;
    let url = args.connect.context("say which hub: --connect ws://HOST/connect")?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let until = args.arm.as_deref().map(|text| window("--arm", text)).transpose()?;
    let until = until.map(|window| clock.now() + window);
    let mut address = Address::new(&url, args.token, args.insecure)?;
    // Our own key is nobody else's business.
    if address.key().is_none() && address.is_here() {
        address = address.with_key(ask::key(data_dir)?);
    }
    let host = address.host();
    let identity = Identity {
        app: concat!("megaron/", env!("CARGO_PKG_VERSION")).to_owned(),
        device: args.name.unwrap_or_else(own_name),
        instance: clock.id().to_string(),
    };
    let leave = Leave { until, view_only: args.view_only };
    let desktop = wire::own_desktop(data_dir)?;
    // What cannot be driven says so when somebody tries.
    if let Some(caution) = desktop.info().await.ok().and_then(|info| info.caution()) {
        eprintln!("take care: {caution}");
    }
    let engine = Engine::new(desktop, clock.clone(), leave);
    let mut link = Link::new(address, identity, engine, clock.clone());
    let ended = tokio::select! {
        ended = link.run(|event| tell(&host, clock.as_ref(), &event)) => Some(ended),
        () = stops.next() => None,
    };
    match ended {
        None => {
            link.close().await;
            Ok(ExitCode::SUCCESS)
        }
        // Its cause is said in the same words, and some of them may be the hub's.
        Some(Err(error)) => Err(anyhow::Error::msg(plain(&error.to_string()))),
        Some(Ok(never)) => match never {},
    }
}

fn tell(host: &str, clock: &dyn Clock, event: &Event) {
    match event {
        Event::Connected => eprintln!("connected to {host}"),
        Event::Greeted { device, needs_leave } => {
            if let Some(device) = device {
                eprintln!("this device is called {} there", plain(device));
            }
            if *needs_leave {
                eprintln!(
                    "this hub asks nobody, and gets nothing: --arm 15m lets it act for a while"
                );
            }
        }
        Event::Changed(change) => eprintln!("{}", changed(*change, &clock.zone())),
        Event::Lost { why, wait } => {
            eprintln!("{}; trying again in {:.1} s", plain(why), wait.as_secs_f64());
        }
    }
}

/// Who may drive this machine and who has it, for whoever sits in front of it.
fn changed(change: Change, zone: &TimeZone) -> String {
    let why = match change {
        Change::Window(Window::Open { until: Some(until) }) => {
            let until = until.to_zoned(zone.clone()).strftime("%H:%M:%S");
            return format!("armed until {until}: this desktop may be used from there");
        }
        Change::Window(Window::Open { until: None }) => {
            return "armed until the hub ends it: this desktop may be used from there".to_owned();
        }
        Change::Window(Window::Closed) => {
            return "disarmed: nobody uses this desktop from there".to_owned();
        }
        Change::Window(Window::Over) => {
            return "disarmed: the time that --arm gave is over".to_owned();
        }
        Change::HandedBack => return "handed back: the hub may go on".to_owned(),
        Change::Paused(Pause::Human) => "by your hand",
        Change::Paused(Pause::Corner) => "by the pointer in the corner",
        Change::Paused(Pause::Panic) => "by ctrl+alt+escape",
        Change::Paused(Pause::Owner) => "by the owner",
    };
    format!("paused {why}: nothing is done here until ctrl+alt+return hands it back")
}

/// `90`, `90s`, `15m`, `2h`.
pub fn window(flag: &str, text: &str) -> anyhow::Result<Duration> {
    let (digits, unit) = match text.strip_suffix(['s', 'm', 'h']) {
        Some(digits) => (digits, &text[digits.len()..]),
        None => (text, "s"),
    };
    let seconds = match unit {
        "h" => 3600,
        "m" => 60,
        _ => 1,
    };
    let window = digits.parse::<u64>().ok().and_then(|count| count.checked_mul(seconds));
    let window = window.map(Duration::from_secs).filter(|it| !it.is_zero() && *it <= LONGEST);
    window.with_context(|| format!("{flag} must be like 15m or 2h, and at most 8h, not `{text}`"))
}

/// What this machine calls itself, as far as it can be the name of a device.
fn own_name() -> String {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let name: String = name.chars().filter(|c| plain(*c)).take(64).collect();
    if name.starts_with(|c: char| c.is_ascii_alphanumeric()) { name } else { "desktop".to_owned() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_window_is_given_in_seconds_minutes_or_hours() {
        for (text, seconds) in [("90", 90), ("90s", 90), ("15m", 900), ("8h", 28_800)] {
            assert_eq!(window("--arm", text).unwrap(), Duration::from_secs(seconds), "{text}");
        }
        for text in ["", "m", "0", "9h", "-5m", "1.5h", "15 m", "18446744073709551615h", "5d"] {
            assert!(window("--arm", text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_changes_is_told_in_one_line() {
        let until = "2026-01-14T21:45:56Z".parse().ok();
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        for (change, words) in [
            (Change::Window(Window::Open { until }), "armed until 23:45:56: "),
            (Change::Window(Window::Open { until: None }), "armed until the hub ends it: "),
            (Change::Window(Window::Closed), "disarmed: nobody "),
            (Change::Window(Window::Over), "disarmed: the time that --arm gave is over"),
            (Change::Paused(Pause::Human), "paused by your hand: "),
            (Change::Paused(Pause::Corner), "paused by the pointer in the corner: "),
            (Change::Paused(Pause::Panic), "paused by ctrl+alt+escape: "),
            (Change::Paused(Pause::Owner), "paused by the owner: "),
            (Change::HandedBack, "handed back: "),
        ] {
            let line = changed(change, &zone);
            assert!(line.starts_with(words) && !line.contains('\n'), "{line}");
            let is_paused = matches!(change, Change::Paused(_));
            assert_eq!(line.contains("ctrl+alt+return hands it back"), is_paused, "{line}");
        }
    }

    #[test]
    fn devices_are_listed_one_by_line() {
        let devices = json!({ "devices": [
            { "name": "studio", "scope": "device",
              "standing": { "backend": "x11", "armed": true, "paused": "human" } },
            { "name": "cell", "scope": "device",
              "standing": { "backend": "x11", "armed": true, "paused": null,
                            "regions": [{ "x": 1, "y": 2, "w": 3, "h": 4 }] } },
            { "name": "den", "scope": "device" },
            { "name": "wall", "scope": "viewer" },
        ] });
        let lines = "studio                connected x11, armed, paused (human)\n\
                     cell                  connected x11, armed for 3 × 4 at 1, 2\n\
                     den                   not connected\nwall                  watches\n";
        assert_eq!(list(&devices), lines);
    }
}
