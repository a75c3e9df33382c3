//! Commands as callers meet them: real processes, in and out of the sandbox.

#![cfg(unix)]
#![expect(clippy::unwrap_used, clippy::panic, reason = "all of it is a test")]

mod escapes;
mod jobs;
mod running;

use std::{ffi::OsString, path::PathBuf, sync::Arc, time::Duration};

use kernel::{
    approvals::{Mode, Rules},
    host::{Host, Settings},
    inbox::CallError,
    ports::Ports,
    toolbox::{Caller, Reply, ToolError, Toolbox},
    update::SessionId,
};
use serde_json::Value;
use tempfile::TempDir;
use testkit::{World, model::Script};
use tools::{
    sandbox::{Ability, Helper, Lock},
    shell::{self, Sandboxing},
};

/// A session in a folder, in a house that runs commands.
struct Yard {
    temp: TempDir,
    host: Arc<Host>,
    session: SessionId,
}

struct Plan {
    mode: Mode,
    sandboxing: Sandboxing,
    /// What is taken for the best lock there is.
    lock: Result<Lock, String>,
    scripts: Vec<Script>,
}

impl Default for Plan {
    fn default() -> Self {
        let lock = Err("this is a test".into());
        Self { mode: Mode::Full, sandboxing: Sandboxing::Auto, lock, scripts: Vec::new() }
    }
}

impl Plan {
    fn locked(lock: Lock) -> Self {
        Self { lock: Ok(lock), ..Self::default() }
    }
}

fn helper() -> Helper {
    Helper { program: env!("CARGO_BIN_EXE_megaron-sandbox-exec").into(), arguments: Vec::new() }
}

/// The locks that this machine has.
async fn locks() -> Vec<Lock> {
    let mut locks = Vec::new();
    for lock in [Lock::Namespaces, Lock::Landlock] {
        match tools::sandbox::attempt(&helper(), lock).await {
            Ok(()) => locks.push(lock),
            Err(why) => println!("not tested, since this machine lacks it: {lock:?}: {why}"),
        }
    }
    locks
}

impl Yard {
    async fn new(plan: Plan) -> Self {
        let temp = TempDir::new().unwrap();
        for folder in ["room", "outside", "home/.ssh", "home/.cargo", "data"] {
            std::fs::create_dir_all(temp.path().join(folder)).unwrap();
        }
        for file in ["outside/file", "home/.ssh/id", "data/key", "home/.netrc"] {
            std::fs::write(temp.path().join(file), "SECRET").unwrap();
        }
        std::fs::write(temp.path().join("home/.cargo/tool"), "tool").unwrap();
        let root = temp.path().canonicalize().unwrap();
        let variables = [
            ("PATH", std::env::var_os("PATH").unwrap()),
            ("HOME", root.join("home").into()),
            ("OPENAI_API_KEY", "SECRET".into()),
            ("MEGARON_TOKEN", "SECRET".into()),
            ("NAMED", "named".into()),
        ];
        let variables = variables.map(|(name, value): (&str, OsString)| (name.into(), value));
        let toolbox = Toolbox::default();
        let settings = shell::Settings {
            sandboxing: plan.sandboxing,
            longest: Duration::from_mins(10),
            jobs: 2,
            processes: 100,
            environment: shell::clean(variables.into_iter(), &["NAMED".into()]),
            hidden: vec![root.join("data")],
            home: Some(root.join("home")),
            helper: helper(),
            ability: Ability::given(plan.lock),
        };
        shell::add(&toolbox, settings);
        let ports = Ports { tools: Arc::new(toolbox), ..World::new(plan.scripts).ports() };
        let rules = Rules { mode: plan.mode, ..Rules::default() };
        let host = Host::start(ports, Settings { rules, ..Settings::default() }).await.unwrap();
        let session = host.create(&root.join("room"), "test", "").await.unwrap();
        Self { temp, host, session }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.temp.path().canonicalize().unwrap().join(name)
    }

    async fn call(&self, name: &str, args: Value) -> Result<Reply, ToolError> {
        self.call_as(Caller::Owner, name, args).await
    }

    async fn call_as(&self, caller: Caller, name: &str, args: Value) -> Result<Reply, ToolError> {
        match self.host.call(self.session, caller, name, args).await {
            Ok(reply) => Ok(reply),
            Err(CallError::Tool(error)) => Err(error),
            Err(CallError::Open(error)) => panic!("{error}"),
        }
    }

    /// What was said about the sandbox, how it ended, and what was printed.
    async fn run(&self, args: Value) -> (String, String, String) {
        let reply = self.call("shell", args).await.unwrap();
        let mut lines = reply.text.splitn(3, '\n').map(str::to_owned);
        let mut next = || lines.next().unwrap_or_default();
        let (note, end, printed) = (next(), next(), next());
        let end = end.split_once(", after ").unwrap().0.to_owned();
        (note, end, printed)
    }
}

/// How a command ends that did all it was asked for, with what it printed.
fn done(note: &str, printed: &str) -> (String, String, String) {
    (note.into(), "exit code 0".into(), printed.into())
}
