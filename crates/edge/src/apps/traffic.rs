//! What happens between the house and an app, for whoever inspects it: facts and news in the words of the wire.

use jiff::Timestamp;
use kernel::{
    apps::{
        AppFact, AppRequest, Asked, Cause, FailedReason, Kind, News, OwnerReason, Response,
        Telling, texts,
    },
    update::{Entry, Fact},
};
use serde::Serialize;
use serde_json::Value;

use super::frames::Request;

/// Values that take up more are told as the beginning of their text.
const WHOLE: usize = 64 << 10;
const BEGINNING: usize = 4000;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Trace<'a> {
    /// Where it is in the log, if it is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
    /// What tells it from other news, if it is in no log.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    window_id: Option<&'a str>,
    #[serde(flatten)]
    what: What<'a>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
enum What<'a> {
    Ready {
        connection: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        instance: Option<&'a str>,
        generation: u64,
    },
    Lost {
        reason: &'a str,
    },
    Owner {
        connection: &'a str,
        reason: &'static str,
    },
    Request {
        request_id: &'a str,
        request: Request<'a>,
        /// How much was left out of the request, in bytes.
        #[serde(skip_serializing_if = "Option::is_none")]
        params_bytes: Option<usize>,
        cause: &'static str,
        generation: u64,
        deadline_ms: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        idempotency_key: Option<&'a str>,
    },
    Response {
        request_id: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        kind: Option<&'static str>,
        #[serde(flatten)]
        value: Given<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'a str>,
        elapsed_ms: u64,
        late: bool,
    },
    Failed {
        request_id: &'a str,
        reason: &'static str,
    },
    Rejected {
        connection: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        request_id: Option<&'a str>,
        why: &'a str,
    },
    Replay {
        from: u64,
        to: u64,
        failed: u64,
    },
    Retired {},
    Interaction {
        content: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        instructions: Option<&'a str>,
        inform: bool,
    },
    File {
        path: &'a str,
    },
    HandsTaken {},
    HandsBack {
        reason: &'static str,
    },
    Edited {
        state_keys: &'a [String],
    },
    Progress {
        request_id: &'a str,
        done: f64,
        #[serde(skip_serializing_if = "Option::is_none")]
        total: Option<f64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        note: Option<&'a str>,
    },
    StateChanged {
        state_keys: &'a [String],
    },
    Console {
        connection: &'a str,
        level: &'static str,
        text: &'a str,
    },
    Refused {
        request: Request<'a>,
        why: &'a str,
    },
    Odd {
        #[serde(skip_serializing_if = "Option::is_none")]
        request_id: Option<&'a str>,
        what: &'a str,
    },
    LeftOut {
        count: u64,
    },
}

/// What an app gave back: whole, or how it begins.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Given<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value_begins: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value_bytes: Option<usize>,
}

impl<'a> Trace<'a> {
    /// None for what is no fact of an app.
    pub fn of_fact(entry: &'a Entry) -> Option<Self> {
        let Fact::App(fact) = &entry.fact else { return None };
        let (seq, at, window_id) = (Some(entry.seq.0), entry.at, fact.window());
        Some(Self { seq, id: None, at, window_id, what: of_fact(fact) })
    }

    pub fn of_news(news: &'a News) -> Self {
        let (id, window_id) = (Some(news.id), Some(&*news.window));
        Self { seq: None, id, at: news.at, window_id, what: of_news(&news.what) }
    }
}

fn of_fact(fact: &AppFact) -> What<'_> {
    match fact {
        AppFact::Ready { connection, instance, generation, .. } => {
            let (instance, generation) = (instance.as_deref(), *generation);
            What::Ready { connection, instance, generation }
        }
        AppFact::Lost { reason, .. } => What::Lost { reason },
        AppFact::Owner { connection, reason, .. } => {
            let reason = match reason {
                OwnerReason::Ready => "ready",
                OwnerReason::Failover => "failover",
            };
            What::Owner { connection, reason }
        }
        AppFact::Request(request) => of_request(request),
        AppFact::Response { request, response, elapsed_ms, late, .. } => {
            of_response(request, response, *elapsed_ms, *late)
        }
        AppFact::Failed { request, reason } => {
            What::Failed { request_id: request, reason: reason_name(*reason) }
        }
        AppFact::Rejected { connection, request, why, .. } => {
            What::Rejected { connection, request_id: request.as_deref(), why }
        }
        AppFact::Replay { from, to, failed, .. } => {
            What::Replay { from: *from, to: *to, failed: *failed }
        }
        AppFact::Retired { .. } => What::Retired {},
        AppFact::Interaction { content, instructions, inform, .. } => {
            What::Interaction { content, instructions: instructions.as_deref(), inform: *inform }
        }
        AppFact::File { path, .. } => What::File { path },
        AppFact::HandsTaken { .. } => What::HandsTaken {},
        AppFact::HandsBack { reason, .. } => What::HandsBack { reason: reason.name() },
        AppFact::Edited { keys, .. } => What::Edited { state_keys: keys },
    }
}

fn of_request(request: &AppRequest) -> What<'_> {
    let (request_of, params_bytes) = asked(&request.asked);
    What::Request {
        request_id: &request.request,
        request: request_of,
        params_bytes,
        cause: match request.cause {
            Cause::Tool => "tool",
            Cause::Manifest => "manifest",
            Cause::Replay => "replay",
            Cause::File => "file",
        },
        generation: request.generation,
        deadline_ms: request.deadline_ms,
        idempotency_key: request.idempotency_key.as_deref(),
    }
}

fn of_response<'a>(
    request_id: &'a str,
    response: &'a Response,
    elapsed_ms: u64,
    late: bool,
) -> What<'a> {
    let kind = response.kind.map(|kind| match kind {
        Kind::Manifest => "manifest",
        Kind::Query => "query",
        Kind::Command => "command",
    });
    let value = given(response.value.as_ref());
    let error = response.error.as_deref();
    What::Response { request_id, kind, value, error, elapsed_ms, late }
}

fn of_news(what: &Telling) -> What<'_> {
    match what {
        Telling::Progress { request, done, total, note } => What::Progress {
            request_id: request,
            done: *done,
            total: *total,
            note: note.as_deref(),
        },
        Telling::StateChanged { keys } => What::StateChanged { state_keys: keys },
        Telling::Printed { connection, level, text } => {
            What::Console { connection, level: level.name(), text }
        }
        Telling::Refused { asked: wanted, why } => What::Refused { request: asked(wanted).0, why },
        Telling::Odd { request, what } => What::Odd { request_id: request.as_deref(), what },
        Telling::LeftOut { count } => What::LeftOut { count: *count },
    }
}

fn asked(asked: &Asked) -> (Request<'_>, Option<usize>) {
    match asked {
        Asked::Manifest => (Request::Manifest, None),
        Asked::Query { state_key } => (Request::Query { state_key }, None),
        Asked::Command { command, params } => {
            let bytes = params.as_ref().map_or(0, |params| params.to_string().len());
            let fits = bytes <= WHOLE;
            let params = params.as_ref().filter(|_| fits);
            (Request::Command { command, params }, (!fits).then_some(bytes))
        }
    }
}

fn given(value: Option<&Value>) -> Given<'_> {
    let Some(whole) = value else { return Given::default() };
    let text = whole.to_string();
    if text.len() <= WHOLE {
        return Given { value, ..Given::default() };
    }
    let value_bytes = Some(text.len());
    let value_begins = Some(texts::cut(text, BEGINNING));
    Given { value: None, value_begins, value_bytes }
}

fn reason_name(reason: FailedReason) -> &'static str {
    match reason {
        FailedReason::Timeout => "timeout",
        FailedReason::OwnerLost => "owner-lost",
        FailedReason::Reloaded => "reloaded",
        FailedReason::Closed => "closed",
        FailedReason::Invalid => "invalid",
    }
}

#[cfg(test)]
mod tests {
    use kernel::update::Seq;
    use serde_json::json;

    use super::*;

    fn told(fact: AppFact) -> Value {
        let (seq, at) = (Seq(7), Timestamp::UNIX_EPOCH);
        let entry = Entry { seq, at, fact: Fact::App(Box::new(fact)) };
        serde_json::to_value(Trace::of_fact(&entry).unwrap()).unwrap()
    }

    fn response(value: Value) -> AppFact {
        AppFact::Response {
            request: "req-1".into(),
            response: Response::of(Kind::Query, Some(value)),
            elapsed_ms: 3,
            late: true,
            keep: None,
            inverse: None,
        }
    }

    #[test]
    fn what_was_asked_and_answered_is_told_whole() {
        let at = "1970-01-01T00:00:00Z";
        let request = AppRequest {
            request: "req-1".into(),
            window: "monitor-0/dock".into(),
            generation: 2,
            asked: Asked::Command { command: "inc".into(), params: Some(json!({ "by": 1 })) },
            cause: Cause::Tool,
            deadline_ms: 5000,
            idempotency_key: None,
            position: Some(1),
            keep: kernel::apps::Keep::Always,
            by_app: None,
            by: None,
            undoes: None,
        };
        let asked = json!({ "kind": "command", "command": "inc", "params": { "by": 1 } });
        assert_eq!(
            told(AppFact::Request(request)),
            json!({ "seq": 7, "at": at, "windowId": "monitor-0/dock", "type": "request",
                "requestId": "req-1", "request": asked, "cause": "tool", "generation": 2,
                "deadlineMs": 5000 })
        );
        assert_eq!(
            told(response(Value::Null)),
            json!({ "seq": 7, "at": at, "type": "response", "requestId": "req-1", "kind": "query",
                "value": null, "elapsedMs": 3, "late": true })
        );
    }

    #[test]
    fn what_is_too_large_is_told_as_it_begins() {
        let told = told(response(json!("ä".repeat(WHOLE))));
        assert_eq!(told["valueBytes"], json!(2 * WHOLE + 2));
        assert!(told.get("value").is_none());
        let begins = told["valueBegins"].as_str().unwrap();
        assert!(begins.starts_with("\"ää") && begins.len() < 3 * BEGINNING, "{begins}");
    }
}
