//! What can be judged of a widget only while it is shown.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Judged, Named, Run, Watched, doubtful, failed, passed, schema, skipped, some};
use crate::bounds::{self, Limits};

const INITIALIZE: &str = "ui/initialize";
const READY: &str = "ui/notifications/initialized";
const SIZE: &str = "ui/notifications/size-changed";
/// So many changes of size while nothing happens are a loop.
const RESTLESS: usize = 60;

const NAMES: [&str; 8] =
    ["handshake", "order", "messages", "policy", "scripts", "sizes", "accessibility", "teardown"];

pub fn judge(run: &Run) -> Vec<Named> {
    let watched = match run {
        Run::Skipped(why) => {
            return NAMES.into_iter().map(|name| (name, skipped(why.clone()))).collect();
        }
        Run::Watched(watched) => watched,
    };
    let judged = [
        handshake(watched),
        order(watched),
        messages(watched),
        policy(watched),
        none(&watched.broke, "no error", "errors"),
        sizes(watched),
        names(watched),
        teardown(watched),
    ];
    NAMES.into_iter().zip(judged).collect()
}

fn method(message: &Value) -> Option<&str> {
    message.get("method").and_then(Value::as_str)
}

fn at(watched: &Watched, name: &str) -> Option<usize> {
    watched.heard.iter().position(|message| method(message) == Some(name))
}

fn handshake(watched: &Watched) -> Judged {
    match (at(watched, INITIALIZE), at(watched, READY)) {
        (Some(_), Some(_)) => passed("greeted, and ready"),
        (Some(_), None) => failed(format!("no-initialized: it greeted, and never said {READY}")),
        (None, _) => failed(format!("no-initialize: it never said {INITIALIZE}")),
    }
}

fn order(watched: &Watched) -> Judged {
    let Some(greeted) = at(watched, INITIALIZE) else { return skipped("it never greeted") };
    let early = |until: usize| -> Vec<String> {
        let said = watched.heard.iter().take(until).filter_map(method);
        said.filter(|it| *it != INITIALIZE).map(str::to_owned).collect()
    };
    let before = early(greeted);
    if !before.is_empty() {
        return failed(format!("said before the greeting: {}", some(&before)));
    }
    let hasty = early(at(watched, READY).unwrap_or(watched.heard.len()));
    if hasty.is_empty() {
        passed("greeting, ready, and then the rest")
    } else {
        doubtful(format!("said between greeting and ready: {}", some(&hasty)))
    }
}

fn messages(watched: &Watched) -> Judged {
    let mut faults = BTreeSet::new();
    let most = Limits::default().message_bytes;
    for message in &watched.heard {
        let named = method(message).unwrap_or("an answer");
        if message.get("jsonrpc").is_none_or(|version| version != "2.0") {
            faults.insert(format!("{named}: jsonrpc is not \"2.0\""));
        }
        let bytes = bounds::bytes(message);
        if bytes > most {
            faults.insert(format!("{named}: {bytes} bytes, of which {most} are heeded"));
        }
        let Some(definition) = schema::of(named) else { continue };
        let told = schema::faults(definition, &bare(message));
        faults.extend(told.into_iter().map(|fault| format!("{named}: {fault}")));
    }
    let faults: Vec<String> = faults.into_iter().collect();
    if faults.is_empty() {
        passed(format!("{}, as published", watched.heard.len()))
    } else {
        failed(some(&faults))
    }
}

/// Definitions speak of neither the version nor the id.
fn bare(message: &Value) -> Value {
    let mut message = message.clone();
    if let Some(fields) = message.as_object_mut() {
        fields.remove("jsonrpc");
        fields.remove("id");
    }
    message
}

fn policy(watched: &Watched) -> Judged {
    // Many libraries only try whether they may, and do without.
    let (tried, kept): (Vec<String>, Vec<String>) =
        watched.blocked.iter().cloned().partition(|it| it == "script-src eval");
    match (kept.is_empty(), tried.is_empty()) {
        (false, _) => failed(format!("blocked, as it is not declared: {}", some(&kept))),
        (true, false) => doubtful("it tried to make code of text (eval), which no host allows"),
        (true, true) => passed("nothing was blocked"),
    }
}

fn none(found: &[String], well: &str, wrong: &str) -> Judged {
    if found.is_empty() { passed(well) } else { failed(format!("{wrong}: {}", some(found))) }
}

fn sizes(watched: &Watched) -> Judged {
    let told = watched.heard.iter().filter(|it| method(it) == Some(SIZE));
    let heights: Vec<f64> = told
        .map(|it| it.pointer("/params/height").and_then(Value::as_f64).unwrap_or_default())
        .collect();
    match heights.len() {
        0 => doubtful("it never tells its size, so that a host has to guess"),
        count if count > RESTLESS => failed(format!("{count} changes of size: it has no rest")),
        count => {
            let last = heights.last().copied().unwrap_or_default();
            passed(format!("told {count} times, {last} pixels at last"))
        }
    }
}

fn names(watched: &Watched) -> Judged {
    if watched.unnamed.is_empty() {
        passed("everything that can be used has a name")
    } else {
        doubtful(some(&watched.unnamed))
    }
}

fn teardown(watched: &Watched) -> Judged {
    match watched.parted {
        Some(true) => passed("answered"),
        Some(false) => doubtful("not answered in time"),
        None => skipped("it was never ready"),
    }
}
