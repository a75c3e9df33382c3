//! Files that come with a message: put here first, named in the message, and read by whoever sees it.

use std::{path::PathBuf, sync::Arc};

use axum::{
    Extension, Json as Reply,
    extract::{Path, Request, State},
    http::{HeaderValue, StatusCode, Uri, header},
    response::{IntoResponse as _, Response},
};
use kernel::{
    ports::{Attic, Shelf, StoreError},
    update::{Attachment, Fact, Seq, SessionId},
};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};
use uuid::Uuid;

use super::{
    Caller, conversation, refusal,
    rows::{self, Filed, Role, Row},
    second::frames::File,
    sees, text,
};
use crate::{
    App,
    devices::Device,
    error::{ApiError, ErrorBody},
    extract, files,
};

/// How many may come with one message.
pub const MOST: usize = 10;
pub const BYTES: usize = 20 << 20;
const NAME_CHARS: usize = 120;
/// What stands before the name of a file that is no picture, below the words it came with.
pub const MARK: &str = "\n\nAttached: ";
/// How many may wait to be sent, of all devices.
const WAITING: usize = 200;

pub fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(put)).routes(routes!(show))
}

/// What waits to be sent.
#[derive(Clone, Serialize, Deserialize)]
struct Upload {
    session: SessionId,
    name: String,
    mime: String,
    path: PathBuf,
}

impl Upload {
    fn is_picture(&self) -> bool {
        extension(&self.mime).is_some()
    }
}

#[derive(Serialize, ToSchema)]
#[schema(as = WindowAttachment)]
pub struct Kept {
    #[schema(value_type = String)]
    id: Uuid,
    name: String,
    mime: String,
    size: usize,
}

/// Put a file that a message will bring
///
/// The body is the file. Pictures are shown to the agent; of other files it is told where they are.
#[utoipa::path(post, path = "/window/attachments", tag = "phone",
    params(("name" = Option<String>, Query)),
    responses((status = 201, body = Kept), (status = 400, body = ErrorBody),
        (status = 401, body = ErrorBody), (status = 413, body = ErrorBody),
        (status = 507, body = ErrorBody)))]
async fn put(
    State(app): State<Arc<App>>,
    Extension(Caller(device)): Extension<Caller>,
    request: Request,
) -> Response {
    match keep(&app, &device, request).await {
        Ok(kept) => (StatusCode::CREATED, Reply(kept)).into_response(),
        Err(error) => refusal::dress(error.into_response()),
    }
}

async fn keep(app: &Arc<App>, device: &Device, request: Request) -> Result<Kept, ApiError> {
    let uri = request.uri().clone();
    let session = conversation(app, device, &uri).await?;
    let name = name(&uri)?;
    let mime = request.headers().get(header::CONTENT_TYPE).and_then(|it| it.to_str().ok());
    let mime = mime.and_then(|it| it.split(';').next()).unwrap_or_default().trim();
    let mime = if mime.is_empty() { "application/octet-stream" } else { mime };
    let plain = |it: char| it.is_ascii_alphanumeric() || "/.+-_".contains(it);
    if mime.len() > 100 || !mime.chars().all(plain) {
        return Err(ApiError::bad_request("Content-Type must be a kind such as image/png"));
    }
    let mime = mime.to_ascii_lowercase();
    let bytes = extract::read(request.into_body(), BYTES).await?;
    let catalog = &app.host.ports.catalog;
    if catalog.list(Shelf::Devices, "file/").await?.len() >= WAITING {
        return Err(ApiError::full(format!("{WAITING} files wait to be sent already")));
    }
    let (size, id) = (bytes.len(), app.host.ports.clock.id());
    let path = match extension(&mime) {
        Some(extension) => app.host.ports.attic.keep(session, extension, bytes.to_vec()).await?,
        None => files::keep_apart(app.clone(), format!("{id}-{name}"), bytes).await?,
    };
    let upload = Upload { session, name: name.clone(), mime: mime.clone(), path };
    catalog.save(Shelf::Devices, &format!("file/{id}"), &upload).await?;
    Ok(Kept { id, name, mime, size })
}

/// What is asked for by its place in the log
#[utoipa::path(get, path = "/window/attachments/{session}/{seq}/{index}", tag = "phone",
    params(("session" = String, Path), ("seq" = u64, Path), ("index" = usize, Path)),
    responses((status = 200, content_type = "application/octet-stream", body = Vec<u8>),
        (status = 401, body = ErrorBody), (status = 404, body = ErrorBody),
        (status = 410, body = ErrorBody)))]
async fn show(
    State(app): State<Arc<App>>,
    Extension(Caller(device)): Extension<Caller>,
    Path((session, seq, index)): Path<(String, String, String)>,
) -> Response {
    match fetch(&app, &device, &session, &seq, &index).await {
        Ok(response) => response,
        Err(error) => refusal::dress(error.into_response()),
    }
}

async fn fetch(
    app: &App,
    device: &Device,
    session: &str,
    seq: &str,
    index: &str,
) -> Result<Response, ApiError> {
    let absent = || ApiError::not_found("there is no such attachment");
    let id = SessionId::parse(session).ok_or_else(absent)?;
    if !sees(app, device, id).await? {
        return Err(absent());
    }
    let last = app.host.roster.get(id).map(|state| state.last).unwrap_or_default();
    let seq = seq.parse().ok().map(Seq).filter(|seq| *seq > Seq(0) && *seq <= last);
    let seq = seq.ok_or_else(absent)?;
    let index: usize = index.parse().map_err(|_| absent())?;
    let entry = app.host.ports.log.read(id, seq.before(), 1).await?.pop();
    let files = entry.as_ref().map(|entry| match &entry.fact {
        Fact::ToolReturned { output, .. } => output.images(),
        fact => rows::taken(fact).map_or(&[][..], |message| &message.attachments),
    });
    let file = files.and_then(|files| files.get(index)).ok_or_else(absent)?;
    let bytes = app.host.ports.attic.fetch(id, file.path.clone()).await?;
    let bytes = bytes.ok_or_else(|| ApiError::gone("the file is gone"))?;
    let kind = extension(&file.mime).map_or("application/octet-stream", |_| file.mime.as_str());
    let name = utf8_percent_encode(&file.name, NON_ALPHANUMERIC);
    let named = format!("attachment; filename*=UTF-8''{name}");
    let mut response = bytes.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
    for (header, value) in [(header::CONTENT_TYPE, kind), (header::CONTENT_DISPOSITION, &named)] {
        let value = HeaderValue::from_str(value);
        headers.insert(header, value.map_err(|_| ApiError::internal("a name cannot be told"))?);
    }
    Ok(response)
}

/// What a message brings: pictures, and words on what is no picture.
pub struct Brought {
    pub pictures: Vec<Attachment>,
    pub words: String,
    records: Vec<String>,
}

/// `None` if one of them is not there, or was put into another conversation.
pub async fn bring(
    app: &App,
    session: SessionId,
    ids: &[Uuid],
) -> Result<Option<Brought>, StoreError> {
    let mut brought = Brought { pictures: Vec::new(), words: String::new(), records: Vec::new() };
    for id in ids {
        let record = format!("file/{id}");
        let found: Option<Upload> = app.host.ports.catalog.load(Shelf::Devices, &record).await?;
        let Some(upload) = found.filter(|upload| upload.session == session) else {
            return Ok(None);
        };
        if upload.is_picture() {
            let Upload { name, mime, path, .. } = upload;
            brought.pictures.push(Attachment { path, mime, name });
        } else {
            let words = format!("{MARK}{} is at {}", upload.name, upload.path.display());
            brought.words.push_str(&words);
        }
        brought.records.push(record);
    }
    Ok(Some(brought))
}

/// They are part of the conversation now.
pub async fn sent(app: &App, brought: Brought) -> Result<(), StoreError> {
    for record in brought.records {
        app.host.ports.catalog.discard(Shelf::Devices, &record).await?;
    }
    Ok(())
}

/// The files of a row, with their sizes as far as they are still there.
pub async fn listed(
    attic: &dyn Attic,
    session: SessionId,
    files: &[Filed],
) -> Result<Vec<File>, StoreError> {
    let mut listed = Vec::with_capacity(files.len());
    for it @ Filed { seq, index, file } in files {
        listed.push(File {
            id: format!("{}-{index}", seq.0),
            name: file.name.clone(),
            mime: file.mime.clone(),
            size: attic.size(session, file.path.clone()).await?,
            url: url(session, it),
        });
    }
    Ok(listed)
}

/// What somebody said, and below it a link for each file: all that version 1 can show.
pub fn linked(session: SessionId, row: &Row) -> String {
    let mut text = row.content.clone();
    // An answer is what its pieces were, and those are told already.
    for it in row.files.iter().filter(|_| row.role == Role::User) {
        let odd = |it: &char| !matches!(it, '[' | ']' | '\n');
        let name: String = it.file.name.chars().filter(odd).collect();
        text.push_str(if text.ends_with(')') && text.contains("](") { "\n" } else { "\n\n" });
        text.extend(["[", &name, "](", &url(session, it), ")"]);
    }
    text
}

fn url(session: SessionId, Filed { seq, index, .. }: &Filed) -> String {
    format!("/window/attachments/{session}/{}/{index}", seq.0)
}

/// Of the kinds that cannot be anything but a picture.
fn extension(mime: &str) -> Option<&'static str> {
    Some(match mime {
        "image/png" => "png",
        "image/jpeg" | "image/jpg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        _ => return None,
    })
}

fn name(uri: &Uri) -> Result<String, ApiError> {
    let name = text(uri, "name").map(|name| name.trim().to_owned()).unwrap_or_default();
    let odd = |it: char| it.is_control() || matches!(it, '/' | '\\' | ':');
    if name.chars().count() > NAME_CHARS || name.starts_with('.') || name.contains(odd) {
        let message =
            format!("name must be one of at most {NAME_CHARS} characters, without a path");
        return Err(ApiError::bad_request(message));
    }
    Ok(if name.is_empty() { "file".to_owned() } else { name })
}
