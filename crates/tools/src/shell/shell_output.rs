//! Reads what a background job has printed since it was last asked.

use std::{sync::Arc, time::Duration};

use kernel::toolbox::{Call, Risk};
use schemars::JsonSchema;
use serde::Deserialize;

use super::launch::Shell;
use crate::typed::Typed;

/// The longest that anybody may wait for something to happen.
const LONGEST: u64 = 600;

/// Reads what a background job has printed since this was last called, and whether it runs.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The number of the job.
    job: u32,
    /// How long to wait for something new, or for its end. Not at all if absent.
    #[serde(default)]
    wait_seconds: u64,
}

pub struct ShellOutput {
    pub shell: Arc<Shell>,
}

impl Typed for ShellOutput {
    type Input = Input;
    type Output = String;
    const NAME: &'static str = "shell_output";
    const RISK: Risk = Risk::Reads;

    fn title(&self, input: &Input) -> String {
        format!("Looking at job {}", input.job)
    }

    async fn run(&self, input: Input, call: Call) -> Result<String, String> {
        if input.wait_seconds > LONGEST {
            return Err(format!("wait_seconds must be at most {LONGEST}"));
        }
        let job = self.shell.jobs.get(call.session.id(), input.job)?;
        Ok(job.read(Duration::from_secs(input.wait_seconds)).await)
    }
}
