//! What was taken and what could not be, for a person.

#[derive(Default)]
pub struct Report {
    pub dry_run: bool,
    pub sessions: usize,
    pub facts: usize,
    pub outputs: usize,
    pub pictures: usize,
    pub applets: Vec<String>,
    pub schedules: Vec<String>,
    pub preferences: bool,
    /// Sessions that were here already.
    pub known: usize,
    pub known_applets: usize,
    pub known_schedules: usize,
    pub known_preferences: bool,
    pub problems: Vec<String>,
    pub left: Vec<String>,
}

impl Report {
    pub fn told(&self) -> String {
        let would = if self.dry_run { "would be taken" } else { "taken" };
        let and = |preferences: bool| if preferences { ", preferences" } else { "" };
        let mut lines = vec![
            format!(
                "{would}: {} sessions ({} entries, {} outputs, {} pictures), {} applets, {} schedules{}",
                self.sessions,
                self.facts,
                self.outputs,
                self.pictures,
                self.applets.len(),
                self.schedules.len(),
                and(self.preferences),
            ),
            format!(
                "here already: {} sessions, {} applets, {} schedules{}",
                self.known,
                self.known_applets,
                self.known_schedules,
                and(self.known_preferences),
            ),
        ];
        lines.extend(self.applets.iter().map(|slug| format!("  applet {slug}")));
        lines.extend(self.schedules.iter().map(|slug| format!("  schedule {slug}")));
        if !self.schedules.is_empty() {
            let leave = "  note: schedules may do here what they are given leave for, and nobody is \
                         asked while they run: open each in the page and rehearse it";
            lines.push(leave.to_owned());
        }
        lines.extend(self.problems.iter().map(|problem| format!("  note: {problem}")));
        if !self.left.is_empty() {
            lines.push(format!("not taken: {}", self.left.join(", ")));
        }
        lines.join("\n") + "\n"
    }
}
