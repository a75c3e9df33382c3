//! Hands one message to the push service of a browser, and says what came of it.

use std::time::Duration;

use jiff::Timestamp;
use kernel::web::{Web, WebAnswer, WebError, WebRequest};
use serde_json::Value;
use url::{Host, Url};

use super::{subscription::Subscription, vapid::Vapid};

const PATIENCE: Duration = Duration::from_secs(30);
/// Nothing of the answer matters but its head.
const ANSWER_BYTES: usize = 64 << 10;
/// How long a service may ask us to wait.
const LONGEST_WAIT: Duration = Duration::from_hours(1);
const ENDPOINT_BYTES: usize = 2048;

pub struct Letter<'a> {
    pub to: &'a Subscription,
    pub payload: &'a Value,
    /// How long the service keeps it for a device that is away.
    pub seconds: i64,
    pub urgency: &'static str,
    /// A later one takes the place of an earlier one.
    pub topic: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Sent,
    /// There is no such browser any more.
    Gone,
    /// It may well go later.
    Later {
        wait: Option<Duration>,
        what: String,
    },
    Refused(String),
}

/// What is wrong with an address as that of a push service.
pub fn check(web: &dyn Web, endpoint: &str) -> Result<(), String> {
    if endpoint.len() > ENDPOINT_BYTES {
        return Err(format!("endpoint is longer than {ENDPOINT_BYTES} bytes"));
    }
    let url = Url::parse(endpoint).map_err(|error| format!("endpoint is no address: {error}"))?;
    let is_local = match url.host() {
        Some(Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    if url.scheme() != "https" && !(is_local && url.scheme() == "http") {
        return Err("endpoint must begin with https://".to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("endpoint must not carry a name or a password".to_owned());
    }
    web.check(endpoint).map_err(|error| format!("endpoint: {error}"))
}

pub async fn deliver(web: &dyn Web, vapid: &Vapid, letter: Letter<'_>, now: Timestamp) -> Outcome {
    let Letter { to, payload, seconds, urgency, topic } = letter;
    // It may have been taken in when more was allowed.
    if let Err(problem) = check(web, &to.endpoint) {
        return Outcome::Refused(problem);
    }
    let Some(recipient) = to.recipient() else {
        return Outcome::Refused("its keys are no keys".to_owned());
    };
    let body = match recipient.seal(payload.to_string().as_bytes()) {
        Ok(body) => body,
        Err(error) => return Outcome::Refused(error.to_string()),
    };
    let origin = Url::parse(&to.endpoint).map(|url| url.origin().ascii_serialization());
    let authorization = match vapid.authorization(&origin.unwrap_or_default(), now) {
        Ok(authorization) => authorization,
        Err(error) => return Outcome::Refused(error.to_string()),
    };
    let header = |name: &str, value: String| (name.to_owned(), value);
    let mut headers = vec![
        header("authorization", authorization),
        header("content-encoding", "aes128gcm".to_owned()),
        header("content-type", "application/octet-stream".to_owned()),
        header("ttl", seconds.max(0).to_string()),
        header("urgency", urgency.to_owned()),
    ];
    headers.extend(topic.map(|topic| header("topic", topic)));
    let (method, url, body) = ("POST".to_owned(), to.endpoint.clone(), Some(body));
    let request = WebRequest { method, url, headers, body, most: ANSWER_BYTES, patience: PATIENCE };
    judge(web.send(request).await)
}

fn judge(answer: Result<WebAnswer, WebError>) -> Outcome {
    let later = |wait, what| Outcome::Later { wait, what };
    match answer {
        Ok(answer) => match answer.status {
            200..=299 => Outcome::Sent,
            404 | 410 => Outcome::Gone,
            status @ (408 | 429 | 500..=599) => {
                later(wait(&answer), format!("the push service answered {status}"))
            }
            status => Outcome::Refused(format!("the push service answered {status}")),
        },
        Err(WebError::TooLarge) => Outcome::Refused("the push service says too much".to_owned()),
        Err(WebError::TimedOut) => later(None, "the push service took too long".to_owned()),
        // Without the address: whoever has that can write to the browser.
        Err(WebError::Failed(_)) => later(None, "the push service cannot be reached".to_owned()),
        Err(WebError::Bad(_)) => Outcome::Refused("the request cannot be sent".to_owned()),
        Err(WebError::Private(host)) => {
            Outcome::Refused(format!("{host} is not on the open internet"))
        }
    }
}

fn wait(answer: &WebAnswer) -> Option<Duration> {
    let mut headers = answer.headers.iter();
    let (_, value) = headers.find(|(name, _)| name.eq_ignore_ascii_case("retry-after"))?;
    let seconds: u64 = value.trim().parse().ok()?;
    Some(Duration::from_secs(seconds).min(LONGEST_WAIT))
}
