//! Every tool call, whoever makes it: what there is to call, and the one way to call it.

mod caller;
mod deed;

use std::{
    collections::BTreeMap,
    fmt,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures::{
    FutureExt as _,
    future::{self, BoxFuture},
};
use serde_json::Value;
use tokio::sync::watch;

use crate::{
    approvals::{Approvals, Mode},
    session::Session,
    update::SessionId,
    widget::Widget,
};

pub use caller::Caller;
pub use deed::{Deed, Detail, Risk};

/// Something that can be called by name.
pub trait Tool: Send + Sync {
    fn spec(&self) -> &ToolSpec;

    /// What a call with these arguments does, for a person: `Reading notes.md`.
    fn title(&self, args: &Value) -> String {
        let _ = args;
        self.spec().name.clone()
    }

    /// These arguments as they may be kept and shown, where something in them is secret.
    fn told(&self, args: &Value) -> Option<Value> {
        let _ = args;
        None
    }

    /// Whether calls may overlap with others of the same step.
    fn parallel(&self) -> bool {
        false
    }

    /// The MCP server that offers it, if it is not our own.
    fn server(&self) -> Option<&str> {
        None
    }

    /// The widget that shows its results, if it has one.
    fn widget(&self) -> Option<Widget> {
        None
    }

    /// Whom its server made it for.
    fn audience(&self) -> Audience {
        Audience::default()
    }

    /// How much harm any call could do, where that is known before there is one.
    fn risk(&self) -> Option<Risk> {
        None
    }

    /// What this call would do, for whoever must allow it. Looks, and changes nothing; an error is
    /// what is wrong with the call, which is then not made.
    fn foresee<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Deed, String>> {
        let detail = Detail::Arguments { args: call.args.clone() };
        future::ready(Ok(Deed { risk: Risk::Acts, detail, subjects: Vec::new(), within: None }))
            .boxed()
    }

    /// What it gets wrong is text for the caller to read. Dropping the future cancels the call.
    fn run(&self, call: Call) -> BoxFuture<'_, Result<Reply, String>>;

    /// Lets go of what it keeps for a session, which is gone.
    fn forget(&self, session: SessionId) {
        let _ = session;
    }
}

/// Who is meant to call a tool. The person may call any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Audience {
    pub models: bool,
    pub widgets: bool,
}

impl Default for Audience {
    fn default() -> Self {
        Self { models: true, widgets: true }
    }
}

/// Tools that are there in one session and not in another, and come and go.
pub trait Shelf: Send + Sync {
    /// Changes what a model may call in a session to what is there now.
    fn arrange(&self, session: SessionId, specs: &mut Vec<ToolSpec>);

    fn find(&self, session: SessionId, name: &str) -> Option<Arc<dyn Tool>>;

    /// What programs elsewhere may call, and in which session each is.
    fn lent(&self) -> Vec<(SessionId, ToolSpec)> {
        Vec::new()
    }
}

/// What a model is told about a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    /// JSON Schema of the arguments.
    pub schema: Value,
}

/// What a tool gives back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    pub text: String,
    pub pictures: Vec<Picture>,
    /// What programs read of it: structured content, a diff.
    pub data: Option<Value>,
    /// The text says what went wrong, and whoever shows it is told in the data.
    pub failed: bool,
}

impl From<String> for Reply {
    fn from(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    pub mime: String,
    pub bytes: Vec<u8>,
}

/// One call, with all that a tool may lean on.
#[derive(Clone)]
pub struct Call {
    pub caller: Caller,
    pub session: Session,
    /// The name a model gave this call; others give none.
    pub id: Option<String>,
    pub cwd: PathBuf,
    /// The chain of calls between agents it belongs to.
    pub flow: String,
    /// What needs a person's yes, when it was made.
    pub mode: Mode,
    /// Whether a person may be expected to answer a question.
    pub attended: bool,
    /// Whether the person has agreed to the very same effect already, in other words.
    pub agreed: bool,
    /// Who goes along with it, besides those who hear of the session.
    pub companion: Option<Arc<dyn Companion>>,
    pub args: Value,
}

/// Somebody who goes along with a call that was made for them.
pub trait Companion: fmt::Debug + Send + Sync {
    /// It may be made, and now it is.
    fn begun(&self);

    /// All of what a command prints, as it does.
    fn printed(&self, text: &str);

    /// How far it has come.
    fn progressed(&self, message: &str, done: f64, total: Option<f64>) {
        let _ = (message, done, total);
    }

    /// Returns when a command is to be ended.
    fn stopped(&self) -> BoxFuture<'_, ()>;
}

/// Why a call gave no result. Each kind is treated differently by some caller.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    #[error("Tool '{0}' does not exist.")]
    Unknown(String),
    #[error("Tool '{0}' may not be called from here.")]
    Refused(String),
    /// The person, or a rule made by them, said no.
    #[error("{0}")]
    Denied(String),
    #[error("{0}")]
    Failed(String),
}

type Tools = BTreeMap<String, Arc<dyn Tool>>;

#[derive(Default)]
pub struct Toolbox {
    tools: Mutex<Arc<Tools>>,
    /// Counts changes.
    edition: watch::Sender<u64>,
    shelves: Mutex<Vec<Arc<dyn Shelf>>>,
}

impl Toolbox {
    /// Adds a tool, in place of any other of that name.
    pub fn add(&self, tool: impl Tool + 'static) {
        self.change(|tools| {
            tools.insert(tool.spec().name.clone(), Arc::new(tool));
        });
    }

    /// From now on sessions have these tools besides. What was there first comes first.
    pub fn furnish(&self, shelf: impl Shelf + 'static) {
        self.shelves.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::new(shelf));
    }

    fn shelves(&self) -> Vec<Arc<dyn Shelf>> {
        self.shelves.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What is on a shelf has changed.
    pub fn rearranged(&self) {
        self.edition.send_modify(|edition| *edition += 1);
    }

    /// What of single sessions programs elsewhere may call.
    pub fn lent(&self) -> Vec<(SessionId, ToolSpec)> {
        self.shelves().iter().flat_map(|shelf| shelf.lent()).collect()
    }

    /// Takes out a tool of our own that is of no use any more.
    pub fn remove(&self, name: &str) {
        self.change(|tools| {
            if tools.get(name).is_some_and(|tool| tool.server().is_none()) {
                tools.remove(name);
            }
        });
    }

    /// Replaces all tools of an MCP server by these. The one way in which its tools come and go.
    pub fn offer(&self, server: &str, offered: Vec<Arc<dyn Tool>>) {
        self.change(|tools| {
            tools.retain(|_, tool| tool.server() != Some(server));
            tools.extend(offered.into_iter().map(|tool| (tool.spec().name.clone(), tool)));
        });
    }

    /// Rises whenever there is something else to call.
    pub fn edition(&self) -> u64 {
        *self.edition.borrow()
    }

    /// Hears of every new edition.
    pub fn editions(&self) -> watch::Receiver<u64> {
        self.edition.subscribe()
    }

    /// Whether a tool of this name is there that this server does not offer.
    pub fn is_taken(&self, name: &str, server: &str) -> bool {
        self.tools().get(name).is_some_and(|tool| tool.server() != Some(server))
    }

    /// Whether a tool of our own has this name.
    pub fn is_ours(&self, name: &str) -> bool {
        self.tools().get(name).is_some_and(|tool| tool.server().is_none())
    }

    /// What this caller may call, by name.
    pub fn specs(&self, caller: &Caller) -> Vec<ToolSpec> {
        let tools = self.tools();
        let open = tools.values().filter(|tool| may_call(caller, tool.as_ref()));
        open.map(|tool| tool.spec().clone()).collect()
    }

    /// What the model of a session may call now.
    pub fn specs_in(&self, session: SessionId) -> Vec<ToolSpec> {
        let mut specs = self.specs(&Caller::Model);
        for shelf in self.shelves() {
            shelf.arrange(session, &mut specs);
        }
        specs
    }

    pub fn risk(&self, name: &str) -> Option<Risk> {
        self.tools().get(name).and_then(|tool| tool.risk())
    }

    /// Whether what a tool gives back is shown in a widget.
    pub fn has_widget(&self, name: &str) -> bool {
        self.tools().get(name).is_some_and(|tool| tool.widget().is_some())
    }

    pub fn title(&self, session: SessionId, name: &str, args: &Value) -> String {
        self.find(session, name).map_or_else(|| name.to_owned(), |tool| tool.title(args))
    }

    /// The arguments of a call as they may be kept and shown.
    pub fn told(&self, session: SessionId, name: &str, args: Value) -> Value {
        self.find(session, name).and_then(|tool| tool.told(&args)).unwrap_or(args)
    }

    pub fn parallel(&self, session: SessionId, name: &str) -> bool {
        self.find(session, name).is_none_or(|tool| tool.parallel())
    }

    pub async fn call(
        &self,
        approvals: &Approvals,
        name: &str,
        call: Call,
    ) -> Result<Reply, ToolError> {
        let reply = self.permit(approvals, name, call).await?.run().await?;
        if reply.failed { Err(ToolError::Failed(reply.text)) } else { Ok(reply) }
    }

    /// A call that may be made: the caller may use the tool, the arguments are right, and whoever
    /// must agree has agreed.
    pub async fn permit(
        &self,
        approvals: &Approvals,
        name: &str,
        call: Call,
    ) -> Result<Permit, ToolError> {
        let tool = self.find(call.session.id(), name);
        let tool = tool.ok_or_else(|| ToolError::Unknown(name.to_owned()))?;
        if !may_call(&call.caller, tool.as_ref()) {
            return Err(ToolError::Refused(name.to_owned()));
        }
        let deed = tool.foresee(&call).await.map_err(ToolError::Failed)?;
        let risk = deed.risk;
        let rehearsed = risk != Risk::Reads && approvals.rehearses(&call);
        match approvals.agree(tool.as_ref(), &call, deed).await {
            // That it was asked for is on record, which is all that a rehearsal is about.
            Ok(()) | Err(_) if rehearsed => Ok(Permit { tool, call, risk: Risk::Reads, rehearsed }),
            Ok(()) => Ok(Permit { tool, call, risk, rehearsed }),
            Err(error) => Err(error),
        }
    }

    /// A session is gone: nothing of it shall be left.
    pub(crate) fn forget(&self, session: SessionId) {
        for tool in self.tools().values() {
            tool.forget(session);
        }
    }

    /// A tool that is there for all comes before one of a session.
    fn find(&self, session: SessionId, name: &str) -> Option<Arc<dyn Tool>> {
        let of_all = self.tools().get(name).cloned();
        of_all.or_else(|| self.shelves().iter().find_map(|shelf| shelf.find(session, name)))
    }

    fn tools(&self) -> Arc<Tools> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Arc<Tools>> {
        self.tools.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut Tools)) {
        change(Arc::make_mut(&mut self.lock()));
        self.edition.send_modify(|edition| *edition += 1);
    }
}

/// Leave to make one call.
pub struct Permit {
    tool: Arc<dyn Tool>,
    call: Call,
    /// Of what will be done.
    pub risk: Risk,
    /// Nothing will be: it is a rehearsal.
    rehearsed: bool,
}

const REHEARSED: &str = "This is a rehearsal: nothing was done. Go on as if it had worked.";

impl Permit {
    /// What will show the result, if anything.
    pub(crate) fn widget(&self) -> Option<Widget> {
        self.tool.widget().filter(|_| !self.rehearsed)
    }

    pub async fn run(self) -> Result<Reply, ToolError> {
        if self.rehearsed {
            return Ok(REHEARSED.to_owned().into());
        }
        self.tool.run(self.call).await.map_err(ToolError::Failed)
    }
}

fn may_call(caller: &Caller, tool: &dyn Tool) -> bool {
    match caller {
        Caller::Owner => true,
        Caller::Model | Caller::Client | Caller::Agent { .. } => tool.audience().models,
        Caller::Widget { server, .. } => tool.server() == Some(server) && tool.audience().widgets,
        Caller::Applet { .. } | Caller::App { .. } => false,
    }
}
