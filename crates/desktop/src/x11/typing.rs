//! Text, exactly: by keys where the layout has them, by paste where it has not, by lent keys at last.

use std::time::{Duration, Instant};

use kernel::desktop::{Chord, Code, DesktopError, Key, Method};
use x11rb::protocol::{
    xkb::ConnectionExt as _,
    xproto::{ConnectionExt as _, ModMask},
};

use super::{
    hands::Hands,
    journal::{KEYBOARD, Locks, bind, lock},
    keymap::{Keymap, Stroke, is_keypad, symbols_of, wanted},
    link::lost,
};
use crate::stop::Stop;

/// How long a client may take to hear that a key has another meaning: nothing tells us that it has.
const SETTLING: Duration = Duration::from_millis(60);
/// How long somebody who holds a key down is waited for.
const PATIENCE: Duration = Duration::from_millis(500);
/// How often one looks again.
const GLANCE: Duration = Duration::from_millis(10);
/// How many keys are pressed before one sees whether they arrived, and whether to stop.
const AT_ONCE: usize = 32;
const SHIFT_INSERT: u32 = 0xff63;

/// A stretch of text that is typed in the same way.
enum Run {
    Keys(Vec<Stroke>),
    Other(String),
}

impl Hands {
    /// Says how it was done.
    pub fn type_text(
        &mut self,
        text: &str,
        method: Method,
        delay: Duration,
        stop: &Stop,
    ) -> Result<Method, DesktopError> {
        // Any end of a line is one press of Return.
        let text = text.replace("\r\n", "\n");
        if text.is_empty() {
            return Ok(Method::Keys);
        }
        self.unheld(stop)?;
        let map = Keymap::read(&self.link)?;
        let runs = match method {
            Method::Paste => vec![Run::Other(text)],
            Method::Auto | Method::Keys => runs(&map, &text),
        };
        let pasted = runs.iter().any(|run| matches!(run, Run::Other(_)));
        self.neutrally(|hands| {
            for run in &runs {
                match run {
                    Run::Keys(strokes) => hands.strike(strokes, delay, stop)?,
                    Run::Other(text) => hands.insert(&map, text, method, delay, stop)?,
                }
            }
            Ok(())
        })?;
        Ok(if pasted && method != Method::Keys { Method::Paste } else { Method::Keys })
    }

    /// Presses combinations one after another.
    pub fn press(
        &mut self,
        chords: &[Chord],
        repeat: u32,
        stop: &Stop,
    ) -> Result<(), DesktopError> {
        self.with_strokes(chords, stop, |hands, chords| {
            for _ in 0..repeat {
                for codes in chords {
                    stop.check()?;
                    hands.hold(codes)?;
                    hands.let_go(codes)?;
                }
            }
            Ok(())
        })
    }

    /// Holds a combination for a while.
    pub fn hold_for(
        &mut self,
        chord: &Chord,
        duration: Duration,
        stop: &Stop,
    ) -> Result<(), DesktopError> {
        self.with_strokes(std::slice::from_ref(chord), stop, |hands, chords| {
            let codes = chords.concat();
            hands.hold(&codes)?;
            let rested = stop.rest(duration);
            hands.let_go(&codes)?;
            rested
        })
    }

    /// The keys of a combination that can be held without lending any a meaning.
    pub fn codes(&self, chord: &Chord) -> Result<Vec<u8>, DesktopError> {
        let map = Keymap::read(&self.link)?;
        let mut codes = Vec::new();
        for key in &chord.keys {
            let stroke = wanted(*key)?.into_iter().find_map(|symbol| map.symbol(symbol));
            let stroke = stroke.ok_or_else(|| {
                DesktopError::new(Code::Unsupported, "this keyboard has no such key")
            })?;
            codes.extend(stroke.codes());
        }
        Ok(codes)
    }

    /// Finds the keys of combinations, lends keys what the layout lacks, and gives it all back.
    fn with_strokes(
        &mut self,
        chords: &[Chord],
        stop: &Stop,
        work: impl FnOnce(&mut Self, &[Vec<u8>]) -> Result<(), DesktopError>,
    ) -> Result<(), DesktopError> {
        let map = Keymap::read(&self.link)?;
        let mut missing: Vec<u32> = Vec::new();
        for key in chords.iter().flat_map(|chord| &chord.keys) {
            let symbols = wanted(*key)?;
            if let [symbol, ..] = symbols.as_slice()
                && !symbols.iter().any(|symbol| map.symbol(*symbol).is_some())
                && !missing.contains(symbol)
            {
                missing.push(*symbol);
            }
        }
        let types = chords.iter().flat_map(|chord| &chord.keys);
        let types = types.clone().any(|key| matches!(key, Key::Char(_)));
        self.lending(&map, &missing, stop, |hands, lent| {
            let numbers = hands.num_locked(&map)?;
            let pressed: Vec<Vec<u8>> = chords
                .iter()
                .map(|chord| codes(&map, lent, chord, numbers))
                .collect::<Result<_, _>>()?;
            if types {
                hands.neutrally(|hands| work(hands, &pressed))
            } else {
                work(hands, &pressed)
            }
        })
    }

    /// With Caps Lock off and the first group of the layout; both come back as they were.
    fn neutrally(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<(), DesktopError>,
    ) -> Result<(), DesktopError> {
        let state = self.link.conn.xkb_get_state(KEYBOARD).map_err(lost)?.reply().map_err(lost)?;
        let modifiers = u16::from(state.locked_mods) & u16::from(ModMask::LOCK);
        let before = Locks { modifiers, group: u8::from(state.locked_group) };
        if before == (Locks { modifiers: 0, group: 0 }) {
            return work(self);
        }
        self.journal.locks(Some(before))?;
        lock(&self.link, Locks { modifiers: 0, group: 0 })?;
        let done = work(self);
        let restored = self.link.sync().and_then(|()| lock(&self.link, before));
        self.journal.locks(None)?;
        done.and(restored)
    }

    /// Returns when nobody holds a modifier down; what we hold ourselves is meant.
    fn unheld(&self, stop: &Stop) -> Result<(), DesktopError> {
        let until = Instant::now() + PATIENCE;
        loop {
            let asked = self.link.conn.xkb_get_state(KEYBOARD).map_err(lost)?;
            let held = u16::from(asked.reply().map_err(lost)?.base_mods);
            if held == 0 || !self.keys.is_empty() {
                return Ok(());
            }
            if Instant::now() >= until {
                return Err(DesktopError::failed("a modifier key is held down"));
            }
            stop.rest(GLANCE)?;
        }
    }

    fn num_locked(&self, map: &Keymap) -> Result<bool, DesktopError> {
        let asked = self.link.conn.xkb_get_state(KEYBOARD).map_err(lost)?;
        Ok(u16::from(asked.reply().map_err(lost)?.locked_mods) & map.num_lock != 0)
    }

    /// Presses and releases keys one after another, as fast as the display takes them.
    fn strike(
        &mut self,
        strokes: &[Stroke],
        delay: Duration,
        stop: &Stop,
    ) -> Result<(), DesktopError> {
        self.journal.typing(strokes.iter().flat_map(|stroke| stroke.codes()).collect())?;
        let at_once = if delay.is_zero() { AT_ONCE } else { 1 };
        let struck = strokes.chunks(at_once).try_for_each(|strokes| {
            stop.check()?;
            for stroke in strokes {
                stroke.codes().try_for_each(|code| self.key(code, true))?;
                stroke.codes().rev().try_for_each(|code| self.key(code, false))?;
            }
            self.link.sync()?;
            if delay.is_zero() { Ok(()) } else { stop.rest(delay) }
        });
        self.link.sync()?;
        self.journal.typing(Vec::new())?;
        struck
    }

    /// Text that the layout has no keys for.
    fn insert(
        &mut self,
        map: &Keymap,
        text: &str,
        method: Method,
        delay: Duration,
        stop: &Stop,
    ) -> Result<(), DesktopError> {
        if method != Method::Keys && self.paste(map, text, stop)? {
            return Ok(());
        }
        if method == Method::Paste {
            return Err(DesktopError::failed("the window in focus did not take the paste"));
        }
        self.type_lent(map, text, delay, stop)
    }

    /// Offers the text and asks the window in focus to take it; says whether it did.
    fn paste(&mut self, map: &Keymap, text: &str, stop: &Stop) -> Result<bool, DesktopError> {
        let (Some(shift), Some(insert)) = (map.shift(), map.symbol(SHIFT_INSERT)) else {
            return Ok(false);
        };
        let focus = self.link.conn.get_input_focus().map_err(lost)?.reply().map_err(lost)?.focus;
        let target = self.focused(focus)?;
        let before = self.ears.read_clipboard(stop)?;
        let offer = self.ears.offer(text)?;
        let stroke = Stroke { shift: Some(shift), ..insert };
        let struck = self.strike(&[stroke], Duration::ZERO, stop);
        let taken = struck.and_then(|()| self.ears.taken(offer, target, self.patience, stop));
        self.ears.restore(before)?;
        taken
    }

    /// The window whose client gets the keys: that in focus, or that under the pointer.
    fn focused(&self, focus: u32) -> Result<u32, DesktopError> {
        // 0 and 1 stand for no window and for whichever is pointed at.
        if focus > 1 && focus != self.link.root {
            return Ok(focus);
        }
        let mut at = self.link.root;
        loop {
            let asked = self.link.conn.query_pointer(at).map_err(lost)?;
            let child = asked.reply().map_err(lost)?.child;
            if child == x11rb::NONE {
                return Ok(at);
            }
            at = child;
        }
    }

    /// Types with keys that are lent what the layout lacks, as many at once as there are to spare.
    fn type_lent(
        &mut self,
        map: &Keymap,
        text: &str,
        delay: Duration,
        stop: &Stop,
    ) -> Result<(), DesktopError> {
        let spare = map.spare().len();
        if spare == 0 {
            let text = "this keyboard has no key to spare for what it lacks";
            return Err(DesktopError::new(Code::TextUnsupported, text));
        }
        let characters: Vec<char> = text.chars().collect();
        let mut rest = characters.as_slice();
        while !rest.is_empty() {
            let (now, later) = rest.split_at(fitting(map, rest, spare));
            let mut symbols: Vec<u32> = now
                .iter()
                .filter(|it| map.character(**it).is_none())
                .filter_map(|it| symbols_of(*it)[0])
                .collect();
            symbols.sort_unstable();
            symbols.dedup();
            self.lending(map, &symbols, stop, |hands, lent| {
                let stroke = |it: &char| map.character(*it).or_else(|| lent_to(lent, *it));
                let strokes: Vec<Stroke> = now.iter().filter_map(stroke).collect();
                hands.strike(&strokes, delay, stop)
            })?;
            rest = later;
        }
        Ok(())
    }

    /// Lends keys these meanings, on record first, and takes them back when all have heard.
    fn lending(
        &mut self,
        map: &Keymap,
        symbols: &[u32],
        stop: &Stop,
        work: impl FnOnce(&mut Self, &[(u32, u8)]) -> Result<(), DesktopError>,
    ) -> Result<(), DesktopError> {
        if symbols.is_empty() {
            return work(self, &[]);
        }
        let lent: Vec<(u32, u8)> = symbols.iter().copied().zip(map.spare()).collect();
        if lent.len() < symbols.len() {
            let text = "this keyboard has not enough keys to spare for what it lacks";
            return Err(DesktopError::new(Code::Unsupported, text));
        }
        let codes: Vec<u8> = lent.iter().map(|(_, code)| *code).collect();
        self.journal.bound(&codes)?;
        let bound = lent.iter().try_for_each(|(symbol, code)| bind(&self.link, *code, *symbol));
        let done = bound.and_then(|()| stop.rest(SETTLING)).and_then(|()| work(self, &lent));
        // Not cut short by anything: what was pressed must be read with the meaning it had.
        let rested = Stop::default().rest(SETTLING);
        let freed = codes.iter().try_for_each(|code| bind(&self.link, *code, 0));
        let freed = freed.and_then(|()| self.link.sync());
        self.journal.bound(&[])?;
        done.and(rested).and(freed)
    }
}

/// What is pressed for a combination, in order, each key once.
fn codes(
    map: &Keymap,
    lent: &[(u32, u8)],
    chord: &Chord,
    numbers: bool,
) -> Result<Vec<u8>, DesktopError> {
    let mut codes: Vec<u8> = Vec::new();
    for key in &chord.keys {
        let symbols = wanted(*key)?;
        let known = symbols.iter().find_map(|symbol| map.symbol(*symbol));
        let lent = || {
            let found = lent.iter().find(|(symbol, _)| symbols.contains(symbol));
            found.map(|(_, code)| Stroke::plain(*code))
        };
        let mut stroke = known
            .or_else(lent)
            .ok_or_else(|| DesktopError::new(Code::Unsupported, "this keyboard has no such key"))?;
        if is_keypad(*key) && numbers {
            stroke.shift = None;
        }
        for code in stroke.codes().filter(|code| !codes.contains(code)).collect::<Vec<_>>() {
            codes.push(code);
        }
    }
    Ok(codes)
}

/// How many characters from the front need no more than so many lent keys.
fn fitting(map: &Keymap, characters: &[char], spare: usize) -> usize {
    let mut missing: Vec<char> = Vec::new();
    for (at, character) in characters.iter().enumerate() {
        if map.character(*character).is_some() || missing.contains(character) {
            continue;
        }
        if missing.len() == spare {
            return at;
        }
        missing.push(*character);
    }
    characters.len()
}

fn lent_to(lent: &[(u32, u8)], character: char) -> Option<Stroke> {
    let symbols = symbols_of(character);
    let found = lent.iter().find(|(symbol, _)| symbols.contains(&Some(*symbol)));
    found.map(|(_, code)| Stroke::plain(*code))
}

fn runs(map: &Keymap, text: &str) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for character in text.chars() {
        match (map.character(character), runs.last_mut()) {
            (Some(stroke), Some(Run::Keys(strokes))) => strokes.push(stroke),
            (Some(stroke), _) => runs.push(Run::Keys(vec![stroke])),
            (None, Some(Run::Other(text))) => text.push(character),
            (None, _) => runs.push(Run::Other(character.into())),
        }
    }
    runs
}
