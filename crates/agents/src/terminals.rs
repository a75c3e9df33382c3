//! Commands that an agent has run by us, in one turn: what they print, and how they end.

use std::{
    collections::{HashMap, VecDeque},
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use agent_client_protocol::v1::schema::{
    CreateTerminalRequest, TerminalExitStatus, TerminalOutputResponse,
};
use futures::{FutureExt as _, future::BoxFuture};
use kernel::toolbox::{Companion, Reply};
use serde_json::Value;
use tokio::sync::watch;

/// How many one turn may have at once.
const MOST: usize = 32;
/// How much of the end of what is printed is kept at most, in bytes.
const KEPT: usize = 1 << 20;

/// To drop it is to leave them to the turn, which ends them when it ends.
#[derive(Default)]
pub struct Terminals {
    last: u64,
    open: HashMap<String, Arc<Terminal>>,
}

#[derive(Debug)]
pub struct Terminal {
    printed: Mutex<Printed>,
    stage: watch::Sender<Stage>,
    stopped: watch::Sender<bool>,
}

#[derive(Debug)]
struct Printed {
    bytes: VecDeque<u8>,
    limit: usize,
    cut: bool,
}

#[derive(Clone, Debug, PartialEq)]
enum Stage {
    /// It may still be refused.
    Wanted,
    Running,
    Ended(TerminalExitStatus),
}

impl Terminals {
    /// One for a command that is still to be run, and its name.
    pub fn open(&mut self, limit: Option<u64>) -> Result<(String, Arc<Terminal>), String> {
        if self.open.len() >= MOST {
            return Err(format!("{MOST} terminals are open already; release one first"));
        }
        self.last += 1;
        let name = format!("terminal-{}", self.last);
        let terminal = Arc::new(Terminal::new(limit));
        self.open.insert(name.clone(), terminal.clone());
        Ok((name, terminal))
    }

    pub fn get(&self, name: &str) -> Result<Arc<Terminal>, String> {
        let found = self.open.get(name).cloned();
        found.ok_or_else(|| format!("no terminal of this turn is named `{name}`"))
    }

    /// Ends it, and forgets it.
    pub fn release(&mut self, name: &str) -> Result<(), String> {
        self.get(name)?.kill();
        self.open.remove(name);
        Ok(())
    }
}

impl Terminal {
    fn new(limit: Option<u64>) -> Self {
        let limit = limit.and_then(|it| usize::try_from(it).ok()).map_or(KEPT, |it| it.min(KEPT));
        Self {
            printed: Mutex::new(Printed { bytes: VecDeque::new(), limit, cut: false }),
            stage: watch::Sender::new(Stage::Wanted),
            stopped: watch::Sender::new(false),
        }
    }

    /// Whether it was begun; if not, it has ended before.
    pub async fn has_begun(&self) -> bool {
        let mut stage = self.stage.subscribe();
        // It holds the other end itself.
        stage.wait_for(|it| *it != Stage::Wanted).await.is_ok_and(|it| *it == Stage::Running)
    }

    pub fn output(&self) -> TerminalOutputResponse {
        let printed = self.printed();
        let bytes: Vec<u8> = printed.bytes.iter().copied().collect();
        // What was cut may have begun in the middle of a letter.
        let inner = |byte: &u8| byte & 0b1100_0000 == 0b1000_0000;
        let start = bytes.iter().position(|byte| !inner(byte)).unwrap_or(bytes.len());
        let start = if printed.cut { start } else { 0 };
        let text = String::from_utf8_lossy(bytes.get(start..).unwrap_or_default());
        let status = match &*self.stage.borrow() {
            Stage::Ended(status) => Some(status.clone()),
            Stage::Wanted | Stage::Running => None,
        };
        TerminalOutputResponse::new(text, printed.cut).exit_status(status)
    }

    pub async fn exit(&self) -> TerminalExitStatus {
        let mut stage = self.stage.subscribe();
        match stage.wait_for(|it| matches!(it, Stage::Ended(_))).await.as_deref() {
            Ok(Stage::Ended(status)) => status.clone(),
            // Cannot be: it holds the other end itself.
            _ => TerminalExitStatus::new(),
        }
    }

    pub fn kill(&self) {
        self.stopped.send_replace(true);
    }

    /// What came of it.
    pub fn end(&self, result: &Result<Reply, String>) {
        let data = result.as_ref().ok().and_then(|reply| reply.data.as_ref());
        let code = data.and_then(|it| it.get("exit_code")).and_then(Value::as_u64);
        let status = match code.and_then(|it| u32::try_from(it).ok()) {
            Some(code) => TerminalExitStatus::new().exit_code(code),
            None => TerminalExitStatus::new().signal("SIGKILL".to_owned()),
        };
        self.stage.send_replace(Stage::Ended(status));
    }

    fn printed(&self) -> MutexGuard<'_, Printed> {
        self.printed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Companion for Terminal {
    fn begun(&self) {
        self.stage.send_replace(Stage::Running);
    }

    fn printed(&self, text: &str) {
        let mut printed = Self::printed(self);
        printed.bytes.extend(text.as_bytes());
        let excess = printed.bytes.len().saturating_sub(printed.limit);
        printed.bytes.drain(..excess);
        printed.cut |= excess > 0;
    }

    fn stopped(&self) -> BoxFuture<'_, ()> {
        let mut stopped = self.stopped.subscribe();
        async move {
            // It holds the other end itself.
            stopped.wait_for(|it| *it).await.ok();
        }
        .boxed()
    }
}

/// The request as a line of shell. What comes without arguments is a line already.
pub fn line(request: &CreateTerminalRequest, folder: &Path) -> Result<String, String> {
    let mut line = String::new();
    if let Some(cwd) = request.cwd.as_deref().filter(|it| *it != folder) {
        let cwd = cwd.to_str().filter(|it| it.starts_with('/'));
        let cwd = cwd.ok_or("cwd must be an absolute path, in UTF-8")?;
        line.extend(["cd ", &quoted(cwd), " || exit; "]);
    }
    for variable in &request.env {
        let name = &variable.name;
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.is_empty()
            || !name.chars().all(plain)
            || name.starts_with(|c: char| c.is_ascii_digit())
        {
            return Err(format!("`{name}` is not the name of a variable, like `EDITOR`"));
        }
        line.extend(["export ", name, "=", &quoted(&variable.value), "; "]);
    }
    line.push_str(&request.command);
    for word in &request.args {
        line.push(' ');
        line.push_str(&quoted(word));
    }
    Ok(line)
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use agent_client_protocol::v1::schema::EnvVariable;

    use super::*;

    #[test]
    fn the_end_of_what_is_printed_is_kept_in_whole_letters() {
        let terminal = Terminal::new(Some(5));
        Companion::printed(&terminal, "aü");
        assert_eq!(terminal.output(), TerminalOutputResponse::new("aü", false));
        Companion::printed(&terminal, "öxy");
        assert_eq!(terminal.output(), TerminalOutputResponse::new("öxy", true));
        Companion::printed(&terminal, "ä");
        assert_eq!(terminal.output(), TerminalOutputResponse::new("xyä", true));
    }

    #[test]
    fn words_reach_the_shell_as_they_are() {
        let request = |command: &str| CreateTerminalRequest::new("s", command);
        let folder = Path::new("/room");
        let plain = request("ls -l | wc").cwd(Some(folder.to_owned()));
        assert_eq!(line(&plain, folder).as_deref(), Ok("ls -l | wc"));
        let words = ["a b", "it's", "$HOME", "", "-x"].map(str::to_owned).to_vec();
        let full = request("echo")
            .args(words)
            .env(vec![EnvVariable::new("A_1", "; rm")])
            .cwd(Some("/room/my files".into()));
        let expected =
            r"cd '/room/my files' || exit; export A_1='; rm'; echo 'a b' 'it'\''s' '$HOME' '' -x";
        assert_eq!(line(&full, folder).as_deref(), Ok(expected));
        let bad = request("ls").env(vec![EnvVariable::new("A;B", "")]);
        assert!(line(&bad, folder).unwrap_err().contains("`A;B` is not the name of a variable"));
    }

    #[test]
    fn there_are_only_so_many() {
        let mut terminals = Terminals::default();
        for _ in 0..MOST {
            terminals.open(None).unwrap();
        }
        assert!(terminals.open(None).unwrap_err().contains("release one first"));
        terminals.release("terminal-1").unwrap();
        assert!(terminals.release("terminal-1").unwrap_err().contains("`terminal-1`"));
        assert_eq!(terminals.open(None).unwrap().0, "terminal-33");
    }
}
