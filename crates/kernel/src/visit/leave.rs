//! What an agent that asks for leave is told: what the rules say, or which of its options the person takes.

use futures::{
    FutureExt as _,
    future::{self, BoxFuture},
};
use serde_json::{Map, Value};

use super::{Choice, Means};
use crate::{
    question::{About, Question, Verdict},
    toolbox::{Call, Deed, Reply, Tool, ToolSpec},
    turn::Turn,
    update::ToolRequest,
};

impl Turn {
    pub(super) async fn choose(
        &self,
        tool: &Claimed,
        call: &Call,
        deed: Deed,
        options: Vec<Choice>,
    ) -> Option<Choice> {
        if is_plain(&options) {
            return match self.approvals.agree(tool, call, deed).await {
                Ok(()) => pick(options, Means::allows),
                Err(_) => pick(options, Means::rejects),
            };
        }
        if self.approvals.allows(&tool.spec.name, call, &deed).await {
            return pick(options, Means::allows);
        }
        let choices = named(&options);
        let question = Question {
            id: self.ports.clock.id(),
            call: call.id.clone(),
            caller: call.caller.clone(),
            tool: tool.spec.name.clone(),
            title: tool.title.clone(),
            about: About::Choice {
                text: tool.title.clone(),
                choices: choices.clone(),
                free: false,
            },
            expires: self.approvals.expiry(call.attended),
        };
        match call.session.put(question).await? {
            Verdict::Answered { value: Value::String(said) } => {
                let place = choices.iter().position(|choice| *choice == said)?;
                options.into_iter().nth(place)
            }
            Verdict::Denied { .. } => pick(options, Means::rejects),
            Verdict::Allowed { .. }
            | Verdict::Answered { .. }
            | Verdict::Expired
            | Verdict::Withdrawn => None,
        }
    }
}

impl Means {
    pub(super) fn allows(self) -> bool {
        matches!(self, Self::AllowOnce | Self::AllowAlways)
    }

    fn rejects(self) -> bool {
        matches!(self, Self::RejectOnce | Self::RejectAlways)
    }

    fn lasts(self) -> bool {
        matches!(self, Self::AllowAlways | Self::RejectAlways)
    }
}

/// Whether a yes or a no says all that the agent wants to know.
fn is_plain(options: &[Choice]) -> bool {
    let alone = |it: &Choice| options.iter().filter(|other| other.means == it.means).count() == 1;
    let known = |it: &Choice| it.means != Means::Other && alone(it);
    options.iter().all(known) && options.iter().any(|it| it.means.allows())
}

/// The option of this kind that lasts least. What is allowed for longer, the house remembers: its
/// grants can be seen, and taken back.
fn pick(options: Vec<Choice>, is: fn(Means) -> bool) -> Option<Choice> {
    options.into_iter().filter(|it| is(it.means)).min_by_key(|it| it.means.lasts())
}

/// What the options are called, each differently.
fn named(options: &[Choice]) -> Vec<String> {
    let name = |(place, it): (usize, &Choice)| {
        let taken = options.iter().take(place).any(|other| other.name == it.name);
        if taken { format!("{} ({})", it.name, place + 1) } else { it.name.clone() }
    };
    options.iter().enumerate().map(name).collect()
}

/// A tool of the agent's own, of which we know what it says.
pub(super) struct Claimed {
    spec: ToolSpec,
    title: String,
}

impl Claimed {
    pub fn new(request: &ToolRequest) -> Self {
        let spec = ToolSpec {
            name: request.name.clone(),
            description: String::new(),
            schema: Value::Object(Map::new()),
        };
        Self { spec, title: request.title.clone() }
    }
}

impl Tool for Claimed {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn title(&self, _: &Value) -> String {
        self.title.clone()
    }

    fn run(&self, _: Call) -> BoxFuture<'_, Result<Reply, String>> {
        future::ready(Err("only the agent itself can do this".to_owned())).boxed()
    }
}
