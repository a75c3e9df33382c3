//! Whether and how a command is locked in, and what it is started with.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use kernel::{approvals::Mode, toolbox::Call};
use tokio::net::unix::pipe::Sender;

use super::{
    environment::Variables,
    jobs::Jobs,
    process::{Launch, Process},
};
use crate::sandbox::{Ability, Helper, Lock, Orders};

const USUAL: Duration = Duration::from_mins(2);

pub struct Settings {
    pub sandboxing: Sandboxing,
    /// No command that is waited for runs longer.
    pub longest: Duration,
    /// How many background jobs a session may have running.
    pub jobs: usize,
    /// How many processes a locked-in command may have at once.
    pub processes: u64,
    /// All that commands see of our environment.
    pub environment: Variables,
    /// What no locked-in command may see, besides what is known to be secret at `home`.
    pub hidden: Vec<PathBuf>,
    pub home: Option<PathBuf>,
    pub helper: Helper,
    pub ability: Ability,
}

/// When commands are locked in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sandboxing {
    /// Where nobody looks at them before they run, unless the call says otherwise.
    Auto,
    Always,
    Never,
}

/// At home: what a folder that holds it must not show.
const SECRETS: &[&str] = &[
    ".ssh",
    ".aws",
    ".azure",
    ".gnupg",
    ".kube",
    ".docker",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".git-credentials",
    ".megaron",
    ".password-store",
    ".mozilla",
    ".thunderbird",
    ".bash_history",
    ".zsh_history",
    ".python_history",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".config/gh",
    ".config/gcloud",
    ".config/git/credentials",
    ".config/google-chrome",
    ".config/chromium",
    ".config/op",
    ".config/rclone",
    ".local/share/keyrings",
    ".gem/credentials",
    ".m2/settings.xml",
    ".gradle/gradle.properties",
    ".terraform.d",
    ".claude",
    ".codex",
    ".gemini",
];

pub struct Shell {
    settings: Settings,
    pub jobs: Jobs,
}

pub struct Decision {
    pub lock: Lock,
    /// For the caller to know.
    pub note: String,
    /// Why it is not locked in, where it was meant to be.
    pub why_not: Option<String>,
}

impl Shell {
    pub fn new(mut settings: Settings) -> Self {
        let secrets = settings.home.iter().flat_map(|home| SECRETS.iter().map(|it| home.join(it)));
        let secrets: Vec<PathBuf> = secrets.collect();
        settings.hidden.extend(secrets);
        // A link and what it leads to.
        let real = settings.hidden.iter().filter_map(|path| path.canonicalize().ok());
        let real: Vec<PathBuf> = real.collect();
        settings.hidden.extend(real);
        settings.hidden.sort();
        settings.hidden.dedup();
        let jobs = Jobs::new(settings.jobs);
        Self { settings, jobs }
    }

    pub fn check(command: &str) -> Result<(), String> {
        if command.trim().is_empty() {
            return Err("the command is empty".into());
        }
        if command.contains('\0') {
            return Err("a command cannot contain a NUL character".into());
        }
        Ok(())
    }

    pub fn limit(&self, seconds: Option<u64>) -> Result<Option<Duration>, String> {
        let longest = self.settings.longest;
        let Some(seconds) = seconds else { return Ok(None) };
        let limit = Duration::from_secs(seconds);
        if seconds == 0 || limit > longest {
            let longest = longest.as_secs();
            return Err(format!("timeout_seconds must be from 1 to {longest}, not {seconds}"));
        }
        Ok(Some(limit))
    }

    /// How long a command is waited for that names no limit. Whoever goes along with it can end it
    /// themselves.
    pub fn usual(&self, call: &Call) -> Duration {
        match call.companion {
            Some(_) => self.settings.longest,
            None => USUAL.min(self.settings.longest),
        }
    }

    /// The same for the same call, whenever it is asked.
    pub async fn decide(&self, wish: Option<bool>, call: &Call) -> Result<Decision, String> {
        use Sandboxing::{Always, Auto, Never};
        let wanted = match (self.settings.sandboxing, wish) {
            (Never, Some(true)) => {
                return Err("the sandbox is switched off here; leave `sandbox` out".into());
            }
            (Always, Some(false)) => {
                return Err("every command is sandboxed here; leave `sandbox` out".into());
            }
            (Never, _) => false,
            (Always, _) => true,
            (Auto, wish) => wish.unwrap_or(call.mode != Mode::Ask),
        };
        if !wanted {
            return Ok(Decision { lock: Lock::Open, note: "not sandboxed".into(), why_not: None });
        }
        match self.lock(&real(&call.cwd)?).await {
            Ok(lock) => {
                let note = "sandboxed: folder, no network".into();
                Ok(Decision { lock, note, why_not: None })
            }
            Err(why) if wish.is_some() || self.settings.sandboxing == Always => {
                Err(format!("this cannot be sandboxed: {why}"))
            }
            Err(why) => {
                let note = format!("not sandboxed: {why}");
                Ok(Decision { lock: Lock::Open, note, why_not: Some(why) })
            }
        }
    }

    async fn lock(&self, folder: &Path) -> Result<Lock, String> {
        if folder.parent().is_none() {
            return Err("the session's folder is the whole system".into());
        }
        let Settings { helper, ability, hidden, .. } = &self.settings;
        let lock = ability.lock(helper).await.clone()?;
        match Orders::hidden_inside(folder, hidden).next() {
            // Whether it is there does not matter: it may be a moment later.
            Some(secret) if lock == Lock::Landlock => Err(format!(
                "the session's folder may hold {}, which cannot be hidden without namespaces",
                secret.display()
            )),
            _ => Ok(lock),
        }
    }

    pub fn start(
        &self,
        command: &str,
        tty: bool,
        call: &Call,
        decision: &Decision,
    ) -> Result<(Process, Option<Sender>), String> {
        let Settings { environment, hidden, home, helper, processes, .. } = &self.settings;
        Process::start(Launch {
            helper,
            command,
            folder: real(&call.cwd)?,
            lock: decision.lock,
            tty,
            environment,
            home: home.clone(),
            hidden: hidden.clone(),
            processes: *processes,
        })
    }
}

fn real(folder: &Path) -> Result<PathBuf, String> {
    folder.canonicalize().map_err(|error| {
        format!("the session's folder {} cannot be opened: {error}", folder.display())
    })
}
