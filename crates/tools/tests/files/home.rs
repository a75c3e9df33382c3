//! A house with a room for the session, and a neighbour that holds a secret.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use kernel::{
    approvals::{Mode, Rules},
    host::{Host, Settings},
    inbox::{CallError, Waiting},
    ports::Ports,
    question::{Decision, Scope},
    toolbox::{Caller, Reply, ToolError, Toolbox},
    update::SessionId,
};
use serde_json::Value;
use tempfile::TempDir;
use testkit::{ManualClock, Silence, World};

/// In no file inside.
pub const SECRET: &str = "the secret of the neighbour";
/// The name of a file that is only outside.
pub const OUTSIDER: &str = "seen-only-outside";

pub struct Home {
    temp: TempDir,
    pub host: Arc<Host>,
    pub session: SessionId,
}

impl Home {
    pub async fn new(mode: Mode) -> Self {
        let temp = TempDir::new().unwrap();
        fs::create_dir(temp.path().join("room")).unwrap();
        fs::create_dir(temp.path().join("next")).unwrap();
        fs::write(temp.path().join("next/secret"), SECRET).unwrap();
        fs::write(temp.path().join("next").join(OUTSIDER), SECRET).unwrap();
        let toolbox = Toolbox::default();
        let workshop = temp.path().join("applets");
        fs::create_dir(&workshop).unwrap();
        let clock = Arc::new(ManualClock::default());
        let house = Some(temp.path().join("room/.house"));
        let workshop = tools::Workshop { applets: Some(workshop), house };
        tools::add_all(&toolbox, clock, Arc::new(Silence), workshop);
        let ports = Ports { tools: Arc::new(toolbox), ..World::new([]).ports() };
        let rules = Rules { mode, ..Rules::default() };
        let settings = Settings { rules, ..Settings::default() };
        let host = Host::start(ports, settings).await.unwrap();
        let session = host.create(&temp.path().join("room"), "test", "").await.unwrap();
        Self { temp, host, session }
    }

    pub fn room(&self) -> PathBuf {
        self.temp.path().join("room")
    }

    pub fn workshop(&self) -> PathBuf {
        self.temp.path().join("applets")
    }

    pub fn next(&self) -> PathBuf {
        self.temp.path().join("next")
    }

    pub fn put(&self, name: &str, text: &str) {
        let path = self.room().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn get(&self, name: &str) -> String {
        fs::read_to_string(self.room().join(name)).unwrap()
    }

    /// Everything outside the room, by name.
    pub fn outside(&self) -> BTreeMap<PathBuf, String> {
        let top = fs::read_dir(self.temp.path()).unwrap().map(|it| it.unwrap().path());
        let others = top.filter(|path| *path != self.room());
        others.flat_map(|dir| files(&dir)).collect()
    }

    /// Calls a tool as a program would, and says yes whenever somebody is asked.
    pub async fn call(&self, name: &str, args: Value) -> Result<Reply, ToolError> {
        let call = self.host.call(self.session, Caller::Client, name, args);
        tokio::pin!(call);
        loop {
            tokio::select! {
                biased;
                called = &mut call => return unopened(called),
                () = self.agree() => {}
            }
        }
    }

    async fn agree(&self) {
        for Waiting { question, .. } in self.host.questions().await.unwrap() {
            let yes = Decision::Allow { scope: Scope::Once, pattern: None, lasts: None };
            self.host.decide(question.id, yes, "test").await.unwrap();
        }
        tokio::task::yield_now().await;
    }
}

pub fn unopened(called: Result<Reply, CallError>) -> Result<Reply, ToolError> {
    match called {
        Ok(reply) => Ok(reply),
        Err(CallError::Tool(error)) => Err(error),
        Err(CallError::Open(error)) => panic!("{error}"),
    }
}

fn files(dir: &Path) -> Vec<(PathBuf, String)> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}
