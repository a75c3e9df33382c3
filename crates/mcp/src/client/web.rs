//! HTTP as the protocol wants it, with answers that have an end.

use std::{borrow::Cow, collections::HashMap, io, sync::Arc};

use bytes::Bytes;
use futures::{Stream, StreamExt as _, future, stream::BoxStream};
use reqwest::{
    Response, StatusCode,
    header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue, WWW_AUTHENTICATE},
};
use rmcp::{
    model::{ClientJsonRpcMessage, JsonRpcMessage, ServerJsonRpcMessage},
    transport::streamable_http_client::{
        AuthRequiredError, InsufficientScopeError, StreamableHttpClient, StreamableHttpError,
        StreamableHttpPostResponse,
    },
};
use sse_stream::{Error as SseError, Sse, SseStream};

use super::lift::lift;

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
const SESSION: &str = "mcp-session-id";

/// A client that reads no more of an answer than it was told to.
#[derive(Clone)]
pub struct Web {
    pub http: reqwest::Client,
    pub longest: usize,
}

type Fault = StreamableHttpError<reqwest::Error>;
type Headers = HashMap<HeaderName, HeaderValue>;
type Events = BoxStream<'static, Result<Sse, SseError>>;

impl StreamableHttpClient for Web {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Fault> {
        let mut request = self.http.post(uri.as_ref()).header(ACCEPT, format!("{EVENTS}, {JSON}"));
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        if let Some(session) = &session {
            request = request.header(SESSION, session.as_ref());
        }
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let response = request.json(&message).send().await.map_err(Fault::Client)?;
        check_access(&response)?;
        let waits = matches!(message, JsonRpcMessage::Request(_));
        match response.status() {
            // Whoever asked would wait for an answer that nobody owes them any more.
            status @ (StatusCode::ACCEPTED | StatusCode::NO_CONTENT) if waits => {
                Err(strange(format!("HTTP {status}, and no answer")))
            }
            StatusCode::ACCEPTED | StatusCode::NO_CONTENT => {
                Ok(StreamableHttpPostResponse::Accepted)
            }
            StatusCode::NOT_FOUND if session.is_some() => Err(Fault::SessionExpired),
            _ => self.read(response, waits).await,
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<(), Fault> {
        self.http.delete_session(uri, session, token, headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<Events, Fault> {
        let longest = self.longest;
        self.http
            .get_stream_with_max_sse_event_size(uri, session, last, token, headers, longest)
            .await
    }
}

impl Web {
    /// The answer to a message, of which one may be waited for.
    async fn read(
        &self,
        response: Response,
        waits: bool,
    ) -> Result<StreamableHttpPostResponse, Fault> {
        let status = response.status();
        let header = |name: &str| {
            response.headers().get(name).and_then(|it| it.to_str().ok()).map(str::to_owned)
        };
        let (kind, session) = (header(CONTENT_TYPE.as_str()), header(SESSION));
        let is = |wanted: &str| kind.as_deref().is_some_and(|kind| kind.starts_with(wanted));
        if status.is_success() && is(EVENTS) {
            let events = bounded(response.bytes_stream(), self.longest);
            return Ok(StreamableHttpPostResponse::Sse(events, session));
        }
        let is_json = is(JSON);
        if !is_json && !status.is_success() {
            return Err(strange(format!("HTTP {status}")));
        }
        let body = self.body(response).await?;
        // What is no text makes no sense either, which is found out below.
        let body = String::from_utf8(body).unwrap_or_default();
        match serde_json::from_str::<ServerJsonRpcMessage>(&lift(&body)) {
            Ok(message) if status.is_success() || matches!(message, JsonRpcMessage::Error(_)) => {
                Ok(StreamableHttpPostResponse::Json(message, session))
            }
            _ if !status.is_success() => Err(strange(format!("HTTP {status}"))),
            // Nobody waits for it, so it need not make sense.
            _ if !waits => Ok(StreamableHttpPostResponse::Accepted),
            _ if !is_json => Err(Fault::UnexpectedContentType(kind)),
            _ => Err(strange("an answer that makes no sense".into())),
        }
    }

    async fn body(&self, mut response: Response) -> Result<Vec<u8>, Fault> {
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(Fault::Client)? {
            if body.len() + piece.len() > self.longest {
                return Err(strange(format!("an answer of more than {} bytes", self.longest)));
            }
            body.extend_from_slice(&piece);
        }
        Ok(body)
    }
}

fn strange(what: String) -> Fault {
    Fault::UnexpectedServerResponse(Cow::Owned(what))
}

/// Whether we are let in; if not, with what the server says of how we could be.
fn check_access(response: &Response) -> Result<(), Fault> {
    let challenge = response.headers().get(WWW_AUTHENTICATE).and_then(|it| it.to_str().ok());
    match (response.status(), challenge) {
        (StatusCode::UNAUTHORIZED, challenge) => {
            let challenge = challenge.unwrap_or("Bearer").to_owned();
            Err(Fault::AuthRequired(AuthRequiredError::new(challenge)))
        }
        (StatusCode::FORBIDDEN, Some(challenge)) => {
            let error = InsufficientScopeError::new(challenge.to_owned(), None);
            Err(Fault::InsufficientScope(error))
        }
        _ => Ok(()),
    }
}

/// Events, until one is longer than this.
fn bounded(
    bytes: impl Stream<Item = reqwest::Result<Bytes>> + Send + 'static,
    longest: usize,
) -> Events {
    let (mut event, mut line, mut over) = (0, 0, false);
    let checked = bytes.map(move |piece| {
        let piece = piece.map_err(io::Error::other)?;
        for byte in &piece {
            event += 1;
            match byte {
                b'\n' if line == 0 => event = 0,
                b'\n' => line = 0,
                b'\r' => (),
                _ => line += 1,
            }
            over |= event > longest;
        }
        if over { Err(io::Error::other("an event that is too long")) } else { Ok(piece) }
    });
    let mut failed = false;
    let until_it_fails = checked.take_while(move |piece| {
        let go_on = !failed;
        failed |= piece.is_err();
        future::ready(go_on)
    });
    let lifted = |event: Result<Sse, SseError>| {
        let mut event = event?;
        event.data = event.data.map(|data| lift(&data).into_owned());
        Ok(event)
    };
    SseStream::from_bytes_stream(Box::pin(until_it_fails)).map(lifted).boxed()
}
