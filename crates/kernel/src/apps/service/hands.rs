//! Windows that change hands, and what is taken back in them, as the rest of the house asks for it.

use std::sync::Arc;

use super::Wish;
use crate::{
    apps::protocol::{Answer, HandsWish, Undo},
    host::{Host, OpenError},
    update::SessionId,
    windows::{By, Hands, Named},
};

/// What is to be taken back, for whom.
#[derive(Clone, Debug, PartialEq)]
pub struct Undoing {
    pub window: Named,
    /// The request of the command; the newest that can be, where none is named.
    pub request: Option<String>,
    pub by: By,
    /// Whether a person who has taken the window over is waited for.
    pub attended: bool,
    /// What a model calls the call.
    pub tool_call: Option<String>,
}

impl Host {
    /// The person says whose hands a window is in; answers when that is safe.
    pub async fn hand(
        self: &Arc<Self>,
        session: SessionId,
        Named { name: window, monitor }: Named,
        to: Hands,
    ) -> Result<Answer, OpenError> {
        self.wish(session, |call, reply| {
            let wish = HandsWish { call: Some(call), window, monitor, to };
            Wish::Hands { wish, reply: Some(reply) }
        })
        .await
    }

    /// Waits until an agent may change a window itself.
    pub async fn await_hands(
        self: &Arc<Self>,
        session: SessionId,
        window: &str,
        attended: bool,
    ) -> Result<Answer, OpenError> {
        let windows = self.windows(session).await?;
        let pane = windows.find(window, None);
        let is_held = pane.is_ok_and(|pane| pane.hands == Hands::Person);
        // Let go, or the next change would be made in a copy.
        drop(windows);
        if !is_held && !self.apps.is_served(session) {
            return Ok(Answer::Free { note: None });
        }
        let window = window.to_owned();
        self.wish(session, |call, reply| Wish::Await { call, window, attended, reply }).await
    }

    /// Has an app take back what it has done.
    pub async fn undo_in_app(
        self: &Arc<Self>,
        session: SessionId,
        undoing: Undoing,
    ) -> Result<Answer, OpenError> {
        let Undoing { window, request, by, attended, tool_call } = undoing;
        let Named { name: window, monitor } = window;
        self.wish(session, |call, reply| {
            let undo = Undo { call, window, monitor, request, by, attended, tool_call };
            Wish::Undo { undo, reply }
        })
        .await
    }
}
