//! Ends a background job.

use std::sync::Arc;

use kernel::toolbox::{Call, Risk};
use schemars::JsonSchema;
use serde::Deserialize;

use super::launch::Shell;
use crate::typed::Typed;

/// Ends a background job, and all that it started.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The number of the job.
    job: u32,
}

pub struct ShellKill {
    pub shell: Arc<Shell>,
}

impl Typed for ShellKill {
    type Input = Input;
    type Output = String;
    const NAME: &'static str = "shell_kill";
    // It takes back what the session itself has started, and nothing else.
    const RISK: Risk = Risk::Reads;

    fn title(&self, input: &Input) -> String {
        format!("Ending job {}", input.job)
    }

    async fn run(&self, input: Input, call: Call) -> Result<String, String> {
        let job = self.shell.jobs.get(call.session.id(), input.job)?;
        Ok(format!("job {}: {}", input.job, job.kill().await))
    }
}
