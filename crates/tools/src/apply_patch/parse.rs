//! Reads a patch: which files it names, and what it says of their lines.

mod header;

use self::header::Header;
use crate::typed::shorten;

/// What a patch says of one file.
#[derive(Debug, Default, PartialEq)]
pub struct Section {
    /// Its name before and after; absent if it is new, or will be gone.
    pub old: Option<String>,
    pub new: Option<String>,
    pub executable: Option<bool>,
    pub hunks: Vec<Hunk>,
}

impl Section {
    /// What it is called in errors.
    pub fn name(&self) -> &str {
        self.new.as_deref().or(self.old.as_deref()).unwrap_or("/dev/null")
    }
}

#[derive(Debug, PartialEq)]
pub struct Hunk {
    /// Where it stands in the patch.
    pub line: usize,
    /// The first line it is about, or the one after which it adds; a patch may leave it open.
    pub start: Option<usize>,
    pub lines: Vec<Line>,
}

#[derive(Debug, PartialEq)]
pub struct Line {
    pub sign: Sign,
    /// With its end, if it has one.
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    Keep,
    Cut,
    Add,
}

const NAMES: &str = "a unified diff names each file by `--- a/path` and `+++ b/path`";

pub fn sections(patch: &str) -> Result<Vec<Section>, String> {
    let mut reader = Reader { lines: patch.split('\n').collect(), at: 0 };
    let mut sections = Vec::new();
    while reader.find_file(sections.is_empty())? {
        let Header { old, new, executable } = reader.header()?;
        let mut section = Section { old, new, executable, hunks: Vec::new() };
        while reader.line().is_some_and(is_hunk) {
            section.hunks.push(reader.hunk()?);
        }
        sections.push(section);
    }
    if sections.is_empty() {
        return Err(format!("the patch names no file; {NAMES}"));
    }
    Ok(sections)
}

struct Reader<'a> {
    lines: Vec<&'a str>,
    at: usize,
}

impl<'a> Reader<'a> {
    fn line(&self) -> Option<&'a str> {
        self.lines.get(self.at).copied()
    }

    /// An error at this line.
    fn wrong<T>(&self, what: &str) -> Result<T, String> {
        let found = shorten(self.line().unwrap_or_default(), 80);
        Err(format!("line {} of the patch, `{found}`: {what}", self.at + 1))
    }

    /// Goes on to where a file is named. A word before the first is nobody's business, but what is
    /// not understood between two could be what somebody wanted to be done.
    fn find_file(&mut self, first: bool) -> Result<bool, String> {
        while let Some(line) = self.line() {
            if self.is_file(self.at) {
                return Ok(true);
            }
            if is_hunk(line) {
                return self.wrong(&format!("it is not known which file this is about; {NAMES}"));
            }
            if is_signature(line) && !first {
                return Ok(false);
            }
            if !first && !is_filler(line) {
                return self.wrong("this is not part of a unified diff");
            }
            self.at += 1;
        }
        Ok(false)
    }

    fn is_file(&self, at: usize) -> bool {
        let begins = |at: usize, with| self.lines.get(at).is_some_and(|it| it.starts_with(with));
        begins(at, "diff --git ") || begins(at, "--- ") && begins(at + 1, "+++ ")
    }

    fn hunk(&mut self) -> Result<Hunk, String> {
        let header = self.at;
        let Some(Ok(range)) = self.line().map(range) else {
            return self.wrong("a hunk begins with `@@ -1,3 +1,4 @@`");
        };
        self.at += 1;
        // The numbers are easily got wrong; what follows shows where the hunk really ends.
        let end = range.and_then(|range| self.counted(range)).unwrap_or_else(|| self.open_end());
        let mut lines: Vec<Line> = Vec::new();
        while self.at < end {
            let line = self.line().unwrap_or_default();
            match (sign(line), lines.last_mut()) {
                (Some(sign), _) => {
                    let text = format!("{}\n", line.strip_prefix([' ', '+', '-']).unwrap_or(line));
                    lines.push(Line { sign, text });
                }
                (None, Some(last)) if is_mark(line) && last.text.ends_with('\n') => {
                    last.text.pop();
                }
                _ => return self.wrong("a line of a hunk begins with a space, `+` or `-`"),
            }
            self.at += 1;
        }
        if lines.is_empty() {
            self.at = header;
            return self.wrong("this hunk has no lines");
        }
        if [Sign::Cut, Sign::Add].into_iter().any(|but| breaks_off(&lines, but)) {
            self.at = header;
            return self.wrong("only the last line of a file can be without an end");
        }
        Ok(Hunk { line: header + 1, start: range.map(|range| range.start), lines })
    }

    /// Where the hunk ends by its numbers, if these are right.
    fn counted(&self, Range { mut old, mut new, .. }: Range) -> Option<usize> {
        let mut at = self.at;
        while old > 0 || new > 0 {
            let line = self.lines.get(at)?;
            match sign(line) {
                Some(Sign::Keep) => (old, new) = (old.checked_sub(1)?, new.checked_sub(1)?),
                Some(Sign::Cut) => old = old.checked_sub(1)?,
                Some(Sign::Add) => new = new.checked_sub(1)?,
                None if is_mark(line) => {}
                None => return None,
            }
            at += 1;
        }
        if self.lines.get(at).is_some_and(|line| is_mark(line)) {
            at += 1;
        }
        let mut next = at;
        while self.lines.get(next).is_some_and(|line| line.trim().is_empty()) {
            next += 1;
        }
        let Some(line) = self.lines.get(next) else { return Some(at) };
        let ends = is_hunk(line) || is_signature(line) || is_filler(line) || self.is_file(next);
        ends.then_some(at)
    }

    /// Where the next hunk or file begins, without the empty lines before it.
    fn open_end(&self) -> usize {
        let rest = self.at..self.lines.len();
        let next = rest.clone().find(|at| is_hunk(self.lines[*at]) || self.is_file(*at));
        let mut end = next.unwrap_or(rest.end);
        while end > self.at && is_filler(self.lines[end - 1]) {
            end -= 1;
        }
        end
    }
}

/// The numbers of a hunk.
#[derive(Clone, Copy)]
struct Range {
    start: usize,
    old: u32,
    new: u32,
}

/// None if there are no numbers.
fn range(line: &str) -> Result<Option<Range>, ()> {
    let line = line.trim_start_matches('@').trim_start();
    if !line.starts_with('-') {
        return Ok(None);
    }
    let mut words = line.split_whitespace();
    let mut pair = |sign: char| {
        let word = words.next()?.strip_prefix(sign)?;
        let (start, count) = word.split_once(',').unwrap_or((word, "1"));
        let [start, count] = [start, count].map(str::parse::<u32>);
        Some((usize::try_from(start.ok()?).ok()?, count.ok()?))
    };
    let (Some((start, old)), Some((_, new))) = (pair('-'), pair('+')) else { return Err(()) };
    Ok(Some(Range { start, old, new }))
}

fn is_hunk(line: &str) -> bool {
    line.starts_with("@@")
}

/// An editor may have taken the space that stands for an empty line.
fn sign(line: &str) -> Option<Sign> {
    match line.bytes().next() {
        None | Some(b' ' | b'\r') => Some(Sign::Keep),
        Some(b'-') => Some(Sign::Cut),
        Some(b'+') => Some(Sign::Add),
        Some(_) => None,
    }
}

/// Whether a line, of those without one sign, has no end though another follows, or nothing in it.
fn breaks_off(lines: &[Line], but: Sign) -> bool {
    let mut ends = lines.iter().filter(|line| line.sign != but).rev();
    let last = ends.next();
    last.is_some_and(|line| line.text.is_empty()) || ends.any(|line| !line.text.ends_with('\n'))
}

/// Says that the line before it has no end.
fn is_mark(line: &str) -> bool {
    line.starts_with('\\')
}

/// What a mail ends with.
fn is_signature(line: &str) -> bool {
    line == "-- "
}

fn is_filler(line: &str) -> bool {
    let line = line.trim();
    let begins = ["Index: ", "====", "index ", "diff "];
    line.is_empty() || line == "```" || begins.iter().any(|with| line.starts_with(with))
}

#[cfg(test)]
mod tests;
