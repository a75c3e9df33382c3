//! Servers of the newest kind over HTTP, and signing in at one.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Child, Command, Stdio},
};

use kernel::{
    question::{About, Decision},
    servers::{Servers as _, Standing},
};
use serde_json::{Value, json};
use testkit::{World, model::Script};

use crate::home::Home;

const CALLBACK: &str = "http://127.0.0.1:1/api/mcp/callback";

struct Web {
    child: Child,
    port: u16,
}

impl Web {
    fn start(args: &[&str]) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers/web.mjs");
        let mut child =
            Command::new("node").arg(script).args(args).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { child, port: line.trim().parse().unwrap() }
    }

    fn settings(&self) -> Value {
        json!({ "web": { "url": format!("http://127.0.0.1:{}/mcp", self.port) } })
    }

    /// Signs in as a browser would; the query it is sent back with.
    fn visit(&self, url: &str) -> String {
        let path = url.strip_prefix(&format!("http://127.0.0.1:{}", self.port)).unwrap();
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let host = format!("127.0.0.1:{}", self.port);
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let back = answer.lines().find_map(|line| line.strip_prefix("location: ")).unwrap();
        back.strip_prefix(&format!("{CALLBACK}?")).unwrap().to_owned()
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

async fn home(web: &Web) -> Home {
    Home::with(World::new(Vec::<Script>::new()), web.settings(), CALLBACK).await
}

#[tokio::test]
async fn a_server_of_the_newest_kind_is_understood() {
    let web = Web::start(&[]);
    let home = home(&web).await;
    home.until_ready("web").await;
    assert_eq!(home.info("web").protocol.as_deref(), Some("2026-07-28"));
    let meta: Value = serde_json::from_str(&home.text("meta", json!({})).await).unwrap();
    let client = &meta["io.modelcontextprotocol/clientInfo"];
    assert_eq!(client["name"], "megaron", "{meta}");
    let told = &meta["io.modelcontextprotocol/clientCapabilities"];
    for slot in ["extensions", "experimental"] {
        let widgets = &told[slot]["io.modelcontextprotocol/ui"];
        assert_eq!(widgets, &json!({ "mimeTypes": ["text/html;profile=mcp-app"] }), "{meta}");
    }
    let asking = async {
        let waiting = home.question().await;
        let About::Form { text, .. } = &waiting.question.about else { panic!("{waiting:?}") };
        assert_eq!(text, "Your name?");
        home.answer(&waiting, json!({ "name": "Ada" })).await;
    };
    let (said, ()) = tokio::join!(home.text("greet", json!({})), asking);
    assert_eq!(said, "hello Ada (s1)");
    home.servers.close().await;
}

#[tokio::test]
async fn an_answer_without_end_is_cut_off() {
    let web = Web::start(&[]);
    let mut settings = web.settings();
    settings["web"]["call_seconds"] = 20.into();
    let home = Home::with(World::new(Vec::<Script>::new()), settings, CALLBACK).await;
    home.until_ready("web").await;
    for (tool, why) in [("endless", "an answer of more than 16777216 bytes"), ("events", "lost")] {
        let lost = home.call(tool, json!({})).await.unwrap_err();
        assert!(lost.contains(why), "{lost}");
        home.until_ready("web").await;
        assert_eq!(home.text("who", json!({})).await, "refreshed 0, registered 0");
    }
    home.servers.close().await;
}

#[tokio::test]
async fn a_call_that_is_taken_and_never_answered_fails_at_once() {
    let web = Web::start(&[]);
    let home = home(&web).await;
    home.until_ready("web").await;
    for (tool, status) in [("accepted", "202 Accepted"), ("emptied", "204 No Content")] {
        let lost = home.call(tool, json!({})).await.unwrap_err();
        assert!(lost.contains(&format!("HTTP {status}, and no answer")), "{lost}");
        home.until_ready("web").await;
        assert_eq!(home.text("who", json!({})).await, "refreshed 0, registered 0");
    }
    home.servers.close().await;
}

async fn sign_in_url(home: &Home) -> String {
    let away = |home: &Home| matches!(home.info("web").standing, Standing::NeedsSignIn { .. });
    home.until("it needs a sign-in", away).await;
    match home.info("web").standing {
        Standing::NeedsSignIn { url } => url,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_person_signs_in_once_and_the_token_is_kept_where_only_they_can_read_it() {
    let web = Web::start(&["sign-in"]);
    let home = home(&web).await;
    let url = sign_in_url(&home).await;
    assert!(url.contains("code_challenge_method=S256"), "{url}");
    let stranger = home.servers.signed_in("code=1&state=2".into()).await.unwrap_err();
    assert_eq!(stranger.to_string(), "nobody is signing in with this");
    assert_eq!(home.servers.signed_in(web.visit(&url)).await.unwrap(), "web");
    home.until_ready("web").await;
    assert_eq!(home.text("who", json!({})).await, "refreshed 0, registered 1");
    let kept = home.folder.path().join("secrets/mcp/web.tokens.json");
    assert_eq!(std::fs::metadata(&kept).unwrap().permissions().mode() & 0o777, 0o600);
    home.servers.close().await;
    let Home { world, folder, .. } = home;
    let home = Home::over(world, web.settings(), CALLBACK, folder).await;
    home.until_ready("web").await;
    assert_eq!(home.text("who", json!({})).await, "refreshed 0, registered 1");
    home.text("revoke", json!({})).await;
    assert_eq!(home.text("who", json!({})).await, "refreshed 1, registered 1");
    let sealed = std::fs::read(&kept).unwrap();
    assert!(!sealed.windows(7).any(|it| it == b"s3cret-"), "sealed as well");
    let shown = format!("{:?} {:?}", home.servers.list(), home.servers.logs("web"));
    assert!(!shown.contains("s3cret-"), "{shown}");
    home.servers.close().await;
}

#[tokio::test]
async fn a_call_that_needs_a_sign_in_asks_for_it_and_goes_on_after_it() {
    let web = Web::start(&["sign-in"]);
    let mut settings = web.settings();
    settings["web"]["lazy"] = true.into();
    let home = Home::with(World::new(Vec::<Script>::new()), settings.clone(), CALLBACK).await;
    let url = sign_in_url(&home).await;
    home.servers.signed_in(web.visit(&url)).await.unwrap();
    home.until_ready("web").await;
    home.servers.close().await;
    let Home { world, folder, .. } = home;
    std::fs::remove_dir_all(folder.path().join("secrets")).unwrap();
    let home = Home::over(world, settings, CALLBACK, folder).await;
    home.until("its tools are there", |home| !home.tools().is_empty()).await;
    let signing_in = async {
        let waiting = home.question().await;
        let About::Visit { text, url } = &waiting.question.about else { panic!("{waiting:?}") };
        assert_eq!(text, "Sign in to use the tools of web.");
        home.servers.signed_in(web.visit(url)).await.unwrap();
    };
    let (said, ()) = tokio::join!(home.text("who", json!({})), signing_in);
    assert_eq!(said, "refreshed 0, registered 2");
    home.until_quiet().await;
    home.servers.close().await;
}

#[tokio::test]
async fn a_key_that_is_refused_is_said_to_be() {
    let web = Web::start(&["sign-in"]);
    let mut settings = web.settings();
    settings["web"]["headers"] = json!({ "Authorization": "Bearer wr0ng-token" });
    let home = Home::with(World::new(Vec::<Script>::new()), settings, CALLBACK).await;
    assert_eq!(home.until_failed("web").await, "it refused the key it was shown");
    home.servers.close().await;
}

/// Signs in first, then calls a tool, and signs in once more when that asks for it.
async fn call_with_another_sign_in(tool: &str) -> Result<String, String> {
    let web = Web::start(&["sign-in"]);
    let home = home(&web).await;
    let url = sign_in_url(&home).await;
    home.servers.signed_in(web.visit(&url)).await.unwrap();
    home.until_ready("web").await;
    let signing_in = async {
        let waiting = home.question().await;
        let About::Visit { url, .. } = &waiting.question.about else { panic!("{waiting:?}") };
        home.servers.signed_in(web.visit(url)).await.unwrap();
    };
    let (called, ()) = tokio::join!(home.call(tool, json!({})), signing_in);
    home.servers.close().await;
    called.map(|reply| reply.text)
}

#[tokio::test]
async fn a_call_that_needs_more_than_was_signed_in_for_asks_for_it_and_loses_nothing() {
    let said = call_with_another_sign_in("write").await;
    assert_eq!(said.as_deref(), Ok("written with read write"));
}

#[tokio::test]
async fn a_server_that_refuses_a_call_for_ever_sends_the_person_to_sign_in_only_once() {
    let refused = call_with_another_sign_in("rule").await.unwrap_err();
    assert_eq!(refused, "the server web refused this call even after a sign-in");
}

#[tokio::test]
async fn whoever_does_not_sign_in_for_more_keeps_what_they_had() {
    let web = Web::start(&["sign-in"]);
    let home = home(&web).await;
    let url = sign_in_url(&home).await;
    home.servers.signed_in(web.visit(&url)).await.unwrap();
    home.until_ready("web").await;
    let declining = async {
        let waiting = home.question().await;
        let no = Decision::Deny { reason: None };
        home.host.decide(waiting.question.id, no, "the test").await.unwrap();
    };
    let (called, ()) = tokio::join!(home.call("write", json!({})), declining);
    assert_eq!(called.unwrap_err(), "the server web needs a sign-in, and nobody signed in");
    home.until_ready("web").await;
    // The client registered a second time for the sign-in that was declined.
    assert_eq!(home.text("who", json!({})).await, "refreshed 0, registered 2");
    home.servers.close().await;
}
