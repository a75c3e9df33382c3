//! What must hold of the configuration: what it may say, and what is said to what it may not.

use super::*;

fn complaint(text: &str) -> String {
    format!("{:#}", Config::parse(text).unwrap_err())
}

#[test]
fn an_absent_or_empty_file_means_the_defaults() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(Config::load(dir.path()).unwrap(), Config::default());
    assert_eq!(Config::parse("").unwrap(), Config::default());
}

#[test]
fn a_file_may_say_everything() {
    let config = Config::parse(
        r#"
        default_model = "other"
        allowed_hosts = ["megaron.example"]
        [server]
        listen = "0.0.0.0:8080"
        drain_seconds = 3
        max_connections = 7
        push_contact = "mailto:you@megaron.example"
        [sessions]
        rest_seconds = 60
        [agents]
        calls_per_minute = 5
        depth = 4
        [agents.mine]
        command = "my-agent"
        args = ["--acp"]
        [models]
        attempts = 3
        [budgets]
        day_usd = 5
        month_tokens = 1000000
        warn_at = 0.5
        [providers.local]
        kind = "openai-chat"
        base_url = "http://127.0.0.1:9911/v1"
        "#,
    );
    let config = config.unwrap();
    assert_eq!(config.default_model, "other");
    assert_eq!(config.server.listen, "0.0.0.0:8080".parse().unwrap());
    assert_eq!(config.drain(), Duration::from_secs(3));
    assert_eq!(config.server.push_contact.as_deref(), Some("mailto:you@megaron.example"));
    assert_eq!(config.house().rest, Duration::from_mins(1));
    let budgets = config.house().budgets;
    assert_eq!((budgets.day_usd, budgets.month_tokens), (Some(5.0), Some(1_000_000)));
    assert_eq!((budgets.session_usd, budgets.warn_at), (None, 0.5));
    assert_eq!((config.house().limits.calls, config.house().limits.depth), (5, 4));
    let mine = ("mine".to_owned(), Agent::new("my-agent", &["--acp"]));
    assert_eq!(config.agents.named, BTreeMap::from([mine]));
}

#[test]
fn an_unknown_key_is_named_with_its_line_and_the_nearest_known_one() {
    assert_eq!(
        complaint("default_modle = \"x\""),
        "line 1: there is no key `default_modle`; the nearest is `default_model`"
    );
    assert_eq!(
        complaint("[server]\nlisten = \"127.0.0.1:1\"\n\ndrain = 3"),
        "line 4: there is no key `server.drain`; the nearest is `server.drain_seconds`"
    );
    assert_eq!(
        complaint("drain_seconds = 3"),
        "line 1: there is no key `drain_seconds`; the nearest is `server.drain_seconds`"
    );
    assert_eq!(
        complaint("[session]\nrest_seconds = 3"),
        "line 1: there is no key `session`; the nearest is `sessions`"
    );
    assert_eq!(
        complaint("[provider.x]\nkind = \"gemini\""),
        "line 1: there is no key `provider`; the nearest is `providers`"
    );
    assert_eq!(
        complaint("[providers.mine]\nkind = \"gemini\"\nbase_ulr = \"x\""),
        "line 3: there is no key `providers.mine.base_ulr`; \
         the nearest is `providers.mine.base_url`"
    );
    assert_eq!(
        complaint("[agents.mine]\ncomand = \"x\""),
        "line 2: there is no key `agents.mine.comand`; the nearest is `agents.mine.command`"
    );
    assert_eq!(
        complaint("[agents]\ndeep = 3"),
        "line 2: there is no key `agents.deep`; the nearest is `agents.depth`"
    );
    assert_eq!(
        complaint("[providers]\nkind = \"gemini\""),
        "line 2: there is no key `providers.kind`; the nearest is `providers.NAME.kind`"
    );
}

#[test]
fn a_wrong_value_is_told_of_where_it_stands() {
    for (text, part) in [
        ("default_model = 3", "line 1"),
        ("[server]\nlisten = \"here\"", "line 2, listen: invalid socket address syntax"),
        ("[sessions]\nrest_seconds = 0", "nonzero"),
        ("[agents]\ndepth = -1", "line 2"),
        ("server = 3", "line 1"),
        ("default_model = ", "line 1"),
        ("allowed_hosts = [\"http://x/\"]", "`http://x/` is not a bare host name"),
        (
            "[server]\npush_contact = \"you@example.com\"",
            "`you@example.com` is no address like `mailto:you@example.com`",
        ),
        ("[models]\nattempts = 0", "nonzero"),
        ("[budgets]\nday_usd = -1", "day_usd must be an amount of US dollars, 0 or more"),
        ("[budgets]\nwarn_at = 80", "warn_at must be a share of a budget"),
        ("[budgets]\nday_tokens = 0.5", "line 2"),
        ("[budgets]\nday_eur = 5", "the nearest is `budgets.day_usd`"),
        ("[shell]\nsandbox = \"yes\"", "expected one of `auto`, `always`, `never`"),
        ("[shell]\nallow = [\"git *\"]", "`git *` is not the bare name of a program"),
        ("[shell]\nenv = [\"A=1\"]", "`A=1` is not the name of a variable"),
        ("[shell]\nenv = [\"MEGARON_X\"]", "`MEGARON_X` is ours"),
        (
            "[shell]\nenv = [\"K\"]\n[providers.x]\nkind = \"gemini\"\napi_key_env = \"K\"",
            "`K` is ours, and may hold a secret",
        ),
        ("[providers.x]\nkind = \"openai\"", "expected one of `anthropic`"),
        ("[providers.x]\nkind = \"gemini\"\nreasoning_effort = \"some\"", "line 3"),
        (
            "[providers.x]\nkind = \"gemini\"\nheaders = \"hush\"",
            "line 3, headers: invalid type: string ..., expected a map",
        ),
        ("[providers.x]\nbase_url = \"y\"", "missing field `kind`"),
        ("[agents.x]\nargs = []", "missing field `command`"),
        ("[agents.x]\ncommand = \"\"", "agents.x: the command is empty"),
        ("[agents.\"a/b\"]\ncommand = \"x\"", "`a/b` cannot be the name of an agent"),
        ("[providers.\"a/b\"]\nkind = \"gemini\"", "`a/b` cannot be the name of a provider"),
    ] {
        let complaint = complaint(text);
        assert!(complaint.contains(part), "{text}: {complaint}");
    }
}

#[test]
fn a_flag_wins_over_the_file() {
    let config = Config::parse("[server]\nlisten = \"127.0.0.1:1\"\ndrain_seconds = 5").unwrap();
    let by = Overrides { listen: Some("127.0.0.1:2".parse().unwrap()), ..Overrides::default() };
    let config = config.overridden(&by);
    assert_eq!(config.server.listen.port(), 2);
    assert_eq!(config.server.drain_seconds, 5);
}

#[test]
fn providers_and_agents_are_shown_without_secrets() {
    let dir = tempfile::tempdir().unwrap();
    let text = r#"
        [providers.mine]
        kind = "openai-chat"
        proxy = "http://me:s3cret@proxy:1"
        headers = { "X-Key" = "s3cret" }
        api_key_env = "MINE_KEY"
        [providers.other]
        kind = "anthropic"
        [agents.mine]
        command = "my-agent"
        args = ["--acp"]
        env = { "MY_TOKEN" = "s3cret" }
        "#;
    std::fs::write(dir.path().join("config.toml"), text).unwrap();
    let home = DataDir { data_dir: Some(dir.path().to_owned()) };
    let shown = effective(&ConfigArgs { home, ..ConfigArgs::default() }).unwrap();
    let (_, providers) = shown.split_once("\n[providers.mine]\n").unwrap();
    let expected = r#"kind = "openai-chat"
api_key_env = "MINE_KEY"
headers = { X-Key = "(hidden)" }
proxy = "http://(hidden)@proxy:1"

[providers.other]
kind = "anthropic"

[agents.mine]
command = "my-agent"
args = ["--acp"]
env = { MY_TOKEN = "(hidden)" }
"#;
    assert_eq!(providers, expected);
    Config::parse(&shown).unwrap();
}

#[test]
fn what_is_in_effect_is_itself_a_configuration() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("config.toml"), "[server]\ndrain_seconds = 5").unwrap();
    let home = DataDir { data_dir: Some(dir.path().to_owned()) };
    let shown = effective(&ConfigArgs { home, ..ConfigArgs::default() }).unwrap();
    assert_eq!(Config::parse(&shown).unwrap(), Config::load(dir.path()).unwrap());
    assert!(shown.contains("\ndrain_seconds = 5\n"), "{shown}");
    assert!(shown.contains("\ndefault_model = \"demo\"  # default\n"), "{shown}");
}
