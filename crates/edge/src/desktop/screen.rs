//! The live screen of one device for somebody who looks, and their hands on it: one socket for both.

mod reach;
mod tiles;
mod watcher;

use std::sync::{Arc, atomic::Ordering};

use axum::{
    extract::{Request, State, ws::Utf8Bytes},
    response::{IntoResponse as _, Response},
};
use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::{
    sync::{mpsc, watch},
    task::JoinSet,
};

pub use tiles::png as picture;

use self::{
    reach::Reach,
    watcher::{Shown, Watcher},
};
use crate::{
    App, auth,
    caco::upgrade::{self, Upgrade},
    error::ApiError,
    socket::{Dialect, Farewell},
};

pub const PATH: &str = "/api/desktop/screen";
/// How many may look at the same time.
const MOST: usize = 8;
/// How many gestures of a hand may wait.
const GESTURES: usize = 256;

pub async fn screen(State(app): State<Arc<App>>, upgrade: Upgrade, request: Request) -> Response {
    let named = auth::query(request.uri(), "device");
    let device = match app.hub.devices().pick(named, None) {
        Ok(device) => device,
        Err(error) => return ApiError::not_found(error.text).into_response(),
    };
    upgrade::open(app, upgrade, &request, |app| Looker::new(app, device))
}

/// Somebody who looks.
struct Looker {
    app: Arc<App>,
    device: String,
    /// How many pictures they have told us that they have drawn.
    drawn: watch::Sender<u32>,
    shown: mpsc::Receiver<Shown>,
    gestures: mpsc::Sender<Gesture>,
    done: mpsc::UnboundedReceiver<Value>,
    /// Ends with the socket.
    _work: JoinSet<()>,
    pictures: Vec<Bytes>,
    dismissed: Option<Farewell>,
    parted: bool,
}

/// Something that their hands do.
struct Gesture {
    /// What they call it.
    id: Value,
    command: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Heard {
    /// All pictures up to this one have been drawn.
    Drawn {
        frame: u32,
    },
    Input {
        id: Value,
        command: Map<String, Value>,
    },
}

impl Looker {
    fn new(app: Arc<App>, device: String) -> Self {
        let (drawn, seen) = watch::channel(0);
        let (show, shown) = mpsc::channel(1);
        let (gestures, waiting) = mpsc::channel(GESTURES);
        let (answer, done) = mpsc::unbounded_channel();
        let mut work = JoinSet::new();
        let devices = app.hub.devices().clone();
        let crowded = app.hub.lookers.fetch_add(1, Ordering::Relaxed) >= MOST;
        let dismissed = crowded.then_some(Farewell { code: 1013, reason: "too many are looking" });
        if !crowded {
            let (touched, touches) = watch::channel(());
            let watcher = Watcher::new(devices, device.clone(), seen, touches);
            work.spawn(watcher.run(show));
            let reach = Reach { host: app.host.clone(), device: device.clone(), touched };
            work.spawn(reach.run(waiting, answer));
        }
        Self {
            app,
            device,
            drawn,
            shown,
            gestures,
            done,
            _work: work,
            pictures: Vec::new(),
            dismissed,
            parted: false,
        }
    }
}

impl Drop for Looker {
    fn drop(&mut self) {
        self.app.hub.lookers.fetch_sub(1, Ordering::Relaxed);
        // Whoever leaves with a button pressed does not press it for ever.
        let (devices, device) = (self.app.hub.devices().clone(), self.device.clone());
        tokio::spawn(async move { devices.let_go(&device).await });
    }
}

impl Dialect for Looker {
    async fn hear(&mut self, frame: &[u8]) {
        match serde_json::from_slice(frame) {
            Ok(Heard::Drawn { frame }) => {
                self.drawn.send_if_modified(|drawn| {
                    let later = frame > *drawn;
                    *drawn = frame.max(*drawn);
                    later
                });
            }
            Ok(Heard::Input { id, command }) => {
                // Hands that are faster than any machine can follow are not hands.
                self.gestures.try_send(Gesture { id, command }).ok();
            }
            // What we do not know is for somebody newer than us.
            Err(_) => (),
        }
    }

    async fn say(&mut self, out: &mut Vec<Utf8Bytes>) {
        if self.dismissed.is_some() && !self.parted {
            self.parted = true;
            return;
        }
        tokio::select! {
            Some(shown) = self.shown.recv() => match shown {
                Shown::Size { screen, width, height } => {
                    let size = json!({
                        "type": "screen", "width": width, "height": height,
                        "area": { "x": screen.x, "y": screen.y, "w": screen.w, "h": screen.h },
                    });
                    out.push(size.to_string().into());
                }
                Shown::Frame(bytes) => self.pictures.push(bytes),
                Shown::Trouble(error) => {
                    out.push(json!({ "type": "trouble", "error": error }).to_string().into());
                }
            },
            Some(done) = self.done.recv() => out.push(done.to_string().into()),
            else => std::future::pending().await,
        }
    }

    fn enclosed(&mut self) -> Vec<Bytes> {
        std::mem::take(&mut self.pictures)
    }

    fn farewell(&self) -> Option<Farewell> {
        self.dismissed
    }
}
