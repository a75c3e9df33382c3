//! What tools have put out for a person, by name.

use std::sync::Arc;

use axum::{
    Json as Reply,
    body::Body,
    extract::{Path, State},
    http::header,
    response::{IntoResponse as _, Response},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use kernel::outputs::Output;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};

use crate::{
    App,
    caco::Iso,
    error::{ApiError, ErrorBody},
    extract::Params,
};

#[derive(Deserialize, IntoParams)]
pub struct Shape {
    /// `json` for all that is known of it; the thing itself otherwise.
    format: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Told {
    id: String,
    /// Text, or base64 of what is none.
    data: String,
    #[schema(value_type = Object)]
    metadata: Map<String, Value>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Iso,
}

/// Look at what a tool has put out
#[utoipa::path(get, path = "/api/outputs/{id}", tag = "files",
    params(("id" = String, Path, description = "As an event or a result names it."), Shape),
    responses((status = 200, body = Told), (status = 404, body = ErrorBody)))]
pub async fn show(
    State(app): State<Arc<App>>,
    id: Result<Path<String>, axum::extract::rejection::PathRejection>,
    Params(Shape { format }): Params<Shape>,
) -> Result<Response, ApiError> {
    let missing = || ApiError::not_found("Output expired or not found");
    let Path(id) = id.map_err(|_| missing())?;
    let output = app.host.outputs.get(&id).await?.ok_or_else(missing)?;
    if format.as_deref() == Some("json") {
        let Output { id, data, metadata, created_at, .. } = output;
        return Ok(Reply(Told { id, data, metadata, created_at: Iso(created_at) }).into_response());
    }
    let headers = [
        (header::CONTENT_TYPE, kind(&output)),
        (header::CONTENT_SECURITY_POLICY, "sandbox; default-src 'none'".to_owned()),
    ];
    let bytes = if output.binary {
        let broken = |_| ApiError::internal("what was kept of it is not base64");
        STANDARD.decode(output.data).map_err(broken)?
    } else {
        output.data.into_bytes()
    };
    Ok((headers, Body::from(bytes)).into_response())
}

fn kind(output: &Output) -> String {
    let text = |name| output.metadata.get(name).and_then(Value::as_str);
    let fits = |mime: &&str| header::HeaderValue::from_str(mime).is_ok() && mime.contains('/');
    let otherwise = match text("type") {
        Some("file" | "terminal") => "text/plain; charset=utf-8",
        _ => "text/html; charset=utf-8",
    };
    text("mimeType").filter(fits).unwrap_or(otherwise).to_owned()
}
