//! How a phone is told no: always JSON, with the headers that its status asks for.

use axum::{
    http::{HeaderValue, Method, StatusCode, header},
    response::{IntoResponse as _, Response},
};

use crate::error::ApiError;

/// Without a key that opens anything.
pub fn not_let_in() -> Response {
    dress(ApiError::no_device().into_response())
}

pub fn upgrade() -> Response {
    let error = ApiError::upgrade_required("a WebSocket upgrade is expected here");
    let mut response = error.into_response();
    let headers = response.headers_mut();
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    response
}

pub async fn method(method: Method) -> Response {
    ApiError::method_not_allowed(format!("{method} is not known here; GET is")).into_response()
}

/// What goes with a status besides its body.
pub fn dress(mut response: Response) -> Response {
    let status = response.status();
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    match status {
        StatusCode::UNAUTHORIZED => {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        StatusCode::TOO_MANY_REQUESTS => {
            let pause = HeaderValue::from_static("1");
            headers.entry(header::RETRY_AFTER).or_insert(pause);
        }
        StatusCode::SERVICE_UNAVAILABLE => {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("3"));
        }
        _ => (),
    }
    response
}
