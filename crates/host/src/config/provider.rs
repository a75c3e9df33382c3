//! A `[providers.NAME]` table: where models are had from. Names secrets, and holds none but in headers.

use std::{collections::BTreeMap, path::PathBuf};

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provider {
    pub kind: Kind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key_file: Option<PathBuf>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub api_key_keyring: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub models: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_effort: Option<Effort>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silence_seconds: Option<f64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub computer_use: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
}

/// US dollars for a million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    pub input: f64,
    pub output: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<f64>,
}

/// How hard a model thinks before it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    Minimal,
    Low,
    Medium,
    High,
    XHigh,
    Max,
}

/// The language it speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    Anthropic,
    OpenaiResponses,
    OpenaiChat,
    Gemini,
}

pub use super::keys::provider as written;

/// Stands for what must not be shown.
pub const HIDDEN: &str = "(hidden)";

/// The same without what may be a secret: the values of headers, a password in an address.
pub fn shown(provider: &Provider) -> Provider {
    let mut shown = provider.clone();
    for value in shown.headers.values_mut() {
        HIDDEN.clone_into(value);
    }
    for url in [&mut shown.base_url, &mut shown.proxy].into_iter().flatten() {
        *url = without_user(url);
    }
    shown
}

pub fn without_user(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let host = rest.find('/').unwrap_or(rest.len());
    match rest[..host].rfind('@') {
        Some(at) => format!("{scheme}://{HIDDEN}{}", &rest[at..]),
        None => url.to_owned(),
    }
}

/// Whether this can be the first part of a model's name, and the name of a file.
pub fn check_name(name: &str) -> anyhow::Result<()> {
    let plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_');
    anyhow::ensure!(
        !name.is_empty() && name.len() <= 64 && name.chars().all(plain),
        "`{name}` cannot be the name of a provider: take up to 64 letters, digits, - and _"
    );
    anyhow::ensure!(name != "demo", "the name `demo` is taken by the model that is built in");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_a_secret_is_not_shown() {
        for (url, shown) in [
            ("http://me:secret@proxy:3128", "http://(hidden)@proxy:3128"),
            ("http://a@b:secret@proxy/x@y", "http://(hidden)@proxy/x@y"),
            ("http://127.0.0.1:11434/v1", "http://127.0.0.1:11434/v1"),
            ("proxy:3128", "proxy:3128"),
        ] {
            assert_eq!(without_user(url), shown);
        }
    }

    #[test]
    fn a_name_is_plain_and_free() {
        for name in ["local", "my-box_2", "X"] {
            check_name(name).unwrap();
        }
        for name in ["", "a/b", "..", "a b", "ä", "demo", &"x".repeat(65)] {
            check_name(name).unwrap_err();
        }
    }
}
