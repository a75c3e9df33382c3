//! Where the answer and all that surrounds it are printed.

use std::io::{self, IsTerminal as _, Write};

use super::reader::Show;
use crate::logs;

/// How much of a line about a tool call is worth reading.
const LINE_CHARS: usize = 160;

pub struct Screen {
    out: Box<dyn Write + Send>,
    err: Box<dyn Write + Send>,
    style: Style,
    /// What was printed last did not end its line.
    open: Option<Open>,
    /// The answer itself has not ended its line, whatever was remarked beside it since.
    unfinished: bool,
}

#[derive(Clone, Copy)]
pub struct Style {
    /// Events as they are, instead of what they mean.
    pub json: bool,
    /// Somebody looks at stdout: what could move the cursor or worse is left out.
    pub to_terminal: bool,
    pub dim: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Open {
    Text,
    Reasoning,
}

impl Screen {
    pub fn of_the_terminal(json: bool) -> Self {
        let to_terminal = io::stdout().is_terminal();
        let style = Style { json, to_terminal, dim: logs::in_colour() };
        Self::new(Box::new(io::stdout()), Box::new(io::stderr()), style)
    }

    pub fn new(out: Box<dyn Write + Send>, err: Box<dyn Write + Send>, style: Style) -> Self {
        Self { out, err, style, open: None, unfinished: false }
    }

    /// An event as it came. Fails when nobody reads any more.
    pub fn event(&mut self, raw: &str) -> io::Result<()> {
        if !self.style.json {
            return Ok(());
        }
        writeln!(self.out, "{raw}")?;
        self.out.flush()
    }

    /// Fails when nobody reads the answer any more.
    pub fn show(&mut self, show: Show) -> io::Result<()> {
        if self.style.json {
            return Ok(());
        }
        match show {
            Show::Text(text) => {
                if self.open == Some(Open::Reasoning) {
                    self.end_line();
                }
                let text = if self.style.to_terminal { harmless(&text) } else { text };
                self.unfinished = !text.ends_with('\n');
                self.open = self.unfinished.then_some(Open::Text);
                self.out.write_all(text.as_bytes())?;
                self.out.flush()?;
            }
            Show::Stop => {
                let ended_by_remark = self.style.to_terminal && self.open != Some(Open::Text);
                if std::mem::take(&mut self.unfinished) && !ended_by_remark {
                    self.open = None;
                    writeln!(self.out)?;
                    self.out.flush()?;
                }
            }
            Show::Reasoning(text) => {
                if self.open == Some(Open::Text) {
                    self.end_line();
                }
                self.open = if text.ends_with('\n') { None } else { Some(Open::Reasoning) };
                self.remark(&harmless(&text), "");
            }
            Show::Doing(text) => self.note(&format!("· {text}")),
            // Whoever talks to the person does so.
            Show::Asking(_) | Show::Settled(_) => (),
        }
        Ok(())
    }

    /// A line beside the answer.
    pub fn note(&mut self, text: &str) {
        self.end_line();
        let mut line = harmless(text).replace('\n', " ");
        if let Some((end, _)) = line.char_indices().nth(LINE_CHARS) {
            line.truncate(end);
            line.push('…');
        }
        self.remark(&line, "\n");
    }

    /// Asks the person something, in lines that are fit for a terminal.
    pub fn ask(&mut self, lines: &[String]) {
        self.end_line();
        for line in lines {
            // As with complaints: should nobody read it, it still waits.
            writeln!(self.err, "{line}").ok();
        }
    }

    pub fn hint(&mut self, session: &str) {
        self.end_line();
        self.remark(&format!("go on with: megaron ask --session {session} \"…\""), "\n");
    }

    pub fn complain(&mut self, text: &str) {
        self.end_line();
        // Whoever does not read complaints has the exit code.
        writeln!(self.err, "megaron: {}", harmless(text)).ok();
    }

    fn end_line(&mut self) {
        if self.open.take().is_some() {
            // On stderr, so that the answer stays as it was said.
            writeln!(self.err).ok();
        }
    }

    /// Beside the answer; should nobody read it, the answer still counts.
    fn remark(&mut self, text: &str, end: &str) {
        let (begin, reset) = if self.style.dim { ("\x1b[2m", "\x1b[0m") } else { ("", "") };
        write!(self.err, "{begin}{text}{reset}{end}").ok();
        self.err.flush().ok();
    }
}

/// Without what would command a terminal.
fn harmless(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Paper(Arc<Mutex<Vec<u8>>>);

    impl Write for Paper {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn print(style: Style, shows: impl IntoIterator<Item = Show>) -> (String, String) {
        let (out, err) = (Paper::default(), Paper::default());
        let mut screen = Screen::new(Box::new(out.clone()), Box::new(err.clone()), style);
        for show in shows {
            screen.show(show).unwrap();
        }
        let read = |paper: Paper| String::from_utf8(paper.0.lock().unwrap().clone()).unwrap();
        (read(out), read(err))
    }

    const PLAIN: Style = Style { json: false, to_terminal: false, dim: false };

    #[test]
    fn the_answer_goes_to_stdout_and_the_rest_to_stderr() {
        let shows = [
            Show::Reasoning("hm".into()),
            Show::Text("Hel".into()),
            Show::Text("lo".into()),
            Show::Stop,
            Show::Doing("read_file {}".into()),
            Show::Text("Done.\n".into()),
            Show::Stop,
        ];
        let (out, err) = print(PLAIN, shows);
        assert_eq!(out, "Hello\nDone.\n");
        assert_eq!(err, "hm\n· read_file {}\n");
    }

    #[test]
    fn a_terminal_is_not_commanded_by_an_answer() {
        let shows = || [Show::Text("a\x1b[2Jb\rc\td\n".into())];
        assert_eq!(print(Style { to_terminal: true, ..PLAIN }, shows()).0, "a[2Jbc\td\n");
        assert_eq!(print(PLAIN, shows()).0, "a\x1b[2Jb\rc\td\n");
    }

    #[test]
    fn remarks_are_dim_and_short() {
        let (_, err) = print(Style { dim: true, ..PLAIN }, [Show::Doing("x\ny".repeat(90))]);
        assert!(err.starts_with("\x1b[2m· x yx y"), "{err}");
        assert!(err.ends_with("…\x1b[0m\n"), "{err}");
    }
}
