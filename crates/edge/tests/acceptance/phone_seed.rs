//! A client written from the field lists of the first specification and nothing else.

use serde::Deserialize;
use serde_json::json;

use crate::{
    common::{House, Socket},
    phone_talk::{ANSWER, golden},
};

#[derive(Deserialize)]
struct Standing {
    agent: String,
    status: String,
    context_remaining: f64,
    version: String,
}

#[derive(Deserialize)]
struct History {
    messages: Vec<Message>,
}

#[derive(Deserialize)]
struct Message {
    id: String,
    role: String,
    content: String,
    timestamp: String,
}

#[derive(Deserialize)]
struct Step {
    name: String,
    status: String,
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum Event {
    #[serde(rename = "connected")]
    Connected { agent: String, status: String, context_remaining: f64 },
    #[serde(rename = "message.stream")]
    Stream { reply_to: String, delta: String },
    #[serde(rename = "message.complete")]
    Complete { reply_to: String, id: String, content: String, timestamp: String },
    #[serde(rename = "task.created")]
    Created { task_id: String, title: String, status: String, progress: f64, steps: Vec<Step> },
    #[serde(rename = "task.updated")]
    Updated { task_id: String, progress: f64, steps: Vec<Step> },
    #[serde(rename = "task.completed")]
    Completed { task_id: String, progress: f64, result: String },
    #[serde(rename = "status.update")]
    Update { status: String, context_remaining: f64 },
}

const STEPS: [&str; 4] = ["pending", "in_progress", "completed", "failed"];

#[tokio::test]
async fn a_client_from_the_written_protocol_alone_has_a_whole_conversation() {
    let house = House::new(golden()).await;
    let read = async |path: &str| house.ask("GET", path).send().await.text();
    let is_share = |share: f64| (0.0..=1.0).contains(&share);
    let status: Standing = serde_json::from_str(&read("/status").await).unwrap();
    assert_eq!((status.agent.as_str(), status.status.as_str()), ("megaron", "idle"));
    assert!(is_share(status.context_remaining) && !status.version.is_empty());
    let before: History = serde_json::from_str(&read("/messages?limit=20").await).unwrap();
    assert!(before.messages.is_empty());

    let path = format!("/ws?token={}", house.key());
    let mut socket = Socket::open(house.address(), &path, &[]).await.unwrap();
    let first: Event = serde_json::from_value(socket.next().await).unwrap();
    let Event::Connected { agent, status, context_remaining } = first else {
        panic!("no greeting")
    };
    assert_eq!((agent.as_str(), status.as_str()), ("megaron", "idle"));
    assert!(is_share(context_remaining));
    let send = json!({ "type": "message.send", "id": "msg_client_001", "content": "Where is it?" });
    socket.send(send).await;
    let (mut streamed, mut reached, mut task, mut answer) = (String::new(), 0.0, None, None);
    let mut busy = Vec::new();
    while busy.last().is_none_or(|status| status != "idle") {
        match serde_json::from_value(socket.next().await).unwrap() {
            Event::Connected { .. } => panic!("greeted twice"),
            Event::Stream { reply_to, delta } => {
                assert_eq!(reply_to, "msg_client_001");
                streamed.push_str(&delta);
            }
            Event::Complete { reply_to, id, content, timestamp } => {
                assert_eq!((reply_to.as_str(), content.as_str()), ("msg_client_001", ANSWER));
                assert!(answer.replace((id, timestamp)).is_none(), "answered twice");
            }
            Event::Created { task_id, title, status, progress, steps } => {
                assert_eq!((title.as_str(), status.as_str()), ("Where is it?", "in_progress"));
                assert!(is_share(progress) && steps.iter().all(|it| STEPS.contains(&&*it.status)));
                assert!(task.replace(task_id).is_none(), "begun twice");
            }
            Event::Updated { task_id, progress, steps } => {
                assert_eq!(Some(&task_id), task.as_ref());
                assert!(progress >= reached && is_share(progress));
                assert!(steps.iter().all(|it| !it.name.is_empty()));
                reached = progress;
            }
            Event::Completed { task_id, progress, result } => {
                assert_eq!(Some(&task_id), task.as_ref());
                assert_eq!((progress.to_bits(), result.as_str()), (1.0_f64.to_bits(), "Done."));
            }
            Event::Update { status, context_remaining } => {
                assert!(is_share(context_remaining));
                busy.push(status);
            }
        }
    }
    assert_eq!((streamed.as_str(), busy[0].as_str()), (ANSWER, "busy"));
    let history: History = serde_json::from_str(&read("/messages?limit=20").await).unwrap();
    let rows: Vec<_> =
        history.messages.iter().map(|it| (it.role.as_str(), it.content.as_str())).collect();
    assert_eq!(rows, [("user", "Where is it?"), ("agent", ANSWER)]);
    let last = &history.messages[1];
    assert_eq!(answer, Some((last.id.clone(), last.timestamp.clone())));
}
