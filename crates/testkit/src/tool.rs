//! Small tools, each good for one thing a test may need.

use std::sync::{Arc, Mutex, PoisonError};

use futures::{FutureExt as _, future::BoxFuture};
use kernel::{
    outputs::Embed,
    toolbox::{Call, Deed, Detail, Picture, Reply, Risk, Tool, ToolSpec},
};
use serde_json::{Value, json};

use crate::Gate;

/// A tool that remembers its calls. Clones are the same tool.
#[derive(Clone)]
pub struct TestTool {
    spec: ToolSpec,
    parallel: bool,
    risk: Risk,
    act: Act,
    /// Stands before it can say what it would do.
    foresight: Option<Gate>,
    calls: Arc<Mutex<Vec<Value>>>,
}

#[derive(Clone)]
enum Act {
    Echo,
    Fail(String),
    Panic,
    Wait(Gate),
    Show(Vec<Picture>),
    Embed(Embed),
}

impl TestTool {
    /// Returns its arguments as JSON.
    pub fn echo() -> Self {
        Self::new("echo", Act::Echo)
    }

    pub fn failing(message: &str) -> Self {
        Self::new("fail", Act::Fail(message.to_owned()))
    }

    pub fn panicking() -> Self {
        Self::new("panic", Act::Panic)
    }

    /// Returns its arguments once the gate is open. Calls may overlap.
    pub fn waiting(gate: &Gate) -> Self {
        Self::new("wait", Act::Wait(gate.clone())).parallel(true)
    }

    /// Returns these pictures, each of a kind such as `image/png`.
    pub fn showing<const N: usize>(pictures: [(&str, &[u8]); N]) -> Self {
        let picture = |(mime, bytes): (&str, &[u8])| Picture {
            mime: mime.to_owned(),
            bytes: bytes.to_owned(),
        };
        Self::new("show", Act::Show(pictures.map(picture).into()))
    }

    /// Shows something in the conversation that was put out under this name.
    pub fn embedding(output: &str, provider: &str, title: &str) -> Self {
        let embed = Embed { output: output.into(), provider: provider.into(), title: title.into() };
        Self::new("embed", Act::Embed(embed))
    }

    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        name.clone_into(&mut self.spec.name);
        self
    }

    #[must_use]
    pub fn parallel(mut self, parallel: bool) -> Self {
        self.parallel = parallel;
        self
    }

    /// Makes it one that needs leave; what it is about is its argument `on`.
    #[must_use]
    pub fn risky(mut self, risk: Risk) -> Self {
        self.risk = risk;
        self
    }

    /// Makes it one that can say what it would do only once the gate is open.
    #[must_use]
    pub fn foreseeing(mut self, gate: &Gate) -> Self {
        self.foresight = Some(gate.clone());
        self
    }

    /// The arguments of every call so far.
    pub fn calls(&self) -> Vec<Value> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn new(name: &str, act: Act) -> Self {
        let spec = ToolSpec {
            name: name.to_owned(),
            description: format!("A tool for tests: {name}."),
            schema: json!({ "type": "object" }),
        };
        Self {
            spec,
            parallel: false,
            risk: Risk::Reads,
            act,
            foresight: None,
            calls: Arc::default(),
        }
    }
}

impl Tool for TestTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn title(&self, args: &Value) -> String {
        format!("Running {} {args}", self.spec.name)
    }

    fn parallel(&self) -> bool {
        self.parallel
    }

    fn risk(&self) -> Option<Risk> {
        Some(self.risk)
    }

    fn foresee<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Deed, String>> {
        let subject = call.args.get("on").and_then(Value::as_str).map(str::to_owned);
        let detail = Detail::Arguments { args: call.args.clone() };
        let deed =
            Deed { risk: self.risk, detail, subjects: subject.into_iter().collect(), within: None };
        async move {
            if let Some(gate) = &self.foresight {
                gate.pass().await;
            }
            Ok(deed)
        }
        .boxed()
    }

    fn run(&self, call: Call) -> BoxFuture<'_, Result<Reply, String>> {
        async move {
            self.calls.lock().unwrap_or_else(PoisonError::into_inner).push(call.args.clone());
            match &self.act {
                Act::Echo => Ok(call.args.to_string().into()),
                Act::Fail(message) => Err(message.clone()),
                Act::Panic => panic!("this tool always breaks down"),
                Act::Show(pictures) => {
                    let reply = Reply::from("look".to_owned());
                    Ok(Reply { pictures: pictures.clone(), ..reply })
                }
                Act::Embed(embed) => match call.session.show(embed.clone()).await {
                    Ok(Ok(())) => Ok(format!("[output:{}] Embedded", embed.output).into()),
                    Ok(Err(error)) => Err(error.to_string()),
                    Err(error) => Err(error.to_string()),
                },
                Act::Wait(gate) => {
                    gate.pass().await;
                    Ok(call.args.to_string().into())
                }
            }
        }
        .boxed()
    }
}
