//! Reading requests, with an answer that says what was wrong when they cannot be read.

use axum::{
    body::Body,
    extract::{FromRequest, FromRequestParts, Path, Query, Request},
    http::{header, request::Parts},
};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use serde::{
    Deserialize as _, Deserializer,
    de::{DeserializeOwned, Error as _},
};
use serde_json::{Map, Value};
use utoipa::IntoParams;

use crate::error::ApiError;

const MB: usize = 1 << 20;
/// Where only words are carried.
pub const SMALL: usize = MB;
/// Where data is carried.
pub const LARGE: usize = 16 * MB;

/// A JSON body of at most `LIMIT` bytes.
pub struct Json<T, const LIMIT: usize = SMALL>(pub T);

impl<S: Sync, T: DeserializeOwned, const LIMIT: usize> FromRequest<S> for Json<T, LIMIT> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let is_json = is_json(&request);
        if !is_json && !is_empty(&request) {
            return Err(ApiError::unsupported_media_type());
        }
        let body = read(request.into_body(), LIMIT).await?;
        if body.is_empty() {
            return Err(ApiError::bad_request("JSON body required"));
        }
        if !is_json {
            return Err(ApiError::unsupported_media_type());
        }
        parse(&body).map(Self)
    }
}

/// A JSON body that may as well be absent, whatever its type is said to be.
pub struct MaybeJson<T>(pub T);

impl<S: Sync, T: DeserializeOwned + Default> FromRequest<S> for MaybeJson<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let is_json = is_json(&request);
        let body = read(request.into_body(), SMALL).await?;
        if body.is_empty() {
            return Ok(Self(T::default()));
        }
        if !is_json {
            return Err(ApiError::unsupported_media_type());
        }
        parse(&body).map(Self)
    }
}

pub async fn read(body: Body, limit: usize) -> Result<bytes::Bytes, ApiError> {
    match Limited::new(body, limit).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => {
            Err(ApiError::too_large("Request body too large"))
        }
        Err(_) => Err(ApiError::bad_request("the request body ended early")),
    }
}

/// Not JSON at all is one thing, JSON of another shape is another: the latter names the field.
fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, ApiError> {
    // Left to itself, a list would be read as the fields of an object in their order.
    if body.trim_ascii_start().starts_with(b"[") {
        return Err(ApiError::bad_request("Invalid JSON body"));
    }
    let mut reader = serde_json::Deserializer::from_slice(body);
    let parsed = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        if error.inner().is_data() {
            let path = error.path().to_string();
            let message = error.inner().to_string();
            let message = message.rsplit_once(" at line").map_or(&*message, |(what, _)| what);
            let place = if path == "." { String::new() } else { format!("{path}: ") };
            ApiError::bad_request(format!("Invalid JSON body: {place}{message}"))
        } else {
            ApiError::bad_request("Invalid JSON body")
        }
    })?;
    reader.end().map_err(|_| ApiError::bad_request("Invalid JSON body"))?;
    Ok(parsed)
}

/// An object within a body; like the body itself, never a list in its place.
pub fn object<'de, T: DeserializeOwned, D: Deserializer<'de>>(
    reader: D,
) -> Result<Option<T>, D::Error> {
    let object = Option::<Map<String, Value>>::deserialize(reader)?;
    object.map(|it| T::deserialize(Value::Object(it)).map_err(D::Error::custom)).transpose()
}

/// A string that says something; null and empty are as good as absent.
pub fn text<'de, D: Deserializer<'de>>(reader: D) -> Result<Option<String>, D::Error> {
    Ok(Option::<String>::deserialize(reader)?.filter(|text| !text.is_empty()))
}

fn is_json(request: &Request) -> bool {
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|it| it.to_str().ok());
    let essence = kind.and_then(|it| it.split(';').next()).unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("application/json")
}

fn is_empty(request: &Request) -> bool {
    use axum::body::HttpBody as _;
    request.body().is_end_stream()
}

/// The name of a session as the caller wrote it, which is how errors quote it.
#[derive(IntoParams)]
#[into_params(names("id"), parameter_in = Path)]
pub struct SessionPath(pub String);

impl<S: Send + Sync> FromRequestParts<S> for SessionPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let path = Path::<String>::from_request_parts(parts, state).await;
        path.map(|Path(id)| Self(id)).map_err(|_| ApiError::bad_request("Invalid session id"))
    }
}

/// The name of an applet, as it was written.
#[derive(IntoParams)]
#[into_params(names("slug"), parameter_in = Path)]
pub struct SlugPath(pub String);

impl<S: Send + Sync> FromRequestParts<S> for SlugPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let path = Path::<String>::from_request_parts(parts, state).await;
        path.map(|Path(slug)| Self(slug)).map_err(|_| ApiError::internal("Failed to load applet"))
    }
}

pub struct Params<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Params<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        match Query::<T>::from_request_parts(parts, state).await {
            Ok(Query(params)) => Ok(Self(params)),
            Err(error) => {
                Err(ApiError::bad_request(format!("Invalid query: {}", error.body_text())))
            }
        }
    }
}

/// Whose slot for the active session is meant.
#[derive(IntoParams)]
#[into_params(names("X-Client-ID"), parameter_in = Header)]
pub struct ClientId(#[param(required = false, max_length = 128)] pub String);

impl<S: Sync> FromRequestParts<S> for ClientId {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let Some(value) = parts.headers.get("x-client-id") else {
            return Ok(Self("default".to_owned()));
        };
        match value.to_str() {
            Ok("") => Ok(Self("default".to_owned())),
            Ok(id) if id.len() <= 128 => Ok(Self(id.to_owned())),
            Ok(_) => Err(ApiError::bad_request("X-Client-ID is longer than 128 characters")),
            Err(_) => Err(ApiError::bad_request("X-Client-ID must be plain ASCII")),
        }
    }
}

/// The caller's own name for a message, so that repeating the request repeats nothing else.
#[derive(IntoParams)]
#[into_params(names("Idempotency-Key"), parameter_in = Header)]
pub struct IdempotencyKey(#[param(max_length = 255)] pub Option<String>);

impl<S: Sync> FromRequestParts<S> for IdempotencyKey {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let Some(value) = parts.headers.get("idempotency-key") else { return Ok(Self(None)) };
        match value.to_str() {
            Ok(key) if (1..=255).contains(&key.len()) => Ok(Self(Some(key.to_owned()))),
            _ => {
                let message = "Idempotency-Key must be 1 to 255 characters of plain ASCII";
                Err(ApiError::bad_request(message))
            }
        }
    }
}
