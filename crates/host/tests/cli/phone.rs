//! Pairing a phone, and being one.

use std::process::Stdio;

use rustix::process::Signal;
use serde_json::json;

use crate::home::{Home, Process};

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
    assert!(paired.err.contains("megaron serve --lan"), "{paired:?}");
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
    let end = "ok     a wrong key is refused\nA phone can use this server.\n";
    assert!(checked.out.ends_with(end), "{checked:?}");
    assert!(!checked.out.contains("fault"), "{checked:?}");

    let nobody = home.run(&["phone", "--check", "127.0.0.1:1", "--key", key]);
    assert_eq!(nobody.code, Some(1), "{nobody:?}");
    assert!(nobody.out.starts_with("fault  the server answers: "), "{nobody:?}");
    assert_eq!(nobody.out.lines().count(), 2, "{nobody:?}");

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
fn a_server_that_has_had_enough_of_wrong_keys_is_not_at_fault() {
    let home = Home::new();
    let server = home.serve(&[]);
    while server.get("/status", "wrong") != 429 {}
    let checked = home.run(&["phone", "--check"]);
    assert_eq!(checked.code, Some(0), "{checked:?}");
    assert!(!checked.out.contains("fault"), "{checked:?}");
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

#[test]
fn other_machines_come_by_a_certificate_that_they_know() {
    let home = Home::new();
    let open = home.run(&["serve", "--no-open", "--listen", "0.0.0.0:0"]);
    assert_eq!(open.code, Some(1), "{open:?}");
    assert!(open.err.contains("--lan") && open.err.contains("--plain-http"), "{open:?}");
    let both = home.run(&["serve", "--no-open", "--lan", "--plain-http"]);
    assert!(both.code == Some(1) && both.err.contains("choose one"), "{both:?}");
    let half = home.run(&["serve", "--no-open", "--tls-cert", "cert.pem"]);
    assert!(half.code == Some(1) && half.err.contains("--tls-key FILE"), "{half:?}");

    let server = home.serve(&["--lan"]);
    let paired = home.run(&["pair", "--name", "tablet"]);
    let (host, key) = (field(&paired.out, "Host"), field(&paired.out, "Key"));
    assert_eq!(host, format!("https://{}", server.addr));
    assert_eq!(scan(&paired.out), format!("{host}/pair#key={key}"));
    let fingerprint = field(&paired.out, "Certificate  SHA-256");
    let check = |url: &str, fingerprint: &str| {
        home.run(&["phone", "--check", url, "--key", key, "--fingerprint", fingerprint])
    };
    let checked = check(host, fingerprint);
    assert_eq!(checked.code, Some(0), "{checked:?}");
    let plainly = fingerprint.replace(':', "").to_lowercase();
    let said = home.command(&["phone", host, "--key", key, "--fingerprint", &plainly]).output();
    assert_eq!(said.unwrap().status.code(), Some(0));
    let other = check(host, &"AB".repeat(32));
    assert_eq!(other.code, Some(1), "{other:?}");
    assert!(other.out.contains("the certificate is another one"), "{other:?}");
    let short = check(host, "AB:CD");
    assert!(short.code == Some(1) && short.err.contains("64 hexadecimal digits"), "{short:?}");
    // Without a fingerprint it is trusted where this machine trusts its certificate, and nowhere else.
    let known = |file: &str| {
        let mut command = home.command(&["phone", "--check", host, "--key", key]);
        command.env("SSL_CERT_FILE", file).env_remove("SSL_CERT_DIR").output().unwrap()
    };
    let own = home.path("home/certificate.pem");
    let trusted = known(own.to_str().unwrap());
    assert_eq!(trusted.status.code(), Some(0), "{trusted:?}");
    let stranger = home.path("none.pem");
    let other = rcgen::generate_simple_self_signed(["elsewhere.example".to_owned()]).unwrap();
    std::fs::write(&stranger, other.cert.pem()).unwrap();
    let distrusted = known(stranger.to_str().unwrap());
    let said = String::from_utf8_lossy(&distrusted.stdout).into_owned();
    assert_eq!(distrusted.status.code(), Some(1), "{said}");
    assert!(said.contains("--fingerprint trusts one that `megaron pair` tells of"), "{said}");
    // From this machine it is reached as ever.
    assert_eq!(server.get("/status", key), 200);
    let ended = server.stop();
    assert!(ended.err.contains(fingerprint) && !ended.err.contains(key), "{ended:?}");

    // The next start has the same certificate; it may be given as well.
    let file = home.path("home/certificate.pem");
    let file = file.to_str().unwrap();
    let server = home.serve(&["--tls-cert", file, "--tls-key", file]);
    let checked = check(&format!("https://{}", server.addr), fingerprint);
    assert_eq!(checked.code, Some(0), "{checked:?}");
}

#[test]
fn a_phone_sees_a_task_fail_whose_server_was_killed() {
    let home = Home::new();
    let server = home.serve(&[]);
    let mut watching = home.command(&["phone"]);
    watching.stdin(Stdio::piped());
    let mut watching = Process::start(watching);
    watching.remark("Connected to");
    let key = home.run(&["key"]).out.trim().to_owned();
    let listed = server.ask("GET", "/api/sessions", &key, None).1.to_string();
    let id = listed.split("\"sessionId\":\"").nth(1).and_then(|it| it.get(..36)).unwrap();
    let calls = "/tool list_directory {}\n/tool current_time {}\n/slow 50\n/long 100000";
    let path = format!("/api/sessions/{id}/messages");
    let said = server.ask("POST", &path, &key, Some(&json!({ "prompt": calls })));
    assert_eq!(said.0, 200, "{said:?}");
    watching.remark("[/tool list_directory {}]");
    let address = server.addr.clone();
    server.process.signal(Signal::KILL);
    server.process.wait();
    let _server = home.serve(&["--listen", &address]);
    let failed = watching.remark("Failed:");
    assert_eq!(failed, "[/tool list_directory {}] Failed: the server restarted");
}
