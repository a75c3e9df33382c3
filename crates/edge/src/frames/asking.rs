//! What one frame was given leave for: the person is asked about each thing once.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex as Lock, PoisonError},
};

use kernel::{
    host::Host,
    inbox::CallError,
    leave::{Leave, Wish},
    toolbox::Caller,
    update::SessionId,
};
use tokio::sync::{Mutex, watch};

use crate::error::ApiError;

type Answer = Arc<Mutex<Option<bool>>>;

pub struct Asking {
    pub host: Arc<Host>,
    pub session: Option<SessionId>,
    caller: Caller,
    /// What was answered for this frame alone. Each is held while the person is asked about it, so
    /// that they are asked once.
    answers: Lock<HashMap<String, Answer>>,
    /// Whether the frame is gone, and with it whoever wanted to know.
    ended: watch::Sender<bool>,
}

impl Asking {
    pub fn new(host: Arc<Host>, session: Option<SessionId>, caller: Caller) -> Self {
        Self { host, session, caller, answers: Lock::default(), ended: watch::Sender::new(false) }
    }

    /// The frame is gone: what it has asked is not asked any longer.
    pub fn end(&self) {
        self.ended.send_replace(true);
    }

    /// Whether the person allows this, which they are asked in this session. `about` tells apart what
    /// is asked for once.
    pub async fn ask(&self, session: SessionId, about: &str, wish: Wish) -> Result<bool, ApiError> {
        let mut ended = self.ended.subscribe();
        tokio::select! {
            biased;
            // Its sender is our own, so it does not fail.
            _ = ended.wait_for(|ended| *ended) => {
                Err(ApiError::forbidden("The window was closed before anyone answered"))
            }
            answered = self.ask_person(session, about, wish) => answered,
        }
    }

    async fn ask_person(
        &self,
        session: SessionId,
        about: &str,
        wish: Wish,
    ) -> Result<bool, ApiError> {
        let answer = self.answer(about);
        let mut answer = answer.lock().await;
        if let Some(answer) = *answer {
            return Ok(answer);
        }
        match self.host.leave(session, self.caller.clone(), wish).await {
            // It may be taken back, so it is not remembered here.
            Ok(Leave::Granted) => Ok(true),
            Ok(Leave::Once) => {
                *answer = Some(true);
                Ok(true)
            }
            Err(CallError::Tool(_)) => {
                *answer = Some(false);
                Ok(false)
            }
            Err(CallError::Open(error)) => Err(error.into()),
        }
    }

    fn answer(&self, about: &str) -> Answer {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.entry(about.to_owned()).or_default().clone()
    }
}
