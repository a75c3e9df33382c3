//! Pictures of a session over HTTP, by their place in its log and never by a path.

use std::sync::Arc;

use axum::{
    extract::{Path, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use kernel::{
    update::{Attachment, Fact, Seq, SessionId},
    views::fact::WidgetFact,
};

use super::{names::event_id, sessions::known};
use crate::{
    App,
    error::{ApiError, ErrorBody},
};

/// What is at a place never changes.
const CACHE: &str = "private, max-age=31536000, immutable";

/// Where a picture can be looked at: the so-manieth of the fact at `seq`.
pub fn url(session: SessionId, seq: Seq, index: usize) -> String {
    format!("/api/sessions/{session}/pictures/{}/{index}", seq.0)
}

/// A picture of a message, a tool or a widget
///
/// Under the `url` that the event tells. It may be kept for ever; what is no png, jpeg, gif or
/// webp is not shown.
#[utoipa::path(get, path = "/api/sessions/{id}/pictures/{seq}/{index}", tag = "sessions",
    params(("id" = String, Path), ("seq" = u64, Path, description = "The `seq` of its event."),
        ("index" = usize, Path, description = "Which of that event, from 0.")),
    responses((status = 200, content_type = "image/*", body = Vec<u8>), (status = 304),
        (status = 404, body = ErrorBody), (status = 410, body = ErrorBody),
        (status = 415, body = ErrorBody)))]
pub async fn picture(
    State(app): State<Arc<App>>,
    Path((text, seq, index)): Path<(String, String, String)>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let id = known(&text)?;
    let absent = || ApiError::not_found(format!("there is no picture {index} at {seq}"));
    let place = seq.parse().ok().filter(|seq| *seq > 0).map(Seq).ok_or_else(absent)?;
    let number: usize = index.parse().map_err(|_| absent())?;
    let Attachment { path, mime, .. } =
        find(&app, id, &text, place, number).await?.ok_or_else(absent)?;
    let kind = shown_kind(&mime).ok_or_else(|| ApiError::not_shown(&mime))?;
    let etag = format!("\"{}-{number}\"", event_id(id, place));
    let named = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|it| it.to_str().ok());
    let mut named = named.flat_map(|it| it.split(',')).map(str::trim);
    let caching = [(header::ETAG, etag.clone()), (header::CACHE_CONTROL, CACHE.to_owned())];
    if named.any(|it| it == "*" || it.trim_start_matches("W/") == etag) {
        return Ok((StatusCode::NOT_MODIFIED, caching).into_response());
    }
    let bytes = app.host.ports.attic.fetch(id, path).await?;
    let bytes = bytes.ok_or_else(|| ApiError::gone("the file of this picture is gone"))?;
    Ok((caching, [(header::CONTENT_TYPE, kind)], bytes).into_response())
}

async fn find(
    app: &App,
    id: SessionId,
    text: &str,
    place: Seq,
    number: usize,
) -> Result<Option<Attachment>, ApiError> {
    let state = app.host.roster.get(id).ok_or_else(|| ApiError::no_session(text))?;
    if place > state.last {
        return Ok(None);
    }
    let entry = app.host.ports.log.read(id, place.before(), 1).await?.pop();
    Ok(match entry.map(|entry| entry.fact) {
        Some(Fact::Said { message, .. }) => message.attachments.into_iter().nth(number),
        Some(Fact::ToolReturned { output, .. }) => output.images().get(number).cloned(),
        Some(Fact::Widget(fact)) => match *fact {
            WidgetFact::Remembered(memory) => memory.pictures.into_iter().nth(number),
            _ => None,
        },
        _ => None,
    })
}

/// Only what cannot be anything but a picture, whatever is in the file.
fn shown_kind(mime: &str) -> Option<&'static str> {
    Some(match mime {
        "image/png" => "image/png",
        "image/jpeg" | "image/jpg" => "image/jpeg",
        "image/gif" => "image/gif",
        "image/webp" => "image/webp",
        _ => return None,
    })
}
