//! Finds where hunks belong in a text: by what is there, never by what is almost there.

use super::parse::{Hunk, Section, Sign};
use crate::{diff, hint, typed::shorten};

/// The text as the hunks change it.
pub fn apply(text: &str, section: &Section) -> Result<String, String> {
    let lines = diff::lines(text);
    let bare = section.hunks.iter().flat_map(|hunk| &hunk.lines).all(|it| !it.text.contains('\r'));
    let file = File { text, lines: &lines, crlf: bare && hint::is_crlf(text) };
    let (mut new, mut done, mut drift) = (String::with_capacity(text.len()), 0, 0);
    for (index, hunk) in section.hunks.iter().enumerate() {
        let wrong = |what: String| {
            let (number, name) = (index + 1, section.name());
            format!("hunk {number} of `{name}` (line {} of the patch) {what}", hunk.line)
        };
        let old: Vec<String> = file.lines_of(hunk, Sign::Add);
        let wanted = hunk.start.map(|start| if old.is_empty() { start } else { start.max(1) - 1 });
        let likely = wanted.and_then(|wanted| wanted.checked_add_signed(drift));
        let at = file.place(&old, done, likely).map_err(wrong)?;
        // Neither is larger than 32 bits allow.
        drift = wanted.map_or(0, |wanted| at.cast_signed() - wanted.cast_signed());
        lines[done..at].iter().for_each(|line| new.push_str(line));
        for line in file.lines_of(hunk, Sign::Cut) {
            if !new.is_empty() && !new.ends_with('\n') {
                return Err(wrong("adds a line after one that has no end".into()));
            }
            new.push_str(&line);
        }
        done = at + old.len();
    }
    if done < lines.len() && !new.is_empty() && !new.ends_with('\n') {
        return Err(format!("`{}` would have a line without an end inside", section.name()));
    }
    lines[done..].iter().for_each(|line| new.push_str(line));
    Ok(new)
}

struct File<'a> {
    text: &'a str,
    lines: &'a [&'a str],
    /// Whether the lines of the patch shall end like those of the file.
    crlf: bool,
}

impl File<'_> {
    /// The lines of a hunk but those of one sign.
    fn lines_of(&self, hunk: &Hunk, but: Sign) -> Vec<String> {
        let lines = hunk.lines.iter().filter(|line| line.sign != but);
        let ended =
            |text: &String| if self.crlf { text.replace('\n', "\r\n") } else { text.clone() };
        lines.map(|line| ended(&line.text)).collect()
    }

    /// The index of the line where these are.
    fn place(&self, old: &[String], done: usize, likely: Option<usize>) -> Result<usize, String> {
        if old.is_empty() {
            let likely = likely.or(self.lines.is_empty().then_some(0));
            return match likely.filter(|at| (done..=self.lines.len()).contains(at)) {
                Some(at) => Ok(at),
                None => Err("adds lines without saying where; show some that are there".into()),
            };
        }
        if let Some(likely) = likely.filter(|likely| *likely >= done)
            && self.lines.get(likely..likely + old.len()).is_some_and(|there| *there == *old)
        {
            return Ok(likely);
        }
        match self.candidates(&old.concat(), done).as_slice() {
            [only] => Ok(*only),
            [] => Err(format!("does not fit: {}", self.difference(old, done, likely))),
            many => {
                let numbers: Vec<usize> = many.iter().map(|at| at + 1).collect();
                let places = hint::places(&numbers);
                Err(format!("could be about {places}; show more of what is around it"))
            }
        }
    }

    /// Where the lines are, from one line on; no more places than would be named.
    fn candidates(&self, old: &str, done: usize) -> Vec<usize> {
        let start: usize = self.lines[..done].iter().map(|line| line.len()).sum();
        let line_at = |position: usize| done + self.text[start..position].matches('\n').count();
        let is_start = |at: usize| at == start || self.text[..at].ends_with('\n');
        if !old.ends_with('\n') {
            // Only the last line of a file has no end.
            let at = self.text[start..].strip_suffix(old).map(|before| start + before.len());
            return at.filter(|at| is_start(*at)).map(line_at).into_iter().collect();
        }
        let (hay, needle) = (format!("\n{}", &self.text[start..]), format!("\n{old}"));
        let (mut found, mut from) = (Vec::new(), 0);
        while let Some(at) = hay[from..].find(&needle).filter(|_| found.len() <= hint::NAMED) {
            found.push(line_at(start + from + at));
            from += at + 1;
        }
        found
    }

    /// Why lines are nowhere.
    fn difference(&self, old: &[String], done: usize, likely: Option<usize>) -> String {
        let begins = |at: &usize| {
            *at >= done && self.lines.get(*at).is_some_and(|line| body(line) == body(&old[0]))
        };
        let anywhere = || (done..self.lines.len()).find(begins);
        let Some(at) = likely.filter(begins).or_else(anywhere) else {
            let earlier = if done > 0 && self.text.contains(&old.concat()) {
                ", or they come before the hunk above it"
            } else {
                ""
            };
            let first = shorten(old[0].trim_end(), 80);
            let near = hint::nearest(self.text, &old[0]);
            return format!("its lines, from `{first}` on, are not in the file{earlier}{near}");
        };
        let differs = |(index, line): &(usize, &String)| {
            self.lines.get(at + index).is_none_or(|there| there != line)
        };
        let (index, wanted) = old.iter().enumerate().find(differs).unwrap_or((0, &old[0]));
        let (number, wanted) = (at + index + 1, shown(wanted));
        match self.lines.get(at + index) {
            Some(there) => format!("line {number} of the file is {}, not {wanted}", shown(there)),
            None => format!("the file ends before line {number}, where {wanted} should be"),
        }
    }
}

fn body(line: &str) -> &str {
    line.trim_end_matches(['\r', '\n'])
}

/// A line with its end, if that is unlike others.
fn shown(line: &str) -> String {
    let text = shorten(body(line), 200);
    match line {
        line if line.ends_with("\r\n") => format!("`{text}` (ending with CRLF)"),
        line if line.ends_with('\n') => format!("`{text}`"),
        _ => format!("`{text}` (without a line end)"),
    }
}
