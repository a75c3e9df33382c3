//! What a view's page is asked to do, and what it says came of that.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use serde_json::{Map, Value};
use tokio::{sync::oneshot, time::timeout};

use crate::frames::tenant::Speaker;

#[derive(Default)]
pub struct Wishes {
    /// Whoever speaks with the frame, once it is shown.
    speaker: Mutex<Option<Speaker>>,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    next: u64,
    waiting: HashMap<u64, oneshot::Sender<Map<String, Value>>>,
}

impl Wishes {
    pub fn speak_by(&self, speaker: &Speaker) {
        *lock(&self.speaker) = Some(speaker.clone());
    }

    pub fn speaker(&self) -> Option<Speaker> {
        lock(&self.speaker).clone()
    }

    /// Says what is wished, and waits for nothing. Whether anybody shows the view.
    pub fn tell(&self, wish: &Value) -> bool {
        self.speaker().is_some_and(|speaker| speaker.wish(wish))
    }

    /// Wishes for something, and says what came of it.
    pub async fn ask(
        &self,
        mut wish: Value,
        patience: Duration,
    ) -> Result<Map<String, Value>, String> {
        let (id, answer) = {
            let mut open = lock(&self.open);
            open.next += 1;
            let (sender, answer) = oneshot::channel();
            let id = open.next;
            open.waiting.insert(id, sender);
            (id, answer)
        };
        wish["id"] = id.into();
        if !self.tell(&wish) {
            lock(&self.open).waiting.remove(&id);
            return Err("nobody shows the view".into());
        }
        let answered = timeout(patience, answer).await;
        lock(&self.open).waiting.remove(&id);
        let late = || format!("the page did not answer for {} seconds", patience.as_secs());
        let done = answered.ok().and_then(Result::ok).ok_or_else(late)?;
        if done.get("ok") == Some(&Value::Bool(false)) {
            return Err("the page did not do it".into());
        }
        Ok(done)
    }

    /// Takes in what came of a wish.
    pub fn done(&self, note: Map<String, Value>) -> Result<(), String> {
        let id = note.get("done").and_then(Value::as_u64).ok_or("done must be a number")?;
        let waiting = lock(&self.open).waiting.remove(&id);
        let waiting = waiting.ok_or_else(|| format!("no wish {id} is open"))?;
        // Whoever wished may have given up just now.
        waiting.send(note).ok();
        Ok(())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
