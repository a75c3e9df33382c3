//! `/api/fetch`: a request that an app has us send, to the open internet and where the person allows it.

use std::{collections::BTreeMap, time::Duration};

use axum::{
    extract::Request,
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use kernel::web::{WebAnswer, WebError, WebRequest};
use serde::Serialize;
use serde_json::{Map, Value};
use url::Url;

use super::lease::Lease;
use crate::{
    error::ApiError,
    extract::{self, LARGE},
};

const BYTES: usize = 10 << 20;
const PATIENCE: Duration = Duration::from_secs(30);
const HOPS: usize = 5;
/// What is not passed on: it would speak for us, or belongs to the way and not to the message.
const UNSENT: [&str; 12] = [
    "host",
    "origin",
    "referer",
    "x-iframe-token",
    "content-length",
    "connection",
    "keep-alive",
    "transfer-encoding",
    "te",
    "trailer",
    "upgrade",
    "accept-encoding",
];
/// What is not passed back.
const UNTOLD: [&str; 6] = [
    "set-cookie",
    "content-encoding",
    "content-length",
    "transfer-encoding",
    "connection",
    "alt-svc",
];

#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Fetched {
    ok: bool,
    status: u16,
    status_text: String,
    headers: BTreeMap<String, String>,
    body: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    body_encoding: Option<&'static str>,
}

pub async fn answer(lease: &Lease, request: Request) -> Result<Response, ApiError> {
    let body = extract::read(request.into_body(), LARGE).await?;
    let (mut url, mut request) = read(&body)?;
    for _ in 0..=HOPS {
        let domain = url.host_str().unwrap_or_default().to_owned();
        request.url = url.to_string();
        let web = &lease.host().ports.web;
        web.check(&request.url).map_err(explain)?;
        lease.reach(&domain, &request.url).await?;
        let answer = web.send(request.clone()).await.map_err(explain)?;
        let Some(next) = next(&url, &answer) else {
            return Ok(axum::Json(told(answer)).into_response());
        };
        redirect(&mut request, answer.status, url.origin() == next.origin());
        url = next;
    }
    Err(bad_gateway("It was redirected too often"))
}

fn read(body: &[u8]) -> Result<(Url, WebRequest), ApiError> {
    let bad = |message: &str| ApiError::bad_request(message);
    let fields: Map<String, Value> =
        serde_json::from_slice(body).map_err(|_| bad("Invalid JSON body"))?;
    let url = fields.get("url").and_then(Value::as_str).filter(|url| !url.is_empty());
    let url = url.ok_or_else(|| bad("Missing or invalid \"url\" field"))?;
    let url = Url::parse(url).map_err(|_| bad("Invalid URL"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(bad("Only http: and https: URLs are allowed"));
    }
    let method = match fields.get("method") {
        None | Some(Value::Null) => "GET".to_owned(),
        Some(Value::String(method)) => method.to_ascii_uppercase(),
        Some(_) => return Err(bad("Invalid \"method\" field: expected a string")),
    };
    if matches!(method.as_str(), "CONNECT" | "TRACE" | "TRACK") {
        return Err(bad(&format!("Invalid \"method\" field: {method} is not sent")));
    }
    let headers = match fields.get("headers") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Object(headers)) => sent(headers)?,
        Some(_) => return Err(bad("Invalid \"headers\" field: expected an object")),
    };
    let body = match fields.get("body") {
        None | Some(Value::Null) => None,
        Some(Value::String(body)) => Some(body.clone().into_bytes()),
        Some(other) => Some(other.to_string().into_bytes()),
    };
    let request =
        WebRequest { method, url: String::new(), headers, body, most: BYTES, patience: PATIENCE };
    Ok((url, request))
}

fn sent(headers: &Map<String, Value>) -> Result<Vec<(String, String)>, ApiError> {
    let mut sent = Vec::new();
    for (name, value) in headers {
        let Some(value) = value.as_str() else {
            let message = format!("Invalid \"headers\" field: {name} is not a string");
            return Err(ApiError::bad_request(message));
        };
        if !UNSENT.contains(&name.to_ascii_lowercase().as_str()) {
            sent.push((name.clone(), value.to_owned()));
        }
    }
    Ok(sent)
}

/// Where an answer sends us, if it does.
fn next(url: &Url, answer: &WebAnswer) -> Option<Url> {
    let is_redirect = matches!(answer.status, 301 | 302 | 303 | 307 | 308);
    let mut headers = answer.headers.iter();
    let location = headers.find(|(name, _)| name == "location").filter(|_| is_redirect)?;
    url.join(&location.1).ok().filter(|next| matches!(next.scheme(), "http" | "https"))
}

/// The request as browsers would send it on.
fn redirect(request: &mut WebRequest, status: u16, same_origin: bool) {
    let posted = request.method == "POST" && matches!(status, 301 | 302);
    if posted || (status == 303 && request.method != "HEAD") {
        "GET".clone_into(&mut request.method);
        request.body = None;
        request.headers.retain(|(name, _)| !name.to_ascii_lowercase().starts_with("content-"));
    }
    if !same_origin {
        let secret = ["authorization", "cookie", "proxy-authorization"];
        request.headers.retain(|(name, _)| !secret.contains(&name.to_ascii_lowercase().as_str()));
    }
}

fn told(WebAnswer { status, reason, headers, body }: WebAnswer) -> Fetched {
    let mut all: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in headers {
        let name = name.to_ascii_lowercase();
        if UNTOLD.contains(&name.as_str()) {
            continue;
        }
        all.entry(name).and_modify(|all| *all = format!("{all}, {value}")).or_insert(value);
    }
    let kind = all.get("content-type").map(|it| it.to_ascii_lowercase()).unwrap_or_default();
    let textual = ["text/", "json", "xml", "javascript", "css", "svg"];
    let is_text = textual.iter().any(|part| kind.contains(part));
    let (body, body_encoding) = if is_text {
        (String::from_utf8_lossy(&body).into_owned(), None)
    } else {
        (STANDARD.encode(body), Some("base64"))
    };
    Fetched {
        ok: (200..300).contains(&status),
        status,
        status_text: reason,
        headers: all,
        body,
        body_encoding,
    }
}

fn explain(error: WebError) -> ApiError {
    match error {
        WebError::Bad(what) => ApiError::bad_request(what),
        WebError::Private(_) => ApiError::forbidden("Access to internal networks is not allowed"),
        WebError::TooLarge => bad_gateway("Response too large (max 10MB)"),
        WebError::TimedOut => {
            ApiError::timeout("Request timed out").with_status(StatusCode::GATEWAY_TIMEOUT)
        }
        WebError::Failed(what) => bad_gateway(what),
    }
}

fn bad_gateway(message: impl Into<String>) -> ApiError {
    ApiError::bad_request(message).with_status(StatusCode::BAD_GATEWAY)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_cannot_be_sent_is_said_in_words_that_apps_know() {
        let refused = |body: &str| {
            let error = read(body.as_bytes()).unwrap_err().told();
            (error.0.as_u16(), error.2)
        };
        for (body, message) in [
            ("", "Invalid JSON body"),
            ("[]", "Invalid JSON body"),
            ("{}", "Missing or invalid \"url\" field"),
            (r#"{"url":1}"#, "Missing or invalid \"url\" field"),
            (r#"{"url":"nowhere"}"#, "Invalid URL"),
            (r#"{"url":"file:///etc/passwd"}"#, "Only http: and https: URLs are allowed"),
            (r#"{"url":"http://a.b","method":1}"#, "Invalid \"method\" field: expected a string"),
            (
                r#"{"url":"http://a.b","method":"connect"}"#,
                "Invalid \"method\" field: CONNECT is not sent",
            ),
            (
                r#"{"url":"http://a.b","headers":[]}"#,
                "Invalid \"headers\" field: expected an object",
            ),
        ] {
            assert_eq!(refused(body), (400, message.to_owned()), "{body}");
        }
    }

    #[test]
    fn headers_that_would_speak_for_us_are_left_out() {
        let wish = json!({
            "url": "https://a.example/x", "method": "post", "body": "hi",
            "headers": { "Host": "b", "Origin": "c", "Referer": "d", "X-Iframe-Token": "e", "Accept": "f" },
        });
        let (url, request) = read(wish.to_string().as_bytes()).unwrap();
        let expected = WebRequest {
            method: "POST".into(),
            url: String::new(),
            headers: vec![("Accept".into(), "f".into())],
            body: Some(b"hi".to_vec()),
            most: BYTES,
            patience: PATIENCE,
        };
        assert_eq!((url.as_str(), request), ("https://a.example/x", expected));
    }

    #[test]
    fn an_answer_is_text_where_it_says_so_and_its_cookies_are_nobodys() {
        let answer = |kind: &str, body: &[u8]| WebAnswer {
            status: 200,
            reason: "OK".into(),
            headers: vec![
                ("content-type".into(), kind.into()),
                ("set-cookie".into(), "a=b".into()),
                ("vary".into(), "one".into()),
                ("vary".into(), "two".into()),
            ],
            body: body.to_vec(),
        };
        let text = told(answer("application/json", b"{}"));
        assert_eq!((text.body.as_str(), text.body_encoding), ("{}", None));
        let headers = [("content-type", "application/json"), ("vary", "one, two")];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(text.headers, headers.into());
        let bytes = told(answer("image/png", b"\xff"));
        assert_eq!((bytes.body.as_str(), bytes.body_encoding), ("/w==", Some("base64")));
    }

    #[test]
    fn what_is_sent_on_elsewhere_loses_its_secrets() {
        let mut request = WebRequest {
            method: "POST".into(),
            url: String::new(),
            headers: ["Authorization", "Content-Type", "Accept"]
                .map(|name| (name.to_owned(), "x".to_owned()))
                .to_vec(),
            body: Some(b"x".to_vec()),
            most: 1,
            patience: PATIENCE,
        };
        let same = request.clone();
        redirect(&mut request, 307, true);
        assert_eq!(request, same);
        redirect(&mut request, 302, false);
        assert_eq!((request.method.as_str(), request.body), ("GET", None));
        assert_eq!(request.headers, [("Accept".to_owned(), "x".to_owned())]);
    }
}
