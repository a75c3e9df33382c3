//! Every secret of a whole run is looked for in everything that the run leaves or tells.

use std::{
    fs::{self, File},
    io::{Read as _, Write as _},
    net::TcpStream,
    path::Path,
    process::Command,
};

use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::{self, Message, client::IntoClientRequest as _};

use crate::{
    home::{Home, Ran, Server},
    provider::Provider,
};

const IN_VARIABLE: &str = "sk-variable-0123456789";
const IN_FILE: &str = "sk-file-0123456789";
const KEPT: &str = "sk-kept-0123456789";
const IN_HEADER: &str = "team-token-0123456789";
const OF_PROXY: &str = "proxy-password-0123456789";
const OF_ADDRESS: &str = "address-password-0123456789";
/// `me:` and the password, as it travels.
const OF_PROXY_ENCODED: &str = "bWU6cHJveHktcGFzc3dvcmQtMDEyMzQ1Njc4OQ==";
const OF_ADDRESS_ENCODED: &str = "bWU6YWRkcmVzcy1wYXNzd29yZC0wMTIzNDU2Nzg5";

const SECRETS: &[&str] = &[
    IN_VARIABLE,
    IN_FILE,
    KEPT,
    IN_HEADER,
    OF_PROXY,
    OF_ADDRESS,
    OF_PROXY_ENCODED,
    OF_ADDRESS_ENCODED,
];

/// What a person has told us, which is theirs to keep safe.
const TOLD: &[&str] = &["config.toml", "my.key", "key", "secrets"];

const MODELS: &[&str] = &[
    "fine/m",
    "locked/m",
    "locked-responses/m",
    "locked-anthropic/m",
    "locked-gemini/m",
    "busy/m",
    "trouble/m",
    "garbage/m",
    "broken/m",
    "cut/m",
    "filed/m",
    "kept/m",
    "proxied/m",
    "addressed/m",
];

fn config(provider: &Provider) -> String {
    let at = provider.addr;
    let mut text = "[models]\nattempts = 2\n".to_owned();
    let mut add = |name: &str, kind: &str, base_url: String, rest: &str| {
        let table = format!(
            "[providers.{name}]\nkind = \"{kind}\"\nbase_url = \"{base_url}\"\n{rest}\n\
             headers = {{ X-Team = \"Bearer {IN_HEADER}\" }}\n"
        );
        text.push_str(&table);
    };
    let variable = "api_key_env = \"HOUSE_KEY\"";
    for name in ["fine", "locked", "busy", "trouble", "garbage", "broken", "cut"] {
        add(name, "openai-chat", format!("http://{at}/{name}/v1"), variable);
    }
    for kind in ["openai-responses", "anthropic", "gemini"] {
        let name = kind.replace("openai-", "");
        add(&format!("locked-{name}"), kind, format!("http://{at}/locked/v1"), variable);
    }
    let trouble = format!("http://{at}/trouble/v1");
    add("filed", "openai-chat", trouble.clone(), "api_key_file = \"my.key\"");
    add("kept", "openai-chat", trouble, "");
    let proxy = format!("{variable}\nproxy = \"http://me:{OF_PROXY}@{at}\"");
    add("proxied", "openai-chat", "http://models.invalid/v1".into(), &proxy);
    add("addressed", "openai-chat", format!("http://me:{OF_ADDRESS}@{at}/trouble/v1"), "");
    text
}

/// Everything that was said anywhere.
#[derive(Default)]
struct Record(Vec<(String, String)>);

impl Record {
    fn note(&mut self, what: impl Into<String>, said: impl Into<String>) {
        self.0.push((what.into(), said.into()));
    }

    fn ran(&mut self, what: &str, ran: &Ran) {
        self.note(what, format!("{}\n{}", ran.out, ran.err));
    }

    fn files(&mut self, folder: &Path) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if TOLD.contains(&name.as_str()) {
                continue;
            }
            if path.is_dir() {
                self.files(&path);
            } else {
                self.note(name, String::from_utf8_lossy(&fs::read(&path).unwrap()));
            }
        }
    }

    /// The places where a secret is found.
    fn leaks(&self, secrets: &[&str]) -> Vec<String> {
        let leaks = |(what, said): &(String, String)| {
            let secret = secrets.iter().find(|secret| said.contains(**secret))?;
            let at = said.find(*secret)?;
            let (from, to) = (said.floor_char_boundary(at.saturating_sub(60)), at + secret.len());
            Some(format!("{what}: {}", &said[from..to]))
        };
        self.0.iter().filter_map(leaks).collect()
    }

    fn has(&self, part: &str) -> bool {
        self.0.iter().any(|(_, said)| said.contains(part))
    }
}

/// A whole answer, headers and all.
fn fetch(server: &Server, key: &str, method: &str, path: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(&server.addr).unwrap();
    let (host, length) = (&server.addr, body.len());
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {key}\r\nContent-Type: \
         application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
    .unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

/// Every event of these sessions, as a client that comes later is told of them.
fn history(server: &Server, key: &str, sessions: &[String]) -> String {
    let mut request = format!("ws://{}/caco/ws", server.addr).into_client_request().unwrap();
    let bearer = format!("Bearer {key}").parse().unwrap();
    request.headers_mut().insert("authorization", bearer);
    let (mut socket, _) = tungstenite::connect(request).unwrap();
    let mut all = String::new();
    for session in sessions {
        let ask = json!({ "type": "requestHistory", "sessionId": session, "after": 0 });
        socket.send(Message::text(ask.to_string())).unwrap();
        loop {
            let frame = socket.read().unwrap();
            let Ok(text) = frame.to_text() else { continue };
            all += text;
            if text.contains("historyComplete") {
                break;
            }
        }
    }
    all
}

/// What every route that is described and can be read says.
fn read_everything(record: &mut Record, server: &Server, key: &str, sessions: &[String]) {
    let described = fetch(server, key, "GET", "/api/openapi.json", "");
    let (_, body) = described.split_once("\r\n\r\n").unwrap();
    let described: Value = serde_json::from_str(body).unwrap();
    for (path, methods) in described["paths"].as_object().unwrap() {
        let paths = if path.contains("{id}") {
            sessions.iter().map(|session| path.replace("{id}", session)).collect()
        } else {
            vec![path.clone()]
        };
        for path in paths.iter().filter(|_| methods.get("get").is_some()) {
            record.note(path, fetch(server, key, "GET", path, ""));
        }
    }
    for path in ["/metrics", "/healthz", "/v1/models", "/api/models"] {
        record.note(path, fetch(server, key, "GET", path, ""));
    }
    for model in MODELS {
        for stream in [false, true] {
            let chat = json!({ "model": model, "stream": stream,
                               "messages": [{ "role": "user", "content": "hi" }] });
            let said = fetch(server, key, "POST", "/v1/chat/completions", &chat.to_string());
            record.note(format!("chat {model}"), said);
            let input = json!({ "model": model, "stream": stream, "input": "hi" });
            let said = fetch(server, key, "POST", "/v1/responses", &input.to_string());
            record.note(format!("responses {model}"), said);
        }
    }
}

fn command(home: &Home, args: &[&str]) -> Command {
    let mut command = home.command(args);
    command.env("HOUSE_KEY", IN_VARIABLE).env("MEGARON_LOG", "trace");
    command
}

#[test]
fn no_secret_of_a_whole_run_is_found_in_anything_that_it_leaves_or_tells() {
    let (home, provider) = (Home::new(), Provider::start());
    let mut record = Record::default();
    let kept = home.piped(&["key", "set", "kept"], KEPT);
    assert_eq!(kept.code, Some(0), "{kept:?}");
    record.ran("key set", &kept);
    home.write_private("my.key", IN_FILE);
    fs::write(home.path("home/config.toml"), config(&provider)).unwrap();

    let log = File::create(home.path("log")).unwrap();
    let mut serve = command(&home, &["serve", "--no-open", "--listen", "127.0.0.1:0"]);
    serve.stderr(log);
    let server = Server::begin(serve);
    let key = home.run(&["key"]).out.trim().to_owned();
    let mut sessions = Vec::new();
    for model in MODELS {
        for json in [true, false] {
            let flag: &[&str] = if json { &["--json"] } else { &[] };
            let asked = [&["ask", "--model", model, "hi"], flag].concat();
            let ran = Ran::of(command(&home, &asked).output().unwrap());
            sessions.push(ran.session().to_owned());
            record.ran(&format!("ask {model}"), &ran);
        }
        let ran = Ran::of(command(&home, &["models", "test", model]).output().unwrap());
        record.ran(&format!("models test {model}"), &ran);
    }
    for args in [
        &["doctor"][..],
        &["doctor", "--json"],
        &["models"],
        &["models", "detect"],
        &["models", "default", "garbage/n"],
        &["config"],
        &["key", "list"],
    ] {
        record.ran(&args.join(" "), &Ran::of(command(&home, args).output().unwrap()));
    }
    record.note("socket", history(&server, &key, &sessions));
    read_everything(&mut record, &server, &key, &sessions);
    let ran = server.stop();
    assert_eq!(ran.code, Some(0), "{ran:?}");
    record.ran("serve", &ran);
    record.note("log", fs::read_to_string(home.path("log")).unwrap());
    record.files(&home.path("home"));

    let secrets: Vec<&str> = SECRETS.iter().copied().chain([key.as_str()]).collect();
    assert_eq!(record.leaks(&secrets), [""; 0]);
    let heard = provider.heard();
    for secret in [IN_VARIABLE, IN_FILE, KEPT, IN_HEADER, OF_PROXY_ENCODED, OF_ADDRESS_ENCODED] {
        assert!(heard.contains(secret), "the provider was never sent {secret}");
    }
    for part in ["authorization: Bearer [key]", "x-api-key: [key]", "x-goog-api-key: [key]"] {
        assert!(record.has(part), "what the provider said was not told: {part}");
    }
}

#[test]
fn a_configuration_that_cannot_be_read_is_explained_without_its_secrets() {
    let home = Home::new();
    fs::create_dir(home.path("home")).unwrap();
    for line in [
        "headers = \"Bearer team-token-0123456789\"",
        "headers = { X-Team = \"Bearer team-token-0123456789\"",
        "headers = { X-Team = \"Bearer team-token-0123456789 }",
        "headers = { X-Team = [\"team-token-0123456789\"] }",
        "headers = { \"team token-0123456789\" = \"team-token-0123456789\\u0007\" }",
        "proxy = \"proxy://me:proxy-password-0123456789@ here\"",
        "base_url = \"ftp://me:address-password-0123456789@here\"",
        "api_key = \"sk-variable-0123456789\"",
        "max_tokens = \"sk-variable-0123456789\"",
        "api_key_env = [\"sk-variable-0123456789\"]",
    ] {
        let text = format!("[providers.mine]\nkind = \"gemini\"\n{line}\n");
        fs::write(home.path("home/config.toml"), text).unwrap();
        let mut record = Record::default();
        for args in [&["config"][..], &["models"], &["doctor"], &["serve", "--no-open"]] {
            let ran = home.run(args);
            if args != ["config"] {
                assert_eq!(ran.code, Some(1), "{line}: {ran:?}");
            }
            record.ran(&args.join(" "), &ran);
        }
        assert_eq!(record.leaks(SECRETS), [""; 0], "{line}");
    }
}
