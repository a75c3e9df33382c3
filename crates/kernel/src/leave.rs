//! Leave for something that is done outside the toolbox, asked for as any call's is.

use futures::{FutureExt as _, future, future::BoxFuture};
use serde_json::Value;

use crate::{
    approvals::Mode,
    host::{Host, OpenError},
    inbox::CallError,
    toolbox::{Call, Caller, Deed, Reply, Tool, ToolSpec},
    update::SessionId,
};

/// What somebody wishes to do.
#[derive(Clone, Debug)]
pub struct Wish {
    /// What a lasting yes is about, in the place of a tool: `files:write`.
    pub name: String,
    /// For a person: `The applet Editor wants to write files`.
    pub title: String,
    pub deed: Deed,
}

/// How far a yes reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave {
    /// It is written down, and holds until it is taken back.
    Granted,
    Once,
}

impl Host {
    /// Returns once this may be done. However much a session's agent may do unasked, others may
    /// not: they always need a yes.
    pub async fn leave(
        &self,
        session: SessionId,
        caller: Caller,
        Wish { name, title, deed }: Wish,
    ) -> Result<Leave, CallError> {
        let handle = self.open(session).await?;
        let state = self.roster.get(session).ok_or(OpenError::Unknown(session))?;
        let call = Call {
            caller,
            session: handle,
            id: None,
            cwd: self.ports.cwd(&state.cwd),
            flow: self.ports.clock.id().to_string(),
            mode: Mode::Ask,
            attended: true,
            agreed: false,
            companion: None,
            args: Value::Null,
        };
        let spec = ToolSpec { name, description: String::new(), schema: Value::Null };
        let asking = Asking { spec, title };
        Box::pin(self.approvals.agree(&asking, &call, deed.clone())).await?;
        let lasting = self.approvals.allows(&asking.spec.name, &call, &deed).await;
        Ok(if lasting { Leave::Granted } else { Leave::Once })
    }
}

/// A wish in the shape in which wishes are judged.
struct Asking {
    spec: ToolSpec,
    title: String,
}

impl Tool for Asking {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn title(&self, _: &Value) -> String {
        self.title.clone()
    }

    fn run(&self, _: Call) -> BoxFuture<'_, Result<Reply, String>> {
        future::ready(Err("this is done elsewhere".to_owned())).boxed()
    }
}
