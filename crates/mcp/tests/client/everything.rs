//! The reference servers of the protocol, over both transports.

use std::{
    hash::{BuildHasher as _, RandomState},
    io::{BufRead as _, BufReader},
    net::{TcpListener, UdpSocket},
    process::{Child, Command, Stdio},
};

use kernel::question::About;
use serde_json::{Value, json};

use crate::home::{Home, peer};

fn over_pipes() -> Value {
    json!({ "ref": { "command": "node", "args": [peer("server-everything"), "stdio"] } })
}

/// The server over HTTP, for as long as this lives.
struct OverHttp {
    child: Child,
}

/// Below the ports that the system hands out: one of those may be given to somebody else before the server
/// takes it, or, while nobody listens on it, to whoever tries to connect to it. Keep what comes with it, lest
/// another test choose the same.
fn free_port() -> (u16, UdpSocket) {
    let chance = RandomState::new();
    let mut ports =
        (0_u64..).map(|turn| 10_000 + u16::try_from(chance.hash_one(turn) % 22_000).unwrap());
    let claim = |port| {
        let claim = UdpSocket::bind(("127.0.0.1", port)).ok()?;
        TcpListener::bind(("127.0.0.1", port)).ok()?;
        Some((port, claim))
    };
    ports.find_map(claim).unwrap()
}

impl OverHttp {
    fn start_at(port: u16) -> Self {
        let mut child = Command::new("node")
            .args([&peer("server-everything"), "streamableHttp"])
            .env("PORT", port.to_string())
            .stderr(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
        assert!(said.any(|line| line.unwrap().contains("listening on port")), "it ended");
        // Read to the end, or it would stop at a full pipe.
        std::thread::spawn(move || said.for_each(drop));
        Self { child }
    }
}

impl Drop for OverHttp {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

async fn a_visit(home: &Home) {
    home.until_ready("ref").await;
    let info = home.info("ref");
    assert_eq!(info.protocol.as_deref(), Some("2025-11-25"));
    assert!(info.tools.len() > 10, "{info:?}");
    assert!(home.tools().contains(&"get-sum".to_owned()), "{:?}", home.tools());
    assert_eq!(home.text("ref__echo", json!({ "message": "hi" })).await, "Echo: hi");
    let sum = home.text("get-sum", json!({ "a": 2, "b": 3 })).await;
    assert_eq!(sum, "The sum of 2 and 3 is 5.");
    let wrong = home.call("get-sum", json!({ "a": "two", "b": 3 })).await.unwrap_err();
    assert!(wrong.starts_with("the arguments do not fit get-sum: /a: \"two\" is not"), "{wrong}");
    let picture = home.call("get-tiny-image", json!({})).await.unwrap().pictures;
    assert_eq!(picture.len(), 1);
    assert_eq!((&*picture[0].mime, &picture[0].bytes[1..4]), ("image/png", &b"PNG"[..]));
    let reply =
        home.call("get-structured-content", json!({ "location": "Chicago" })).await.unwrap();
    let structured = &reply.data.unwrap()["structuredContent"];
    assert!(structured["temperature"].is_number(), "{structured}");
    let links = home.text("get-resource-links", json!({ "count": 2 })).await;
    assert_eq!(links.matches("demo://resource").count(), 2, "{links}");
    let work =
        home.text("trigger-long-running-operation", json!({ "duration": 1, "steps": 4 })).await;
    assert!(work.contains("completed"), "{work}");
    let asking = async {
        let waiting = home.question().await;
        assert!(matches!(waiting.question.about, About::Form { .. }), "{waiting:?}");
        home.answer(&waiting, json!({ "name": "Ada" })).await;
    };
    let (said, ()) = tokio::join!(home.text("trigger-elicitation-request", json!({})), asking);
    assert!(said.contains("Ada"), "{said}");
}

#[tokio::test]
async fn the_reference_server_is_understood_over_pipes() {
    let home = Home::new(over_pipes()).await;
    a_visit(&home).await;
    home.servers.close().await;
}

#[tokio::test]
async fn the_reference_server_is_understood_over_http() {
    let (port, _claim) = free_port();
    let _server = OverHttp::start_at(port);
    let url = format!("http://127.0.0.1:{port}/mcp");
    let home = Home::new(json!({ "ref": { "url": url } })).await;
    a_visit(&home).await;
    home.servers.close().await;
}

#[tokio::test]
async fn a_server_over_http_that_goes_away_and_comes_back_is_found_again() {
    let (port, _claim) = free_port();
    let server = OverHttp::start_at(port);
    let url = format!("http://127.0.0.1:{port}/mcp");
    let home = Home::new(json!({ "ref": { "url": url } })).await;
    home.until_ready("ref").await;
    drop(server);
    let lost = home.call("ref__echo", json!({ "message": "hi" })).await.unwrap_err();
    assert!(lost.contains("was lost"), "{lost}");
    let reason = home.until_failed("ref").await;
    assert!(reason.contains("error sending request"), "{reason}");
    let _server = OverHttp::start_at(port);
    home.until_ready("ref").await;
    assert_eq!(home.text("ref__echo", json!({ "message": "hi" })).await, "Echo: hi");
    home.servers.close().await;
}

#[tokio::test]
async fn a_server_of_files_works_in_the_folder_of_the_session() {
    let home = Home::new(json!({ "files": { "command": "node",
        "args": [peer("server-filesystem")], "trusted": true } }))
    .await;
    home.until_ready("files").await;
    let other = home.folder.path().canonicalize().unwrap().join("other");
    std::fs::create_dir(&other).unwrap();
    for (folder, words) in [(home.work(), "here"), (other, "there")] {
        std::fs::write(folder.join("note.txt"), words).unwrap();
        let session = home.session_in(&folder).await;
        let args = json!({ "path": folder.join("note.txt") });
        // No message tells when the server has taken in that the folder is another.
        let mut reply = home.call_in(session, "read_text_file", args.clone()).await;
        while reply.as_ref().is_err_and(|it| it.contains("Access denied")) {
            reply = home.call_in(session, "read_text_file", args.clone()).await;
        }
        assert_eq!(reply.unwrap().text, words);
    }
    let session = home.session().await;
    let refused = home.call_in(session, "read_text_file", json!({ "path": "/etc/hostname" })).await;
    assert!(refused.unwrap_err().contains("denied"));
    home.servers.close().await;
}
