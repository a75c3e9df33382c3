//! Models as a person meets them: listed, tried, chosen, found, and given their keys.

use std::{
    fs,
    io::Write as _,
    os::unix::fs::PermissionsExt as _,
    process::{Command, Stdio},
};

use crate::home::{Home, Ran};

const SECRET: &str = "sk-s3cret-0123456789";

fn run(mut command: Command) -> Ran {
    Ran::of(command.output().unwrap())
}

fn piped(mut command: Command, text: &str) -> Ran {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // It need not listen to the end, or at all.
    child.stdin.take().unwrap().write_all(text.as_bytes()).ok();
    Ran::of(child.wait_with_output().unwrap())
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
    let ran = piped(home.command(&["key", "set", "mine"]), &format!("{SECRET}\n"));
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
        let ran = piped(home.command(&["key", "set", name]), text);
        assert_eq!(ran.code, Some(1), "{name}: {ran:?}");
    }
}
