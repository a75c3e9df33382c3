//! Tells how an applet is written.

use kernel::toolbox::{Call, Risk};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{agents::House, typed::Typed};

const TEXT: &str = include_str!("howto.md");

/// Tells how to write an applet: a small page beside the conversation that the person and you use
/// together. Read it before you make or change one.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {}

pub struct AppletHowto {
    pub house: House,
}

impl Typed for AppletHowto {
    type Input = Input;
    type Output = String;
    const NAME: &'static str = "caco_applet_howto";
    const RISK: Risk = Risk::Reads;
    const PARALLEL: bool = true;

    fn title(&self, _: &Input) -> String {
        "Reading how applets are written".to_owned()
    }

    async fn run(&self, _: Input, _: Call) -> Result<String, String> {
        let host = self.house.host()?;
        let workshop = host.ports.gallery.workshop();
        let workshop = workshop.ok_or("this server keeps no applets")?;
        Ok(TEXT.replace("{workshop}", &workshop.to_string_lossy()))
    }
}
