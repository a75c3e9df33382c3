//! Telling a client how far its call has come, if it asked to be told.

use rmcp::{
    Peer, RoleServer,
    model::{ProgressNotificationParam, ProgressToken},
    service::RequestContext,
};

/// So much of an answer is gathered before it is passed on.
const GATHERED: usize = 120;

pub struct Progress {
    to: Option<(Peer<RoleServer>, ProgressToken)>,
    told: u32,
    gathered: String,
}

impl Progress {
    pub fn of(context: &RequestContext<RoleServer>) -> Self {
        let token = context.meta.get_progress_token();
        let to = token.map(|token| (context.peer.clone(), token));
        Self { to, told: 0, gathered: String::new() }
    }

    /// More of an answer; told in pieces of some length.
    pub async fn gather(&mut self, text: &str) {
        if self.to.is_none() {
            return;
        }
        self.gathered.push_str(text);
        if self.gathered.len() >= GATHERED {
            self.pass_on().await;
        }
    }

    pub async fn say(&mut self, text: impl Into<String>) {
        self.pass_on().await;
        self.tell(text.into()).await;
    }

    async fn pass_on(&mut self) {
        if !self.gathered.is_empty() {
            let gathered = std::mem::take(&mut self.gathered);
            self.tell(gathered).await;
        }
    }

    async fn tell(&mut self, text: String) {
        let Some((peer, token)) = &self.to else { return };
        self.told += 1;
        let said = ProgressNotificationParam::new(token.clone(), f64::from(self.told));
        // Whoever has gone hears the end no less than this.
        peer.notify_progress(said.with_message(text)).await.ok();
    }
}
