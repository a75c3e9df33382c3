//! What every server lends us, and the names under which the toolbox has it.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use kernel::toolbox::{Tool, Toolbox};

use super::{listing::Listed, names, server::Server, tool::Lent};

pub struct Offers {
    toolbox: Arc<Toolbox>,
    offered: Mutex<BTreeMap<String, Offered>>,
}

struct Offered {
    server: Arc<Server>,
    tools: Vec<Arc<Listed>>,
    /// What the tools were called last.
    names: BTreeMap<String, String>,
}

impl Offers {
    pub fn new(toolbox: Arc<Toolbox>) -> Self {
        Self { toolbox, offered: Mutex::default() }
    }

    /// Replaces what a server lends, which may change the names of what others do.
    pub fn replace(&self, server: &Arc<Server>, tools: Vec<Arc<Listed>>) {
        let mut offered = self.offered();
        let new = Offered { server: server.clone(), tools, names: BTreeMap::new() };
        offered.insert(server.name.clone(), new);
        self.rename(&mut offered, &server.name);
    }

    pub fn withdraw(&self, server: &str) {
        let mut offered = self.offered();
        if offered.remove(server).is_some() {
            self.toolbox.offer(server, Vec::new());
            self.rename(&mut offered, server);
        }
    }

    /// What a server's tool is called here.
    pub fn name(&self, server: &str, tool: &str) -> Option<String> {
        self.offered().get(server)?.names.get(tool).cloned()
    }

    fn rename(&self, offered: &mut BTreeMap<String, Offered>, changed: &str) {
        let tools = offered.iter().map(|(name, it)| {
            (name.as_str(), it.tools.iter().map(|tool| tool.name.as_str()).collect())
        });
        let names = names::assign(tools, |name| self.toolbox.is_ours(name));
        let owned = names.into_iter().map(|(server, names)| {
            let names = names.into_iter().map(|(tool, name)| (tool.to_owned(), name));
            (server.to_owned(), names.collect::<BTreeMap<_, _>>())
        });
        for (server, names) in owned.collect::<Vec<_>>() {
            let Some(own) = offered.get_mut(&server) else { continue };
            if own.names == names && server != changed {
                continue;
            }
            let lend = |tool: &Arc<Listed>| {
                let name = names.get(&tool.name)?.clone();
                let lent: Arc<dyn Tool> =
                    Arc::new(Lent::new(name, tool.clone(), own.server.clone()));
                Some(lent)
            };
            self.toolbox.offer(&server, own.tools.iter().filter_map(lend).collect());
            own.names = names;
        }
    }

    fn offered(&self) -> MutexGuard<'_, BTreeMap<String, Offered>> {
        self.offered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
