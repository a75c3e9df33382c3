//! What was found: in one file, and in all of them.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    io::{self, Read},
    path::PathBuf,
    sync::atomic::{AtomicBool, Ordering},
};

use grep_searcher::{Searcher, Sink, SinkContext, SinkFinish, SinkMatch};

use crate::search::{missed, printable};

/// The most of a line that is shown, in bytes.
const LONGEST: usize = 500;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Show {
    Lines,
    Files,
    Counts,
}

/// What matches in one file.
pub struct Hits {
    show: Show,
    most: usize,
    count: usize,
    lines: Vec<Line>,
    binary: bool,
}

struct Line {
    number: u64,
    text: String,
    /// Or it is only near one that does.
    matches: bool,
}

impl Hits {
    pub fn new(show: Show, most: usize) -> Self {
        Self { show, most, count: 0, lines: Vec::new(), binary: false }
    }

    /// None if nothing matches, or what does is no text.
    pub fn any(self) -> Option<Self> {
        (self.count > 0 && !self.binary).then_some(self)
    }

    fn add(&mut self, number: Option<u64>, bytes: &[u8], matches: bool) {
        let number = number.unwrap_or_default();
        self.lines.push(Line { number, text: text(bytes), matches });
    }
}

impl Sink for &mut Hits {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.count += 1;
        if self.show == Show::Lines && self.count <= self.most {
            self.add(found.line_number(), found.bytes(), true);
        }
        Ok(self.show != Show::Files)
    }

    fn context(&mut self, _: &Searcher, near: &SinkContext<'_>) -> io::Result<bool> {
        if self.count < self.most {
            self.add(near.line_number(), near.bytes(), false);
        }
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> io::Result<bool> {
        self.binary = true;
        Ok(false)
    }

    fn finish(&mut self, _: &Searcher, end: &SinkFinish) -> io::Result<()> {
        self.binary |= end.binary_byte_offset().is_some();
        Ok(())
    }
}

/// One line, and not all of it if it is long.
fn text(bytes: &[u8]) -> String {
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    if bytes.len() <= LONGEST {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    let shown = String::from_utf8_lossy(&bytes[..LONGEST]);
    // The cut may have gone through a character.
    let shown = shown.trim_end_matches(char::REPLACEMENT_CHARACTER);
    format!("{shown}… [{} bytes more]", bytes.len() - LONGEST)
}

/// What matches in all files, or the first of them by name.
pub struct Kept {
    show: Show,
    most: usize,
    files: BTreeMap<PathBuf, Hits>,
    /// How much is held, and how much there was.
    held: usize,
    all_lines: usize,
    all_files: usize,
}

impl Kept {
    pub fn new(show: Show, most: usize) -> Self {
        Self { show, most, files: BTreeMap::new(), held: 0, all_lines: 0, all_files: 0 }
    }

    pub fn add(&mut self, path: PathBuf, hits: Hits) {
        self.all_files += 1;
        self.all_lines += hits.count;
        self.held += weight(self.show, &hits);
        self.files.insert(path, hits);
        // However many there are, only those are held that will be shown.
        while let Some(last) = self.files.last_entry()
            && let weight = weight(self.show, last.get())
            && self.held - weight >= self.most
        {
            self.held -= weight;
            last.remove();
        }
    }

    pub fn show(&self, unreadable: u64) -> String {
        let (mut text, mut lines) = (String::new(), 0);
        for (path, hits) in &self.files {
            let name = printable(&path.to_string_lossy());
            let block = match self.show {
                Show::Files => format!("{name}\n"),
                Show::Counts => format!("{name}:{}\n", hits.count),
                Show::Lines => {
                    let gap = if text.is_empty() { "" } else { "\n" };
                    let (shown, count) = excerpt(&hits.lines, self.most - lines);
                    lines += count;
                    format!("{gap}{name}\n{shown}")
                }
            };
            text.push_str(&block);
        }
        let notes = [self.nothing(), self.rest(lines), missed(unreadable)];
        let notes: Vec<String> = notes.into_iter().flatten().collect();
        (text + &notes.join("\n")).trim_end().to_owned()
    }

    fn nothing(&self) -> Option<String> {
        self.files.is_empty().then(|| "(nothing matches)".to_owned())
    }

    fn rest(&self, shown: usize) -> Option<String> {
        let files = self.all_files - self.files.len();
        let lines = self.all_lines - shown;
        match self.show {
            Show::Files | Show::Counts if files > 0 => {
                Some(format!("[{files} more files are not shown]"))
            }
            Show::Lines if files > 0 => Some(format!(
                "[{lines} more lines that match are not shown, {files} more files among them]"
            )),
            Show::Lines if lines > 0 => {
                Some(format!("[{lines} more lines that match are not shown]"))
            }
            Show::Lines | Show::Files | Show::Counts => None,
        }
    }
}

/// How much of the limit a file takes up.
fn weight(show: Show, hits: &Hits) -> usize {
    if show == Show::Lines { hits.count.min(hits.most) } else { 1 }
}

/// So many lines that match, with what is near them.
fn excerpt(lines: &[Line], most: usize) -> (String, usize) {
    let (mut text, mut count, mut next) = (String::new(), 0, None);
    for Line { number, text: line, matches } in lines {
        if *matches && count == most {
            break;
        }
        count += usize::from(*matches);
        if next.is_some_and(|next| next != *number) && has_context(lines) {
            text.push_str("--\n");
        }
        let sign = if *matches { ':' } else { '-' };
        // Writing to a string cannot fail.
        writeln!(text, "{number}{sign}{line}").ok();
        next = Some(number + 1);
    }
    (text, count)
}

fn has_context(lines: &[Line]) -> bool {
    lines.iter().any(|line| !line.matches)
}

/// A file that ends when nobody waits for what is in it.
pub struct Watched<'a, R> {
    pub inner: R,
    pub stop: &'a AtomicBool,
}

impl<R: Read> Read for Watched<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(io::Error::other("nobody waits for this any more"));
        }
        self.inner.read(buffer)
    }
}
