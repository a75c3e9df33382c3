//! The server is killed while a notification waits: it is sent by the next one, and once.

use std::sync::{Arc, Mutex};

use jiff::{SignedDuration, Timestamp, tz::TimeZone};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
};

use crate::{client::Client, server::Home, until};

/// What a browser made for itself; these are from appendix A of RFC 8291.
const POINT: &str =
    "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";
const SECRET: &str = "BTBZMqHH6r4Tts7J_aSIgg";

/// A push service on this machine, which takes whatever it is sent.
struct Service {
    endpoint: String,
    /// The topic of each message.
    taken: Arc<Mutex<Vec<String>>>,
}

impl Service {
    async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}/send/1", listener.local_addr().unwrap());
        let taken: Arc<Mutex<Vec<String>>> = Arc::default();
        let all = taken.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(take(stream, all.clone()));
            }
        });
        Self { endpoint, taken }
    }

    fn taken(&self) -> Vec<String> {
        self.taken.lock().unwrap().clone()
    }
}

/// One message after another, as long as the connection lasts.
async fn take(stream: TcpStream, taken: Arc<Mutex<Vec<String>>>) {
    let mut stream = BufReader::new(stream);
    loop {
        let (mut length, mut topic) = (0, String::new());
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line).await.unwrap_or_default() == 0 {
                return;
            }
            let Some((name, value)) = line.trim().split_once(": ") else {
                if line.trim().is_empty() {
                    break;
                }
                continue;
            };
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.parse().unwrap(),
                "topic" => value.clone_into(&mut topic),
                _ => (),
            }
        }
        stream.read_exact(&mut vec![0; length]).await.unwrap();
        taken.lock().unwrap().push(topic);
        stream.write_all(b"HTTP/1.1 201 Created\r\ncontent-length: 0\r\n\r\n").await.unwrap();
    }
}

/// Two hours around this time.
fn night(now: &str) -> Value {
    let now = now.parse::<Timestamp>().unwrap().to_zoned(TimeZone::UTC);
    let hour = |distance: i64| {
        let time = &now + SignedDuration::from_hours(distance);
        format!("{:02}:{:02}", time.hour(), time.minute())
    };
    json!({ "from": hour(-2), "to": hour(2) })
}

#[tokio::test]
async fn what_waits_to_be_sent_when_the_server_is_killed_is_sent_by_the_next_and_once() {
    let home = Home::new();
    home.configure("[web]\nallow_private = true\n");
    let server = home.serve(&[]).await;
    let (client, service) = (Client::of(&home), Service::open().await);
    let wish = json!({
        "endpoint": service.endpoint,
        "keys": { "p256dh": POINT, "auth": SECRET },
    });
    let path = "/api/push/subscriptions";
    let (status, shown) = client.call(Method::POST, path, Some(wish), "").await.unwrap();
    assert_eq!(status, 200, "{shown}");
    let path = format!("{path}/{}", shown["id"].as_str().unwrap());
    let change = async |settings: Value| {
        let settings = Some(json!({ "settings": settings }));
        let (status, shown) = client.call(Method::PATCH, &path, settings, "").await.unwrap();
        assert_eq!(status, 200, "{shown}");
    };
    let night = night(shown["createdAt"].as_str().unwrap());
    change(json!({ "answers": true, "quiet": night })).await;
    let session = client.create().await;
    client.post(&session, "hello").await;
    client.idle(&session).await;
    server.kill().await;

    let server = home.serve(&[]).await;
    assert_eq!(service.taken(), [] as [&str; 0], "it is night");
    change(json!({ "answers": true })).await;
    until("the message to be on record as sent", async || {
        let listed = client.get("/api/push").await;
        (!listed["subscriptions"][0]["lastSuccessAt"].is_null()).then_some(())
    })
    .await;
    server.kill().await;

    let _server = home.serve(&[]).await;
    client.post(&session, "hello again").await;
    let taken = until("the next message", async || Some(service.taken()).filter(|it| it.len() > 1));
    let taken = taken.await;
    assert_eq!((taken.len(), &taken[0]), (2, &taken[1]), "each of them once, under one name");
}
