//! A server's tool as the toolbox knows it.

use std::sync::Arc;

use futures::{FutureExt as _, future::BoxFuture};
use kernel::{
    toolbox::{Audience, Call, Caller, Deed, Detail, Reply, Risk, Tool, ToolSpec},
    widget::Widget,
};
use rmcp::model::CallToolResult;
use serde_json::{Map, Value};

use super::{
    call::{self, Fault, Wanted},
    link::Link,
    listing::Listed,
    result,
    server::Server,
};

pub struct Lent {
    spec: ToolSpec,
    listed: Arc<Listed>,
    server: Arc<Server>,
}

impl Lent {
    pub fn new(name: String, listed: Arc<Listed>, server: Arc<Server>) -> Self {
        let schema = listed.schema.value.clone();
        let spec = ToolSpec { name, description: listed.description.clone(), schema };
        Self { spec, listed, server }
    }

    /// A server that is not trusted may say what it likes of its tools: it is a stranger's word.
    fn only_reads(&self) -> bool {
        self.server.settings.trusted && self.listed.only_reads
    }

    async fn make(
        &self,
        link: &Link,
        args: &Map<String, Value>,
        call: &Call,
    ) -> Result<CallToolResult, Fault> {
        let wanted = Wanted {
            tool: &self.listed.name,
            offered: &self.spec.name,
            args: args.clone(),
            idle: self.server.settings.idle(),
        };
        call::make(link, wanted, call.clone()).await
    }

    fn read(&self, caller: &Caller, result: CallToolResult) -> Result<Reply, String> {
        let most = self.server.settings.result_bytes;
        match caller {
            Caller::Widget { .. } => result::whole(&result, most),
            _ if self.listed.shows.place().is_ok() => Ok(result::read_for_widget(result, most)),
            _ => result::read(result, most),
        }
    }

    /// The arguments, if they are what the tool takes.
    fn args(&self, args: &Value) -> Result<Map<String, Value>, String> {
        let args = match args {
            Value::Null => Map::new(),
            Value::Object(args) => args.clone(),
            _ => return Err("the arguments must be an object".into()),
        };
        let whole = Value::Object(args);
        self.listed
            .schema
            .check(&whole)
            .map_err(|wrong| format!("the arguments do not fit {}: {wrong}", self.spec.name))?;
        match whole {
            Value::Object(args) => Ok(args),
            _ => Ok(Map::new()),
        }
    }
}

impl Tool for Lent {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn title(&self, _: &Value) -> String {
        let title = self.listed.title.as_deref().unwrap_or(&self.listed.name);
        format!("{title} ({})", self.server.name)
    }

    fn risk(&self) -> Option<Risk> {
        self.only_reads().then_some(Risk::Reads)
    }

    fn parallel(&self) -> bool {
        self.only_reads()
    }

    fn server(&self) -> Option<&str> {
        Some(&self.server.name)
    }

    fn widget(&self) -> Option<Widget> {
        // One that cannot be where it is said to be is told of all the same.
        self.listed.shows.uri.as_ref()?;
        let (server, tool) = (self.server.clone(), self.listed.name.clone());
        let page = { async move { server.widget(&tool).await } }.boxed();
        let (server, tool) = (self.server.name.clone(), self.listed.name.clone());
        Some(Widget { server, tool, page })
    }

    fn audience(&self) -> Audience {
        self.listed.shows.audience
    }

    fn foresee<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Deed, String>> {
        async {
            self.args(&call.args)?;
            let risk = if self.only_reads() { Risk::Reads } else { Risk::Acts };
            let detail = Detail::Arguments { args: call.args.clone() };
            Ok(Deed { risk, detail, subjects: Vec::new(), within: None })
        }
        .boxed()
    }

    fn run(&self, call: Call) -> BoxFuture<'_, Result<Reply, String>> {
        async move {
            let args = self.args(&call.args)?;
            let link = self.server.link(&call, &self.spec.name).await?;
            let made = match self.make(&link, &args, &call).await {
                Err(Fault::SignIn(challenge)) => {
                    let tool = &self.spec.name;
                    let link = self.server.sign_in_anew(&link, challenge, &call, tool).await?;
                    self.make(&link, &args, &call).await
                }
                made => made,
            };
            match made {
                Ok(result) => self.read(&call.caller, result),
                Err(Fault::Failed(reason)) => Err(reason),
                // Once is enough: else it could send the person to sign in for ever.
                Err(Fault::SignIn(_)) => {
                    let name = &self.server.name;
                    Err(format!("the server {name} refused this call even after a sign-in"))
                }
            }
        }
        .boxed()
    }
}
