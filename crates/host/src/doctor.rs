//! `megaron doctor`: looks at everything that could be wrong, and says how to fix what is.

mod checks;

use std::process::ExitCode;

use serde::Serialize;

use crate::{cli::DoctorArgs, config};

/// One thing looked at.
#[derive(Debug, PartialEq, Serialize)]
pub struct Finding {
    pub level: Level,
    pub found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    Good,
    /// Worth knowing.
    Remark,
    Wrong,
}

pub async fn run(args: DoctorArgs) -> anyhow::Result<ExitCode> {
    let data_dir = config::data_dir(&args.home)?;
    let findings = checks::all(&data_dir, &args.workspace).await;
    if args.json {
        println!("{}", serde_json::to_string_pretty(&findings)?);
    } else {
        for finding in &findings {
            println!("{finding}");
        }
    }
    let wrong = findings.iter().any(|finding| finding.level == Level::Wrong);
    Ok(ExitCode::from(u8::from(wrong)))
}

impl Finding {
    fn good(found: impl Into<String>) -> Self {
        Self { level: Level::Good, found: found.into(), fix: None }
    }

    fn remark(found: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { level: Level::Remark, found: found.into(), fix: Some(fix.into()) }
    }

    fn wrong(found: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { level: Level::Wrong, found: found.into(), fix: Some(fix.into()) }
    }
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = match self.level {
            Level::Good => '✓',
            Level::Remark => '!',
            Level::Wrong => '✗',
        };
        write!(f, "{sign} {}", self.found)?;
        match &self.fix {
            Some(fix) => write!(f, "\n  → {fix}"),
            None => Ok(()),
        }
    }
}
