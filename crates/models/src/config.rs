//! What a person writes down about a provider.

use std::{collections::BTreeMap, fmt, path::PathBuf};

use serde::Deserialize;

use crate::{price::Price, secret::Given};

/// One `[providers.NAME]` table.
#[derive(Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProviderSettings {
    pub kind: Kind,
    /// Where it is, if not where its vendor is.
    #[serde(default)]
    pub base_url: Option<String>,
    /// The environment variable that holds the key.
    #[serde(default)]
    pub api_key_env: Option<String>,
    /// The file, readable by nobody else, that holds the key.
    #[serde(default)]
    pub api_key_file: Option<PathBuf>,
    /// The key itself, where another has looked for it.
    #[serde(skip)]
    pub api_key: Option<Given>,
    /// Which models to offer; the server is asked if this is left out.
    #[serde(default)]
    pub models: Option<Vec<String>>,
    /// Sent with every request.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    #[serde(default)]
    pub proxy: Option<String>,
    /// The longest answer.
    #[serde(default)]
    pub max_tokens: Option<u64>,
    #[serde(default)]
    pub reasoning_effort: Option<Effort>,
    /// How long a stream may say nothing.
    #[serde(default)]
    pub silence_seconds: Option<f64>,
    /// Whether desktops are driven by the vendor's own tool, which not every model knows.
    #[serde(default)]
    pub computer_use: bool,
    /// How many tokens its models can be shown, if we do not know or know it wrong.
    #[serde(default)]
    pub context_window: Option<u64>,
    /// What a million tokens cost, if we do not know or know it wrong.
    #[serde(default)]
    pub price: Option<Price>,
}

/// The language a provider speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    Anthropic,
    OpenaiResponses,
    OpenaiChat,
    Gemini,
}

/// How hard a model thinks before it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    Minimal,
    Low,
    Medium,
    High,
    XHigh,
    Max,
}

impl Effort {
    pub fn name(self) -> &'static str {
        match self {
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::XHigh => "xhigh",
            Self::Max => "max",
        }
    }
}

impl Kind {
    pub fn home(self) -> &'static str {
        match self {
            Self::Anthropic => "https://api.anthropic.com/v1",
            Self::OpenaiResponses | Self::OpenaiChat => "https://api.openai.com/v1",
            Self::Gemini => "https://generativelanguage.googleapis.com/v1beta",
        }
    }

    /// Where the vendor's own tools look for the key.
    pub fn usual_key(self) -> &'static str {
        match self {
            Self::Anthropic => "ANTHROPIC_API_KEY",
            Self::OpenaiResponses | Self::OpenaiChat => "OPENAI_API_KEY",
            Self::Gemini => "GEMINI_API_KEY",
        }
    }

    pub fn vendor(self) -> &'static str {
        match self {
            Self::Anthropic => "Anthropic",
            Self::OpenaiResponses | Self::OpenaiChat => "OpenAI",
            Self::Gemini => "Google",
        }
    }
}

impl ProviderSettings {
    /// A provider of this kind, at home, with nothing said about it.
    pub fn new(kind: Kind) -> Self {
        Self {
            kind,
            base_url: None,
            api_key_env: None,
            api_key_file: None,
            api_key: None,
            models: None,
            headers: BTreeMap::new(),
            proxy: None,
            max_tokens: None,
            reasoning_effort: None,
            silence_seconds: None,
            computer_use: false,
            context_window: None,
            price: None,
        }
    }
}

/// Headers and proxies may hold secrets, so only their names are shown.
impl fmt::Debug for ProviderSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProviderSettings")
            .field("kind", &self.kind)
            .field("base_url", &self.base_url)
            .field("api_key_env", &self.api_key_env)
            .field("api_key_file", &self.api_key_file)
            .field("models", &self.models)
            .field("headers", &self.headers.keys())
            .field("proxy", &self.proxy.is_some())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_is_read_as_the_guide_writes_it() {
        let written = r#"
            kind = "openai-chat"
            base_url = "http://127.0.0.1:9911/v1"
            api_key_env = "LOCAL_KEY"
            models = ["fake-model"]
            headers = { x-team = "sky-secret" }
            reasoning_effort = "xhigh"
            silence_seconds = 5
            price = { input = 1.0, output = 2.0 }
        "#;
        let read: ProviderSettings = toml::from_str(written).unwrap();
        let mut expected = ProviderSettings::new(Kind::OpenaiChat);
        expected.base_url = Some("http://127.0.0.1:9911/v1".into());
        expected.api_key_env = Some("LOCAL_KEY".into());
        expected.models = Some(vec!["fake-model".into()]);
        expected.headers.insert("x-team".into(), "sky-secret".into());
        expected.reasoning_effort = Some(Effort::XHigh);
        expected.silence_seconds = Some(5.0);
        expected.price = Some(Price::new(1.0, 2.0));
        assert_eq!(read, expected);
        assert!(!format!("{read:?}").contains("sky-secret"));
    }

    #[test]
    fn an_unknown_key_is_refused() {
        let error = toml::from_str::<ProviderSettings>("kind = \"gemini\"\napi_key = \"sk-1\"");
        assert!(error.unwrap_err().message().contains("unknown field `api_key`"));
    }
}
