//! What was judged, as text, as JSON and as `JUnit`.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{Check, Outcome};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Text,
    Json,
    Junit,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    pub server: String,
    /// The version of the protocol that was agreed on.
    pub protocol: String,
    pub checks: Vec<Check>,
}

impl Report {
    /// Whether nothing failed.
    pub fn is_well(&self) -> bool {
        self.count(Outcome::Failed) == 0
    }

    pub fn count(&self, outcome: Outcome) -> usize {
        self.checks.iter().filter(|check| check.outcome == outcome).count()
    }

    pub fn written(&self, format: Format) -> String {
        match format {
            Format::Text => self.text(),
            Format::Json => format!("{:#}\n", self.json()),
            Format::Junit => self.junit(),
        }
    }

    fn tools(&self) -> Vec<&str> {
        let mut tools: Vec<&str> = self.checks.iter().map(|check| check.tool.as_str()).collect();
        tools.dedup();
        tools
    }

    fn of<'a>(&'a self, tool: &'a str) -> impl Iterator<Item = &'a Check> {
        self.checks.iter().filter(move |check| check.tool == tool)
    }

    fn text(&self) -> String {
        let mut text = format!("{} ({})\n", plain(&self.server), plain(&self.protocol));
        if self.checks.is_empty() {
            text.push_str("none of its tools has a widget\n");
        }
        for tool in self.tools() {
            writeln!(text, "\n{}", plain(tool)).ok();
            for check in self.of(tool) {
                let mark = match check.outcome {
                    Outcome::Passed => "ok  ",
                    Outcome::Skipped => "-   ",
                    Outcome::Doubtful => "?   ",
                    Outcome::Failed => "FAIL",
                };
                writeln!(text, "  {mark} {:13}  {}", check.name, plain(&check.detail)).ok();
            }
        }
        writeln!(text, "\n{}", self.sum()).ok();
        text
    }

    fn sum(&self) -> String {
        let count = |outcome: Outcome| format!("{} {}", self.count(outcome), outcome.name());
        [Outcome::Passed, Outcome::Failed, Outcome::Doubtful, Outcome::Skipped]
            .map(count)
            .join(", ")
    }

    fn json(&self) -> Value {
        let checks = self.checks.iter().map(|check| {
            json!({
                "tool": check.tool,
                "check": check.name,
                "outcome": check.outcome.name(),
                "detail": check.detail,
            })
        });
        json!({
            "server": self.server,
            "protocol": self.protocol,
            "ok": self.is_well(),
            "checks": checks.collect::<Vec<_>>(),
        })
    }

    fn junit(&self) -> String {
        let (tests, failures) = (self.checks.len(), self.count(Outcome::Failed));
        let name = escaped(&self.server);
        let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        writeln!(text, "<testsuites name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\">")
            .ok();
        for tool in self.tools() {
            let checks: Vec<&Check> = self.of(tool).collect();
            let count = |of: Outcome| checks.iter().filter(|check| check.outcome == of).count();
            writeln!(
                text,
                "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" skipped=\"{}\">",
                escaped(tool),
                checks.len(),
                count(Outcome::Failed),
                count(Outcome::Skipped)
            )
            .ok();
            for check in checks {
                text.push_str(&case(check));
            }
            text.push_str("  </testsuite>\n");
        }
        text.push_str("</testsuites>\n");
        text
    }
}

fn case(check: &Check) -> String {
    let detail = escaped(&check.detail);
    let inside = match check.outcome {
        Outcome::Failed => format!("<failure message=\"{detail}\"/>"),
        Outcome::Skipped => format!("<skipped message=\"{detail}\"/>"),
        Outcome::Passed => format!("<system-out>{detail}</system-out>"),
        // There is no word for doubt there.
        Outcome::Doubtful => format!("<system-out>doubtful: {detail}</system-out>"),
    };
    let (name, tool) = (check.name, escaped(&check.tool));
    format!("    <testcase classname=\"{tool}\" name=\"{name}\">{inside}</testcase>\n")
}

/// What may stand in XML; whatever it cannot carry is left out.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\n' | '\r' | '\t' => safe.push(' '),
            '\u{fffe}' | '\u{ffff}' => (),
            letter if letter.is_control() => (),
            letter => safe.push(letter),
        }
    }
    safe
}

/// Nothing of a server's words steers a terminal.
fn plain(text: &str) -> String {
    text.chars()
        .flat_map(|it| if it.is_control() { it.escape_default().collect() } else { vec![it] })
        .collect()
}
