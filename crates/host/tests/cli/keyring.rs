//! Keys in the keyring of the machine: a real one, one that is not there, and one that is mute.

use std::{
    fs,
    os::unix::net::UnixListener,
    process::{Command, Stdio},
};

use crate::{
    home::{Home, Ran},
    provider::Provider,
};

const SECRET: &str = "sk-in-the-keyring-0123456789";

/// Opens a new keyring, then does what it is told with it.
const UNLOCKED: &str = r#"
mkdir -m 700 -p "$XDG_RUNTIME_DIR"
printf 'open' | gnome-keyring-daemon --unlock --components=secrets > /dev/null 2>&1
exec sh -euc "$1"
"#;

fn is_installed(program: &str) -> bool {
    let mut command = Command::new(program);
    let tried = command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    tried.is_ok_and(|status| status.success())
}

fn configure(home: &Home, rest: &str) {
    fs::create_dir_all(home.path("home")).unwrap();
    let text = format!("[providers.mine]\nkind = \"anthropic\"\n{rest}");
    fs::write(home.path("home/config.toml"), text).unwrap();
}

#[test]
fn a_key_in_a_real_keyring_is_kept_used_and_forgotten() {
    for program in ["dbus-run-session", "gnome-keyring-daemon"] {
        if !is_installed(program) {
            eprintln!("skipped: {program} is not installed, so there is no keyring to try");
            return;
        }
    }
    let (home, provider) = (Home::new(), Provider::start());
    configure(&home, &format!("base_url = \"http://{}/locked/v1\"\n", provider.addr));
    let script = format!(
        "echo {SECRET} | megaron key set mine --keyring
         megaron key list
         megaron config | grep keyring
         megaron models test mine/m || echo refused
         megaron key forget mine
         megaron key list
         megaron key forget mine || echo gone"
    );
    let command = home.command(&[]);
    let program = command.get_program().to_owned();
    let mut session = Command::new("dbus-run-session");
    session.args(["--", "sh", "-c", UNLOCKED, "sh", &script]);
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => session.env(name, value),
            None => session.env_remove(name),
        };
    }
    let folder = std::path::Path::new(&program).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    session.env("PATH", format!("{}:{path}", folder.display()));
    session.env_remove("DBUS_SESSION_BUS_ADDRESS").env("HOME", home.path("."));
    session.env("XDG_RUNTIME_DIR", home.path("run")).env("XDG_DATA_HOME", home.path("data"));
    let ran = Ran::of(session.stdin(Stdio::null()).output().unwrap());
    let missing =
        "the keyring holds none for `mine`; `megaron key set mine --keyring` puts one there";
    let expected = format!(
        "mine  the keyring\napi_key_keyring = true\nrefused\nmine  missing: {missing}\ngone\n"
    );
    assert_eq!(ran.out, expected, "{}", ran.err);
    assert!(provider.heard().contains(&format!("x-api-key: {SECRET}")), "it was used");
    assert!(!ran.err.contains(SECRET), "{}", ran.err);
    assert!(!home.path("home/secrets/mine").exists());
}

#[test]
fn a_machine_without_a_keyring_is_told_to_use_the_file() {
    let home = Home::new();
    configure(&home, "api_key_keyring = true\n");
    let ran = home.piped(&["key", "set", "mine", "--keyring"], SECRET);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let instead = "`megaron key set mine` keeps the key in a file instead";
    assert!(ran.err.contains("cannot be used") && ran.err.contains(instead), "{ran:?}");
    for args in [&["key", "list"][..], &["models"], &["doctor"]] {
        let ran = home.run(args);
        assert!((ran.out.clone() + &ran.err).contains(instead), "{args:?} {ran:?}");
    }
    let ran = home.piped(&["key", "set", "mine"], SECRET);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let listed = home.run(&["key", "list"]).out;
    assert_eq!(listed, format!("mine  {}\n", home.path("home/secrets/mine").display()));
    assert_eq!(home.run(&["key", "forget", "mine"]).code, Some(0));
}

#[test]
fn a_keyring_that_says_nothing_is_not_waited_for() {
    let home = Home::new();
    configure(&home, "api_key_keyring = true\n");
    let socket = home.path("bus");
    let _mute = UnixListener::bind(&socket).unwrap();
    let mut command = home.command(&["key", "list"]);
    command.env("DBUS_SESSION_BUS_ADDRESS", format!("unix:path={}", socket.display()));
    let ran = Ran::of(command.output().unwrap());
    assert!(ran.out.contains("it does not answer within 3 s"), "{ran:?}");
}
