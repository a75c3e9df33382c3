//! Frames by chance, the same in every run: noise, pieces of JSON, and what is almost a frame.

use serde_json::{Value, json};

/// What frames are made of, more or less, besides names.
const PIECES: [&str; 26] = [
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
    "\"\\ud800\"",
    "\"\\u0000\"",
    "é",
    "\u{202e}",
    "\u{0}",
    " ",
    "\n",
    "🙂",
];

pub struct Chance {
    state: u64,
    /// What may stand as the `type` of a frame, and beside it.
    kinds: Vec<&'static str>,
    names: Vec<&'static str>,
}

impl Chance {
    pub fn new(seed: u64, kinds: &[&'static str], names: &[&'static str]) -> Self {
        Self { state: seed, kinds: kinds.to_vec(), names: names.to_vec() }
    }

    /// `SplitMix64`.
    pub fn below(&mut self, end: usize) -> usize {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let value = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((value ^ (value >> 31)) % end as u64).unwrap()
    }

    pub fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    /// One that is noise, made of pieces, almost a frame, or this one with something wrong in it.
    pub fn frame(&mut self, right: impl FnOnce(&mut Self) -> Value) -> String {
        match self.below(4) {
            0 => self.noise(),
            1 => (0..self.below(24)).map(|_| self.piece()).collect(),
            2 => self.object(2).to_string(),
            _ => {
                let right = right(self);
                self.mutated(&right.to_string())
            }
        }
    }

    fn noise(&mut self) -> String {
        let bytes: Vec<u8> =
            (0..self.below(60)).map(|_| self.below(256).to_le_bytes()[0]).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn piece(&mut self) -> String {
        match self.below(6) {
            0 => json!(self.kind()).to_string(),
            1 => json!(self.name()).to_string(),
            _ => (*self.of(&PIECES)).to_owned(),
        }
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
        let mut object = json!({ "type": self.kind() });
        for _ in 0..self.below(5) {
            let name = self.name();
            object[name] = self.value(depth);
        }
        object
    }

    fn kind(&mut self) -> &'static str {
        let at = self.below(self.kinds.len());
        self.kinds[at]
    }

    fn name(&mut self) -> &'static str {
        let at = self.below(self.names.len());
        self.names[at]
    }

    /// The same with something else in one place, or without it, or twice.
    fn mutated(&mut self, frame: &str) -> String {
        let mut letters: Vec<char> = frame.chars().collect();
        for _ in 0..self.below(3) {
            let (from, to) = (self.below(letters.len()), self.below(letters.len()));
            let part = letters[from.min(to)..=from.max(to)].to_vec();
            match self.below(5) {
                0 => letters[from] = self.piece().chars().next().unwrap_or('x'),
                1 => drop(letters.splice(from..from, self.piece().chars())),
                2 => drop(letters.splice(to..to, part)),
                3 => letters.swap(from, to),
                _ => drop(letters.remove(from)),
            }
        }
        letters.into_iter().collect()
    }
}
