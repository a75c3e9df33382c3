//! All the fakes together, as a host needs them.

use std::{path::PathBuf, sync::Arc};

use futures::{
    FutureExt as _,
    future::{self, BoxFuture},
};
use kernel::{
    cabinet::NoCabinet,
    gallery::NoGallery,
    host::{Host, Settings},
    ports::{Brief, Briefing, Ports, Stored},
    toolbox::{Tool, Toolbox},
    web::NoWeb,
};

use crate::{
    ManualClock, MemoryStore, OneModel, ScriptedModel, TestAgent, TestTool, model::Script,
};

/// What outlives a host: [`World::ports`] gives the same store, model and clock every time.
pub struct World {
    pub store: MemoryStore,
    pub model: Arc<ScriptedModel>,
    pub models: Arc<OneModel>,
    pub clock: Arc<ManualClock>,
    pub agent: TestAgent,
    tools: Vec<TestTool>,
}

impl World {
    /// The only model is called `test`, and plays these scripts; the only agent is played by the
    /// test.
    pub fn new(scripts: impl IntoIterator<Item = Script>) -> Self {
        let model = ScriptedModel::new(scripts);
        let models = Arc::new(OneModel::new("test", model.clone()));
        let (store, clock) = (MemoryStore::default(), Arc::default());
        let agent = TestAgent::default();
        Self { store, model, models, clock, agent, tools: vec![TestTool::echo()] }
    }

    /// Adds a tool to the one that is always there: `echo`.
    #[must_use]
    pub fn tool(mut self, tool: &TestTool) -> Self {
        self.tools.retain(|other| other.spec().name != tool.spec().name);
        self.tools.push(tool.clone());
        self
    }

    /// Starts a host and plays the story; where that ends, so does everything at once, as if the
    /// process had been killed. Needs a thread without a runtime: a plain `#[test]`.
    pub fn until_crash<T>(&self, story: impl AsyncFnOnce(Arc<Host>) -> T) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let host = Host::start(self.ports(), Settings::default()).await.unwrap();
            story(host).await
        })
    }

    pub fn ports(&self) -> Ports {
        let tools = Toolbox::default();
        for tool in &self.tools {
            tools.add(tool.clone());
        }
        Ports {
            log: Arc::new(self.store.clone()),
            catalog: Arc::new(self.store.clone()),
            ledger: Arc::new(self.store.clone()),
            attic: Arc::new(self.store.clone()),
            models: self.models.clone(),
            agents: Arc::new(self.agent.clone()),
            tools: Arc::new(tools),
            clock: self.clock.clone(),
            briefing: Arc::new(Silence),
            gallery: Arc::new(NoGallery),
            cabinet: Arc::new(NoCabinet),
            web: Arc::new(NoWeb),
            workspace: "/".into(),
        }
    }
}

/// A house that has nothing to say to its agents.
pub struct Silence;

impl Briefing for Silence {
    fn parts(&self, _: PathBuf) -> BoxFuture<'_, Vec<Brief>> {
        future::ready(Vec::new()).boxed()
    }

    fn rewrite(&self, _: String) -> Stored<'_, ()> {
        future::ready(Ok(())).boxed()
    }

    fn skill(&self, _: PathBuf, _: String) -> BoxFuture<'_, Option<String>> {
        future::ready(None).boxed()
    }
}
