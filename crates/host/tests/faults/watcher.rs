//! A client that watches a session, and comes back whenever it is cut off.

use serde_json::json;
use tokio::{sync::watch, task::JoinHandle};

use crate::{
    PAUSE,
    chance::Chance,
    client::{Client, Heard, Socket},
    within,
    witness::Witness,
};

pub struct Watcher {
    progress: watch::Receiver<Progress>,
    /// The place after which it has seen enough.
    enough: watch::Sender<u64>,
    task: JoinHandle<Witness>,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    pub frames: u64,
    pub events: u64,
}

/// How a client goes about it.
#[derive(Default)]
pub struct Habits {
    /// The name under which it wants to hear words, if it says one.
    pub deltas: Option<&'static str>,
    /// It leaves and comes back every few frames, for no good reason.
    pub restless: Option<Chance>,
}

impl Watcher {
    pub fn start(client: &Client, session: &str, habits: Habits) -> Self {
        let (progress, seen) = watch::channel(Progress::default());
        let (enough, goal) = watch::channel(u64::MAX);
        let witness = Witness::default();
        let (client, session) = (client.clone(), session.to_owned());
        let task = tokio::spawn(Task { client, session, habits, witness, progress, goal }.run());
        Self { progress: seen, enough, task }
    }

    pub fn progress(&self) -> Progress {
        *self.progress.borrow()
    }

    pub async fn hears(&mut self, enough: impl FnMut(&Progress) -> bool) {
        // It only ends before that if it panicked, which has been told.
        within("more frames", self.progress.wait_for(enough)).await.unwrap();
    }

    /// What it was told, once it was told all up to this place.
    pub async fn up_to(self, seq: u64) -> Witness {
        self.enough.send_replace(seq);
        within("a client to catch up", self.task).await.unwrap()
    }
}

struct Task {
    client: Client,
    session: String,
    habits: Habits,
    witness: Witness,
    progress: watch::Sender<Progress>,
    goal: watch::Receiver<u64>,
}

impl Task {
    async fn run(mut self) -> Witness {
        loop {
            let Some(mut socket) = self.client.connect().await else {
                tokio::time::sleep(PAUSE).await;
                continue;
            };
            let mut wish = json!({"type": "subscribe", "sessionId": self.session});
            wish["after"] = self.witness.last().into();
            if let Some(deltas) = self.habits.deltas {
                wish["deltas"] = deltas.into();
            }
            // If it was not heard, the end of the socket will be.
            socket.say(wish).await;
            if self.listen(&mut socket).await {
                return self.witness;
            }
            if self.habits.restless.as_mut().is_some_and(|chance| chance.of(0..2) == 0) {
                socket.leave().await;
            }
        }
    }

    /// Whether it has seen enough.
    async fn listen(&mut self, socket: &mut Socket) -> bool {
        let stay = self.habits.restless.as_mut().map_or(u64::MAX, |chance| chance.of(1..30));
        for _ in 0..stay {
            let last = self.witness.last();
            let heard = tokio::select! {
                heard = socket.hear() => heard,
                () = reached(&mut self.goal, last) => return true,
            };
            let Heard::Frame(frame) = heard else { return false };
            self.witness.hear(frame);
            let (frames, events) = (self.witness.frames, self.witness.told.events.len() as u64);
            self.progress.send_replace(Progress { frames, events });
        }
        false
    }
}

async fn reached(goal: &mut watch::Receiver<u64>, last: u64) {
    // Without anyone who could set a goal, there is nobody to watch for.
    goal.wait_for(|goal| *goal <= last).await.ok();
}
