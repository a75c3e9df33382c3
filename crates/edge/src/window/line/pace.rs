//! The pace of what a phone is told, in time that only the test moves.

use std::{sync::Arc, time::Duration};

use kernel::{
    feed::Feed,
    host::{Host, Settings},
    servers::NoServers,
    update::{Message, WhenBusy},
};
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::{
    Gate, TestTool, World,
    model::{call, text, usage, wait},
};
use tokio::{
    net::TcpListener,
    time::{Instant, sleep, sleep_until},
};

use super::*;
use crate::{Edge, Keys, window::pump::Voice as _};

/// A phone without a socket: what would go out, and when.
struct Listener {
    line: Line,
    feed: Feed,
    app: Arc<App>,
    _folder: TempDir,
}

impl Listener {
    async fn of(world: &World) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let host = Host::start(world.ports(), Settings::default()).await.unwrap();
        let keys = Keys::open(folder.path().join("key")).unwrap();
        let settings = crate::Settings { data_dir: folder.path().to_owned(), ..Default::default() };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let metrics = Arc::new(String::new);
        let edge = Edge::new(host, Arc::new(NoServers), keys, settings, listener, metrics);
        let app = edge.unwrap().app;
        let session = app.host.create(&app.host.ports.workspace, "test", "phone").await.unwrap();
        let device = Arc::new(Device::of_owner("here", "test", app.host.ports.clock.now()));
        let presence = app.phones.of(&device.id);
        let feed = app.host.feed(session, None).await.unwrap();
        let line = Line::begin(app.clone(), device, presence, session, feed.last()).await.unwrap();
        Self { line, feed, app, _folder: folder }
    }

    async fn say(&self, text: &str) {
        let message = Message::from_user(text);
        self.app.host.post(self.line.session, message, WhenBusy::Queue).await.unwrap();
    }

    /// All that is told up to the end of the turn, and when.
    async fn until_idle(&mut self) -> Vec<(Instant, Value)> {
        let mut told = Vec::new();
        loop {
            let due = self.line.due();
            tokio::select! {
                heard = self.feed.next(), if self.line.is_quiet() => {
                    self.line.hear(heard.unwrap()).await.unwrap();
                }
                () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => {
                    let Some(out) = self.line.next() else { continue };
                    self.line.sent(&out);
                    let (Out::Frame(text) | Out::Delta(text, _) | Out::Complete(text, _)) = &out
                    else {
                        continue;
                    };
                    let frame: Value = serde_json::from_str(text).unwrap();
                    let is_last = frame["type"] == "status.update" && frame["status"] == "idle";
                    told.push((Instant::now(), frame));
                    if is_last {
                        return told;
                    }
                }
            }
        }
    }
}

fn at<'a>(told: &'a [(Instant, Value)], kind: &str) -> Vec<&'a (Instant, Value)> {
    told.iter().filter(|(_, frame)| frame["type"] == kind).collect()
}

/// What lies between one and the next, at least.
fn least(told: &[&(Instant, Value)]) -> Duration {
    told.windows(2).map(|pair| pair[1].0 - pair[0].0).min().unwrap()
}

#[tokio::test(start_paused = true)]
async fn pieces_come_no_faster_than_the_app_bears_and_the_end_keeps_its_distance() {
    const PIECES: usize = 40;
    let gates: Vec<Gate> = (0..PIECES).map(|_| Gate::default()).collect();
    let piece = |gate: &Gate| [text("word "), wait(gate)];
    let script = gates.iter().flat_map(piece).chain([text("end"), usage(900, 100)]);
    let world = World::new([script.collect()]);
    let mut phone = Listener::of(&world).await;
    phone.say("count").await;
    tokio::spawn(async move {
        for gate in gates {
            sleep(Duration::from_millis(7)).await;
            gate.open();
        }
    });
    let told = phone.until_idle().await;
    let pieces = at(&told, "message.stream");
    assert!(pieces.len() > 3, "{told:#?}");
    assert!(least(&pieces) >= Duration::from_millis(30), "{told:#?}");
    let together: String = pieces.iter().map(|(_, it)| it["delta"].as_str().unwrap()).collect();
    let mut whole = at(&told, "message.complete");
    // The question comes as words said by themselves.
    whole.retain(|(_, frame)| frame["reply_to"] != "");
    assert_eq!((whole.len(), &whole[0].1["content"]), (1, &json!(together)));
    assert_eq!(together, format!("{}end", "word ".repeat(PIECES)));
    let end = whole[0].0 - pieces.last().unwrap().0;
    assert!(end >= Duration::from_millis(30), "{end:?}");
}

#[tokio::test(start_paused = true)]
async fn a_task_and_what_fills_the_context_are_told_of_at_a_pace_and_at_last_truly() {
    let gates: Vec<Gate> = (0..40).map(|_| Gate::default()).collect();
    let tool = |gate: &Gate, number: usize| {
        TestTool::waiting(gate).named(&format!("wait{number}")).parallel(false)
    };
    let tools: Vec<TestTool> = gates.iter().zip(0..).map(|(gate, it)| tool(gate, it)).collect();
    let step = |number: u64| {
        vec![call("", &format!("wait{number}"), json!({})), usage(1000 + number, 100)]
    };
    let scripts = (0..40).map(step).chain([vec![text("Done."), usage(2000, 100)]]);
    let world = tools.iter().fold(World::new(scripts), World::tool);
    let mut phone = Listener::of(&world).await;
    phone.say("work").await;
    tokio::spawn(async move {
        for gate in gates {
            sleep(Duration::from_millis(100)).await;
            gate.open();
        }
    });
    let told = phone.until_idle().await;
    let created = at(&told, "task.created");
    assert_eq!(created.len(), 1, "{told:#?}");
    let updates = at(&told, "task.updated");
    // The last is told with the end, whenever that is.
    let (_, paced) = updates.split_last().unwrap();
    assert!(least(paced) >= Duration::from_millis(250), "{told:#?}");
    assert!(updates.len() < 20, "{told:#?}");
    let last = updates.last().unwrap().1["steps"].as_array().unwrap();
    assert_eq!(last.len(), 40);
    assert!(last.iter().all(|step| step["status"] == "completed"), "{told:#?}");
    let counts = at(&told, "status.update");
    let (_, paced) = counts.split_last().unwrap();
    assert!(least(paced) >= Duration::from_secs(1), "{told:#?}");
    assert_eq!(counts.last().unwrap().1["tokens_used"], 2100);
    let end = ["task.completed", "message.complete", "status.update"];
    let kinds: Vec<&Value> = told.iter().map(|(_, frame)| &frame["type"]).collect();
    assert_eq!(kinds[kinds.len() - 3..], end);
}
