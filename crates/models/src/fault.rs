//! What providers say went wrong, sorted by what somebody can do about it.
//!
//! Four vendors, one sorting: their codes do not contradict each other, and the compatible servers
//! mix them.

use std::time::Duration;

use kernel::{ports::ModelError, update::Failure};
use serde_json::Value;

/// What is said when the connection closes before the answer is whole.
pub const ENDED_EARLY: &str = "the answer ended early";

pub fn ended_early() -> ModelError {
    ModelError::new(Failure::Network, ENDED_EARLY)
}

/// Something that is not what the provider's documentation promises.
pub fn garbage(what: &str, data: &str) -> ModelError {
    ModelError::new(Failure::Protocol, format!("{what}: {data}"))
}

pub fn refused(why: &str) -> ModelError {
    ModelError::new(Failure::Refused, why)
}

/// An error response: its status and whatever came as its body.
pub fn from_response(status: u16, body: &str) -> ModelError {
    let parsed: Option<Value> = serde_json::from_str(body).ok();
    // Gemini may wrap it in a list.
    let parsed = parsed.map(|value| value.get(0).cloned().unwrap_or(value));
    if let Some(error) = parsed.as_ref().and_then(|value| value.get("error")) {
        return from_error(Some(status), error);
    }
    let said = parsed
        .as_ref()
        .and_then(|value| ["message", "detail"].iter().find_map(|key| value.get(key)?.as_str()));
    let said = said.unwrap_or(body).trim();
    let said = if said.is_empty() { "no reason given" } else { said };
    let kind = sort(Some(status), "", said);
    ModelError::new(kind, format!("HTTP {status}: {said}"))
}

/// An `error` object, from a response or from the middle of a stream.
pub fn from_error(status: Option<u16>, error: &Value) -> ModelError {
    if let Some(said) = error.as_str() {
        return ModelError::new(sort(status, "", said), said);
    }
    let field = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default();
    let number = error.get("code").and_then(Value::as_u64);
    let number = number.and_then(|code| u16::try_from(code).ok()).filter(|code| *code >= 400);
    let status = status.or(number);
    let details = error.get("details").map(Value::to_string).unwrap_or_default();
    let codes = [field("type"), field("code"), field("status"), &details].join(" ");
    let said = match field("message") {
        "" => error.to_string(),
        said => said.to_owned(),
    };
    let kind = sort(status, &codes, &said);
    let wait = delay(error).or_else(|| announced(&said));
    let wait = wait.filter(|_| matches!(kind, Failure::RateLimited | Failure::Overloaded));
    ModelError { kind, message: said, wait }
}

const TOO_LONG: &[&str] = &[
    "prompt is too long",
    "context length",
    "context window",
    "context size",
    "context limit",
    "maximum context",
    "context_length",
    "input token count",
    "too many tokens",
    "maximum number of tokens",
    "exceeds the available context",
    "input is too long",
];

fn sort(status: Option<u16>, codes: &str, said: &str) -> Failure {
    let codes = codes.to_ascii_lowercase();
    let said = said.to_ascii_lowercase();
    let code = |names: &[&str]| names.iter().any(|name| codes.contains(name));
    let says = |words: &[&str]| words.iter().any(|words| said.contains(words));
    let is = |wanted: &[u16]| status.is_some_and(|status| wanted.contains(&status));
    let is_client = status.is_none_or(|status| (400..500).contains(&status));
    if code(&["insufficient_quota", "billing", "insufficient_credits", "perday"])
        || says(&["credit balance is too low", "insufficient credits", "insufficient balance"])
        || is(&[402])
    {
        return Failure::NoQuota;
    }
    if code(&["context_length_exceeded", "exceed_context_size", "request_too_large"])
        || (is_client && !is(&[429]) && says(TOO_LONG))
        || is(&[413])
    {
        return Failure::ContextTooLong;
    }
    if code(&["content_policy", "content_filter", "invalid_prompt", "safety"]) {
        return Failure::Refused;
    }
    if code(&["rate_limit", "resource_exhausted", "too_many_requests"]) || is(&[429]) {
        return Failure::RateLimited;
    }
    if code(&[
        "authentication",
        "permission",
        "invalid_api_key",
        "api_key_invalid",
        "unauthenticated",
        "account_deactivated",
    ]) || says(&["api key not valid", "invalid api key"])
        || is(&[401, 403])
    {
        return Failure::BadKey;
    }
    if code(&["not_found", "model_not_found"]) || is(&[404]) {
        return Failure::NoModel;
    }
    if is(&[408]) {
        return Failure::Network;
    }
    let overloaded = [
        "overloaded",
        "unavailable",
        "api_error",
        "server_error",
        "internal",
        "timeout",
        "slow_down",
    ];
    if code(&overloaded) || status.is_some_and(|status| status >= 500) {
        return Failure::Overloaded;
    }
    Failure::Protocol
}

/// Google says how long to wait in a detail of its own: `"retryDelay": "13.5s"`.
fn delay(error: &Value) -> Option<Duration> {
    let details = error.get("details")?.as_array()?;
    let delay = details.iter().find_map(|detail| detail.get("retryDelay")?.as_str())?;
    seconds(delay.strip_suffix('s')?)
}

/// `OpenAI` says it in words: `Please try again in 1.5s`.
fn announced(said: &str) -> Option<Duration> {
    let (_, after) = said.split_once("try again in ")?;
    let end = after.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = after.split_at(end);
    let wait = seconds(number.trim_end_matches('.'))?;
    match unit {
        unit if unit.starts_with("ms") => Some(wait / 1000),
        unit if unit.starts_with('m') => Some(wait * 60),
        unit if unit.starts_with('s') => Some(wait),
        _ => None,
    }
}

/// Seconds as somebody else wrote them: never negative, never absurd.
pub fn seconds(text: &str) -> Option<Duration> {
    const MONTH: f64 = 30.0 * 86_400.0;
    let seconds: f64 = text.trim().parse().ok()?;
    Duration::try_from_secs_f64(seconds.min(MONTH)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(status: u16, body: &str) -> (Failure, Option<u64>) {
        let error = from_response(status, body);
        assert!(!error.message.is_empty());
        (error.kind, error.wait.map(|wait| u64::try_from(wait.as_millis()).unwrap()))
    }

    #[test]
    fn every_vendor_s_errors_are_sorted() {
        use Failure::{
            BadKey, ContextTooLong, Network, NoModel, NoQuota, Overloaded, Protocol, RateLimited,
            Refused,
        };
        let anthropic = |kind: &str, said: &str| {
            format!(r#"{{"type":"error","error":{{"type":"{kind}","message":"{said}"}}}}"#)
        };
        let openai = |kind: &str, code: &str, said: &str| {
            format!(
                r#"{{"error":{{"message":"{said}","type":"{kind}","param":null,"code":{code}}}}}"#
            )
        };
        let gemini = |code: u16, status: &str, said: &str, details: &str| {
            format!(
                r#"[{{"error":{{"code":{code},"message":"{said}","status":"{status}","details":[{details}]}}}}]"#
            )
        };
        let key = r#"{"@type":"x/ErrorInfo","reason":"API_KEY_INVALID"}"#;
        let retry = r#"{"@type":"x/RetryInfo","retryDelay":"13.5s"}"#;
        let daily = r#"{"violations":[{"quotaId":"GenerateRequestsPerDayPerProject"}]}"#;
        let long = "This model's maximum context length is 8192 tokens";
        let cases = [
            (401, anthropic("authentication_error", "invalid x-api-key"), (BadKey, None)),
            (403, anthropic("permission_error", "no"), (BadKey, None)),
            (
                400,
                anthropic("invalid_request_error", "Your credit balance is too low"),
                (NoQuota, None),
            ),
            (402, anthropic("billing_error", "pay"), (NoQuota, None)),
            (404, anthropic("not_found_error", "model: x"), (NoModel, None)),
            (413, anthropic("request_too_large", "too big"), (ContextTooLong, None)),
            (
                400,
                anthropic("invalid_request_error", "prompt is too long: 9 > 8"),
                (ContextTooLong, None),
            ),
            (400, anthropic("invalid_request_error", "messages: no"), (Protocol, None)),
            (429, anthropic("rate_limit_error", "slow"), (RateLimited, None)),
            (500, anthropic("api_error", "oops"), (Overloaded, None)),
            (529, anthropic("overloaded_error", "Overloaded"), (Overloaded, None)),
            (
                401,
                openai("invalid_request_error", "\"invalid_api_key\"", "Incorrect"),
                (BadKey, None),
            ),
            (429, openai("insufficient_quota", "\"insufficient_quota\"", "plan"), (NoQuota, None)),
            (
                429,
                openai("requests", "\"rate_limit_exceeded\"", "try again in 1.5s. x"),
                (RateLimited, Some(1500)),
            ),
            (
                429,
                openai("requests", "\"rate_limit_exceeded\"", "Please try again in 20ms."),
                (RateLimited, Some(20)),
            ),
            (
                400,
                openai("invalid_request_error", "\"context_length_exceeded\"", long),
                (ContextTooLong, None),
            ),
            (
                400,
                openai("invalid_request_error", "\"content_policy_violation\"", "no"),
                (Refused, None),
            ),
            (503, openai("server_error", "null", "busy"), (Overloaded, None)),
            (404, openai("invalid_request_error", "\"model_not_found\"", "no"), (NoModel, None)),
            (
                400,
                openai("exceed_context_size_error", "400", "the request exceeds"),
                (ContextTooLong, None),
            ),
            (400, gemini(400, "INVALID_ARGUMENT", "API key not valid.", key), (BadKey, None)),
            (429, gemini(429, "RESOURCE_EXHAUSTED", "quota", retry), (RateLimited, Some(13_500))),
            (429, gemini(429, "RESOURCE_EXHAUSTED", "quota", daily), (NoQuota, None)),
            (503, gemini(503, "UNAVAILABLE", "busy", ""), (Overloaded, None)),
            (
                400,
                gemini(400, "INVALID_ARGUMENT", "The input token count (9) exceeds", ""),
                (ContextTooLong, None),
            ),
            (404, r#"{"error":"model 'x' not found"}"#.to_owned(), (NoModel, None)),
            (422, r#"{"detail":"nope"}"#.to_owned(), (Protocol, None)),
            (408, String::new(), (Network, None)),
            (502, "<html>Bad gateway</html>".to_owned(), (Overloaded, None)),
        ];
        for (status, body, expected) in cases {
            assert_eq!(sorted(status, &body), expected, "{status} {body}");
        }
    }

    #[test]
    fn an_error_in_mid_stream_may_bring_its_own_status() {
        let error = serde_json::json!({"code": 429, "message": "upstream"});
        assert_eq!(from_error(None, &error).kind, Failure::RateLimited);
    }

    #[test]
    fn absurd_waits_are_tamed() {
        assert_eq!(seconds("-1"), None);
        assert_eq!(seconds("NaN"), Some(Duration::from_hours(720)));
        assert_eq!(seconds("1e300"), Some(Duration::from_hours(720)));
        assert_eq!(seconds("soon"), None);
    }
}
