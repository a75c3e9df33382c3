//! One provider, ready to be asked: where it is, what opens it, and how it is spoken of.

use std::{
    fmt, net,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use kernel::{ports::ModelError, update::Failure};
use percent_encoding::percent_decode_str;
use reqwest::{
    Client, Method, Proxy, RequestBuilder, Url,
    header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue},
};

use crate::{
    config::{Effort, Kind, ProviderSettings},
    http,
    price::Price,
    secret::{Given, Secret, SecretError},
};

const USUAL_SILENCE: Duration = Duration::from_mins(1);
/// As much of what a provider says as a person reads.
const SHOWN: usize = 400;

pub struct Provider {
    pub name: String,
    pub kind: Kind,
    pub base_url: Url,
    pub key: Key,
    pub models: Option<Vec<String>>,
    pub max_tokens: Option<u64>,
    pub effort: Option<Effort>,
    pub silence: Duration,
    pub computer_use: bool,
    pub window: Option<u64>,
    pub price: Option<Price>,
    headers: HeaderMap,
    /// What must never be shown, besides the key.
    hidden: Vec<Secret>,
    proxy: Option<Proxy>,
    /// Made when it is first needed, because that takes a moment.
    client: Mutex<Option<Client>>,
}

/// What opens the door.
#[derive(Clone, Debug)]
pub enum Key {
    /// There is no lock that we know of.
    None,
    Known {
        secret: Secret,
        from: String,
    },
    Missing {
        error: SecretError,
        from: String,
    },
}

/// What keeps a provider from being used, and what to do about it; for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub provider: String,
    pub what: String,
    pub fix: String,
}

/// Settings that make no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    #[error("a provider's name has no `/` and is not `demo` or empty")]
    Name,
    #[error("base_url is not an http or https address: {0}")]
    BaseUrl(String),
    #[error("only one of api_key_env, api_key_file and api_key_keyring can be given")]
    TwoKeys,
    #[error("the header {0} is not one")]
    Header(String),
    #[error("proxy is not the address of a proxy")]
    Proxy,
    #[error("silence_seconds must be more than 0")]
    Silence,
    #[error("price must name US dollars for a million tokens, 0 or more each")]
    Price,
    #[error("{0} must be more than 0")]
    Zero(&'static str),
}

impl Provider {
    pub fn new(
        name: &str,
        settings: ProviderSettings,
        env: &impl Fn(&str) -> Option<String>,
    ) -> Result<Self, SettingsError> {
        if name.is_empty() || name.contains('/') || name == crate::demo::ID {
            return Err(SettingsError::Name);
        }
        let zero =
            [("max_tokens", settings.max_tokens), ("context_window", settings.context_window)];
        if let Some((name, _)) = zero.into_iter().find(|(_, value)| *value == Some(0)) {
            return Err(SettingsError::Zero(name));
        }
        if settings.price.is_some_and(|price| !price.is_sound()) {
            return Err(SettingsError::Price);
        }
        let base_url = base_url(settings.kind, settings.base_url.as_deref())?;
        let key = key(&settings, env)?;
        let (mut headers, mut hidden) = (HeaderMap::new(), Vec::new());
        for (name, value) in &settings.headers {
            let bad = || SettingsError::Header(name.clone());
            let mut header = HeaderValue::from_str(value).map_err(|_| bad())?;
            header.set_sensitive(true);
            headers.insert(HeaderName::try_from(name).map_err(|_| bad())?, header);
            // Also without a scheme such as `Bearer`.
            hidden.extend(value.split_whitespace().filter(|word| word.len() >= 8).map(Secret::new));
        }
        for url in [&settings.proxy, &settings.base_url].into_iter().flatten() {
            hidden.extend(login(url));
        }
        let proxy = settings.proxy.map(Proxy::all).transpose();
        let silence = settings.silence_seconds.map(Duration::try_from_secs_f64).transpose();
        let silence = silence.map_err(|_| SettingsError::Silence)?.unwrap_or(USUAL_SILENCE);
        if silence.is_zero() {
            return Err(SettingsError::Silence);
        }
        Ok(Self {
            name: name.to_owned(),
            kind: settings.kind,
            base_url,
            key,
            models: settings.models,
            max_tokens: settings.max_tokens,
            effort: settings.reasoning_effort,
            silence,
            computer_use: settings.computer_use,
            window: settings.context_window,
            price: settings.price,
            headers,
            hidden,
            proxy: proxy.map_err(|_| SettingsError::Proxy)?,
            client: Mutex::new(None),
        })
    }

    /// Whether it runs on this machine.
    pub fn is_here(&self) -> bool {
        match self.base_url.host_str() {
            Some("localhost") => true,
            Some(host) => {
                let host = host.trim_matches(['[', ']']);
                host.parse::<net::IpAddr>().is_ok_and(|address| address.is_loopback())
            }
            None => false,
        }
    }

    pub fn is_at(&self, host: &str) -> bool {
        self.base_url.host_str() == Some(host)
    }

    /// Who pays, for a person.
    pub fn payer(&self) -> String {
        if self.is_here() { "nobody: it runs on this machine".into() } else { self.account() }
    }

    fn account(&self) -> String {
        let home = Url::parse(self.kind.home()).ok();
        if home.is_some_and(|home| home.host_str() == self.base_url.host_str()) {
            format!("your {} account", self.kind.vendor())
        } else {
            format!("your account at {}", self.place())
        }
    }

    /// A request to this path below its address, with what opens it.
    pub fn request(
        &self,
        method: Method,
        path: &[&str],
        query: Option<&str>,
    ) -> Result<RequestBuilder, ModelError> {
        let bad_key = |error: String| ModelError::new(Failure::BadKey, error);
        let secret = match &self.key {
            Key::Missing { error, .. } => return Err(bad_key(error.to_string())),
            Key::Known { secret, .. } => Some(secret.expose()),
            Key::None => None,
        };
        let mut url = self.base_url.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        if query.is_some() {
            url.set_query(query);
        }
        let mut request = self.client()?.request(method, url);
        if self.kind == Kind::Anthropic {
            request = request.header("anthropic-version", "2023-06-01");
        }
        let Some(secret) = secret else { return Ok(request) };
        let (name, value) = match self.kind {
            Kind::Anthropic => (HeaderName::from_static("x-api-key"), secret.to_owned()),
            Kind::Gemini => (HeaderName::from_static("x-goog-api-key"), secret.to_owned()),
            Kind::OpenaiChat | Kind::OpenaiResponses => (AUTHORIZATION, format!("Bearer {secret}")),
        };
        let value = HeaderValue::from_str(&value);
        let mut value = value.map_err(|_| bad_key("the key is malformed".into()))?;
        value.set_sensitive(true);
        Ok(request.header(name, value))
    }

    /// A word that must be said besides those that the owner has written down.
    pub fn with_beta(&self, request: RequestBuilder, beta: &str) -> RequestBuilder {
        const NAME: &str = "anthropic-beta";
        let written = self.headers.get(NAME).and_then(|it| it.to_str().ok());
        let all = written.map(|written| format!("{written},{beta}"));
        request.header(NAME, all.as_deref().unwrap_or(beta))
    }

    fn client(&self) -> Result<Client, ModelError> {
        let mut made = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = made.as_ref() {
            return Ok(client.clone());
        }
        let is_plain = self.base_url.scheme() == "http";
        let client = http::client(self.headers.clone(), self.proxy.clone(), is_plain)?;
        Ok(made.insert(client).clone())
    }

    /// An error in words for a person: what happened, what the provider said, what to do.
    pub fn tell(&self, model: &str, error: ModelError) -> ModelError {
        let ModelError { kind, message, wait } = error;
        let (name, said) = (&self.name, self.clean(&message));
        let message = match kind {
            Failure::BadKey if matches!(self.key, Key::Missing { .. }) => {
                format!("{name} cannot be used: {said}")
            }
            Failure::BadKey => format!("{name} does not accept the key: {said}. {}", self.remedy()),
            Failure::NoQuota => format!(
                "{name} will not work on credit: {said}. Top up {}, or choose another model",
                self.account()
            ),
            Failure::RateLimited => match wait {
                Some(wait) => format!("{name} asks to wait {:.1} s: {said}", wait.as_secs_f64()),
                None => format!("{name} asks to be asked less often: {said}"),
            },
            Failure::Overloaded => {
                format!("{name} is in trouble: {said}. Try again later, or choose another model")
            }
            Failure::ContextTooLong => format!(
                "the conversation is too long for {model}: {said}. Sum it up, or choose a model \
                 that reads more"
            ),
            Failure::Refused => {
                format!("{name} refused to answer: {said}. Say it in another way")
            }
            Failure::Network => format!("no answer from {name}: {said}. {}", self.whereabouts()),
            Failure::Protocol => format!("{name} answered in a way we do not understand: {said}"),
            Failure::NoModel => {
                format!("{name} has no model {model}: {said}. Choose another for this session")
            }
            Failure::OverBudget | Failure::Internal => said,
        };
        ModelError { kind, message, wait }
    }

    /// That there is no key where one is needed.
    pub fn keyless(&self) -> Option<Problem> {
        let Key::Missing { error, .. } = &self.key else { return None };
        let fix = "`megaron key list` shows where every key comes from".to_owned();
        Some(self.problem(format!("has no key: {error}"), fix))
    }

    /// What it means that it did not tell its models, if that matters.
    pub fn trouble(&self, error: &ModelError) -> Option<Problem> {
        let said = self.clean(&error.message);
        Some(match error.kind {
            Failure::BadKey => {
                self.problem(format!("does not accept the key: {said}"), self.remedy())
            }
            Failure::Network => {
                self.problem(format!("does not answer: {said}"), self.whereabouts())
            }
            // Some servers have no list, and where the models are configured none is needed.
            Failure::NoModel | Failure::Protocol if self.models.is_some() => return None,
            Failure::NoModel | Failure::Protocol => self.problem(
                format!("does not list its models: {said}"),
                "Correct its base_url, or name its models in the configuration".to_owned(),
            ),
            _ => self.problem(
                format!("is in trouble: {said}"),
                "Try again later, or choose another model".to_owned(),
            ),
        })
    }

    fn problem(&self, what: String, fix: String) -> Problem {
        Problem { provider: self.name.clone(), what, fix }
    }

    /// Without secrets, and not too long; in this order, or half a key could be left.
    fn clean(&self, said: &str) -> String {
        let mut said = match &self.key {
            Key::Known { secret, .. } => secret.redact(said),
            Key::None | Key::Missing { .. } => said.to_owned(),
        };
        for secret in &self.hidden {
            said = secret.redact(&said);
        }
        let line = said.split_whitespace().collect::<Vec<_>>().join(" ");
        if line.len() <= SHOWN {
            return line.trim_end_matches('.').to_owned();
        }
        format!("{}…", &line[..line.floor_char_boundary(SHOWN)])
    }

    fn remedy(&self) -> String {
        match &self.key {
            Key::Known { from, .. } | Key::Missing { from, .. } => {
                format!("Correct the key in {from}")
            }
            Key::None => {
                let name = &self.name;
                format!("Say in the configuration where its key is: api_key_env of {name}")
            }
        }
    }

    fn whereabouts(&self) -> String {
        if self.is_here() {
            format!("Is the server at {} running?", self.place())
        } else {
            "Check the connection, or choose another model".into()
        }
    }

    /// Its address without anything that may be secret.
    fn place(&self) -> String {
        let host = self.base_url.host_str().unwrap_or_default();
        match self.base_url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        }
    }
}

/// What opens an address, in every form in which it may come back.
fn login(url: &str) -> Vec<Secret> {
    let Ok(url) = Url::parse(url) else { return Vec::new() };
    let Some(encoded) = url.password() else { return Vec::new() };
    let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    let (name, password) = (decoded(url.username()), decoded(encoded));
    let basic = STANDARD.encode(format!("{name}:{password}"));
    [&*basic, &*password, encoded].map(Secret::new).to_vec()
}

fn base_url(kind: Kind, given: Option<&str>) -> Result<Url, SettingsError> {
    let text = given.unwrap_or(kind.home());
    // What stands before an @ may be a secret.
    let shown = if text.contains('@') { "(hidden)" } else { text };
    let bad = || SettingsError::BaseUrl(shown.to_owned());
    let mut url = Url::parse(text.trim()).map_err(|_| bad())?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(bad());
    }
    // Whoever names only the host means the usual place there.
    if url.path() == "/" {
        url.set_path(if kind == Kind::Gemini { "/v1beta" } else { "/v1" });
    }
    Ok(url)
}

fn key(
    settings: &ProviderSettings,
    env: &impl Fn(&str) -> Option<String>,
) -> Result<Key, SettingsError> {
    let ProviderSettings { api_key, api_key_env, api_key_file, .. } = settings;
    let (loaded, from) = match (api_key, api_key_env, api_key_file) {
        (Some(Given { secret, from }), None, None) => (secret.clone(), from.clone()),
        (None, Some(name), None) => (Secret::from_env(name, env), name.clone()),
        (None, None, Some(path)) => (Secret::from_file(path), path.display().to_string()),
        (Some(_), ..) | (None, Some(_), Some(_)) => return Err(SettingsError::TwoKeys),
        (None, None, None) if settings.base_url.is_some() => return Ok(Key::None),
        (None, None, None) => {
            let name = settings.kind.usual_key();
            (Secret::from_env(name, env), name.to_owned())
        }
    };
    Ok(match loaded {
        Ok(secret) => Key::Known { secret, from },
        Err(error) => Key::Missing { error, from },
    })
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Provider")
            .field("name", &self.name)
            .field("kind", &self.kind)
            .field("place", &self.place())
            .field("key", &self.key)
            .field("models", &self.models)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
