//! What a command prints, without colours and the like, and with one kind of line end.

use std::mem;

use vte::{Parser, Perform};

/// Takes it in pieces that end anywhere, also within a sign.
#[derive(Default)]
pub struct Plain {
    parser: Parser,
    text: Text,
}

#[derive(Default)]
struct Text(String);

impl Perform for Text {
    fn print(&mut self, sign: char) {
        self.0.push(sign);
    }

    fn execute(&mut self, byte: u8) {
        if byte != b'\r' && byte.is_ascii() {
            self.0.push(byte.into());
        }
    }
}

impl Plain {
    /// What can be said of it so far.
    pub fn take(&mut self, bytes: &[u8]) -> String {
        self.parser.advance(&mut self.text, bytes);
        mem::take(&mut self.text.0)
    }
}

/// All of it at once.
pub fn plain(bytes: &[u8]) -> String {
    Plain::default().take(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_and_carriage_returns_go_and_all_else_stays() {
        for (printed, expected) in [
            ("a\tb\nc\0d\x7f", "a\tb\nc\0d\x7f"),
            ("one\r\ntwo\rthree", "one\ntwothree"),
            ("\x1b[31mred\x1b[0m \x1b[1;38;5;4mbold", "red bold"),
            ("\x1b]8;;https://x.test\x1b\\link\x1b]8;;\x07!", "link!"),
            ("\x1b[2K\x1b[?25lgrüße \u{1f642}", "grüße \u{1f642}"),
        ] {
            assert_eq!(plain(printed.as_bytes()), expected, "{printed:?}");
            let mut piecemeal = Plain::default();
            let pieces: String =
                printed.as_bytes().chunks(1).map(|byte| piecemeal.take(byte)).collect();
            assert_eq!(pieces, expected, "{printed:?} byte by byte");
        }
        assert_eq!(plain(b"a\xffb"), "a\u{fffd}b");
    }
}
