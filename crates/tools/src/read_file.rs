//! Reads a file: a text, or a picture.

use std::io::{self, BufRead, BufReader, Read as _};

use cap_std::fs::File;
use kernel::toolbox::{Call, Picture, Reply, Risk};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    folder::Folder,
    typed::{Typed, shorten},
    workshop::Workshop,
};

/// The most that is shown at once, in bytes.
const MOST: usize = 1024 * 1024;
/// The largest picture that is shown, in bytes. Providers take few that are larger.
const LARGEST_PICTURE: u64 = 5 * 1024 * 1024;

/// Reads a text file (UTF-8) in the session's folder, or shows a picture (PNG, JPEG, GIF or WebP).
/// Of a long file only the first part is returned, with a note that says where to read on.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The file, relative to the session's folder, or absolute inside it.
    path: String,
    /// The first line to read; lines count from 1. From the beginning if absent.
    offset: Option<u64>,
    /// How many lines to read. All if absent.
    limit: Option<u64>,
}

pub struct ReadFile {
    pub workshop: Workshop,
}

impl Typed for ReadFile {
    type Input = Input;
    type Output = Reply;
    const NAME: &'static str = "read_file";
    const RISK: Risk = Risk::Reads;
    const PARALLEL: bool = true;

    fn title(&self, input: &Input) -> String {
        format!("Reading {}", shorten(&input.path, 80))
    }

    async fn run(&self, input: Input, call: Call) -> Result<Reply, String> {
        let root = self.workshop.root(&input.path, &call);
        self.workshop.within(root, move |folder| read(folder, &input)).await
    }
}

fn read(folder: &Folder, Input { path, offset, limit }: &Input) -> Result<Reply, String> {
    let explain = |error: io::Error| match error.kind() {
        io::ErrorKind::IsADirectory => {
            format!("`{path}` is a directory; list_directory shows what is in it")
        }
        _ => folder.explain(path, &error),
    };
    let file = folder.open_file(&folder.relative(path)?).map_err(explain)?;
    let size = file.metadata().map_err(explain)?.len();
    let mut file = BufReader::new(file);
    if let Some(mime) = mime(file.fill_buf().map_err(explain)?) {
        return show(path, file, size, mime).map_err(explain);
    }
    let first = offset.unwrap_or(1).max(1);
    let excerpt = Excerpt::take(file, first, limit.unwrap_or(u64::MAX));
    excerpt.map_err(explain)?.show(path, first).map(Into::into)
}

/// The kind of picture that begins like this.
fn mime(start: &[u8]) -> Option<&'static str> {
    match start {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

fn show(path: &str, file: BufReader<File>, size: u64, mime: &str) -> io::Result<Reply> {
    let mut bytes = Vec::new();
    file.take(LARGEST_PICTURE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST_PICTURE {
        let what = format!("it is a picture of {size} bytes, and the most is {LARGEST_PICTURE}");
        return Err(io::Error::other(what));
    }
    let text = format!("`{path}` is a picture ({mime}, {} bytes)", bytes.len());
    let picture = Picture { mime: mime.to_owned(), bytes };
    Ok(Reply { text, pictures: vec![picture], ..Reply::default() })
}

/// Some lines of a file.
struct Excerpt {
    bytes: Vec<u8>,
    /// How many lines, and bytes, come before it.
    skipped: u64,
    start: u64,
    lines: u64,
    ending: Ending,
}

enum Ending {
    /// There is nothing after it.
    File,
    /// As many lines as were asked for.
    Limit,
    /// The next line does not fit.
    Size,
    /// Not even the first line fits, and this is a part of it.
    Line,
}

impl Excerpt {
    fn take(mut file: impl BufRead, first: u64, limit: u64) -> io::Result<Self> {
        let (mut skipped, mut start) = (0, 0);
        while skipped < first - 1 {
            let length = skip_line(&mut file)?;
            if length == 0 {
                break;
            }
            (skipped, start) = (skipped + 1, start + length);
        }
        let (mut bytes, mut lines) = (Vec::new(), 0);
        let ending = loop {
            if lines == limit {
                break if file.fill_buf()?.is_empty() { Ending::File } else { Ending::Limit };
            }
            let before = bytes.len();
            let room = (MOST - before) as u64;
            // One more than there is room for tells a line that fits from one that does not.
            let length = (&mut file).take(room + 1).read_until(b'\n', &mut bytes)?;
            if length == 0 {
                break Ending::File;
            }
            if bytes.len() > MOST {
                bytes.truncate(if lines == 0 { MOST } else { before });
                break if lines == 0 { Ending::Line } else { Ending::Size };
            }
            lines += 1;
        };
        Ok(Self { bytes, skipped, start, lines, ending })
    }

    fn show(mut self, path: &str, first: u64) -> Result<String, String> {
        if first > 1 && self.bytes.is_empty() && self.skipped < first {
            return Err(format!("`{path}` has only {} lines", self.skipped));
        }
        if let (Ending::Line, Err(error)) = (&self.ending, str::from_utf8(&self.bytes))
            && error.error_len().is_none()
        {
            // The cut went through a character.
            self.bytes.truncate(error.valid_up_to());
        }
        let mut text = String::from_utf8(self.bytes).map_err(|error| {
            let at = self.start + error.utf8_error().valid_up_to() as u64;
            format!("`{path}` is not text: it is not UTF-8 at byte {at}")
        })?;
        let next = first + self.lines;
        let note = match self.ending {
            Ending::File => return Ok(text),
            Ending::Limit => format!("[more follows; read on with offset {next}]"),
            Ending::Size => {
                format!("[cut: at most {MOST} bytes are shown at once; read on with offset {next}]")
            }
            Ending::Line => format!(
                "[cut: line {first} has more than {MOST} bytes; the next line is at offset {}]",
                first + 1
            ),
        };
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        Ok(text + &note)
    }
}

/// How long the line was, with its end; 0 at the end of the file.
fn skip_line(file: &mut impl BufRead) -> io::Result<u64> {
    let mut length = 0;
    loop {
        let buffer = file.fill_buf()?;
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let used = end.map_or(buffer.len(), |end| end + 1);
        let done = end.is_some() || buffer.is_empty();
        file.consume(used);
        length += used as u64;
        if done {
            return Ok(length);
        }
    }
}

#[cfg(test)]
mod tests;
