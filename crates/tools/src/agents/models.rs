//! Names the models there are.

use kernel::{
    ports::ModelInfo,
    toolbox::{Call, Risk},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::House;
use crate::typed::Typed;

/// Lists the models that can answer in a session, what they cost relative to each other, and who
/// pays.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {}

pub struct ListModels {
    pub house: House,
}

impl Typed for ListModels {
    type Input = Input;
    type Output = String;
    const NAME: &'static str = "list_models";
    const RISK: Risk = Risk::Reads;
    const PARALLEL: bool = true;

    fn title(&self, _: &Input) -> String {
        "Looking at the models".to_owned()
    }

    async fn run(&self, _: Input, _: Call) -> Result<String, String> {
        let models = self.house.host()?.ports.models.clone();
        let models = models.list().await.map_err(|error| error.to_string())?;
        let item = |ModelInfo { id, name, cost, payer, .. }: ModelInfo| json!({ "id": id, "name": name, "multiplier": cost, "payer": payer });
        let models: Vec<Value> = models.into_iter().map(item).collect();
        Ok(format!("{:#}", json!({ "models": models })))
    }
}
