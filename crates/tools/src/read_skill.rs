//! Reads a skill of which only the name and the purpose were told.

use std::sync::Arc;

use kernel::{
    ports::Briefing,
    toolbox::{Call, Risk},
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::typed::Typed;

/// Reads a skill: how to do something that you were told by name that it is known here.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The name, as you were told it.
    name: String,
}

pub struct ReadSkill {
    pub briefing: Arc<dyn Briefing>,
}

impl Typed for ReadSkill {
    type Input = Input;
    type Output = String;
    const NAME: &'static str = "read_skill";
    const RISK: Risk = Risk::Reads;
    const PARALLEL: bool = true;

    fn title(&self, input: &Input) -> String {
        format!("Reading up on {}", input.name)
    }

    async fn run(&self, Input { name }: Input, call: Call) -> Result<String, String> {
        let skill = self.briefing.skill(call.cwd, name.clone()).await;
        skill.ok_or_else(|| format!("no skill is named `{name}`"))
    }
}
