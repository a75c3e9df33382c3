//! Servers of tools as a person meets them: configured, tried, imported, and used by an agent.

use std::{fs, path::Path, time::Instant};

use serde_json::{Value, json};

use crate::home::{Home, Server};

/// A server of tools that behaves in this way.
fn odd(way: &str) -> [String; 3] {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mcp/tests/peers/odd.mjs");
    ["node".to_owned(), script.to_str().unwrap().to_owned(), way.to_owned()]
}

fn configure(home: &Home, text: &str) {
    fs::create_dir_all(home.path("home")).unwrap();
    fs::write(home.path("home/config.toml"), text).unwrap();
}

fn configured(name: &str, way: &str) -> String {
    let [command, script, way] = odd(way);
    format!("[mcp.servers.{name}]\ncommand = \"{command}\"\nargs = [\"{script}\", \"{way}\"]\n")
}

fn until(server: &Server, key: &str, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
    let begun = Instant::now();
    loop {
        let (_, answer) = server.ask("GET", "/api/mcp/servers", key, None);
        if holds(&answer["servers"]) {
            return answer["servers"].clone();
        }
        assert!(begun.elapsed().as_secs() < 50, "waited in vain until {what}: {answer}");
        std::thread::yield_now();
    }
}

#[test]
fn an_agent_uses_a_tool_of_a_server_through_the_real_program() {
    let home = Home::new();
    let config = format!("[approvals]\nmode = \"full\"\n{}", configured("odd", "reads"));
    configure(&home, &config);
    let server = home.serve(&[]);
    let key = home.run(&["key"]).out.trim().to_owned();
    let ready = until(&server, &key, "it is ready", |it| it[0]["state"] == "ready");
    assert_eq!(ready[0]["tools"][0]["offeredAs"], "look");
    let ran = home.run(&["ask", "/tool touch {}"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.out.contains("touched"), "{ran:?}");
    let list = home.run(&["mcp", "list"]).out;
    assert!(list.contains("odd") && list.contains("ready"), "{list}");
    assert_eq!(server.stop().code, Some(0));
    let alone = home.run(&["ask", "/tool look {}"]);
    assert!(alone.out.contains("seen"), "without a server as well: {alone:?}");
}

#[test]
fn servers_come_and_go_through_the_api_of_the_real_program() {
    let home = Home::new();
    let server = home.serve(&[]);
    let key = home.run(&["key"]).out.trim().to_owned();
    let [command, script, way] = odd("other");
    let wish = json!({ "name": "mine", "command": command, "args": [script, way],
        "env": { "TOKEN": "s3cret-token" } });
    let done = (200, json!({ "ok": true }));
    assert_eq!(server.ask("POST", "/api/mcp/servers", &key, Some(&wish)), done);
    until(&server, &key, "it is ready", |it| it[0]["state"] == "ready");
    let off = json!({ "tools": { "ping": false } });
    assert_eq!(server.ask("PATCH", "/api/mcp/servers/mine", &key, Some(&off)), done);
    let disabled = |it: &Value| it[0]["tools"][0]["offeredAs"].is_null();
    let shown = until(&server, &key, "its tool is gone", disabled);
    assert_eq!(shown[0]["tools"][1]["offeredAs"], "pong");
    assert!(!shown.to_string().contains("s3cret"), "{shown}");
    assert_eq!(server.ask("DELETE", "/api/mcp/servers/mine", &key, None), done);
    until(&server, &key, "it is gone", |it| *it == json!([]));
}

#[test]
fn a_server_is_added_tried_and_removed() {
    let home = Home::new();
    let [command, script, way] = odd("plain");
    let ran = home.run(&["mcp", "add", "odd", "--env", "A=b", "--", &command, &script, &way]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let text = fs::read_to_string(home.path("home/config.toml")).unwrap();
    let expected = format!(
        "[mcp.servers.odd]\ncommand = \"node\"\nargs = [\"{script}\", \"plain\"]\nenv = {{ A = \"b\" }}\n"
    );
    assert_eq!(text, expected);
    let ran = home.run(&["mcp", "test", "odd"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.out.starts_with("ok: odd speaks 2025-11-25"), "{ran:?}");
    assert!(
        ran.out.ends_with("listed 1 tools in 0.00 s\n  ping\n") || ran.out.contains("  ping\n")
    );
    assert!(home.run(&["mcp", "list"]).out.contains("not running"));
    let again = home.run(&["mcp", "add", "odd", "--url", "http://127.0.0.1:1/"]);
    assert!(again.code == Some(1) && again.err.contains("already"), "{again:?}");
    let bad = home.run(&["mcp", "add", "x", "--url", "ftp://a"]);
    assert!(bad.code == Some(1) && bad.err.contains("http://"), "{bad:?}");
    assert_eq!(home.run(&["mcp", "add", "x"]).code, Some(2));
    assert_eq!(home.run(&["mcp", "remove", "odd"]).code, Some(0));
    assert_eq!(home.run(&["mcp", "remove", "odd"]).code, Some(1));
    assert_eq!(home.run(&["mcp", "test", "odd"]).code, Some(1));
}

#[test]
fn a_running_server_takes_up_what_is_added_imported_and_removed() {
    let home = Home::new();
    let server = home.serve(&[]);
    let key = home.run(&["key"]).out.trim().to_owned();
    let [command, script, way] = odd("plain");
    let ran = home.run(&["mcp", "add", "odd", "--", &command, &script, &way]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.out.ends_with("The server that is running has taken it up.\n"), "{ran:?}");
    let ready = until(&server, &key, "it is ready", |it| it[0]["state"] == "ready");
    assert_eq!(ready[0]["configured"], true);
    let file = home.path("mcp.json");
    let [command, script, way] = odd("other");
    let list = json!({ "mcpServers": { "more": { "command": command, "args": [script, way] } } });
    fs::write(&file, list.to_string()).unwrap();
    let ran = home.run(&["mcp", "import", file.to_str().unwrap()]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let both = until(&server, &key, "both are there", |it| {
        it[0]["name"] == "more" && it[0]["state"] == "ready" && it[1]["state"] == "ready"
    });
    assert_eq!(both[1]["starts"], 1, "the other went on as it was");
    for name in ["odd", "more"] {
        let ran = home.run(&["mcp", "remove", name]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
    assert_eq!(server.ask("GET", "/api/mcp/servers", &key, None).1, json!({ "servers": [] }));

    let wish = json!({ "name": "mine", "command": command });
    let done = (200, json!({ "ok": true }));
    assert_eq!(server.ask("POST", "/api/mcp/servers", &key, Some(&wish)), done);
    let ran = home.run(&["mcp", "remove", "mine"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "mine is removed.\n"), "{ran:?}");
    let ran = home.run(&["mcp", "remove", "mine"]);
    assert!(
        ran.code == Some(1) && ran.err.contains("no server of tools is named `mine`"),
        "{ran:?}"
    );
}

#[test]
fn a_list_of_another_program_is_imported() {
    let home = Home::new();
    let file = home.path("mcp.json");
    let list = json!({ "mcpServers": {
        "my files": { "command": "npx", "args": ["-y", "x"], "env": { "K": "v" } },
        "old": { "type": "sse", "url": "http://127.0.0.1:1/sse" },
    } });
    fs::write(&file, list.to_string()).unwrap();
    let ran = home.run(&["mcp", "import", file.to_str().unwrap()]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.err.contains("left out old: it speaks the old HTTP+SSE"), "{ran:?}");
    let text = fs::read_to_string(home.path("home/config.toml")).unwrap();
    let expected =
        "[mcp.servers.my_files]\ncommand = \"npx\"\nargs = [\"-y\", \"x\"]\nenv = { K = \"v\" }\n";
    assert_eq!(text, expected);
    let shown = home.run(&["config"]).out;
    assert!(shown.contains("env = { K = \"(hidden)\" }"), "{shown}");
    assert_eq!(home.run(&["mcp", "import", file.to_str().unwrap()]).code, Some(1));
}

#[test]
fn what_is_wrong_with_a_server_in_the_configuration_is_said() {
    for (text, part) in [
        (
            "[mcp.servers.x]\ncomand = \"y\"",
            "there is no key `mcp.servers.x.comand`; the nearest is",
        ),
        ("[mcp.server.x]\ncommand = \"y\"", "there is no key `mcp.server`"),
        ("[mcp.servers.x]\nlazy = true", "mcp.servers.x: it needs a command or a url"),
        ("[mcp.servers.x]\ncommand = \"y\"\nsampling = \"maybe\"", "sampling"),
    ] {
        let home = Home::new();
        configure(&home, text);
        let ran = home.run(&["serve", "--no-open", "--listen", "127.0.0.1:0"]);
        assert!(ran.code == Some(1) && ran.err.contains(part), "{text}: {ran:?}");
    }
}
