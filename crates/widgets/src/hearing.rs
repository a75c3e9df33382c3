//! Telling apart what a view sends: what is a request, what is known, and what there is room for.

use std::time::Duration;

use serde_json::{Map, Value};
use tokio::sync::oneshot;

use crate::{
    answer,
    bounds::{self, Limits},
    context::Record,
    dialect::{self, Dialect, Op, Told},
    fault::{Fault, codes},
    handler::Handler,
    state::State,
};

pub(crate) struct Request {
    id: Value,
    method: String,
    params: Map<String, Value>,
    op: Op,
    style: Dialect,
    taken_back: oneshot::Receiver<()>,
}

pub(crate) enum Heard {
    Asked(Request),
    Told(Told, Map<String, Value>),
    Answer(Value, Record),
    Taken,
    Dropped(String),
}

impl Handler {
    /// What a message is, as far as that needs nobody else.
    pub(crate) fn sort(&self, message: Value) -> Heard {
        let bytes = bounds::bytes(&message);
        let Value::Object(mut message) = message else {
            return Heard::Dropped("no message is anything but an object".into());
        };
        let mut state = self.state();
        if state.closed {
            return Heard::Dropped("the view is closed".into());
        }
        let spoken = message.get("jsonrpc").is_some_and(|version| version == "2.0");
        let id = message.get("id").cloned();
        let method = message.get("method").and_then(Value::as_str).map(str::to_owned);
        let answers = message.contains_key("result") || message.contains_key("error");
        let (id, method) = match (id, method) {
            (Some(id), None) if spoken && answers => {
                let known = state.peer.answered(&id, &message);
                let why = "an answer to nothing that was asked";
                return if known { Heard::Taken } else { Heard::Dropped(why.into()) };
            }
            (Some(id), _) if !(id.is_string() || id.is_number()) => {
                return Heard::Dropped("an id must be a string or a number".into());
            }
            (Some(id), Some(method)) if spoken => (Some(id), method),
            (None, Some(method)) if spoken => (None, method),
            (Some(id), method) => {
                let fault = Fault::new(codes::INVALID_REQUEST, "Invalid Request");
                return refuse(&id, method.unwrap_or_default(), Value::Null, fault);
            }
            (None, _) => return Heard::Dropped("neither a request nor a notification".into()),
        };
        let most = self.setup.limits.of(&method);
        let params = match message.remove("params") {
            None => Ok(Map::new()),
            Some(Value::Object(params)) => Ok(params),
            Some(_) => Err(Fault::params("Invalid params: expected object")),
        };
        let Some(id) = id else {
            return match (dialect::told(&method), params) {
                _ if bytes > most => {
                    Heard::Dropped(format!("{method} is larger than {most} bytes"))
                }
                (Some(told), Ok(params)) => Heard::Told(told, params),
                (Some(_), Err(fault)) => Heard::Dropped(format!("{method}: {}", fault.message)),
                (None, _) => Heard::Dropped(format!("nobody here listens to {method}")),
            };
        };
        if bytes > most {
            return refuse(&id, method, Value::Null, Fault::limit("messageBytes", most));
        }
        self.admit(&mut state, id, method, params)
    }

    /// A request that is whole: whether it is known, and whether there is room for it.
    fn admit(
        &self,
        state: &mut State,
        id: Value,
        method: String,
        params: Result<Map<String, Value>, Fault>,
    ) -> Heard {
        let Limits { in_flight, per_minute, .. } = self.setup.limits;
        let key = id.to_string();
        if state.flight.contains_key(&key) {
            return Heard::Dropped(format!("a request with the id {key} is still open"));
        }
        if state.flight.len() >= in_flight {
            return refuse(&id, method, Value::Null, Fault::limit("inFlight", in_flight));
        }
        if !state.pace.take(self.context.now(), per_minute) {
            return refuse(&id, method, Value::Null, Fault::limit("perMinute", per_minute));
        }
        if state.dialect.is_none() && dialect::is_seed_name(&method) {
            state.dialect = Some(Dialect::Seed);
        }
        let params = match params {
            Ok(params) => params,
            Err(fault) => return refuse(&id, method, Value::Null, fault),
        };
        let Some((op, style)) = dialect::asked(&method) else {
            let fault = Fault::method(state.speaks(), &method);
            return refuse(&id, method, Value::Object(params), fault);
        };
        let style = style.unwrap_or_else(|| state.speaks());
        let (open, taken_back) = oneshot::channel();
        state.flight.insert(key, Some(open));
        Heard::Asked(Request { id, method, params, op, style, taken_back })
    }

    pub(crate) async fn answer(&self, request: Request) -> Option<Value> {
        let Request { id, method, params, op, style, taken_back } = request;
        let asked = Value::Object(params.clone());
        let began = self.context.now();
        let mut ask = None;
        let carried_out = async {
            if op.is_noticed() {
                let number = self.number();
                let announced = self.context.announce(number, &method, &params).await;
                ask = announced.map_err(answer::plain)?.then_some(number);
            }
            self.carry_out(op, style, &method, params).await
        };
        let outcome = tokio::select! {
            biased;
            outcome = carried_out => Some(outcome),
            _ = taken_back => None,
        };
        self.state().flight.remove(&id.to_string());
        let took = self.context.now().saturating_sub(began);
        let Some(outcome) = outcome else {
            self.context.record(Record::TakenBack { ask, method, took });
            return None;
        };
        let fault = outcome.as_ref().err().map(|fault| fault.code);
        let result = outcome.as_ref().ok();
        let failed = result.is_some_and(|it| it.get("isError") == Some(&Value::Bool(true)));
        let params = asked;
        self.context.record(Record::Answered { ask, method, params, fault, failed, took });
        Some(answer::response(&id, &outcome))
    }

    fn number(&self) -> u64 {
        let mut state = self.state();
        state.announced += 1;
        state.announced
    }

    /// The view does not want an answer any more.
    pub(crate) fn take_back(&self, id: &Value) {
        if let Some(open) = self.state().flight.get_mut(&id.to_string()).and_then(Option::take) {
            // It may just have been answered.
            open.send(()).ok();
        }
    }
}

impl Limits {
    fn of(&self, method: &str) -> usize {
        if method == "ui/download-file" { self.download_bytes } else { self.message_bytes }
    }
}

fn refuse(id: &Value, method: String, params: Value, fault: Fault) -> Heard {
    let record = Record::Answered {
        ask: None,
        method,
        params,
        fault: Some(fault.code),
        failed: false,
        took: Duration::ZERO,
    };
    Heard::Answer(answer::response(id, &Err(fault)), record)
}
