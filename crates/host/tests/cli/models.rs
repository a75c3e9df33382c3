//! Models as a person meets them: listed, tried, chosen, found, and given their keys.

use std::{fs, os::unix::fs::PermissionsExt as _, process::Command};

use crate::{
    home::{Home, Ran},
    provider::Provider,
};

const SECRET: &str = "sk-s3cret-0123456789";

fn run(mut command: Command) -> Ran {
    Ran::of(command.output().unwrap())
}

#[test]
fn models_are_listed_and_tried() {
    let home = Home::new();
    for args in [&["models"][..], &["models", "list"]] {
        let ran = home.run(args);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(ran.out.contains("*  demo  Demo (built in)  nobody: it is built in"), "{ran:?}");
    }
    let ran = home.run(&["models", "test", "demo"]);
    assert!(ran.code == Some(0) && ran.out.starts_with("ok: demo"), "{ran:?}");
    let ran = home.run(&["models", "test", "none"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{ran:?}");
    assert!(ran.err.contains("none does not answer") && ran.err.contains("demo"), "{ran:?}");
}

#[test]
fn a_default_is_chosen_if_it_exists() {
    let home = Home::new();
    let config = home.path("home/config.toml");
    let ran = home.run(&["models", "default", "none"]);
    assert!(ran.code == Some(1) && !config.exists(), "{ran:?}");
    fs::create_dir(home.path("home")).unwrap();
    fs::write(&config, "# mine\ndefault_model = \"gone/away\" # old\n").unwrap();
    assert_eq!(home.run(&["models"]).code, Some(1), "what is configured is not there");
    let ran = home.run(&["models", "default", "demo"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let text = fs::read_to_string(&config).unwrap();
    assert_eq!(text, "# mine\ndefault_model = \"demo\" # old\n");
    assert_eq!(home.run(&["models"]).code, Some(0));
}

#[test]
fn agents_are_listed_tried_and_chosen_like_models() {
    let home = Home::new();
    fs::create_dir_all(home.path("home")).unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../agents/tests/visits/agent.py");
    let guest = |name: &str, mode: &str| {
        format!("[agents.{name}]\ncommand = \"python3\"\nargs = [{script:?}, {mode:?}]\n")
    };
    let config = home.path("home/config.toml");
    fs::write(&config, guest("guest", "") + &guest("stranger", "signed-out")).unwrap();
    let programs = home.path("programs");
    fs::create_dir(&programs).unwrap();
    fs::write(programs.join("opencode"), "").unwrap();
    fs::set_permissions(programs.join("opencode"), fs::Permissions::from_mode(0o755)).unwrap();

    let mut listing = home.command(&["models"]);
    let path = std::env::var("PATH").unwrap();
    listing.env("PATH", format!("{}:{path}", programs.display()));
    let ran = run(listing);
    let rows: Vec<Vec<&str>> =
        ran.out.lines().map(|line| line.split("  ").map(str::trim).collect()).collect();
    let row = |id: &str| {
        let row = rows.iter().find(|row| row.contains(&id)).unwrap();
        row.iter().copied().filter(|cell| !cell.is_empty()).collect::<Vec<_>>()
    };
    let paid = "its own sign-in";
    assert_eq!(row("agent/guest"), ["agent/guest", "guest (agent)", paid, "agents.guest"]);
    let found = ["agent/opencode", "opencode (agent)", paid, "found on the PATH"];
    assert_eq!(row("agent/opencode"), found);

    let ran = home.run(&["models", "test", "agent/guest"]);
    assert!(ran.code == Some(0) && ran.out.starts_with("ok: agent/guest"), "{ran:?}");
    let ran = home.run(&["models", "test", "agent/stranger"]);
    assert!(ran.code == Some(1) && ran.err.contains("stranger needs sign-in"), "{ran:?}");
    let ran = home.run(&["models", "default", "agent/gest"]);
    assert!(ran.code == Some(1) && ran.err.contains("agent/guest"), "{ran:?}");
    assert_eq!(home.run(&["models", "default", "agent/guest"]).code, Some(0));
    assert!(fs::read_to_string(config).unwrap().contains("default_model = \"agent/guest\""));
    let ran = home.run(&["models"]);
    assert!(ran.out.lines().any(|it| it.starts_with("*  agent/guest")), "{ran:?}");
    let ran = home.run(&["ask", "say hello"]);
    assert_eq!((ran.code, ran.out.trim()), (Some(0), "hello"), "{ran:?}");
}

/// A data directory with a provider that has one model, `m`, and one that is down.
fn furnished() -> (Home, Provider) {
    let (home, provider) = (Home::new(), Provider::start());
    fs::create_dir(home.path("home")).unwrap();
    let text = format!(
        "[providers.box]\nkind = \"openai-chat\"\nbase_url = \"http://{}/fine/v1\"\n\
         [providers.down]\nkind = \"openai-chat\"\nbase_url = \"http://127.0.0.1:1/v1\"\n\
         [providers.keyless]\nkind = \"openai-chat\"\nmodels = [\"k\"]\n\
         api_key_env = \"NO_SUCH_KEY\"\n",
        provider.addr
    );
    fs::write(home.path("home/config.toml"), text).unwrap();
    (home, provider)
}

#[test]
fn a_session_that_goes_on_can_be_given_another_model() {
    let (home, _provider) = furnished();
    for with_server in [false, true] {
        let server = with_server.then(|| home.serve(&[]));
        if let Some(server) = &server {
            let key = home.run(&["key"]).out;
            assert_eq!(server.get("/api/models", key.trim()), 200, "it has asked who has what");
        }
        let first = home.run(&["ask", "/long 1"]);
        let session = first.session();
        let ran = home.run(&["ask", "--session", session, "--model", "box/m", "hi"]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(0), "well\n"), "{ran:?}");
        assert!(ran.err.contains("answered by box/m from now on"), "{ran:?}");
        let ran = home.run(&["ask", "--session", session, "hi"]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(0), "well\n"), "{ran:?}");
        let ran = home.run(&["models", "use", "demo", "--session", session]);
        let said = format!("Session {session} is answered by demo from now on.\n");
        assert_eq!((ran.code, ran.out), (Some(0), said), "{}", ran.err);
        let ran = home.run(&["models", "use", "demo", "--session", session]);
        assert!(ran.code == Some(0) && ran.out.contains("as before"), "{ran:?}");
        for (model, session, complaint) in [
            ("demmo", session, "Unknown model: demmo; did you mean `demo`?"),
            ("box/n", session, "Unknown model: box/n"),
            ("demo", "nonsense", "Session not found: nonsense"),
        ] {
            let ran = home.run(&["models", "use", model, "--session", session]);
            assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{ran:?}");
            assert!(ran.err.contains(complaint), "{ran:?}");
        }
        if server.is_some() {
            let ran = home.run(&["ask", "--session", session, "--model", "box/n", "hi"]);
            assert_eq!(ran.code, Some(3), "{ran:?}");
        }
    }
}

#[test]
fn what_is_wrong_with_a_provider_is_told_with_what_to_do() {
    let (home, _provider) = furnished();
    let down = ["down", "does not answer: cannot connect", "Is the server at 127.0.0.1:1 running?"];
    let keyless = ["keyless", "NO_SUCH_KEY is not set", "megaron key list"];
    let is_told = |said: &str| {
        for part in down.iter().chain(&keyless) {
            assert!(said.contains(part), "{part}: {said}");
        }
    };
    let ran = home.run(&["models"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.out.contains("box/m") && !ran.err.contains("box"), "{ran:?}");
    is_told(&ran.err);
    let ran = home.run(&["doctor"]);
    assert_eq!(ran.code, Some(0), "nothing that is in use is wrong: {ran:?}");
    assert!(ran.out.contains("✓ the provider `box` can be used"), "{ran:?}");
    is_told(&ran.out);
    let ran = home.serve(&[]).stop_after("NO_SUCH_KEY");
    is_told(&ran.err);
    assert_eq!(home.run(&["models", "default", "down/m"]).code, Some(0), "it may have it");
    let ran = home.run(&["doctor"]);
    assert!(ran.code == Some(1) && ran.out.contains("✗ the provider `down`"), "{ran:?}");
}

#[test]
fn a_server_knows_short_names_soon_after_its_start() {
    let (home, provider) = furnished();
    let server = home.serve(&[]);
    while !provider.heard().contains("GET /fine/v1/models") {
        std::thread::yield_now();
    }
    // It may still be taking in what it was told.
    let ran = loop {
        let ran = home.run(&["ask", "--model", "m", "hi"]);
        if !ran.err.contains("Unknown model: m") {
            break ran;
        }
    };
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "well\n"), "{ran:?}");
    drop(server);
}

#[test]
fn a_model_that_its_provider_does_not_have_is_refused() {
    let (home, _provider) = furnished();
    for args in [&["models", "default", "box/mm"][..], &["models", "test", "box/mm"]] {
        let ran = home.run(args);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.err.contains("no model is named `box/mm`; did you mean `box/m`"), "{ran:?}");
    }
    let server = home.serve(&[]);
    assert_eq!(server.get("/api/models", home.run(&["key"]).out.trim()), 200);
    let ran = home.run(&["ask", "--model", "box/mm", "hi"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    drop(server);
}

#[test]
fn what_the_machine_has_is_found_and_added_once() {
    let home = Home::new();
    let program = home.path("codex");
    fs::write(&program, "").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let detect = |args: &[&str]| {
        let mut command = home.command(&[&["models", "detect"], args].concat());
        command.env("OPENAI_API_KEY", SECRET).env("PATH", home.path("."));
        let ran = run(command);
        assert!(!format!("{ran:?}").contains(SECRET), "{ran:?}");
        assert_eq!(ran.code, Some(0), "{ran:?}");
        ran.out
    };
    let table =
        "[providers.openai]\nkind = \"openai-responses\"\napi_key_env = \"OPENAI_API_KEY\"\n";
    let seen = detect(&[]);
    for part in ["in OPENAI_API_KEY", "paid by you, to OpenAI", "the agent `codex`", table] {
        assert!(seen.contains(part), "{part}: {seen}");
    }
    let config = home.path("home/config.toml");
    assert!(!config.exists(), "looking changes nothing");
    assert!(detect(&["--write"]).contains("Added [providers.openai]"));
    assert!(fs::read_to_string(&config).unwrap().contains(table));
    assert!(detect(&["--write"]).contains("nothing to add"));
    assert!(!detect(&[]).contains("[providers.openai]"), "it is no news any more");
}

#[test]
fn the_first_start_tells_what_the_machine_has() {
    let home = Home::new();
    let server = home.serve(&[]);
    assert!(server.stop_after("Found on this machine:").err.contains("Found on this machine:"));
    let ran = home.serve(&[]).stop();
    assert!(!ran.err.contains("Found on this machine"), "{ran:?}");
}

#[test]
fn a_providers_key_is_kept_privately_and_shown_nowhere() {
    let home = Home::new();
    let ran = home.piped(&["key", "set", "mine"], &format!("{SECRET}\n"));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.err.contains("once config.toml has a [providers.mine]"), "{ran:?}");
    let file = home.path("home/secrets/mine");
    assert_eq!(fs::read_to_string(&file).unwrap(), SECRET);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let text = "[providers.mine]\nkind = \"anthropic\"\nmodels = [\"m\"]\n";
    fs::write(home.path("home/config.toml"), text).unwrap();
    for args in [&["config"][..], &["doctor"], &["models"], &["key"]] {
        let ran = home.run(args);
        assert!(!format!("{ran:?}").contains(SECRET), "{args:?}: {ran:?}");
    }
    assert_eq!(home.run(&["key", "forget", "mine"]).code, Some(0));
    assert!(!file.exists());
    assert_eq!(home.run(&["key", "forget", "mine"]).code, Some(1));
    for (name, text) in [("mine", "\n"), ("../key", SECRET), ("a/b", SECRET)] {
        let ran = home.piped(&["key", "set", name], text);
        assert_eq!(ran.code, Some(1), "{name}: {ran:?}");
    }
}
