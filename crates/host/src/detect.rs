//! What on this machine could answer: keys, servers and agents. Looks, and changes nothing.

mod servers;

use std::{
    collections::BTreeMap, ffi::OsString, fs, net::Ipv4Addr, os::unix::fs::PermissionsExt as _,
    path::PathBuf, time::Duration,
};

use futures::future;

use crate::config::{
    Config,
    agent::Agent,
    provider::{Kind, Provider},
};

/// Everybody is asked at once, and nobody is waited for any longer.
const PATIENCE: Duration = Duration::from_millis(250);

/// One thing that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// What it is, for a person: `Ollama at 127.0.0.1:11434`.
    pub what: String,
    /// Who pays when it answers.
    pub payer: String,
    /// How it would be called and configured, if it can be used.
    pub provider: Option<(&'static str, Provider)>,
    /// The models it has, as far as it said.
    pub models: Vec<String>,
}

/// Where to look.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// The variables that hold something; what it is does not matter here.
    pub variables: Vec<String>,
    /// The folders of programs.
    pub path: Vec<PathBuf>,
    pub ports: Ports,
}

#[derive(Clone, Copy, Debug)]
pub struct Ports {
    pub ollama: u16,
    pub lm_studio: u16,
    pub llama_cpp: u16,
}

impl Surroundings {
    pub fn real() -> Self {
        let said = |(name, value): (OsString, OsString)| {
            (!value.is_empty()).then(|| name.into_string().ok()).flatten()
        };
        let path = std::env::var_os("PATH").unwrap_or_default();
        Self {
            variables: std::env::vars_os().filter_map(said).collect(),
            path: std::env::split_paths(&path).collect(),
            ports: Ports { ollama: 11434, lm_studio: 1234, llama_cpp: 8080 },
        }
    }
}

pub async fn look(around: Surroundings) -> Vec<Found> {
    let Surroundings { variables, path, ports } = around;
    // A folder of programs may be on a network that does not answer.
    let agents = tokio::task::spawn_blocking(move || agents(&path));
    let agents = tokio::time::timeout(PATIENCE, agents);
    let (servers, agents) = future::join(servers::look(ports, PATIENCE), agents).await;
    let agents = agents.ok().and_then(Result::ok).unwrap_or_default();
    keys(&variables).into_iter().chain(servers).chain(agents).collect()
}

struct Vendor {
    name: &'static str,
    who: &'static str,
    variables: &'static [&'static str],
    kind: Kind,
    base_url: Option<&'static str>,
}

const VENDORS: &[Vendor] = &[
    Vendor {
        name: "anthropic",
        who: "Anthropic",
        variables: &["ANTHROPIC_API_KEY"],
        kind: Kind::Anthropic,
        base_url: None,
    },
    Vendor {
        name: "openai",
        who: "OpenAI",
        variables: &["OPENAI_API_KEY"],
        kind: Kind::OpenaiResponses,
        base_url: None,
    },
    Vendor {
        name: "gemini",
        who: "Google",
        variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        kind: Kind::Gemini,
        base_url: None,
    },
    Vendor {
        name: "openrouter",
        who: "OpenRouter",
        variables: &["OPENROUTER_API_KEY"],
        kind: Kind::OpenaiChat,
        base_url: Some("https://openrouter.ai/api/v1"),
    },
];

fn keys(variables: &[String]) -> Vec<Found> {
    let find = |vendor: &Vendor| {
        let known = |name: &&&str| variables.iter().any(|variable| variable == **name);
        let variable = *vendor.variables.iter().find(known)?;
        let mut provider = bare(vendor.kind);
        provider.base_url = vendor.base_url.map(str::to_owned);
        provider.api_key_env = Some(variable.to_owned());
        Some(Found {
            what: format!("a key for {} in {variable}", vendor.who),
            payer: format!("you, to {}, by use", vendor.who),
            provider: Some((vendor.name, provider)),
            models: Vec::new(),
        })
    };
    VENDORS.iter().filter_map(find).collect()
}

/// An agent, and the programs through which it speaks the Agent Client Protocol.
struct Guest {
    name: &'static str,
    programs: &'static [(&'static str, &'static [&'static str])],
    /// How to get one of them, where the agent's own program does not do.
    adapter: Option<&'static str>,
}

const AGENTS: &[Guest] = &[
    Guest {
        name: "claude",
        programs: &[("claude-agent-acp", &[]), ("claude-code-acp", &[])],
        adapter: Some("npm install -g @zed-industries/claude-code-acp"),
    },
    Guest {
        name: "codex",
        programs: &[("codex-acp", &[])],
        adapter: Some("npm install -g @zed-industries/codex-acp"),
    },
    Guest { name: "gemini", programs: &[("gemini", &["--experimental-acp"])], adapter: None },
    Guest { name: "copilot", programs: &[("copilot", &["--acp"])], adapter: None },
    Guest { name: "opencode", programs: &[("opencode", &["acp"])], adapter: None },
    Guest { name: "goose", programs: &[("goose", &["acp"])], adapter: None },
];

fn is_on(path: &[PathBuf], program: &str) -> bool {
    let is_program = |file: PathBuf| {
        fs::metadata(file).is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
    };
    path.iter().any(|it| is_program(it.join(program)))
}

/// The agents that can be called, and how.
fn callable(path: &[PathBuf]) -> BTreeMap<String, Agent> {
    let find = |guest: &Guest| {
        let (program, args) = guest.programs.iter().find(|(program, _)| is_on(path, program))?;
        Some((guest.name.to_owned(), Agent::new(program, args)))
    };
    AGENTS.iter().filter_map(find).collect()
}

/// The same, of this machine.
pub async fn guests() -> BTreeMap<String, Agent> {
    let Surroundings { path, .. } = Surroundings::real();
    let looking = tokio::task::spawn_blocking(move || callable(&path));
    tokio::time::timeout(PATIENCE, looking).await.ok().and_then(Result::ok).unwrap_or_default()
}

fn agents(path: &[PathBuf]) -> Vec<Found> {
    let callable = callable(path);
    let find = |Guest { name, adapter, .. }: &Guest| {
        let what = format!("the agent `{name}`");
        let found = |payer: String, models| Found { what, payer, provider: None, models };
        if callable.contains_key(*name) {
            return Some(found("its own sign-in".to_owned(), vec![format!("agent/{name}")]));
        }
        let adapter = adapter.filter(|_| is_on(path, name))?;
        let payer = format!("its own sign-in; to be called, it needs `{adapter}`");
        Some(found(payer, Vec::new()))
    };
    AGENTS.iter().filter_map(find).collect()
}

fn bare(kind: Kind) -> Provider {
    Provider {
        kind,
        base_url: None,
        api_key_env: None,
        api_key_file: None,
        api_key_keyring: false,
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

fn local(port: u16) -> Provider {
    let base_url = Some(format!("http://{}:{port}/v1", Ipv4Addr::LOCALHOST));
    Provider { base_url, ..bare(Kind::OpenaiChat) }
}

/// What can be used and is not in the configuration, under any name.
pub fn unused<'a>(found: &'a [Found], config: &Config) -> Vec<(&'a str, &'a Provider)> {
    let usable = found.iter().filter_map(|it| it.provider.as_ref()).map(|(name, it)| (*name, it));
    usable.filter(|(name, it)| name_of(name, it, config).is_none()).collect()
}

/// What a provider like this is called in the configuration, if it is there.
pub fn name_of(name: &str, wanted: &Provider, config: &Config) -> Option<String> {
    let same = |provider: &Provider| {
        let same_key = wanted.api_key_env == provider.api_key_env;
        same_key && wanted.base_url == provider.base_url && wanted.kind == provider.kind
    };
    let alike = || config.providers.iter().find(|(_, it)| same(it)).map(|(name, _)| name);
    config.providers.get_key_value(name).map(|(name, _)| name).or_else(alike).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_by_its_variable_once_per_vendor() {
        let variables = ["GOOGLE_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY", "HOME"];
        let found = keys(&variables.map(str::to_owned));
        let gemini = Found {
            what: "a key for Google in GEMINI_API_KEY".into(),
            payer: "you, to Google, by use".into(),
            provider: Some((
                "gemini",
                Provider { api_key_env: Some("GEMINI_API_KEY".into()), ..bare(Kind::Gemini) },
            )),
            models: Vec::new(),
        };
        assert_eq!(found.len(), 2);
        assert_eq!(found[0], gemini);
        assert_eq!(found[1].what, "a key for OpenRouter in OPENROUTER_API_KEY");
    }

    #[test]
    fn an_agent_is_a_program_on_the_path() {
        let dir = tempfile::tempdir().unwrap();
        for (name, mode) in
            [("codex", 0o755), ("claude", 0o644), ("other", 0o755), ("opencode", 0o755)]
        {
            fs::write(dir.path().join(name), "").unwrap();
            fs::set_permissions(dir.path().join(name), fs::Permissions::from_mode(mode)).unwrap();
        }
        fs::create_dir(dir.path().join("gemini")).unwrap();
        let path = ["/no/such".into(), dir.path().to_owned()];
        let found = |name: &str, payer: &str, models: &[&str]| Found {
            what: format!("the agent `{name}`"),
            payer: payer.into(),
            provider: None,
            models: models.iter().map(|it| (*it).to_owned()).collect(),
        };
        let adapter =
            "its own sign-in; to be called, it needs `npm install -g @zed-industries/codex-acp`";
        let expected = [
            found("codex", adapter, &[]),
            found("opencode", "its own sign-in", &["agent/opencode"]),
        ];
        assert_eq!(agents(&path), expected);
        let opencode = ("opencode".to_owned(), Agent::new("opencode", &["acp"]));
        assert_eq!(callable(&path), BTreeMap::from([opencode]));
    }

    #[test]
    fn what_is_configured_under_any_name_is_not_offered_again() {
        let found = keys(&["ANTHROPIC_API_KEY", "OPENAI_API_KEY"].map(str::to_owned));
        let names = |config: &Config| -> Vec<String> {
            unused(&found, config).into_iter().map(|(name, _)| name.to_owned()).collect()
        };
        let mut config = Config::default();
        assert_eq!(names(&config), ["anthropic", "openai"]);
        let (_, mine) = found[0].provider.clone().unwrap();
        config.providers.insert("mine".into(), mine);
        assert_eq!(names(&config), ["openai"]);
        config.providers.insert("openai".into(), bare(Kind::OpenaiChat));
        assert_eq!(names(&config), Vec::<String>::new());
    }
}
