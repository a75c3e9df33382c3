//! What went wrong, in the shape that clients of these APIs read.

use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use kernel::{ports::ModelError, update::Failure};
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Debug)]
pub struct Failed {
    status: StatusCode,
    pub problem: Problem,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct FailureBody {
    error: Problem,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Problem {
    pub message: String,
    #[schema(value_type = String)]
    pub r#type: &'static str,
    #[schema(value_type = Option<String>)]
    pub code: Option<&'static str>,
    pub param: Option<String>,
}

impl Failed {
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_request_error", None, message.into())
    }

    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "server_error", None, message.into())
    }

    /// `hint` begins with `; ` or is empty.
    pub fn no_model(id: &str, hint: &str) -> Self {
        let hint = if hint.is_empty() { ";" } else { hint };
        let message = format!("no model is named `{id}`{hint} GET /v1/models lists them");
        let code = Some("model_not_found");
        Self::new(StatusCode::NOT_FOUND, "invalid_request_error", code, message)
    }

    fn new(
        status: StatusCode,
        r#type: &'static str,
        code: Option<&'static str>,
        message: String,
    ) -> Self {
        Self { status, problem: Problem { message, r#type, code, param: None } }
    }
}

impl From<ModelError> for Failed {
    fn from(error: ModelError) -> Self {
        let (status, r#type, code) = match error.kind {
            Failure::RateLimited => {
                (StatusCode::TOO_MANY_REQUESTS, "rate_limit_error", Some("rate_limit_exceeded"))
            }
            // Ours or the provider's: there is no money left for it.
            Failure::NoQuota | Failure::OverBudget => {
                (StatusCode::TOO_MANY_REQUESTS, "insufficient_quota", Some("insufficient_quota"))
            }
            Failure::Overloaded => {
                (StatusCode::SERVICE_UNAVAILABLE, "server_error", Some("overloaded"))
            }
            Failure::ContextTooLong => {
                (StatusCode::BAD_REQUEST, "invalid_request_error", Some("context_length_exceeded"))
            }
            Failure::Refused => {
                (StatusCode::BAD_REQUEST, "invalid_request_error", Some("content_filter"))
            }
            Failure::NoModel => {
                (StatusCode::NOT_FOUND, "invalid_request_error", Some("model_not_found"))
            }
            // The caller's own key was fine: it is ours that the provider would not have.
            Failure::BadKey | Failure::Network | Failure::Protocol => {
                (StatusCode::BAD_GATEWAY, "server_error", Some("upstream_error"))
            }
            Failure::Internal => (StatusCode::INTERNAL_SERVER_ERROR, "server_error", None),
        };
        Self::new(status, r#type, code, error.message)
    }
}

impl IntoResponse for Failed {
    fn into_response(self) -> Response {
        (self.status, Json(FailureBody { error: self.problem })).into_response()
    }
}
