//! Follows a session for one view: how its call is written, asked for and answered.

use std::sync::Arc;

use kernel::{
    feed::{Feed, Heard},
    host::Host,
    update::{Entry, Fact, Output, Seq, SessionId, Signal, ToolRequest, Update},
};
use serde_json::{Value, json};
use widgets::Handler;

use super::context::House;

/// What a view is about, as far as it is known.
pub enum Awaited {
    /// A call that is being written.
    Call(Seq, usize),
    /// What a call gives back.
    Result(String),
}

pub struct Follower {
    pub house: Arc<House>,
    pub handler: Arc<Handler>,
    pub awaited: Awaited,
}

impl Follower {
    /// Ends when all is told that there is to tell, or the session is closed.
    pub async fn follow(mut self, host: Arc<Host>, session: SessionId, after: Seq) {
        let Ok(mut feed) = host.feed(session, Some(after)).await else { return };
        self.look(session);
        while self.hear(session, &mut feed).await {}
    }

    /// Whether there is more to come.
    async fn hear(&mut self, session: SessionId, feed: &mut Feed) -> bool {
        match feed.next().await {
            Some(Heard::Past(entry)) => self.fact(&entry),
            Some(Heard::Now { .. }) => {
                self.look(session);
                true
            }
            Some(Heard::Live(told)) => told.updates.iter().all(|update| match update {
                Update::Fact(entry) => self.fact(entry),
                Update::Signal { signal, .. } => {
                    if let Signal::Calling { .. } = signal {
                        self.look(session);
                    }
                    true
                }
            }),
            None => false,
        }
    }

    /// How far the arguments were written, read from where that is kept whole.
    fn look(&self, session: SessionId) {
        let Awaited::Call(step, index) = self.awaited else { return };
        let written = self.house.host.roster.writing.get((session, step, index));
        if let Some(arguments) = written.and_then(|written| widgets::heal(&written.args)) {
            self.handler.stream(arguments);
        }
    }

    fn fact(&mut self, Entry { fact, .. }: &Entry) -> bool {
        match (fact, &self.awaited) {
            (Fact::Answered(answer), Awaited::Call(step, index)) if answer.step == *step => {
                let Some(request) = answer.calls.get(*index) else {
                    self.handler.cancel(Some("the call was not finished".to_owned()));
                    return false;
                };
                self.house.scribe.name(&request.id);
                self.house.live.name(self.house.number, &request.id);
                give(&self.handler, request);
                self.awaited = Awaited::Result(request.id.clone());
                true
            }
            (Fact::TurnEnded(_), Awaited::Call(..)) => {
                self.handler.cancel(Some("the turn ended first".to_owned()));
                false
            }
            (Fact::ToolReturned { call, output }, Awaited::Result(of)) if call == of => {
                finish(&self.handler, output);
                false
            }
            _ => true,
        }
    }
}

/// The arguments, whole.
pub fn give(handler: &Handler, request: &ToolRequest) {
    handler.give(request.args.as_object().cloned().unwrap_or_default());
}

/// What came of the call, as it was recorded.
pub fn finish(handler: &Handler, output: &Output) {
    let whole = |text: &str, data: &Option<Value>| {
        let mut result = data.as_ref().and_then(Value::as_object).cloned().unwrap_or_default();
        result.entry("content").or_insert_with(|| json!([{ "type": "text", "text": text }]));
        result
    };
    match output {
        Output::Done { text, data, .. } => handler.finish(Value::Object(whole(text, data))),
        Output::Failed { message, data } => {
            let mut result = whole(message, data);
            result.insert("isError".into(), Value::Bool(true));
            handler.finish(Value::Object(result));
        }
        Output::Interrupted => handler.cancel(Some("the turn ended first".to_owned())),
    }
}
