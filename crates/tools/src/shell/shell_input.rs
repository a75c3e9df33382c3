//! Types something to a background job that has a terminal.

use std::sync::Arc;

use kernel::toolbox::{Call, Deed, Risk};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{deed, launch::Shell};
use crate::typed::{Typed, shorten};

/// Types text to a background job that was started with `tty: true`. End a line with `\n`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The number of the job.
    job: u32,
    /// What to type; `\u0003` is Ctrl-C, and `\u0004` ends the input.
    text: String,
}

pub struct ShellInput {
    pub shell: Arc<Shell>,
}

impl Typed for ShellInput {
    type Input = Input;
    type Output = String;
    const NAME: &'static str = "shell_input";
    const RISK: Risk = Risk::Runs;

    fn title(&self, input: &Input) -> String {
        format!("Typing `{}` to job {}", shorten(&input.text, 60), input.job)
    }

    /// As risky as the job: what is typed may be a command.
    async fn foresee(&self, input: Input, call: &Call) -> Result<Deed, String> {
        let job = self.shell.jobs.get(call.session.id(), input.job)?;
        let subject = format!("$ {} < {}", job.command, input.text);
        Ok(deed(vec![subject], input.text, call, job.lock, None))
    }

    async fn run(&self, input: Input, call: Call) -> Result<String, String> {
        let job = self.shell.jobs.get(call.session.id(), input.job)?;
        job.type_in(input.text).await?;
        Ok(format!("typed to job {}", input.job))
    }
}
