//! How hub and device introduce themselves, and what a device says of itself unasked.

use jiff::Timestamp;
use kernel::desktop::{Info, Pause, State};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::fields::SEED;

/// What the one who wrote it first says of itself; nobody reads it, and everybody says the same.
const CLIENT: &str = "rust-automation";
const VERSION: &str = "0.1.0";
const SERVER: &str = "cloudflare-worker";
/// What is spoken beyond the seed.
pub const PROTOCOL: &str = "1.1";
/// How long a name, or anything else that a device calls itself, may be.
const LONGEST: usize = 64;
const MOST_COMMANDS: usize = 128;

/// The first frame of a device.
pub fn handshake(app: &str, device: &str, instance: &str, info: &Info) -> Value {
    let Info { platform, backend, screen, commands, hears } = info;
    let mut frame = json!({
        "type": "handshake", "client": CLIENT, "version": VERSION, "protocol": PROTOCOL,
        "app": app, "device": device, "instance": instance, "platform": platform,
        "backend": backend, "commands": commands,
    });
    if let Some((w, h)) = screen {
        frame["screen"] = json!({ "w": w, "h": h });
    }
    if !hears {
        frame["hears"] = false.into();
    }
    frame
}

/// The answer to it; to one that knows only the seed, in the words of the seed.
pub fn acknowledged(now: i64, hello: &Hello) -> Value {
    let mut frame = json!({ "type": "handshake_ack", "server": SERVER, "timestamp": now });
    if hello.is_extended {
        frame["name"] = "megaron".into();
        frame["protocol"] = PROTOCOL.into();
        frame["device"] = hello.device.as_deref().into();
    }
    frame
}

/// The same once more, with until when somebody may drive it, if anybody may: whoever does not know
/// the words hears nothing new.
pub fn armed(now: i64, hello: &Hello, until: Option<Timestamp>) -> Value {
    let mut frame = acknowledged(now, hello);
    frame["armed"] = until.is_some().into();
    if let Some(until) = until {
        frame["until"] = until.as_millisecond().into();
    }
    frame
}

/// Whether somebody may drive a device, as its hub says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lent {
    #[default]
    No,
    /// Until then, if it says that: an older one does not.
    Until(Option<Timestamp>),
}

impl Lent {
    /// What is not understood counts as not said.
    pub fn read(frame: &Map<String, Value>) -> Self {
        if frame.get("armed") == Some(&Value::Bool(true)) {
            Self::Until(until(frame))
        } else {
            Self::No
        }
    }
}

fn until(frame: &Map<String, Value>) -> Option<Timestamp> {
    Timestamp::from_millisecond(frame.get("until")?.as_i64()?).ok()
}

/// What a device has said of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    pub is_extended: bool,
    /// What it would be called.
    pub device: Option<String>,
    pub info: Info,
}

impl Hello {
    /// Of one that says nothing, or nothing more than the seed has.
    pub fn plain() -> Self {
        let commands = SEED.map(str::to_owned).to_vec();
        let (platform, backend) = (String::new(), String::new());
        let info = Info { platform, backend, screen: None, commands, hears: false };
        Self { is_extended: false, device: None, info }
    }

    /// Whatever is not as it should be is as good as absent.
    pub fn read(frame: &Map<String, Value>) -> Self {
        let text = |name: &str| {
            let text = frame.get(name).and_then(Value::as_str)?;
            (!text.is_empty() && text.chars().count() <= LONGEST).then(|| text.to_owned())
        };
        if text("protocol").is_none() {
            return Self::plain();
        }
        let side = |name: &str| frame.get("screen")?.get(name)?.as_u64()?.try_into().ok();
        let listed = frame.get("commands").and_then(Value::as_array).into_iter().flatten();
        let listed = listed.filter_map(Value::as_str).take(MOST_COMMANDS);
        let known = listed.filter(|it| crate::fields::fields(it).is_some()).map(str::to_owned);
        let info = Info {
            platform: text("platform").unwrap_or_default(),
            backend: text("backend").unwrap_or_default(),
            screen: side("w").zip(side("h")),
            commands: known.collect(),
            hears: frame.get("hears").and_then(Value::as_bool).unwrap_or(true),
        };
        Self { is_extended: true, device: text("device"), info }
    }
}

/// Whether a device may be called so: a name that can stand anywhere.
pub fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    (1..=LONGEST).contains(&name.len())
        && name.chars().all(plain)
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
}

#[derive(Serialize, Deserialize, Default)]
#[serde(default)]
struct Held {
    keys: Vec<String>,
    buttons: Vec<String>,
}

/// How a device stands, as it tells it.
pub fn standing(state: &State, armed: bool) -> Value {
    let State { paused, until, keys, buttons, queue } = state;
    let held = Held { keys: keys.clone(), buttons: buttons.clone() };
    json!({
        "type": "state", "armed": armed, "until": until.map(Timestamp::as_millisecond),
        "paused": paused.map(Pause::name), "held": held, "queue": queue,
    })
}

/// The same as it is read; what is not understood counts as not said.
pub fn stands(frame: &Map<String, Value>) -> State {
    let get = |name: &str| frame.get(name).unwrap_or(&Value::Null);
    let held: Held = Held::deserialize(get("held")).unwrap_or_default();
    let few = |names: Vec<String>| {
        names.into_iter().filter(|name| name.len() <= LONGEST).take(MOST_COMMANDS).collect()
    };
    State {
        paused: get("paused").as_str().and_then(Pause::parse),
        until: until(frame),
        keys: few(held.keys),
        buttons: few(held.buttons),
        queue: get("queue").as_u64().and_then(|it| it.try_into().ok()).unwrap_or_default(),
    }
}
