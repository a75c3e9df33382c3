//! What is told of an action that holds a secret, or that a person typed with their own hands.

use super::{
    Chords, Code, DesktopError, Outcome,
    action::Action,
    key::{Chord, Key, Named},
    words::hidden,
};

/// What is shorter is part of any words, and nothing could be told any more.
const SHORTEST: usize = 3;
/// What is told instead of an error that may repeat what was typed.
const UNTOLD: &str = "[secret]";

impl Action {
    /// Whether it holds what somebody typed or copied.
    pub(super) fn is_typed(&self) -> bool {
        match self {
            Self::KeyboardInput { .. }
            | Self::KeyboardType { .. }
            | Self::ClipboardSet { .. }
            | Self::ClipboardGet => true,
            Self::Batch { actions, .. } => actions.iter().any(Self::is_typed),
            _ => self.keys().is_some_and(writes),
        }
    }

    /// The same without what was typed, which is told nobody when a person did it themselves.
    pub(super) fn untyped(mut self) -> Self {
        match &mut self {
            Self::KeyboardInput { text, .. } | Self::ClipboardSet { text } => *text = hidden(text),
            Self::KeyboardType { secret, .. } => *secret = true,
            Self::Batch { actions, .. } => {
                *actions = actions.drain(..).map(Self::untyped).collect();
            }
            Self::KeyboardCommand { keys }
            | Self::KeyCombo { keys, .. }
            | Self::HoldKey { keys, .. }
            | Self::KeyDown { key: keys }
            | Self::KeyUp { key: keys }
                if writes(keys) =>
            {
                keys.spoken = hidden(&keys.spoken);
            }
            _ => (),
        }
        self
    }

    /// What came of it, for those who may not know what was typed: in our own words, as a device
    /// may repeat it, and without pictures, which may show it.
    pub(super) fn hushed(
        &self,
        result: &Result<Outcome, DesktopError>,
    ) -> Result<Outcome, DesktopError> {
        match (self, result) {
            (Self::Batch { actions, .. }, Ok(Outcome::Batch(results))) => {
                let each = actions.iter().zip(results);
                Ok(Outcome::Batch(each.map(|(action, result)| action.hushed(result)).collect()))
            }
            (_, Ok(Outcome::Done(done))) => {
                let mut done = done.clone();
                done.picture = None;
                // Of a clipboard it is told how much there is on it, which is no longer known here.
                if self.is_typed() && !matches!(self, Self::ClipboardSet { .. }) {
                    done.message = self.done(done.at);
                }
                Ok(Outcome::Done(done))
            }
            (_, Ok(seen @ (Outcome::Picture(_) | Outcome::Clipboard { .. }))) => {
                Ok(Outcome::said(seen.summary()))
            }
            (_, Err(error)) if self.is_typed() && !is_plain(error.code) => {
                Err(self.failed(DesktopError::new(error.code, UNTOLD)))
            }
            (_, result) => result.clone(),
        }
    }

    /// What came of it, for whoever asked: they know the secret, and what they are told is kept.
    pub(super) fn silenced(
        &self,
        result: Result<Outcome, DesktopError>,
    ) -> Result<Outcome, DesktopError> {
        match (self, result) {
            (Self::Batch { actions, .. }, Ok(Outcome::Batch(results))) => {
                let each = actions.iter().zip(results);
                Ok(Outcome::Batch(each.map(|(action, result)| action.silenced(result)).collect()))
            }
            // In our own words: a device of the seed repeats what it typed.
            (_, Ok(Outcome::Done(mut done))) if self.secret().is_some() => {
                done.message = self.done(done.at);
                Ok(Outcome::Done(done))
            }
            (_, Err(error)) => match self.secret() {
                Some(secret) if secret.chars().count() >= SHORTEST => {
                    let text = error.text.replace(secret, &hidden(secret));
                    Err(DesktopError { text, ..error })
                }
                _ => Err(error),
            },
            (_, result) => result,
        }
    }

    fn keys(&self) -> Option<&Chords> {
        match self {
            Self::KeyboardCommand { keys }
            | Self::KeyCombo { keys, .. }
            | Self::HoldKey { keys, .. }
            | Self::KeyDown { key: keys }
            | Self::KeyUp { key: keys } => Some(keys),
            _ => None,
        }
    }
}

/// Whether any of the keys leaves a character.
fn writes(keys: &Chords) -> bool {
    let leaves = |key: &Key| match key {
        Key::Char(_) => true,
        Key::Named(named) => matches!(
            named,
            Named::Space
                | Named::Keypad(_)
                | Named::KeypadAdd
                | Named::KeypadSubtract
                | Named::KeypadMultiply
                | Named::KeypadDivide
                | Named::KeypadDecimal
        ),
    };
    keys.chords.iter().flat_map(|Chord { keys }| keys).any(leaves)
}

/// Whether such an error is said in the same words whatever was typed.
fn is_plain(code: Code) -> bool {
    code.is_ours() || matches!(code, Code::NoDisplay | Code::Permission)
}
