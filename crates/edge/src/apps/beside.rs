//! One socket, two dialects: what is in capitals is of windows and apps, and all else is Caco's.

use axum::extract::ws::Utf8Bytes;

use super::{Party, hear};
use crate::{caco::Connection, socket::Dialect};

pub struct Beside {
    caco: Connection,
    apps: Party,
}

impl Beside {
    pub fn new(caco: Connection, apps: Party) -> Self {
        Self { caco, apps }
    }

    /// Windows are told of for the session that is followed, whichever that is by now.
    async fn keep_up(&mut self) {
        self.apps.follow(self.caco.watched()).await;
    }
}

impl Dialect for Beside {
    async fn hear(&mut self, frame: &[u8]) {
        match hear::kind(frame).filter(|kind| hear::is_ours(kind)) {
            Some(_) => self.apps.hear(frame).await,
            None => self.caco.hear(frame).await,
        }
        self.keep_up().await;
    }

    fn takes(&self, frame: &[u8]) -> bool {
        hear::is_reply(frame)
    }

    async fn say(&mut self, out: &mut Vec<Utf8Bytes>) {
        let mut told = Vec::new();
        tokio::select! {
            () = self.caco.say(out) => (),
            () = self.apps.say(&mut told) => *out = told,
        }
        self.keep_up().await;
    }
}
