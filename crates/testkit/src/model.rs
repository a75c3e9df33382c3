//! A model that says what its script says.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use futures::{
    FutureExt as _, StreamExt as _,
    future::{self, BoxFuture},
    stream::{self, BoxStream},
};
use kernel::{
    ports::{Known, Model, ModelError, ModelInfo, Models, Piece},
    prompt::Prompt,
    update::{Failure, Usage},
};
use serde_json::Value;
use tokio::sync::watch;

use crate::Gate;

/// One reply: what happens on one [`Model::stream`].
pub type Script = Vec<Line>;

#[derive(Clone, Debug)]
pub enum Line {
    Piece(Piece),
    Fail(ModelError),
    /// Says nothing until the gate is open.
    Wait(Gate),
    /// Says nothing more, for ever.
    Hang,
}

pub fn text(text: &str) -> Line {
    Line::Piece(Piece::Text(text.to_owned()))
}

pub fn reasoning(text: &str) -> Line {
    Line::Piece(Piece::Reasoning(text.to_owned()))
}

pub fn call(id: &str, name: &str, args: Value) -> Line {
    Line::Piece(Piece::Call { id: id.to_owned(), name: name.to_owned(), args })
}

pub fn usage(input_tokens: u64, output_tokens: u64) -> Line {
    Line::Piece(Piece::Usage(Usage { input_tokens, output_tokens, ..Usage::default() }))
}

/// The same at a price, in US dollars.
pub fn priced(input_tokens: u64, output_tokens: u64, cost: f64) -> Line {
    let cost = Some(cost);
    Line::Piece(Piece::Usage(Usage { input_tokens, output_tokens, cost, ..Usage::default() }))
}

pub fn fail(kind: Failure, message: &str) -> Line {
    Line::Fail(ModelError::new(kind, message))
}

pub fn wait(gate: &Gate) -> Line {
    Line::Wait(gate.clone())
}

pub fn hang() -> Line {
    Line::Hang
}

pub struct ScriptedModel {
    scripts: Mutex<VecDeque<Script>>,
    otherwise: Mutex<Option<Script>>,
    prompts: Mutex<Vec<Prompt>>,
    window: AtomicU64,
    free: AtomicBool,
    sees: Mutex<Option<bool>>,
    speaking: Arc<watch::Sender<usize>>,
}

impl ScriptedModel {
    pub fn new(scripts: impl IntoIterator<Item = Script>) -> Arc<Self> {
        Arc::new(Self {
            scripts: Mutex::new(scripts.into_iter().collect()),
            otherwise: Mutex::default(),
            prompts: Mutex::default(),
            window: AtomicU64::new(1 << 20),
            free: AtomicBool::new(false),
            sees: Mutex::default(),
            speaking: Arc::default(),
        })
    }

    pub fn push(&self, script: Script) {
        lock(&self.scripts).push_back(script);
    }

    /// What it replies when there is no script left. Without this, that is an error.
    pub fn otherwise(&self, script: Script) {
        *lock(&self.otherwise) = Some(script);
    }

    pub fn set_window(&self, tokens: u64) {
        self.window.store(tokens, Ordering::Relaxed);
    }

    /// Whether it is known to see pictures.
    pub fn set_sees(&self, sees: Option<bool>) {
        *lock(&self.sees) = sees;
    }

    /// Whether nobody pays for it.
    pub fn set_free(&self, free: bool) {
        self.free.store(free, Ordering::Relaxed);
    }

    /// What it was shown, oldest first.
    pub fn prompts(&self) -> Vec<Prompt> {
        lock(&self.prompts).clone()
    }

    /// How many replies are being given: begun, neither finished nor dropped.
    pub fn speaking(&self) -> usize {
        *self.speaking.borrow()
    }

    /// Returns when no reply is being given.
    pub async fn silent(&self) {
        // Cannot fail: we hold the sender.
        self.speaking.subscribe().wait_for(|speaking| *speaking == 0).await.ok();
    }

    fn next(&self) -> Script {
        let script = lock(&self.scripts).pop_front();
        script
            .or_else(|| lock(&self.otherwise).clone())
            .unwrap_or_else(|| vec![fail(Failure::Internal, "no script is left")])
    }
}

impl Model for ScriptedModel {
    fn window(&self) -> u64 {
        self.window.load(Ordering::Relaxed)
    }

    fn is_free(&self) -> bool {
        self.free.load(Ordering::Relaxed)
    }

    fn sees(&self) -> Option<bool> {
        *lock(&self.sees)
    }

    fn stream(&self, prompt: &Prompt) -> BoxStream<'static, Result<Piece, ModelError>> {
        lock(&self.prompts).push(prompt.clone());
        let speaking = Speaking::new(&self.speaking);
        let told = stream::iter(self.next()).filter_map(|line| async {
            match line {
                Line::Piece(piece) => Some(Ok(piece)),
                Line::Fail(error) => Some(Err(error)),
                Line::Wait(gate) => {
                    gate.pass().await;
                    None
                }
                Line::Hang => future::pending().await,
            }
        });
        let end = stream::once(async move { drop(speaking) }).filter_map(|()| future::ready(None));
        told.chain(end).boxed()
    }
}

/// Counts for as long as it lives.
struct Speaking(Arc<watch::Sender<usize>>);

impl Speaking {
    fn new(count: &Arc<watch::Sender<usize>>) -> Self {
        count.send_modify(|count| *count += 1);
        Self(count.clone())
    }
}

impl Drop for Speaking {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

/// A house with one model.
pub struct OneModel {
    id: String,
    model: Arc<dyn Model>,
    listing_fails: AtomicBool,
    known: Mutex<Known>,
}

impl OneModel {
    pub fn new(id: &str, model: Arc<dyn Model>) -> Self {
        let (listing_fails, known) = (AtomicBool::new(false), Mutex::default());
        Self { id: id.to_owned(), model, listing_fails, known }
    }

    /// What is told of it from now on.
    pub fn set_known(&self, known: Known) {
        *lock(&self.known) = known;
    }

    pub fn fail_listing(&self, fails: bool) {
        self.listing_fails.store(fails, Ordering::Relaxed);
    }
}

impl Models for OneModel {
    fn list(&self) -> BoxFuture<'_, Result<Vec<ModelInfo>, ModelError>> {
        let list = if self.listing_fails.load(Ordering::Relaxed) {
            Err(ModelError::new(Failure::Network, "the provider does not answer"))
        } else {
            Ok(vec![ModelInfo {
                id: self.id.clone(),
                name: self.id.clone(),
                cost: 1.0,
                payer: "nobody".to_owned(),
                known: *lock(&self.known),
            }])
        };
        future::ready(list).boxed()
    }

    fn find(&self, id: &str) -> Option<Arc<dyn Model>> {
        (id == self.id).then(|| self.model.clone())
    }

    fn default_id(&self) -> String {
        self.id.clone()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
