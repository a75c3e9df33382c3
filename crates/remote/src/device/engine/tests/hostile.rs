//! Whatever a hub sends, a device answers it and goes on.

use std::time::Duration;

use kernel::desktop::Action;
use serde_json::{Value, json};

use super::{Device, click};
use crate::{
    command::{Request, parse},
    examples, say,
};

const FRAMES: usize = 100_000;
/// What frames are made of, more or less.
const PIECES: [&str; 40] = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "null",
    "true",
    "-0",
    "1e39",
    "-5",
    "4294967296",
    "1.5",
    "\"\"",
    "\"type\"",
    "\"commandId\"",
    "\"x\"",
    "\"y\"",
    "\"text\"",
    "\"keys\"",
    "\"path\"",
    "\"actions\"",
    "\"after\"",
    "\"region\"",
    "\"duration\"",
    "\"mouse_move\"",
    "\"batch\"",
    "\"hand_back\"",
    "\"cancel\"",
    "\"handshake_ack\"",
    "\"\\ud800\"",
    "\"\\u0000\"",
    "é",
    "\u{202e}",
    "\u{0}",
    " ",
    "\n",
    "🙂",
];
const NAMES: [&str; 18] = [
    "x",
    "y",
    "dx",
    "duration",
    "button",
    "direction",
    "intensity",
    "text",
    "command",
    "keys",
    "key",
    "path",
    "region",
    "actions",
    "after",
    "id",
    "commandId",
    "target",
];

/// Numbers by chance, the same in every run: `SplitMix64`.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let value = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((value ^ (value >> 31)) % end as u64).unwrap()
    }

    fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    fn noise(&mut self) -> String {
        let bytes: Vec<u8> =
            (0..self.below(60)).map(|_| self.below(256).to_le_bytes()[0]).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn pieces(&mut self) -> String {
        (0..self.below(24)).map(|_| *self.of(&PIECES)).collect()
    }

    fn value(&mut self, depth: usize) -> Value {
        match self.below(if depth == 0 { 7 } else { 9 }) {
            0 => Value::Null,
            1 => json!(self.below(2) == 0),
            2 => json!(self.below(3000)),
            3 => json!(*self.of(&[-1.5e9, -0.0, 0.25, 1.5, 299.5, 1e39, f64::MIN_POSITIVE])),
            4 => {
                json!(*self.of(&["left", "ctrl+c", "down", "stable", "F13", "page_upp", "", "a b"]))
            }
            5 => json!(self.noise()),
            6 => json!(u64::MAX - self.below(3) as u64),
            7 => (0..self.below(5)).map(|_| self.value(depth - 1)).collect(),
            _ => self.object(depth - 1),
        }
    }

    fn object(&mut self, depth: usize) -> Value {
        let kind = self.of(&Action::KINDS);
        let mut object = json!({ "type": kind });
        for _ in 0..self.below(5) {
            let name = *self.of(&NAMES);
            object[name] = self.value(depth);
        }
        object
    }

    /// The same with something else in one place, or without it, or twice.
    fn mutated(&mut self, frame: &str) -> String {
        let mut letters: Vec<char> = frame.chars().collect();
        for _ in 0..self.below(3) {
            let (from, to) = (self.below(letters.len()), self.below(letters.len()));
            let part = letters[from.min(to)..=from.max(to)].to_vec();
            match self.below(5) {
                0 => letters[from] = self.of(&PIECES).chars().next().unwrap_or('x'),
                1 => drop(letters.splice(from..from, self.of(&PIECES).chars())),
                2 => drop(letters.splice(to..to, part)),
                3 => letters.swap(from, to),
                _ => drop(letters.remove(from)),
            }
        }
        letters.into_iter().collect()
    }
}

#[tokio::test(start_paused = true)]
async fn each_of_a_hundred_thousand_frames_by_chance_is_answered() {
    let orders = examples::orders();
    let (mut device, mut chance) = (Device::plain(), Chance(9));
    let (mut done, mut refused) = (0, 0);
    for number in 0..FRAMES {
        let frame = match chance.below(4) {
            0 => chance.noise(),
            1 => chance.pieces(),
            2 => chance.object(2).to_string(),
            _ => {
                let mut order = chance.of(&orders).clone();
                order.id = format!("cmd_{number}");
                let frame = Value::Object(say::command(&order, false).unwrap());
                chance.mutated(&frame.to_string())
            }
        };
        let parsed = parse(&frame);
        device.engine.hear(&frame);
        if matches!(parsed.result, Ok(Request::Acknowledged { .. } | Request::Nothing)) {
            continue;
        }
        let reply = device.reply().await;
        assert_eq!(reply["commandId"].as_str(), parsed.id.as_deref(), "{frame}: {reply}");
        match reply["type"].as_str() {
            Some("error") => refused += 1,
            Some(_) => done += 1,
            None => panic!("{frame}: {reply}"),
        }
        // A line that is lost loses nothing but what was under way.
        if number % 10_000 == 0 {
            device.engine.disconnected().await;
        }
        // They come no faster than they may, or most would be refused for that alone.
        tokio::time::advance(Duration::from_millis(20)).await;
    }
    assert!(done > 10_000 && refused > 10_000, "{done} {refused}");
    tokio::time::advance(Duration::from_mins(1)).await;
    assert_eq!(device.ask(click("last")).await["type"], "success");
}
