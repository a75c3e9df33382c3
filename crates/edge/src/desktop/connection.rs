//! One device's socket: commands go out, answers come back, and nothing it says does harm.

use std::{collections::HashMap, sync::Arc, time::Duration};

use axum::extract::ws::Utf8Bytes;
use kernel::desktop::{Desktop, State, Stay};
use remote::hello::{self, Hello};
use serde_json::{Map, Value, json};
use tokio::{
    sync::{mpsc, oneshot, watch},
    time::{Instant, sleep_until},
};

use super::{
    hub::{Hub, Place},
    passes::Bearer,
    remote::{Remote, Wish},
};
use crate::socket::{Dialect, Farewell, Manners};

/// A device that has not introduced itself by then knows only the seed.
const SHYNESS: Duration = Duration::from_secs(2);
/// What one is called that brings no name.
const NAMELESS: &str = "desktop";
/// The close code for who may not be here.
const POLICY: u16 = 1008;

pub struct Connection {
    hub: Arc<Hub>,
    bearer: Bearer,
    /// By when it is taken as it is.
    known_by: Instant,
    hello: Option<Hello>,
    place: Option<(Stay, Place)>,
    wishes: mpsc::UnboundedReceiver<Wish>,
    wish: mpsc::UnboundedSender<Wish>,
    /// Who waits for which answer.
    pending: HashMap<String, oneshot::Sender<Value>>,
    states: watch::Sender<State>,
    /// Told when another takes our name.
    dismissed: watch::Receiver<Option<Farewell>>,
    dismiss: watch::Sender<Option<Farewell>>,
    /// Whether that was heeded, which is done once.
    parted: bool,
    out: Vec<Utf8Bytes>,
}

impl Connection {
    pub fn new(hub: Arc<Hub>, bearer: Bearer) -> Self {
        let (wish, wishes) = mpsc::unbounded_channel();
        let (dismiss, dismissed) = watch::channel(None);
        Self {
            hub,
            bearer,
            known_by: Instant::now() + SHYNESS,
            hello: None,
            place: None,
            wishes,
            wish,
            pending: HashMap::new(),
            states: watch::Sender::default(),
            dismissed,
            dismiss,
            parted: false,
            out: Vec::new(),
        }
    }

    fn introduced(&mut self, frame: &Map<String, Value>) {
        let mut hello = Hello::read(frame);
        // Once it is known, it stays what it is: only one that was taken for less may say more.
        let known = self.hello.as_ref().map(|known| known.is_extended);
        if known.is_none() || (known == Some(false) && hello.is_extended) {
            self.enter(hello.clone());
        }
        hello.device = self.place.as_ref().map(|(_, place)| place.name().to_owned());
        let ack = hello::acknowledged(self.hub.now().as_millisecond(), &hello);
        self.out.push(ack.to_string().into());
    }

    /// From now on it can be driven, under the name of its key or else its own.
    fn enter(&mut self, hello: Hello) {
        let name = self.bearer.name().or(hello.device.as_deref()).unwrap_or(NAMELESS).to_owned();
        if let Err(reason) = self.hub.may_be_called(&name, &self.bearer) {
            self.dismiss.send_replace(Some(Farewell { code: POLICY, reason }));
            return;
        }
        self.hello = Some(hello.clone());
        let devices = self.hub.devices().clone();
        let states = self.states.subscribe();
        let remote = Remote::new(name.clone(), hello, devices.clone(), self.wish.clone(), states);
        let remote = Arc::new(remote);
        // Ours first, or it would be told to go for its own sake.
        self.place = None;
        let place = {
            let (bearer, dismiss) = (self.bearer.clone(), self.dismiss.clone());
            self.hub.seat(name.clone(), bearer, remote.clone(), dismiss)
        };
        let stay = devices.join(&name, remote as Arc<dyn Desktop>);
        self.place = Some((stay, place));
    }

    fn answered(&mut self, reply: Value) {
        let Some(id) = reply["commandId"].as_str() else { return };
        let Some(waiting) = self.pending.remove(id) else {
            let id: String = id.chars().take(40).collect();
            tracing::debug!(id, "an answer came that nobody waits for");
            return;
        };
        // It may have been given up a moment ago.
        waiting.send(reply).ok();
    }

    fn obey(&mut self, wish: Wish) {
        match wish {
            // Given up before it was sent, it need not be.
            Wish::Send { reply, .. } if reply.is_closed() => (),
            Wish::Send { id, frame, reply } => {
                self.pending.insert(id, reply);
                self.out.push(Value::Object(frame).to_string().into());
            }
            Wish::Armed(until) => {
                let Some(mut hello) = self.hello.clone() else { return };
                hello.device = self.place.as_ref().map(|(_, place)| place.name().to_owned());
                let now = self.hub.now().as_millisecond();
                self.out.push(hello::armed(now, &hello, until).to_string().into());
            }
            Wish::Forget { id } => {
                let was_pending = self.pending.remove(&id).is_some();
                let understands = self.hello.as_ref().is_some_and(|hello| hello.is_extended);
                if was_pending && understands {
                    let number = self.hub.devices().number();
                    let cancel = json!({ "type": "cancel", "target": id, "commandId": number });
                    self.out.push(cancel.to_string().into());
                }
            }
        }
    }
}

impl Dialect for Connection {
    const MANNERS: Manners = Manners {
        megabytes: 32,
        read_bytes: 36 << 20,
        ping: Duration::from_secs(15),
        silence: Duration::from_secs(40),
        too_large: "frame larger than 32 MB",
        hears_binary: false,
    };

    async fn hear(&mut self, frame: &[u8]) {
        let Ok(Value::Object(frame)) = serde_json::from_slice(frame) else { return };
        match frame.get("type").and_then(Value::as_str) {
            Some("handshake") => self.introduced(&frame),
            Some("state") => {
                self.states.send_replace(hello::stands(&frame));
            }
            _ => self.answered(Value::Object(frame)),
        }
    }

    async fn say(&mut self, out: &mut Vec<Utf8Bytes>) {
        loop {
            let parts = !self.parted && self.dismissed.borrow().is_some();
            if !self.out.is_empty() || parts {
                self.parted |= parts;
                out.append(&mut self.out);
                return;
            }
            tokio::select! {
                Some(wish) = self.wishes.recv() => self.obey(wish),
                () = sleep_until(self.known_by), if self.hello.is_none() => {
                    self.enter(Hello::plain());
                }
                Ok(()) = self.dismissed.changed() => (),
            }
            while let Ok(wish) = self.wishes.try_recv() {
                self.obey(wish);
            }
        }
    }

    fn farewell(&self) -> Option<Farewell> {
        *self.dismissed.borrow()
    }
}
