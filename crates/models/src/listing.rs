//! Which models a provider says it has.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use kernel::{ports::ModelError, update::Failure};
use reqwest::Method;
use serde_json::Value;
use tokio::time::Instant;

use crate::{config::Kind, fault, http, provider::Provider};

/// How long anybody waits for a list.
const PATIENCE: Duration = Duration::from_secs(3);
const FRESH: Duration = Duration::from_mins(5);
/// A provider that is down is left alone for a while.
const DOWN: Duration = Duration::from_secs(15);
/// A list so new is not asked for again, whatever is missing in it.
const UNDOUBTED: Duration = Duration::from_secs(2);
const LARGEST: usize = 8 * 1024 * 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    pub model: String,
    pub window: Option<u64>,
}

/// What providers said last, by their names.
#[derive(Debug, Default)]
pub struct Listings(Mutex<HashMap<String, Heard>>);

#[derive(Clone, Debug)]
struct Heard {
    at: Instant,
    until: Instant,
    /// None until it has told once.
    models: Option<Vec<Listed>>,
    /// Why it did not tell when it was last asked.
    failure: Option<ModelError>,
}

impl Listings {
    /// What the provider offers now, or did when it was last heard of.
    pub async fn of(&self, provider: &Arc<Provider>) -> Vec<Listed> {
        let last = self.last(&provider.name);
        if let Some(heard) = last.as_ref().filter(|heard| heard.until > Instant::now()) {
            return heard.models.clone().unwrap_or_default();
        }
        let asked = tokio::time::timeout(PATIENCE, ask(provider)).await;
        let asked = asked.unwrap_or_else(|_| Err(http::silent(PATIENCE)));
        let (models, failure, fresh) = match asked {
            Ok(models) => (Some(models), None, FRESH),
            // Who cannot be heard must not hide the others, and what it said before still counts.
            Err(error) => (last.and_then(|heard| heard.models), Some(error), DOWN),
        };
        let at = Instant::now();
        let heard = Heard { at, until: at + fresh, models: models.clone(), failure };
        self.lock().insert(provider.name.clone(), heard);
        models.unwrap_or_default()
    }

    /// What was heard of it, without asking; none if it has never told.
    pub fn known(&self, provider: &str) -> Option<Vec<Listed>> {
        self.last(provider)?.models
    }

    pub fn failure(&self, provider: &str) -> Option<ModelError> {
        self.last(provider)?.failure
    }

    /// Its list may be out of date. Says whether it is worth asking again.
    pub fn doubt(&self, provider: &str) -> bool {
        let now = Instant::now();
        let mut lock = self.lock();
        let heard = lock.get_mut(provider).filter(|heard| heard.at + UNDOUBTED <= now);
        heard.map(|heard| (heard.at, heard.until) = (now, now)).is_some()
    }

    fn last(&self, provider: &str) -> Option<Heard> {
        self.lock().get(provider).cloned()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Heard>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listed {
    /// Whether its provider takes this name for it, too: without the tag that is usual or with one
    /// of its own, and without the date of its version.
    pub fn answers_to(&self, name: &str) -> bool {
        let listed = self.model.as_str();
        let stem = ["-latest", "-0"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
        let version = listed.strip_prefix(stem).and_then(|rest| rest.strip_prefix('-'));
        let is_version = |rest: &str| rest.bytes().all(|it| it.is_ascii_digit() || it == b'-');
        listed == name
            || listed.strip_suffix(":latest") == Some(name)
            || name.strip_prefix(listed).is_some_and(|rest| rest.starts_with(':'))
            || version.is_some_and(is_version)
    }
}

/// Asks the server itself.
pub async fn ask(provider: &Arc<Provider>) -> Result<Vec<Listed>, ModelError> {
    let query = match provider.kind {
        Kind::Anthropic => Some("limit=1000"),
        Kind::Gemini => Some("pageSize=1000"),
        Kind::OpenaiChat | Kind::OpenaiResponses => None,
    };
    let asked = provider.clone();
    // Setting up connections would hold up everybody else.
    let prepared =
        tokio::task::spawn_blocking(move || asked.request(Method::GET, &["models"], query));
    let broke = |_| ModelError::new(Failure::Internal, "the request could not be prepared");
    let request = prepared.await.map_err(broke)??;
    let mut response = http::send(request, PATIENCE).await?;
    let mut body = Vec::new();
    while let Some(portion) = http::portion(&mut response, PATIENCE).await? {
        body.extend_from_slice(&portion);
        if body.len() > LARGEST {
            return Err(ModelError::new(Failure::Protocol, "its list of models has no end"));
        }
    }
    let list: Value = serde_json::from_slice(&body)
        .map_err(|_| fault::garbage("its list is not JSON", &String::from_utf8_lossy(&body)))?;
    Ok(read(provider.kind, &list))
}

/// What is not made for talking.
const OTHERS: &[&str] = &[
    "text-embedding",
    "whisper",
    "tts-",
    "dall-e",
    "gpt-image",
    "omni-moderation",
    "babbage",
    "davinci",
    "sora",
    "gpt-audio",
    "gpt-realtime",
    "chatgpt-image",
    "text-moderation",
];

fn read(kind: Kind, list: &Value) -> Vec<Listed> {
    let entries = ["data", "models"].iter().find_map(|name| list.get(*name)?.as_array());
    let entries = entries.or_else(|| list.as_array()).into_iter().flatten();
    let listed = entries.filter_map(|entry| match kind {
        Kind::Gemini => {
            let can = entry.get("supportedGenerationMethods")?.as_array()?;
            can.iter().any(|method| method == "generateContent").then_some(())?;
            let name = entry.get("name")?.as_str()?;
            Some((name.strip_prefix("models/").unwrap_or(name), entry))
        }
        Kind::Anthropic | Kind::OpenaiChat | Kind::OpenaiResponses => {
            let name = entry.get("id").or_else(|| entry.get("name"))?.as_str()?;
            let is_other = OTHERS.iter().any(|other| name.starts_with(other));
            (!is_other).then_some((name, entry))
        }
    });
    let mut models: Vec<Listed> = listed
        .map(|(name, entry)| Listed { model: name.to_owned(), window: window(entry) })
        .collect();
    models.sort_by(|a, b| a.model.cmp(&b.model));
    models
}

/// Everybody has another word for it.
fn window(entry: &Value) -> Option<u64> {
    const WORDS: &[&str] = &[
        "context_length",
        "max_model_len",
        "context_window",
        "inputTokenLimit",
        "max_input_tokens",
    ];
    let told = WORDS.iter().find_map(|word| entry.get(*word)?.as_u64());
    // The last is llama.cpp's.
    let told = told.or_else(|| entry.pointer("/meta/n_ctx")?.as_u64());
    told.filter(|window| *window > 0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn listed(model: &str, window: Option<u64>) -> Listed {
        Listed { model: model.into(), window }
    }

    #[test]
    fn every_vendor_s_list_is_read() {
        let chat = json!({"object": "list", "data": [
            {"id": "zeta", "context_length": 4096}, {"id": "text-embedding-3"}, {"id": "alpha", "meta": {"n_ctx": 8192}},
        ]});
        let expected = [listed("alpha", Some(8192)), listed("zeta", Some(4096))];
        assert_eq!(read(Kind::OpenaiChat, &chat), expected);
        let gemini = json!({"models": [
            {"name": "models/gemini-9", "inputTokenLimit": 9, "supportedGenerationMethods": ["generateContent"]},
            {"name": "models/embed", "supportedGenerationMethods": ["embedContent"]},
        ]});
        assert_eq!(read(Kind::Gemini, &gemini), [listed("gemini-9", Some(9))]);
        assert_eq!(read(Kind::Anthropic, &json!({"oops": 1})), []);
    }

    #[test]
    fn a_model_answers_to_the_names_that_its_provider_takes() {
        for (model, name) in [
            ("small", "small"),
            ("llama3.2:latest", "llama3.2"),
            ("lab/deep", "lab/deep:free"),
            ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
            ("claude-sonnet-4-20250514", "claude-sonnet-4-0"),
            ("claude-3-5-haiku-20241022", "claude-3-5-haiku-latest"),
            ("gpt-4o-2024-08-06", "gpt-4o"),
            ("gemini-2.0-flash-001", "gemini-2.0-flash"),
        ] {
            assert!(listed(model, None).answers_to(name), "{model} {name}");
        }
        for (model, name) in [
            ("small", "smal"),
            ("llama3.2:3b", "llama3.2"),
            ("gpt-4o-mini", "gpt-4o"),
            ("gpt-4o", "gpt-4"),
            ("claude-sonnet-4-5-20250929", "claude"),
            ("small", ""),
        ] {
            assert!(!listed(model, None).answers_to(name), "{model} {name}");
        }
    }
}
