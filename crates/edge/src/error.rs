//! What a caller is told when something cannot be done: always JSON, always with a code.

use std::time::Duration;

use axum::{
    Json,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use kernel::{
    applets::AppletError,
    host::{DeleteError, OpenError, PostError},
    ports::StoreError,
    session::SayError,
};
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Debug)]
pub struct ApiError {
    status: StatusCode,
    code: &'static str,
    message: String,
}

/// How every error looks.
#[derive(Serialize, ToSchema)]
pub struct ErrorBody {
    /// What was wrong, for a person.
    error: String,
    /// What was wrong, for a program.
    #[schema(example = "BAD_REQUEST")]
    code: String,
}

impl ApiError {
    fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into() }
    }

    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "BAD_REQUEST", message)
    }

    /// The page was reached in a way in which no frame can be.
    pub fn no_frame_origin() -> Self {
        let text = "frames need a host name or an IPv4 address: come by one of those instead";
        Self::new(StatusCode::BAD_REQUEST, "NO_FRAME_ORIGIN", text)
    }

    pub fn unauthorized() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "UNAUTHORIZED", "Authentication required")
    }

    /// The phone reads exactly this word.
    pub fn no_device() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "UNAUTHORIZED", "unauthorized")
    }

    pub fn rate_limited(message: impl Into<String>) -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, "RATE_LIMITED", message)
    }

    /// Too many wrong keys came from there; it may be tried again after so long.
    pub fn locked_out(wait: Duration) -> Response {
        let seconds = wait.as_secs().max(1) + u64::from(wait.subsec_nanos() > 0);
        let text = format!("too many wrong keys; try again in {seconds} seconds");
        let mut response = Self::rate_limited(text).into_response();
        let headers = response.headers_mut();
        headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        response
    }

    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "UNAVAILABLE", message)
    }

    /// Somebody else whom we asked did not do it.
    pub fn bad_gateway(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_GATEWAY, "BAD_GATEWAY", message)
    }

    pub fn upgrade_required(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UPGRADE_REQUIRED, "UPGRADE_REQUIRED", message)
    }

    pub fn method_not_allowed(message: impl Into<String>) -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "METHOD_NOT_ALLOWED", message)
    }

    pub fn no_token() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "UNAUTHORIZED", "Missing iframe token")
    }

    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "FORBIDDEN", message)
    }

    /// Somebody came in plain words where words are to be encrypted.
    pub fn exposed() -> Self {
        Self::forbidden("this server is reached by https:// from other machines")
    }

    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "NOT_FOUND", message)
    }

    pub fn no_session(id: &str) -> Self {
        Self::not_found(format!("Session not found: {id}"))
    }

    pub fn too_large(message: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "PAYLOAD_TOO_LARGE", message)
    }

    /// There is no room for more.
    pub fn full(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INSUFFICIENT_STORAGE, "STORAGE_FULL", message)
    }

    pub fn unsupported_media_type() -> Self {
        let message = "Content-Type must be application/json";
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UNSUPPORTED_MEDIA_TYPE", message)
    }

    pub fn not_shown(kind: &str) -> Self {
        let message = format!("only png, jpeg, gif and webp are shown, and this is {kind}");
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UNSUPPORTED_MEDIA_TYPE", message)
    }

    pub fn gone(message: impl Into<String>) -> Self {
        Self::new(StatusCode::GONE, "GONE", message)
    }

    pub fn agent_rejected(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "AGENT_CALL_REJECTED", message)
    }

    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, "CONFLICT", message)
    }

    pub fn busy() -> Self {
        let message = "Session is busy processing another message";
        Self::new(StatusCode::CONFLICT, "SESSION_BUSY", message)
    }

    pub fn already_resolved() -> Self {
        let message = "this was answered already, or given up";
        Self::new(StatusCode::CONFLICT, "ALREADY_RESOLVED", message)
    }

    pub fn key_reused() -> Self {
        let message = "Idempotency-Key was used for another message";
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "IDEMPOTENCY_KEY_REUSED", message)
    }

    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "INTERNAL_ERROR", message)
    }

    fn closing() -> Self {
        let message = "the server is shutting down";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "SHUTTING_DOWN", message)
    }

    pub fn timeout(message: impl Into<String>) -> Self {
        Self::new(StatusCode::REQUEST_TIMEOUT, "TIMEOUT", message)
    }

    pub fn changed_meanwhile() -> Self {
        let message = "the file is no longer what If-Match says; read it again";
        Self::new(StatusCode::PRECONDITION_FAILED, "CHANGED_MEANWHILE", message)
    }

    pub fn range_not_satisfiable(length: u64) -> Self {
        let message = format!("the file has {length} bytes, and none of those asked for");
        Self::new(StatusCode::RANGE_NOT_SATISFIABLE, "BAD_REQUEST", message)
    }

    /// What there is to say, for endpoints with a shape of their own.
    pub fn told(self) -> (StatusCode, &'static str, String) {
        let Self { status, code, message } = self;
        if status.is_server_error() {
            tracing::error!(%status, code, error = %message, "request failed");
        }
        (status, code, message)
    }

    /// The same in other words, where the protocol has it so.
    #[must_use]
    pub fn saying(mut self, message: &str) -> Self {
        message.clone_into(&mut self.message);
        self
    }

    /// The same words under another status, where the protocol has it so.
    #[must_use]
    pub fn with_status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let (status, code, message) = self.told();
        (status, Json(ErrorBody { error: message, code: code.to_owned() })).into_response()
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        Self::internal(error.to_string())
    }
}

impl From<OpenError> for ApiError {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Unknown(id) => Self::no_session(&id.to_string()),
            OpenError::Closing => Self::closing(),
            OpenError::Store(error) => error.into(),
        }
    }
}

impl From<PostError> for ApiError {
    fn from(error: PostError) -> Self {
        match error {
            PostError::Open(OpenError::Store(error)) => {
                Self::internal(format!("Failed to resume session: {error}"))
            }
            PostError::Open(error) => error.into(),
            PostError::Rejected(_) => Self::agent_rejected(error.to_string()),
            PostError::Say(SayError::Busy) => Self::busy(),
            PostError::Say(SayError::QueueFull) => {
                let message = error.to_string();
                Self::new(StatusCode::CONFLICT, "SESSION_BUSY", message)
            }
            PostError::Say(SayError::KeyReused) => Self::key_reused(),
            PostError::Say(SayError::NotSaid(place)) => Self::bad_request(format!(
                "replaces must be the seq of a message of the person that was not taken back; {} is \
                 none",
                place.0
            )),
            PostError::Say(SayError::Closing) => Self::closing(),
            PostError::Say(SayError::Store(error)) => error.into(),
        }
    }
}

impl From<DeleteError> for ApiError {
    fn from(error: DeleteError) -> Self {
        match error {
            DeleteError::Busy => {
                Self::new(StatusCode::BAD_REQUEST, "SESSION_BUSY", error.to_string())
            }
            DeleteError::Open(error) => error.into(),
        }
    }
}

impl From<AppletError> for ApiError {
    fn from(error: AppletError) -> Self {
        match error {
            AppletError::TooLarge => Self::too_large(error.to_string()),
            AppletError::Store(error) => error.into(),
        }
    }
}
