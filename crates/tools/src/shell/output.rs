//! What a command printed: kept within bounds, and made readable.

use std::collections::VecDeque;

/// How much of the beginning and of the end is kept.
const KEPT: usize = 1 << 20;

/// The beginning and the end; of what was between, only how much it was.
#[derive(Default)]
pub struct Output {
    head: Vec<u8>,
    tail: Tail,
}

impl Output {
    pub fn add(&mut self, bytes: &[u8]) {
        let room = (KEPT - self.head.len()).min(bytes.len());
        let (head, tail) = bytes.split_at(room);
        self.head.extend(head);
        self.tail.add(tail);
    }

    pub fn text(&self) -> String {
        let Tail { bytes, dropped } = &self.tail;
        let tail: Vec<u8> = bytes.iter().copied().collect();
        if *dropped == 0 {
            return readable(&[self.head.as_slice(), &tail].concat());
        }
        let (head, tail) = (readable(&self.head), readable(&tail));
        format!("{head}\n[{dropped} bytes left out]\n{tail}")
    }
}

/// The end of something; of what was before, only how much it was.
#[derive(Default)]
pub struct Tail {
    bytes: VecDeque<u8>,
    dropped: usize,
}

impl Tail {
    pub fn add(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
        let excess = self.bytes.len().saturating_sub(KEPT);
        self.bytes.drain(..excess);
        self.dropped += excess;
    }

    /// How much there has been, dropped or not.
    pub fn size(&self) -> usize {
        self.dropped + self.bytes.len()
    }

    /// What came after the first `seen` bytes.
    pub fn since(&self, seen: usize) -> String {
        let skip = seen.saturating_sub(self.dropped);
        let text = readable(&self.bytes.iter().skip(skip).copied().collect::<Vec<_>>());
        match self.dropped.saturating_sub(seen) {
            0 => text,
            lost => format!("[{lost} bytes left out]\n{text}"),
        }
    }
}

/// As it would stand on a terminal in the end: without colours, and without what was overwritten.
fn readable(bytes: &[u8]) -> String {
    let lines = bytes.split(|byte| *byte == b'\n').map(|line| {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let last = line.rsplit(|byte| *byte == b'\r').next().unwrap_or(line);
        // Tabs would go with the other signs that are not printed.
        let cells = last.split(|byte| *byte == b'\t').map(strip_ansi_escapes::strip);
        String::from_utf8_lossy(&cells.collect::<Vec<_>>().join(&b'\t')).into_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Turns chunks into text without breaking a letter in two.
#[derive(Default)]
pub struct Letters {
    begun: Vec<u8>,
}

impl Letters {
    pub fn read(&mut self, bytes: &[u8]) -> String {
        self.begun.extend(bytes);
        let whole = match std::str::from_utf8(&self.begun) {
            // Not ended, rather than wrong.
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => self.begun.len(),
        };
        let rest = self.begun.split_off(whole);
        let text = String::from_utf8_lossy(&self.begun).into_owned();
        self.begun = rest;
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_and_the_end_are_kept() {
        let mut output = Output::default();
        output.add(b"first\n");
        for _ in 0..5 {
            output.add(&vec![b'x'; KEPT]);
        }
        output.add(b"\nlast");
        let text = output.text();
        assert!(text.starts_with("first\nxxx") && text.ends_with("xxx\nlast"), "{}", text.len());
        let left_out = 5 * KEPT + 11 - 2 * KEPT;
        assert!(text.contains(&format!("\n[{left_out} bytes left out]\n")));
    }

    #[test]
    fn a_tail_is_read_piece_by_piece() {
        let mut tail = Tail::default();
        tail.add(b"one");
        assert_eq!((tail.since(0), tail.size()), ("one".into(), 3));
        tail.add(b"two");
        assert_eq!(tail.since(3), "two");
        tail.add(&vec![b'x'; KEPT]);
        assert_eq!(tail.since(6), "x".repeat(KEPT));
        assert_eq!(tail.since(4), format!("[2 bytes left out]\n{}", "x".repeat(KEPT)));
    }

    #[test]
    fn what_a_terminal_would_show_is_what_is_told() {
        for (printed, shown) in [
            (&b"\x1b[31mred\x1b[0m\tplain\r\n"[..], "red\tplain\n"),
            (b"10%\r50%\r100%\n", "100%\n"),
            (b"\x1b]0;title\x07text", "text"),
            (b"gr\xc3\xbc\xc3\x9fe \xff", "grüße \u{fffd}"),
        ] {
            let mut output = Output::default();
            output.add(printed);
            assert_eq!(output.text(), shown);
        }
    }

    #[test]
    fn letters_are_not_broken() {
        let mut letters = Letters::default();
        let read: Vec<String> =
            [&b"a\xc3"[..], b"\xbc", b"\xff b", b"\xe2\x82"].map(|it| letters.read(it)).into();
        assert_eq!(read, ["a", "ü", "\u{fffd} b", ""]);
    }
}
