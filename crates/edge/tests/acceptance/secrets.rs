//! What must be told to nobody: the key, codes, tokens and cookies.

use std::{
    io,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use kernel::update::Seq;
use serde_json::json;
use testkit::model::text;

use crate::{
    access::{ROUTES, cookie},
    common::{Ask, House, Socket},
    desktop::{Device, arm, key},
};

/// Everything that is logged while these tests run.
fn logged() -> &'static Arc<Mutex<Vec<u8>>> {
    static LOGGED: OnceLock<Arc<Mutex<Vec<u8>>>> = OnceLock::new();
    LOGGED.get_or_init(|| {
        let log = Arc::new(Mutex::new(Vec::new()));
        let writer = log.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(tracing::Level::TRACE)
            .with_writer(move || Writer(writer.clone()))
            .finish();
        tracing::subscriber::set_global_default(subscriber).unwrap();
        log
    })
}

struct Writer(Arc<Mutex<Vec<u8>>>);

impl io::Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn secrets_appear_in_no_answer_and_in_no_log() {
    let log = logged();
    let house = House::new([vec![text("hi")]]).await;
    let key = house.key();
    let code = house.login_path().split_once("code=").unwrap().1.to_owned();
    let id = house.session().await;
    let mut shown = Vec::new();
    let ask = |ask: Ask| async { ask.send().await };
    let login = ask(house.ask_without_key("GET", house.login_path())).await;
    let cookie = cookie(&login).split_once('=').unwrap().1.to_owned();
    shown.push(login.text());
    let (_, issued) = ask(house.ask("POST", "/api/socket-token")).await.json();
    let token = issued["token"].as_str().unwrap().to_owned();
    let path = format!("/caco/ws?token={token}");
    Socket::open(house.address(), &path, &[]).await.map(drop).unwrap();
    for (method, path) in ROUTES {
        let path = path.replace('S', &id);
        let body = json!({ "prompt": "hi" });
        for request in [
            house.ask(method, &path).json(&body),
            house.ask_without_key(method, &path).header("authorization", &format!("Bearer x{key}")),
            house.ask_without_key(method, &path).header("cookie", &format!("x={cookie}")),
        ] {
            let reply = ask(request).await;
            shown.push(format!("{:?} {}", reply.headers, reply.text()));
        }
    }
    for path in [
        format!("/login?code={code}"),
        format!("/ws?token={key}"),
        format!("/caco/ws?token=x{key}"),
        format!("/nothing?token={key}"),
    ] {
        let reply = ask(house.ask("GET", &path)).await;
        shown.push(format!("{:?} {}", reply.headers, reply.text()));
    }
    let log = log.lock().unwrap_or_else(PoisonError::into_inner).clone();
    shown.push(String::from_utf8_lossy(&log).into_owned());
    for secret in [&key, &code, &token, &cookie] {
        assert!(!shown.iter().any(|text| text.contains(secret.as_str())));
    }
}

#[tokio::test]
async fn text_that_is_typed_as_a_secret_is_told_to_the_device_alone() {
    let log = logged();
    let house = House::new([]).await;
    let key = key(&house, "studio", "device").await;
    let device = Device::connected(&house, &key, "studio").await;
    arm(&house, "studio").await;
    let bearer = [("authorization", house.bearer())];
    let path = "/connect?device=web-viewer";
    let mut viewer = Socket::open(house.address(), path, &bearer).await.unwrap();
    let typed = |text: &str| json!({ "type": "keyboard_type", "text": text, "secret": true });
    let actions = json!([typed("correct horse"), { "type": "screenshot" }]);
    let mut pictured = typed("correct horse");
    pictured["after"] = json!({ "screenshot": true });
    let wishes = [typed("correct horse"), pictured, json!({ "type": "batch", "actions": actions })];
    let wrong = house.post("/api/command", typed("correct horse\u{0}")).await;
    assert_eq!(wrong.1["type"], "error");
    let mut shown = vec![wrong.1.to_string()];
    for wish in wishes {
        shown.push(house.post("/api/command", wish).await.1.to_string());
        let frame = viewer.next().await;
        assert!(frame["arguments"].to_string().contains("[secret, 1"), "{frame}");
        let frame = frame.to_string();
        assert!(!frame.contains("\"data\""), "{frame}");
        shown.push(frame);
    }
    shown.push(house.get("/api/desktop/log").await.1.to_string());
    let own = house.host().desktop_session(None).await.unwrap();
    let facts = house.host().ports.log.read(own, Seq(0), 100).await.unwrap();
    let facts = serde_json::to_string(&facts).unwrap();
    assert_eq!(facts.matches("[secret, 1").count(), 3, "{facts}");
    shown.push(facts);
    // What is logged is heard down to the least of it: else this would tell nothing.
    tracing::trace!("the end of the log");
    let log = log.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let log = String::from_utf8_lossy(&log).into_owned();
    assert!(log.contains("the end of the log"));
    shown.push(log);
    for shown in shown {
        assert!(!shown.contains("horse"), "{shown}");
    }
    let heard = format!("{:?}", device.desktop.done());
    assert_eq!(heard.matches("correct horse").count(), 3, "{heard}");
}
