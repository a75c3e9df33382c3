//! What a `[mcp.servers.NAME]` table may say, and what of it may be shown.

use std::{collections::BTreeMap, fmt, path::PathBuf, time::Duration};

use reqwest::header::{HeaderName, HeaderValue};
use serde::{Deserialize, Serialize};
use url::Url;

/// How much of a result is kept, unless a server may return more.
const RESULT_BYTES: usize = 4 * 1024 * 1024;
const CALL_SECONDS: u64 = 600;
/// Too short to be a secret, and too likely to be part of an innocent word.
const SHORTEST_SECRET: usize = 6;

/// Headers that only the protocol itself may send.
const RESERVED: &[&str] = &[
    "accept",
    "content-type",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
];

/// Either a command or an address.
#[expect(clippy::struct_excessive_bools, reason = "each is chosen by itself")]
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Variables for its process, besides the harmless ones that every server gets.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Names of variables of ours that it gets as well.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pass_env: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// The variable that holds a token for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bearer_env: Option<String>,
    /// How it knows us, should it not let clients register themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// What it knows us by besides, should it have given us that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
    pub enabled: bool,
    /// Whether its word counts when it says that a tool only reads.
    pub trusted: bool,
    /// Started when it is first needed, rather than with the house.
    pub lazy: bool,
    pub sampling: Sampling,
    /// Whether it is told that widgets can be shown.
    pub widgets: bool,
    /// Whether its widgets do something in the person's name only right after they were touched.
    pub gesture: bool,
    /// A call of which nothing is heard for so long is given up.
    pub call_seconds: u64,
    pub result_bytes: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disabled_tools: Vec<String>,
}

/// Whether a server may have the session's model answer something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sampling {
    Ask,
    #[default]
    Deny,
    Allow,
}

/// How a server is reached.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Way<'a> {
    Stdio { command: &'a str },
    Http { url: &'a str },
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            command: None,
            args: Vec::new(),
            env: BTreeMap::new(),
            pass_env: Vec::new(),
            cwd: None,
            url: None,
            headers: BTreeMap::new(),
            bearer_env: None,
            client_id: None,
            client_secret: None,
            scopes: Vec::new(),
            enabled: true,
            trusted: false,
            lazy: false,
            sampling: Sampling::default(),
            widgets: true,
            gesture: false,
            call_seconds: CALL_SECONDS,
            result_bytes: RESULT_BYTES,
            disabled_tools: Vec::new(),
        }
    }
}

/// Without what may be a secret.
impl fmt::Debug for Settings {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Settings").field("place", &self.place()).finish_non_exhaustive()
    }
}

impl Settings {
    /// What is wrong with it, if something is.
    pub fn check(&self) -> Result<Way<'_>, String> {
        if self.call_seconds == 0 || self.result_bytes == 0 {
            return Err("call_seconds and result_bytes must be more than 0".into());
        }
        match (&self.command, &self.url) {
            (Some(command), None) if !command.trim().is_empty() => {
                let web = self.bearer_env.is_some() || self.client_secret.is_some();
                if web || !self.headers.is_empty() {
                    let why = "headers, bearer_env and client_secret belong to a server with a url";
                    return Err(why.into());
                }
                Ok(Way::Stdio { command })
            }
            (None, Some(url)) => {
                self.check_web(url)?;
                Ok(Way::Http { url })
            }
            (Some(_), None) => Err("the command is empty".into()),
            (Some(_), Some(_)) => Err("it has a command and a url; one of them is enough".into()),
            (None, None) => Err("it needs a command or a url".into()),
        }
    }

    fn check_web(&self, url: &str) -> Result<(), String> {
        let parsed = Url::parse(url).map_err(|error| format!("the url cannot be read: {error}"))?;
        if !matches!(parsed.scheme(), "http" | "https") || parsed.host_str().is_none() {
            return Err("the url must begin with http:// or https:// and name a host".into());
        }
        if !self.args.is_empty() || !self.env.is_empty() {
            return Err("args and env belong to a server with a command".into());
        }
        if self.client_secret.is_some() && self.client_id.is_none() {
            return Err("a client_secret needs the client_id that it belongs to".into());
        }
        for (name, value) in &self.headers {
            let named = HeaderName::try_from(name.as_str());
            if named.is_ok_and(|name| RESERVED.contains(&name.as_str())) {
                return Err(format!("the header `{name}` belongs to the protocol"));
            }
            if HeaderName::try_from(name.as_str()).is_err()
                || HeaderValue::try_from(value.as_str()).is_err()
            {
                return Err(format!("the header `{name}` cannot be sent"));
            }
        }
        Ok(())
    }

    pub fn kind(&self) -> &'static str {
        if self.url.is_some() { "http" } else { "stdio" }
    }

    /// Where it is, for a person: a command without its arguments' values, an address without secrets.
    pub fn place(&self) -> String {
        if let Some(url) = &self.url {
            let Ok(mut url) = Url::parse(url) else { return String::new() };
            url.set_query(None);
            url.set_fragment(None);
            // They fail where there is nothing to remove.
            let _ = url.set_username("");
            let _ = url.set_password(None);
            return url.to_string();
        }
        let words = self.command.iter().chain(&self.args);
        self.hide(&words.map(String::as_str).collect::<Vec<_>>().join(" "))
    }

    pub fn idle(&self) -> Duration {
        Duration::from_secs(self.call_seconds)
    }

    /// The longest message that is read.
    pub fn longest_message(&self) -> usize {
        const LEAST: usize = 16 * 1024 * 1024;
        self.result_bytes.saturating_mul(2).max(LEAST)
    }

    /// The token it is shown, if one is configured.
    pub fn bearer(&self) -> Result<Option<String>, String> {
        let Some(name) = &self.bearer_env else { return Ok(None) };
        match std::env::var(name) {
            Ok(token) if !token.trim().is_empty() => Ok(Some(token.trim().to_owned())),
            _ => Err(format!("the variable {name} is not set")),
        }
    }

    /// Whether it is told who we are without signing in.
    pub fn has_own_key(&self) -> bool {
        let named = |name: &String| name.eq_ignore_ascii_case("authorization");
        self.bearer_env.is_some() || self.headers.keys().any(named)
    }

    /// A text without the secrets that are known from here.
    pub fn hide(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in self.secrets() {
            text = text.replace(&secret, "(hidden)");
        }
        text
    }

    fn secrets(&self) -> Vec<String> {
        let query = self.url.as_deref().and_then(|url| url.split_once('?')).map(|(_, it)| it);
        let values = self.env.values().chain(self.headers.values()).chain(&self.client_secret);
        let values = values.map(String::as_str);
        let mut secrets: Vec<String> = values.chain(query).map(str::to_owned).collect();
        secrets.extend(self.bearer().ok().flatten());
        let words = self.headers.values().filter_map(|it| it.split_once(' '));
        secrets.extend(words.map(|(_, word)| word.trim().to_owned()));
        secrets.retain(|it| it.len() >= SHORTEST_SECRET);
        // The longest first, or a part of it would be left.
        secrets.sort_by_key(|it| std::cmp::Reverse(it.len()));
        secrets
    }
}

/// Whether a server can be called this: it becomes part of the names of tools, and of a file.
pub fn check_name(name: &str) -> Result<(), String> {
    let plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_');
    let fine = (1..=32).contains(&name.len()) && name.chars().all(plain) && !name.contains("__");
    if fine {
        return Ok(());
    }
    Err(format!(
        "`{name}` cannot be the name of a server: take up to 32 letters, digits, - and single _"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Settings, String> {
        let settings: Settings = toml::from_str(text).map_err(|error| error.to_string())?;
        settings.check()?;
        Ok(settings)
    }

    #[test]
    fn a_server_has_a_command_or_an_address() {
        assert_eq!(read("command = \"x\"").unwrap().check(), Ok(Way::Stdio { command: "x" }));
        let url = "http://127.0.0.1:1/mcp";
        assert_eq!(read(&format!("url = \"{url}\"")).unwrap().check(), Ok(Way::Http { url }));
        for (text, part) in [
            ("", "a command or a url"),
            ("command = \" \"", "empty"),
            ("command = \"x\"\nurl = \"http://a/\"", "one of them is enough"),
            ("url = \"ftp://a/\"", "http://"),
            ("url = \"a\"", "cannot be read"),
            ("url = \"http://a/\"\nargs = [\"b\"]", "belong to a server with a command"),
            ("command = \"x\"\nbearer_env = \"T\"", "belong to a server with a url"),
            ("url = \"http://a/\"\nclient_secret = \"s\"", "needs the client_id"),
            ("url = \"http://a/\"\nheaders = { \"a b\" = \"c\" }", "the header `a b`"),
            ("url = \"http://a/\"\nheaders = { Accept = \"c\" }", "belongs to the protocol"),
            ("command = \"x\"\ncall_seconds = 0", "more than 0"),
            ("comand = \"x\"", "unknown field"),
        ] {
            let complaint = read(text).unwrap_err();
            assert!(complaint.contains(part), "{text}: {complaint}");
        }
    }

    #[test]
    fn what_may_be_a_secret_is_not_shown() {
        let settings = read(
            "url = \"http://me:pass@a.example/mcp?key=s3cret-key\"\n\
             client_id = \"us\"\nclient_secret = \"0ur-own\"\n\
             headers = { Authorization = \"Bearer t0k3n-value\" }",
        );
        let settings = settings.unwrap();
        assert_eq!(settings.place(), "http://a.example/mcp");
        assert_eq!(
            settings.hide("sent t0k3n-value and 0ur-own to ?key=s3cret-key"),
            "sent (hidden) and (hidden) to ?(hidden)"
        );
        assert!(!format!("{settings:?}").contains("s3cret"));
        let settings = read("command = \"x\"\nargs = [\"s3cret1\"]\nenv = { K = \"s3cret1\" }");
        assert_eq!(settings.unwrap().place(), "x (hidden)");
    }

    #[test]
    fn a_name_is_plain_and_short() {
        for name in ["files", "my-box_2"] {
            check_name(name).unwrap();
        }
        for name in ["", "a b", "a/b", "..", "a__b", "ä", &"x".repeat(33)] {
            check_name(name).unwrap_err();
        }
    }
}
