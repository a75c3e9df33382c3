//! One view and the host that answers it: what it says goes in, what it is answered comes out.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use serde_json::{Map, Value};
use tokio::{
    sync::Notify,
    time::{sleep, timeout},
};

use crate::{
    answer,
    bounds::Limits,
    capability::Capabilities,
    context::{Context, Record},
    dialect::Dialect,
    fault::{Fault, codes},
    hearing::Heard,
    life::{Life, notification},
    memory::ModelContext,
    state::State,
    tools::{CallError, WidgetTool},
};

/// How long a view of the seed may be silent after its greeting: many say nothing more.
const GRACE: Duration = Duration::from_millis(300);
/// Tools that change in one go are asked for once.
const SETTLING: Duration = Duration::from_millis(50);
const LISTING: Duration = Duration::from_secs(10);
const CALLING: Duration = Duration::from_secs(30);
const PARTING: Duration = Duration::from_secs(2);
/// Guests of the seed give up after ten seconds.
const PATIENCE: Duration = Duration::from_secs(9);

/// What a handler is made of, besides the world it asks.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    pub capabilities: Capabilities,
    pub limits: Limits,
    /// Of the host, as it is told to views.
    pub version: String,
    /// What is around the view, in the words of the official dialect.
    pub surroundings: Map<String, Value>,
    /// What the view wanted the model to know before it was shown anew.
    pub memory: ModelContext,
    /// What it had kept for itself by then.
    pub kept: Option<Value>,
}

/// The host of one view.
pub struct Handler {
    pub(crate) context: Arc<dyn Context>,
    pub(crate) setup: Setup,
    state: Mutex<State>,
    chores: Notify,
}

impl Handler {
    pub fn new(context: Arc<dyn Context>, setup: Setup) -> Self {
        let state = State::new(&setup);
        Self { context, setup, state: Mutex::new(state), chores: Notify::new() }
    }

    /// Takes in what a view has sent as text; gives back what it is answered, if it is.
    pub async fn handle_text(&self, text: &str) -> Option<Value> {
        let Ok(message) = serde_json::from_str(text) else {
            let fault = Fault::new(codes::PARSE_ERROR, "Parse error");
            return Some(answer::response(&Value::Null, &Err(fault)));
        };
        self.handle(message).await
    }

    /// Takes in what a view has sent; gives back what it is answered, if it is. Up to the first
    /// thing that takes time this happens at once, so that messages are heeded in the order in
    /// which they are handed in.
    pub async fn handle(&self, message: Value) -> Option<Value> {
        match self.sort(message) {
            Heard::Asked(request) => self.answer(request).await,
            Heard::Told(told, params) => {
                self.heed(told, params).await;
                None
            }
            Heard::Answer(answer, record) => {
                self.context.record(record);
                Some(answer)
            }
            Heard::Taken => None,
            Heard::Dropped(why) => {
                self.state().dropped += 1;
                self.context.record(Record::Dropped { why });
                None
            }
        }
    }

    /// Looks after what takes time of itself, until it is dropped: silent guests, lists of tools.
    pub async fn attend(&self) {
        loop {
            let (silent, pull) = {
                let mut state = self.state();
                let silent = state.greeted && state.speaks() == Dialect::Seed;
                (silent, std::mem::take(&mut state.pull))
            };
            if silent {
                sleep(GRACE).await;
                if self.state().greeted {
                    self.begin();
                }
            } else if pull {
                sleep(SETTLING).await;
                self.state().pull = false;
                self.pull().await;
            } else {
                self.chores.notified().await;
            }
        }
    }

    /// The arguments of the call as far as the model has written them.
    pub fn stream(&self, arguments: Map<String, Value>) {
        self.tell(|life| life.stream(arguments));
    }

    /// The arguments of the call, which the view was opened for.
    pub fn give(&self, arguments: Map<String, Value>) {
        self.tell(|life| life.give(arguments));
    }

    /// What came of the call, whole.
    pub fn finish(&self, result: Value) {
        self.tell(|life| life.finish(result));
    }

    pub fn cancel(&self, reason: Option<String>) {
        self.tell(|life| life.cancel(reason));
    }

    /// Something around the view is different. What is as it was is not told.
    pub fn change(&self, surroundings: Map<String, Value>) {
        let mut state = self.state();
        let known = &state.surroundings;
        let news = surroundings.into_iter().filter(|(name, value)| known.get(name) != Some(value));
        let news: Map<String, Value> = news.collect();
        state.surroundings.extend(news.clone());
        state.life.change(news);
        self.flush(&mut state);
    }

    /// How far a call of the view's has come, by the name that the view gave it.
    pub fn progress(&self, token: &Value, done: f64, total: Option<f64>, message: Option<&str>) {
        let mut params = Map::new();
        params.insert("progressToken".into(), token.clone());
        params.insert("progress".into(), done.into());
        params.extend(total.map(|total| ("total".to_owned(), total.into())));
        params.extend(message.map(|message| ("message".to_owned(), message.into())));
        let state = self.state();
        if state.life.is_ready() {
            self.context.post(notification("notifications/progress", &params));
        }
    }

    /// Its server has other tools than before.
    pub fn tools_changed(&self) {
        let offered = self.setup.capabilities.server_tools;
        let state = self.state();
        if offered && state.life.is_ready() && state.speaks() == Dialect::Official {
            self.context.post(notification("notifications/tools/list_changed", &Map::new()));
        }
    }

    pub fn tools(&self) -> Vec<WidgetTool> {
        self.state().tools.clone()
    }

    pub fn memory(&self) -> ModelContext {
        self.state().memory.clone()
    }

    pub fn is_ready(&self) -> bool {
        self.state().life.is_ready()
    }

    pub fn dialect(&self) -> Dialect {
        self.state().speaks()
    }

    /// How much was not heeded.
    pub fn dropped(&self) -> u64 {
        self.state().dropped
    }

    /// Calls a tool that the view defines. Gives back its whole result.
    pub async fn call(
        &self,
        name: &str,
        arguments: Map<String, Value>,
    ) -> Result<Value, CallError> {
        let tool = {
            let state = self.state();
            if state.closed {
                return Err(CallError::Closed);
            }
            state.tools.iter().find(|tool| tool.name == name).cloned()
        };
        let tool = tool.ok_or_else(|| CallError::Unknown(name.to_owned()))?;
        if !tool.callable {
            return Err(CallError::NotCallable(name.to_owned()));
        }
        tool.takes(&arguments)?;
        let params = [("name", Value::from(name)), ("arguments", Value::Object(arguments))];
        let params = params.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let result = self.ask("tools/call", params, CALLING).await?;
        tool.gives(&result)?;
        Ok(result)
    }

    /// Lets the view put its things in order, for as long as that may take, and ends it.
    pub async fn part(&self) {
        let listens = {
            let state = self.state();
            state.life.is_ready() && state.answers()
        };
        if listens {
            // However it answers, and whether it does, it goes.
            self.ask("ui/resource-teardown", Map::new(), PARTING).await.ok();
        }
        self.close();
    }

    /// The view is gone: so are its tools, and what was asked of it.
    pub fn close(&self) {
        let mut state = self.state();
        if state.closed {
            return;
        }
        state.closed = true;
        state.tools.clear();
        state.peer.close();
        state.flight.clear();
        drop(state);
        self.context.tools_changed(Vec::new());
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// For how long the person may be asked for this view.
    pub(crate) fn patience(&self) -> Option<Duration> {
        let state = self.state();
        (state.speaks() == Dialect::Seed && !state.bridge).then_some(PATIENCE)
    }

    /// Something else is to be looked after.
    pub(crate) fn wake(&self) {
        self.chores.notify_one();
    }

    /// The view listens now.
    pub(crate) fn begin(&self) {
        let mut state = self.state();
        state.greeted = false;
        state.life.begin();
        state.pull = state.offers_tools && state.answers();
        self.flush(&mut state);
        drop(state);
        self.context.ready();
        self.wake();
    }

    /// Says what is due, in order.
    pub(crate) fn flush(&self, state: &mut State) {
        let (dialect, streams) = (state.speaks(), state.streams);
        for message in state.life.due(dialect, streams) {
            self.context.post(message);
        }
    }

    fn tell(&self, change: impl FnOnce(&mut Life)) {
        let mut state = self.state();
        change(&mut state.life);
        self.flush(&mut state);
    }

    /// Asks something of the view, and waits so long for an answer.
    pub(crate) async fn ask(
        &self,
        method: &str,
        params: Map<String, Value>,
        patience: Duration,
    ) -> Result<Value, CallError> {
        let (id, answer) = {
            let mut state = self.state();
            if state.closed {
                return Err(CallError::Closed);
            }
            let (id, message, answer) = state.peer.ask(method, &params);
            self.context.post(message);
            (id, answer)
        };
        match timeout(patience, answer).await {
            Ok(Ok(Ok(result))) => Ok(result),
            Ok(Ok(Err(fault))) => Err(CallError::Failed(fault.message)),
            Ok(Err(_)) => Err(CallError::Closed),
            Err(_) => {
                self.state().peer.forget(id);
                Err(CallError::Silent(patience.as_secs()))
            }
        }
    }

    pub(crate) async fn list(&self, params: Map<String, Value>) -> Result<Value, CallError> {
        self.ask("tools/list", params, LISTING).await
    }
}
