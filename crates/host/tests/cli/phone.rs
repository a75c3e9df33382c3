//! Pairing a phone, and being one.

use std::process::Stdio;

use crate::home::Home;

/// What a camera reads of a code printed as half blocks, light on dark.
fn scan(out: &str) -> String {
    let lines: Vec<Vec<char>> = out
        .lines()
        .filter(|line| line.chars().all(|it| " ▀▄█".contains(it)) && !line.is_empty())
        .map(|line| line.chars().collect())
        .collect();
    let width = lines.iter().map(Vec::len).max().unwrap();
    let is_light = |x: usize, y: usize| match lines[y / 2].get(x) {
        Some('█') => true,
        Some('▀') => y.is_multiple_of(2),
        Some('▄') => !y.is_multiple_of(2),
        _ => false,
    };
    let size = 4;
    let mut picture = rqrr::PreparedImage::prepare_from_greyscale(
        width * size,
        lines.len() * 2 * size,
        |x, y| if is_light(x / size, y / size) { 255 } else { 0 },
    );
    let grids = picture.detect_grids();
    assert_eq!(grids.len(), 1, "{out}");
    grids[0].decode().unwrap().1
}

fn field<'a>(out: &'a str, name: &str) -> &'a str {
    out.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim()
}

#[test]
fn a_phone_is_paired_listed_used_and_revoked() {
    let home = Home::new();
    let none = home.run(&["pair"]);
    assert_eq!((none.code, none.err.contains("no server runs")), (Some(1), true), "{none:?}");
    let server = home.serve(&[]);
    let paired = home.run(&["pair", "--name", "Anna's phone"]);
    assert_eq!(paired.code, Some(0), "{paired:?}");
    assert!(paired.err.contains("--listen 0.0.0.0:53000"), "{paired:?}");
    let (host, key) = (field(&paired.out, "Host"), field(&paired.out, "Key"));
    assert_eq!(host, server.addr);
    assert_eq!(scan(&paired.out), format!("http://{host}/pair#key={key}"));
    assert_eq!(server.get("/pair", ""), 200);
    assert_eq!(server.get("/status", key), 200);
    assert_eq!(server.get("/api/sessions", key), 401);
    let devices = home.run(&["key", "devices"]).out;
    assert!(devices.starts_with("Anna's phone  phone  last seen 20"), "{devices}");
    let taken = home.run(&["pair", "--name", "Anna's phone"]);
    assert_eq!(taken.code, Some(1), "{taken:?}");

    let checked = home.run(&["phone", "--check", host, "--key", key]);
    assert_eq!(checked.code, Some(0), "{checked:?}");
    assert!(checked.out.ends_with("A phone can use this server.\n"), "{checked:?}");
    assert!(!checked.out.contains("fault"), "{checked:?}");

    let revoked = home.run(&["key", "revoke", "Anna's phone"]);
    assert_eq!(revoked.code, Some(0), "{revoked:?}");
    assert_eq!(server.get("/status", key), 401);
    let checked = home.run(&["phone", "--check", host, "--key", key]);
    assert_eq!(checked.code, Some(1));
    assert!(checked.out.contains("fault  status can be read"), "{checked:?}");
    assert!(!home.run(&["key", "devices"]).out.contains("Anna"));
    assert!(!server.stop().err.contains(key));
}

#[test]
fn a_terminal_talks_as_a_phone_does() {
    let home = Home::new();
    let _server = home.serve(&[]);
    let said = home.piped(&["phone"], "hello\n/tool list_directory {}\n");
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.out.starts_with("Hello! I am the demo model"), "{said:?}");
    assert!(said.out.contains("`list_directory` ok"), "{said:?}");
    let again = home.command(&["phone"]).stdin(Stdio::null()).output().unwrap();
    let shown = String::from_utf8(again.stderr).unwrap();
    // The second may have been said before the first was answered.
    for row in [
        "you: hello\n",
        "you: /tool list_directory {}\n",
        "agent: Hello!",
        "agent: `list_directory` ok",
    ] {
        assert!(shown.contains(row), "{shown}");
    }
}
