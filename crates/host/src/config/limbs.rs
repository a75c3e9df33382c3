//! What the configuration says about the tools that reach furthest: the shell, the web, apps, and desktops.

use std::{
    collections::BTreeMap,
    num::{NonZeroU32, NonZeroU64},
};

use serde::{Deserialize, Serialize};

use super::Provider;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Shell {
    pub sandbox: Sandbox,
    pub allow: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_http: Option<Vec<String>>,
    pub env: Vec<String>,
    pub max_seconds: NonZeroU64,
    pub jobs: NonZeroU32,
    pub processes: NonZeroU32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sandbox {
    #[default]
    Auto,
    Always,
    Never,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Web {
    pub allow_private: bool,
    pub allow: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Apps {
    pub tools: AppTools,
}

/// What models get to use apps with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AppTools {
    #[default]
    Generic,
    Each,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Desktop {
    /// Programs whose windows get no input, besides those that keep passwords.
    pub deny: Vec<String>,
}

impl Desktop {
    pub fn check(&self) -> anyhow::Result<()> {
        for name in &self.deny {
            let plain = name.strip_suffix('*').unwrap_or(name);
            anyhow::ensure!(
                !plain.trim().is_empty() && !plain.contains('*'),
                "[desktop] deny: `{name}` is not the name of a program like `Thunderbird`, with a `*` \
                 at its end for anything"
            );
        }
        Ok(())
    }
}

impl Default for Shell {
    fn default() -> Self {
        Self {
            sandbox: Sandbox::default(),
            allow: Vec::new(),
            allow_http: None,
            env: Vec::new(),
            max_seconds: const { NonZeroU64::new(600).unwrap() },
            jobs: const { NonZeroU32::new(8).unwrap() },
            processes: const { NonZeroU32::new(4096).unwrap() },
        }
    }
}

impl Shell {
    pub fn check(&self, providers: &BTreeMap<String, Provider>) -> anyhow::Result<()> {
        for program in &self.allow {
            anyhow::ensure!(
                is_made_of(program, "_-./+"),
                "shell.allow: `{program}` is not the bare name of a program, like `git`"
            );
        }
        for program in self.allow_http.iter().flatten() {
            anyhow::ensure!(
                is_made_of(program, "_-.+"),
                "shell.allow_http: `{program}` is not the bare name of a program, like `git`"
            );
        }
        for name in &self.env {
            anyhow::ensure!(
                is_made_of(name, "_"),
                "shell.env: `{name}` is not the name of a variable, like `EDITOR`"
            );
            let of_provider = |it: &Provider| it.api_key_env.as_ref() == Some(name);
            anyhow::ensure!(
                !name.starts_with("MEGARON_") && !providers.values().any(of_provider),
                "shell.env: `{name}` is ours, and may hold a secret; commands cannot have it"
            );
        }
        Ok(())
    }
}

fn is_made_of(text: &str, signs: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || signs.contains(c);
    !text.is_empty() && text.chars().all(fits)
}
