//! The keys of the configuration, and what they mean.

mod unknown;

use toml::{Table, Value};

pub use unknown::check;

use super::{agent::Agent, lender::Lender, provider::Provider};

pub struct Key {
    /// Empty at the top of the file.
    pub section: &'static str,
    pub name: &'static str,
    example: &'static str,
    meaning: &'static str,
}

pub const KEYS: &[Key] = &[
    key(
        "",
        "default_model",
        "\"demo\"",
        "The model of sessions that name none: `provider/model`; like `megaron models default`.",
    ),
    key(
        "",
        "allowed_hosts",
        "[\"megaron.example\"]",
        "Names under which the server may be addressed, besides localhost and its own address.",
    ),
    key("server", "listen", "\"127.0.0.1:53000\"", "Where to listen; like --listen."),
    key("server", "lan", "false", "Be there for other machines, encrypted; like --lan."),
    key(
        "server",
        "plain_http",
        "false",
        "Serve other machines in plain words, as a proxy in front encrypts; like --plain-http.",
    ),
    key(
        "server",
        "tls_cert",
        "\"/etc/megaron/cert.pem\"",
        "A certificate to use; like --tls-cert.",
    ),
    key("server", "tls_key", "\"/etc/megaron/key.pem\"", "Its key; like --tls-key."),
    key(
        "server",
        "sandbox_origin",
        "\"https://frames.example\"",
        "Where a proxy has the address of --sandbox-listen; like --sandbox-origin.",
    ),
    key(
        "server",
        "push_contact",
        "\"mailto:you@example.com\"",
        "Whom push services may write to about notifications, if anybody.",
    ),
    key(
        "server",
        "drain_seconds",
        "10",
        "How long running turns may take to end when the server is stopped; like --drain.",
    ),
    key("server", "max_connections", "1024", "How many connections may be open at once."),
    key(
        "sessions",
        "rest_seconds",
        "300",
        "A session that nobody uses or watches leaves memory after so long.",
    ),
    key(
        "agents",
        "calls_per_minute",
        "10",
        "How many messages agents may send each other in one chain of calls.",
    ),
    key("agents", "depth", "2", "How many sessions such a chain may pass through."),
    key(
        "agents",
        "offer_tools",
        "true",
        "Let agents with minds of their own use the tools of the house, by `megaron mcp`.",
    ),
    key(
        "models",
        "attempts",
        "5",
        "How often a model is asked while it is overloaded or out of reach.",
    ),
    key(
        "approvals",
        "mode",
        "\"ask\"",
        "What agents do unasked: ask (look), auto-safe (also edit, and run programs locked in) or full.",
    ),
    key(
        "approvals",
        "patience_minutes",
        "1440",
        "A question that nobody answers for so long counts as denied.",
    ),
    key(
        "approvals",
        "unattended_minutes",
        "10",
        "The same where nobody waits: in scheduled turns and those that agents ask each other for.",
    ),
    key("budgets", "session_usd", "2.0", "US dollars that one session may cost; absent: no limit."),
    key("budgets", "day_usd", "5.0", "US dollars that a day may cost, whoever asks."),
    key("budgets", "month_usd", "50.0", "US dollars that a calendar month may cost."),
    key(
        "budgets",
        "session_tokens",
        "2000000",
        "Tokens for one session, read and written together.",
    ),
    key("budgets", "day_tokens", "5000000", "Tokens for a day."),
    key("budgets", "month_tokens", "50000000", "Tokens for a calendar month."),
    key(
        "budgets",
        "warn_at",
        "0.8",
        "From which share of a budget on you are told. Once set over the API, budgets there win.",
    ),
    key(
        "shell",
        "sandbox",
        "\"auto\"",
        "Lock commands in: auto (where nobody looks at them first), always or never.",
    ),
    key(
        "shell",
        "allow",
        "[\"git\", \"ls\"]",
        "Programs that agents run unasked and, in the mode `ask`, not locked in.",
    ),
    key(
        "shell",
        "allow_http",
        "[\"git\", \"ls\"]",
        "Programs that the page and applets may run, in place of a few that mostly look.",
    ),
    key(
        "shell",
        "env",
        "[\"EDITOR\"]",
        "Variables that commands get besides PATH, HOME and the like.",
    ),
    key("shell", "max_seconds", "600", "How long a command may be waited for."),
    key("shell", "jobs", "8", "How many commands a session may have in the background."),
    key("shell", "processes", "4096", "How many processes a command that is locked in may have."),
    key("web", "allow_private", "false", "Fetch from this machine and its network, too."),
    key("web", "allow", "[\"wiki.home\"]", "Hosts there that may be fetched from all the same."),
    key(
        "apps",
        "tools",
        "\"generic\"",
        "What models use apps in windows with: generic (two tools for all) or each (one per command).",
    ),
    key(
        "desktop",
        "deny",
        "[\"Thunderbird\", \"bank*\"]",
        "Programs whose windows get no input, by their class, besides those that keep passwords.",
    ),
    key(PROVIDER, "kind", "\"openai-chat\"", "anthropic, openai-responses, openai-chat or gemini."),
    key(
        PROVIDER,
        "base_url",
        "\"http://127.0.0.1:11434/v1\"",
        "Where it is; absent: the vendor's.",
    ),
    key(PROVIDER, "api_key_env", "\"OPENAI_API_KEY\"", "The variable that holds the key."),
    key(
        PROVIDER,
        "api_key_file",
        "\"openai.key\"",
        "Or a file that does, seen from the data directory. Without either: `megaron key set NAME`.",
    ),
    key(
        PROVIDER,
        "api_key_keyring",
        "true",
        "Or the keyring of this machine, as `megaron key set NAME --keyring` says here by itself.",
    ),
    key(PROVIDER, "models", "[\"llama3.2\"]", "The models to offer; absent: the server is asked."),
    key(PROVIDER, "headers", "{ \"X-Team\" = \"home\" }", "To send with every request."),
    key(PROVIDER, "proxy", "\"http://127.0.0.1:3128\"", "To go through."),
    key(PROVIDER, "max_tokens", "8192", "How long an answer may be."),
    key(PROVIDER, "reasoning_effort", "\"medium\"", "minimal, low, medium, high, xhigh or max."),
    key(PROVIDER, "silence_seconds", "120", "An answer that stops for so long is given up."),
    key(PROVIDER, "computer_use", "true", "Its own tool for desktops, where its models know one."),
    key(PROVIDER, "context_window", "32768", "How many tokens its models read; absent: as known."),
    key(
        PROVIDER,
        "price",
        "{ input = 3.0, output = 15.0 }",
        "US dollars for a million tokens, also cache_read and cache_write; absent: as known.",
    ),
    key(LENDER, "command", "\"npx\"", "A program that speaks MCP over its pipes."),
    key(LENDER, "args", "[\"-y\", \"some-server\"]", "Its arguments."),
    key(LENDER, "env", "{ TOKEN = \"...\" }", "Variables for it, besides HOME, PATH and the like."),
    key(LENDER, "pass_env", "[\"GITHUB_TOKEN\"]", "Variables of the server that it gets as well."),
    key(LENDER, "cwd", "\"/home/me/notes\"", "Where it works; absent: in the workspace."),
    key(
        LENDER,
        "url",
        "\"https://mcp.example/mcp\"",
        "Or where a server is, instead of a command.",
    ),
    key(LENDER, "headers", "{ \"X-Team\" = \"home\" }", "To send with every request."),
    key(LENDER, "bearer_env", "\"MCP_TOKEN\"", "The variable with a token; absent: you sign in."),
    key(LENDER, "client_id", "\"megaron\"", "How it knows us, if clients cannot register."),
    key(LENDER, "client_secret", "\"...\"", "What it gave us with that, if it did."),
    key(LENDER, "scopes", "[\"read\"]", "What to ask for when signing in; absent: as it says."),
    key(LENDER, "enabled", "true", "Whether it is used."),
    key(LENDER, "trusted", "false", "Whether its word counts when it says that a tool only reads."),
    key(LENDER, "lazy", "false", "Start it when it is first needed, not with the server."),
    key(
        LENDER,
        "sampling",
        "\"deny\"",
        "Whether it may use the session's model: ask, deny or allow.",
    ),
    key(LENDER, "widgets", "true", "Whether it is told that widgets can be shown."),
    key(LENDER, "gesture", "false", "Whether its widgets act for you only right after a touch."),
    key(LENDER, "call_seconds", "600", "A call of which nothing is heard for so long is given up."),
    key(LENDER, "result_bytes", "4194304", "How much of a result is kept."),
    key(LENDER, "disabled_tools", "[\"delete_all\"]", "Tools that nobody gets."),
    key(
        AGENT,
        "command",
        "\"gemini\"",
        "A program that speaks the Agent Client Protocol; it answers sessions as agent/NAME.",
    ),
    key(AGENT, "args", "[\"--experimental-acp\"]", "What to start it with."),
    key(AGENT, "env", "{ \"LANG\" = \"C\" }", "Variables to add to those of the server."),
    key(
        AGENT,
        "options",
        "{ \"mode\" = \"plan\" }",
        "What is chosen for each session, of what it offers: its mode, its model.",
    ),
];

/// The section of keys that every provider has, whatever its name.
const PROVIDER: &str = "providers.NAME";
const PROVIDERS: &str = "providers";
/// And those of every server of tools.
const LENDER: &str = "mcp.servers.NAME";
const LENDERS: &str = "mcp.servers";
/// And those of every agent, beside the keys that are about all of them.
const AGENT: &str = "agents.NAME";
const AGENTS: &str = "agents";
/// Sections whose tables have names of their own.
const NAMED: &[(&str, &str)] = &[(PROVIDERS, PROVIDER), (LENDERS, LENDER), (AGENTS, AGENT)];

pub const EXAMPLES: &str = r#"
Providers and servers of tools, for example:

  [providers.anthropic]
  kind = "anthropic"
  api_key_env = "ANTHROPIC_API_KEY"

  [providers.openai]
  kind = "openai-responses"
  api_key_env = "OPENAI_API_KEY"

  [providers.ollama]
  kind = "openai-chat"
  base_url = "http://127.0.0.1:11434/v1"

  [providers.llamacpp]
  kind = "openai-chat"
  base_url = "http://127.0.0.1:8080/v1"

  [mcp.servers.files]
  command = "npx"
  args = ["-y", "@modelcontextprotocol/server-filesystem", "."]
"#;

const fn key(
    section: &'static str,
    name: &'static str,
    example: &'static str,
    meaning: &'static str,
) -> Key {
    Key { section, name, example, meaning }
}

impl Key {
    pub fn find<'a>(&self, table: &'a Table) -> Option<&'a Value> {
        match self.section {
            "" => table.get(self.name),
            section => table.get(section)?.get(self.name),
        }
    }

    fn path(&self) -> String {
        path(self.section, self.name)
    }
}

/// Whether any section has a key of this name.
pub fn is_known(name: &str) -> bool {
    KEYS.iter().any(|key| key.name == name)
}

/// Every key explained, for `megaron config --help`.
pub fn manual() -> String {
    let mut text = "Every key of <data-dir>/config.toml, with an example:\n".to_owned();
    let mut section = "";
    for key in KEYS {
        if key.section != section {
            section = key.section;
            text.extend(["\n  [", section, "]\n"]);
        }
        text.extend(["  ", key.name, " = ", key.example, "\n      ", key.meaning, "\n"]);
    }
    text + EXAMPLES
        + "\nA key that is not in this list is an error. Flags and MEGARON_* variables win over the file."
}

/// One provider as the file would say it.
pub fn provider(name: &str, settings: &Provider) -> Result<String, toml::ser::Error> {
    Ok(written(PROVIDER, name, &Table::try_from(settings)?))
}

/// One server of tools as the file would say it.
pub fn lender(name: &str, settings: &Lender) -> Result<String, toml::ser::Error> {
    Ok(written(LENDER, name, &Table::try_from(settings)?))
}

/// One agent as the file would say it.
pub fn agent(name: &str, settings: &Agent) -> Result<String, toml::ser::Error> {
    Ok(written(AGENT, name, &Table::try_from(settings)?))
}

fn written(section: &str, name: &str, values: &Table) -> String {
    let mut text = format!("\n[{}]\n", section.replacen("NAME", name, 1));
    for key in KEYS.iter().filter(|key| key.section == section) {
        if let Some(value) = values.get(key.name) {
            text.extend([key.name, " = ", &value.to_string(), "\n"]);
        }
    }
    text
}

fn path(section: &str, name: &str) -> String {
    if section.is_empty() { name.to_owned() } else { format!("{section}.{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    /// Every example in one file.
    fn examples() -> String {
        let mut text = String::new();
        let mut section = "";
        for key in KEYS {
            if key.section != section {
                section = key.section;
                text.extend(["[", section, "]\n"]);
            }
            text.extend([key.name, " = ", key.example, "\n"]);
        }
        text
    }

    #[test]
    fn the_examples_can_be_copied() {
        for text in [&examples(), EXAMPLES.split_once('\n').unwrap().1.split_once('\n').unwrap().1]
        {
            check(text).unwrap();
            toml::from_str::<Config>(text).unwrap();
        }
    }

    #[test]
    fn the_list_of_keys_is_the_shape_of_the_configuration() {
        let config: Config = toml::from_str(&examples()).unwrap();
        let mut there = Vec::new();
        for (name, value) in &Table::try_from(config).unwrap() {
            match value {
                Value::Table(inner) if name == "mcp" => {
                    let keys = inner["servers"]["NAME"].as_table().unwrap().keys();
                    there.extend(keys.map(|key| path(LENDER, key)));
                }
                Value::Table(inner) => {
                    let named = inner.get("NAME").and_then(Value::as_table);
                    let keys = named.into_iter().flat_map(Table::keys);
                    there.extend(keys.map(|key| path(&path(name, "NAME"), key)));
                    let keys = inner.keys().filter(|key| *key != "NAME");
                    there.extend(keys.map(|key| path(name, key)));
                }
                _ => there.push(name.clone()),
            }
        }
        let mut listed: Vec<String> = KEYS.iter().map(Key::path).collect();
        there.sort();
        listed.sort();
        assert_eq!(there, listed);
    }

    #[test]
    fn the_words_of_the_manual_fit_a_terminal() {
        for line in manual().lines() {
            assert!(line.chars().count() <= 100, "{line}");
        }
    }
}
