//! A request out, and what comes back as it comes. Knows nothing of what is said.

use std::{error::Error as _, sync::Once, time::Duration};

use kernel::{ports::ModelError, update::Failure};
use reqwest::{
    Client, Proxy, RequestBuilder, Response,
    header::{DATE, HeaderMap, RETRY_AFTER},
    redirect,
};

use crate::fault;

const CONNECTING: Duration = Duration::from_secs(10);
/// As much of an error as anybody reads.
const LONGEST_ERROR: usize = 64 * 1024;

/// Chooses what encrypts for this process, unless that has been chosen.
pub fn choose_tls() {
    static CHOSEN: Once = Once::new();
    CHOSEN.call_once(|| {
        // An error means that somebody has chosen before us.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}

/// Loads the certificates of this machine, which takes a moment, unless the way is `plain`.
pub fn client(headers: HeaderMap, proxy: Option<Proxy>, plain: bool) -> Result<Client, ModelError> {
    choose_tls();
    let builder = Client::builder()
        .connect_timeout(CONNECTING)
        .default_headers(headers)
        // A redirect would carry the key to who knows where.
        .redirect(redirect::Policy::none())
        .tcp_nodelay(true);
    let builder = match proxy {
        Some(proxy) => builder.proxy(proxy),
        None if plain => builder.no_proxy().tls_certs_only([]),
        None => builder.no_proxy(),
    };
    builder.build().map_err(|error| {
        ModelError::new(Failure::Internal, format!("cannot set up connections: {}", whole(error)))
    })
}

/// Sends, and waits for a response that is no error.
pub async fn send(request: RequestBuilder, silence: Duration) -> Result<Response, ModelError> {
    let sent = tokio::time::timeout(silence, request.send()).await;
    let response = sent.map_err(|_| silent(silence))?.map_err(lost)?;
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    if status.is_redirection() {
        let message = format!("HTTP {status}: it has moved; correct its base_url");
        return Err(ModelError::new(Failure::Protocol, message));
    }
    let wait = wait(response.headers());
    let body = bounded(response, silence).await;
    let mut error = fault::from_response(status.as_u16(), &body);
    error.wait = wait.filter(|_| error.is_passing()).or(error.wait);
    Err(error)
}

/// The next portion; none at the end.
pub async fn portion(
    response: &mut Response,
    silence: Duration,
) -> Result<Option<bytes::Bytes>, ModelError> {
    let portion = tokio::time::timeout(silence, response.chunk()).await;
    portion.map_err(|_| silent(silence))?.map_err(lost)
}

/// Reads what is left of a finished answer, so that its connection can be used again.
pub fn drain(mut response: Response) {
    const PATIENCE: Duration = Duration::from_secs(1);
    tokio::spawn(async move {
        let rest = async { while let Ok(Some(_)) = response.chunk().await {} };
        // Whoever does not close loses the connection.
        let _ = tokio::time::timeout(PATIENCE, rest).await;
    });
}

async fn bounded(mut response: Response, silence: Duration) -> String {
    let mut body = Vec::new();
    // What was read of it is better than nothing.
    while let Ok(Some(portion)) = portion(&mut response, silence).await {
        body.extend_from_slice(&portion);
        if body.len() >= LONGEST_ERROR {
            body.truncate(LONGEST_ERROR);
            break;
        }
    }
    String::from_utf8_lossy(&body).into_owned()
}

pub fn silent(silence: Duration) -> ModelError {
    let message = format!("it said nothing for {silence:?}, so the request was cut");
    ModelError::new(Failure::Network, message)
}

fn lost(error: reqwest::Error) -> ModelError {
    let what = if error.is_connect() { "cannot connect" } else { "the connection broke" };
    ModelError::new(Failure::Network, format!("{what}: {}", whole(error)))
}

/// An error with its causes, without the address, which may hold a secret.
fn whole(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        text = format!("{text}: {next}");
        cause = next.source();
    }
    text
}

/// How long a provider wants to be left alone.
fn wait(headers: &HeaderMap) -> Option<Duration> {
    let header = |name: &str| headers.get(name)?.to_str().ok();
    if let Some(wait) = header("retry-after-ms").and_then(fault::seconds) {
        return Some(wait / 1000);
    }
    let after = header(RETRY_AFTER.as_str())?;
    fault::seconds(after).or_else(|| {
        // A date counts from the provider's own clock.
        let read = |text: &str| jiff::fmt::rfc2822::parse(text).ok();
        let (until, now) = (read(after)?, read(header(DATE.as_str())?)?);
        Duration::try_from(until.duration_since(&now)).ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(headers: &[(&'static str, &'static str)]) -> Option<Duration> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().unwrap());
        }
        wait(&map)
    }

    #[test]
    fn a_wait_is_read_in_every_spelling() {
        assert_eq!(waits(&[("retry-after", "7")]), Some(Duration::from_secs(7)));
        assert_eq!(
            waits(&[("retry-after-ms", "250"), ("retry-after", "1")]),
            Some(Duration::from_millis(250))
        );
        let date = ("date", "Sun, 15 Nov 2026 08:49:37 GMT");
        let later = ("retry-after", "Sun, 15 Nov 2026 08:50:07 GMT");
        assert_eq!(waits(&[date, later]), Some(Duration::from_secs(30)));
        assert_eq!(waits(&[("retry-after", "Sun, 15 Nov 2026 08:50:07 GMT")]), None);
        assert_eq!(waits(&[("retry-after", "soon")]), None);
        assert_eq!(waits(&[]), None);
    }
}
