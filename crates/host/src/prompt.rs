//! Reads a secret: typed at a terminal without being shown, or piped in.

use std::io::{self, IsTerminal as _, Read as _};

use anyhow::Context as _;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

/// Keys are short; whatever is longer is something else.
const MOST_BYTES: u64 = 64 << 10;

const CTRL_C: u8 = 3;
const CTRL_D: u8 = 4;
const BACKSPACE: [u8; 2] = [8, 127];
const ENTER: [u8; 2] = [b'\n', b'\r'];

/// `None` if the person thought better of it.
pub fn secret(question: &str) -> anyhow::Result<Option<String>> {
    let stdin = io::stdin();
    if !stdin.is_terminal() {
        let mut text = String::new();
        let read = stdin.lock().take(MOST_BYTES).read_to_string(&mut text);
        read.context("cannot read the key from stdin")?;
        return Ok(Some(text));
    }
    eprint!("{question}");
    let typed = {
        let _quiet = Quiet::begin()?;
        type_in(stdin.lock())
    };
    eprintln!();
    typed
}

/// A terminal that shows nothing; dropping this makes it as it was.
struct Quiet(Termios);

impl Quiet {
    fn begin() -> anyhow::Result<Self> {
        let before = tcgetattr(io::stdin()).context("cannot use the terminal")?;
        let mut quiet = before.clone();
        // Byte by byte, Ctrl-C among them: else it would leave the terminal mute.
        quiet.local_modes &= !(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG);
        tcsetattr(io::stdin(), OptionalActions::Flush, &quiet)
            .context("cannot use the terminal")?;
        Ok(Self(before))
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        // There is no other way to make it as it was.
        tcsetattr(io::stdin(), OptionalActions::Flush, &self.0).ok();
    }
}

fn type_in(from: impl io::BufRead) -> anyhow::Result<Option<String>> {
    let mut typed = Vec::new();
    for byte in from.bytes() {
        match byte.context("cannot read from the terminal")? {
            CTRL_C => return Ok(None),
            byte if ENTER.contains(&byte) || byte == CTRL_D => break,
            byte if BACKSPACE.contains(&byte) => drop(typed.pop()),
            byte => typed.push(byte),
        }
    }
    Ok(Some(String::from_utf8(typed).context("the key is not plain text")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_typed_corrected_and_given_up() {
        let typed = |bytes: &[u8]| type_in(bytes).unwrap();
        assert_eq!(typed(b"s3cret\nmore"), Some("s3cret".into()));
        assert_eq!(typed(b"s3x\x7fcret\r"), Some("s3cret".into()));
        assert_eq!(typed(b"\x7f\x04"), Some(String::new()));
        assert_eq!(typed(b"s3\x03"), None);
    }
}
