//! What was measured, in columns a person can read.

use std::fmt;

#[derive(Default)]
pub struct Table(Vec<Row>);

pub struct Row {
    pub what: String,
    pub value: f64,
    pub unit: &'static str,
    pub target: Option<Target>,
    /// The same thing done by something else in this run, or the original's figure.
    pub beside: Vec<(String, f64)>,
}

pub enum Target {
    AtMost(f64),
    AtLeast(f64),
}

impl Row {
    pub fn new(what: &str, value: f64, unit: &'static str) -> Self {
        Self { what: what.to_owned(), value, unit, target: None, beside: Vec::new() }
    }

    pub fn at_most(mut self, limit: f64) -> Self {
        self.target = Some(Target::AtMost(limit));
        self
    }

    pub fn at_least(mut self, limit: f64) -> Self {
        self.target = Some(Target::AtLeast(limit));
        self
    }

    pub fn beside(mut self, what: &str, value: f64) -> Self {
        self.beside.push((what.to_owned(), value));
        self
    }

    fn verdict(&self) -> (String, &'static str) {
        match self.target {
            None => (String::new(), ""),
            Some(Target::AtMost(limit)) => {
                (format!("≤ {}", number(limit)), if self.value <= limit { "met" } else { "MISSED" })
            }
            Some(Target::AtLeast(limit)) => {
                (format!("≥ {}", number(limit)), if self.value >= limit { "met" } else { "MISSED" })
            }
        }
    }
}

impl Table {
    pub fn add(&mut self, rows: Vec<Row>) {
        self.0.extend(rows);
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| what | value | unit | target | | beside it | ratio |")?;
        writeln!(f, "|---|---:|---|---:|---|---|---:|")?;
        for row in &self.0 {
            let (target, verdict) = row.verdict();
            let join = |texts: Vec<String>| texts.join("; ");
            let beside = row.beside.iter();
            let ratio = |it: &(String, f64)| {
                if it.1.is_nan() { "-".to_owned() } else { format!("{:.2}", row.value / it.1) }
            };
            let ratio = join(beside.clone().map(ratio).collect());
            let beside = join(beside.map(|it| format!("{}: {}", it.0, number(it.1))).collect());
            let (what, value, unit) = (&row.what, number(row.value), row.unit);
            writeln!(
                f,
                "| {what} | {value} | {unit} | {target} | {verdict} | {beside} | {ratio} |"
            )?;
        }
        Ok(())
    }
}

/// Three figures are enough; what is no number was not there to be measured.
fn number(value: f64) -> String {
    match value.abs() {
        size if size.is_nan() => "not here".to_owned(),
        size if size >= 1000.0 => {
            let digits = format!("{value:.0}");
            let cut = |(index, digit): (usize, char)| {
                let thousand = index > 0 && (digits.len() - index).is_multiple_of(3);
                [thousand.then_some(','), Some(digit)].into_iter().flatten().collect::<String>()
            };
            digits.chars().enumerate().map(cut).collect()
        }
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}
