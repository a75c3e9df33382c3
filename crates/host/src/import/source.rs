//! Where a Caco home keeps its things.

use std::path::{Path, PathBuf};

use super::entries;

pub struct Source {
    /// `~/.caco`
    caco: PathBuf,
    /// `~/.copilot`
    copilot: PathBuf,
}

impl Source {
    /// Takes the folder that holds both, or `.caco` itself.
    pub fn find(from: &Path) -> anyhow::Result<Self> {
        let home = if from.ends_with(".caco") { from.parent().unwrap_or(from) } else { from };
        let source = Self { caco: home.join(".caco"), copilot: home.join(".copilot") };
        anyhow::ensure!(
            source.caco.is_dir() || source.copilot.is_dir(),
            "{} holds neither .caco nor .copilot; say where they are: --from DIR",
            home.display()
        );
        Ok(source)
    }

    /// The names of those that have a history.
    pub fn sessions(&self) -> Vec<String> {
        let found = entries(&self.copilot.join("session-state")).into_iter();
        found
            .filter(|(_, path)| path.join("events.jsonl").is_file())
            .map(|(name, _)| name)
            .collect()
    }

    pub fn events(&self, session: &str) -> PathBuf {
        self.state(session).join("events.jsonl")
    }

    pub fn workspace(&self, session: &str) -> PathBuf {
        self.state(session).join("workspace.yaml")
    }

    pub fn meta(&self, session: &str) -> PathBuf {
        self.caco.join("sessions").join(session).join("meta.json")
    }

    pub fn outputs(&self, session: &str) -> PathBuf {
        self.caco.join("sessions").join(session).join("outputs")
    }

    pub fn applets(&self) -> PathBuf {
        self.caco.join("applets")
    }

    /// The folders of schedules, by name.
    pub fn schedules(&self) -> Vec<(String, PathBuf)> {
        let found = entries(&self.caco.join("schedule")).into_iter();
        found.filter(|(_, path)| path.is_dir()).collect()
    }

    pub fn preferences(&self) -> PathBuf {
        self.copilot.join("web-preferences.json")
    }

    /// What is there and has no place here, with how much of it.
    pub fn left(&self) -> Vec<(&'static str, usize)> {
        let count = |name: &str| entries(&self.caco.join(name)).len();
        let has = |dir: &Path, name: &str| usize::from(dir.join(name).is_file());
        let mut left = vec![
            ("temporary files", count("tmp")),
            ("sign-ins of servers of tools, which are secrets", has(&self.caco, "mcp-auth.json")),
            ("the quota that was last known", has(&self.caco, "usage.json")),
        ];
        left.retain(|(_, count)| *count > 0);
        left
    }

    fn state(&self, session: &str) -> PathBuf {
        self.copilot.join("session-state").join(session)
    }
}
