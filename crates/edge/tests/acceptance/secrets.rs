//! What must be told to nobody: the key, codes, tokens and cookies.

use std::{
    io,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use serde_json::json;
use testkit::model::text;

use crate::{
    access::{ROUTES, cookie},
    common::{Ask, House, Socket},
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
