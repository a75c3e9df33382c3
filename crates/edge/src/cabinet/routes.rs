//! Apps over HTTP, for the person: what there is, what it asks for, putting in and taking out.

use std::sync::Arc;

use axum::{
    Json as Reply,
    extract::{Path, Request, State},
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
};
use kernel::cabinet::{Card, Encoding, Icon, InstallError, Looks, Parcel, RemoveError};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    App,
    error::{ApiError, ErrorBody},
    extract::{self, Params},
    sandbox::site::mime,
};

/// The largest archive.
const ARCHIVE: usize = 32 << 20;
/// Should it be looked at by itself, a picture is nothing but a picture.
const PICTURE: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

pub fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(list, install))
        .merge(super::launch::routes())
        .routes(routes!(remove))
        .routes(routes!(icon))
}

#[derive(Serialize, ToSchema)]
pub struct Apps {
    apps: Vec<Shown>,
}

/// An app, as its `app.json` describes it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "each is a word of the format")]
struct Shown {
    #[schema(example = "sheet")]
    id: String,
    name: String,
    /// An emoji, or the address of a picture.
    #[serde(skip_serializing_if = "Option::is_none")]
    icon: Option<String>,
    /// `emoji` or `image`.
    #[serde(skip_serializing_if = "Option::is_none")]
    icon_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    author: Option<String>,
    hidden: bool,
    app_protocol: bool,
    file_associations: Vec<Associated>,
    #[serde(skip_serializing_if = "Option::is_none")]
    variant: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dock_edge: Option<&'static str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    frameless: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    window_style: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    default_width: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    default_height: Option<f64>,
    /// The document it begins with.
    entry: String,
    /// It came with the program and cannot be removed.
    bundled: bool,
    permissions: Vec<String>,
    domains: Domains,
    /// How many bytes it asks to keep.
    #[serde(skip_serializing_if = "Option::is_none")]
    storage: Option<u64>,
    /// What of its `app.json` cannot be used.
    problems: Vec<Trouble>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Associated {
    #[schema(example = json!([".csv"]))]
    extensions: Vec<String>,
    command: String,
    param_key: String,
    /// `text` or `base64`.
    encoding: &'static str,
}

/// Where it speaks to by itself, and where it loads from.
#[derive(Serialize, ToSchema)]
struct Domains {
    connect: Vec<String>,
    load: Vec<String>,
}

#[derive(Serialize, ToSchema)]
struct Trouble {
    /// As a JSON Pointer; empty for the whole.
    #[schema(example = "/fileAssociations/0/command")]
    path: String,
    message: String,
}

#[derive(Serialize, ToSchema)]
pub struct Installed {
    app: Shown,
    /// Whether it takes the place of another.
    replaces: bool,
}

#[derive(Serialize, ToSchema)]
pub struct Removed {
    ok: bool,
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase")]
pub struct Wanted {
    /// What it shall be called, if not what the archive says.
    id: Option<String>,
    /// The archive's own name, of which an id may be made.
    name: Option<String>,
    /// Only tells what the archive holds and asks for.
    #[serde(default)]
    dry_run: bool,
}

/// List the apps
///
/// By name. Those with `hidden` are not offered to the person, and can be opened all the same.
#[utoipa::path(get, path = "/api/apps", tag = "apps", responses((status = 200, body = Apps)))]
pub async fn list(State(app): State<Arc<App>>) -> Reply<Apps> {
    let cards = app.host.ports.cabinet.list().await;
    Reply(Apps { apps: cards.iter().map(shown).collect() })
}

/// Install an app
///
/// The body is a `.zip` or `.tar.gz` archive of at most 32 MiB, with `app.json` at its top or in the
/// one folder there. With `dryRun=true` it is only looked at: show the person what it asks for first.
#[utoipa::path(post, path = "/api/apps", tag = "apps", params(Wanted),
    request_body(content = Vec<u8>, content_type = "application/zip"),
    responses((status = 200, body = Installed), (status = 400, body = ErrorBody),
        (status = 413, body = ErrorBody), (status = 415, body = ErrorBody)))]
pub async fn install(
    State(app): State<Arc<App>>,
    Params(Wanted { id, name, dry_run }): Params<Wanted>,
    request: Request,
) -> Result<Reply<Installed>, ApiError> {
    // Types that any page may send without being asked first are not taken.
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|it| it.to_str().ok());
    let archives =
        ["application/zip", "application/gzip", "application/x-gzip", "application/octet-stream"];
    if !kind.is_some_and(|kind| archives.contains(&kind)) {
        let message = format!("Content-Type must be one of {}", archives.join(", "));
        return Err(ApiError::bad_request(message).with_status(StatusCode::UNSUPPORTED_MEDIA_TYPE));
    }
    let bytes = extract::read(request.into_body(), ARCHIVE).await?.to_vec();
    let cabinet = &app.host.ports.cabinet;
    let before = cabinet.list().await;
    let parcel = Parcel { bytes, id, name };
    let card = if dry_run { cabinet.inspect(parcel).await } else { cabinet.install(parcel).await };
    let card = card.map_err(|error| match error {
        InstallError::Refused(what) => ApiError::bad_request(what),
        InstallError::Disk(_) => ApiError::internal(error.to_string()),
    })?;
    let replaces = before.iter().any(|old| old.id == card.id);
    Ok(Reply(Installed { app: Shown { bundled: false, ..shown(&card) }, replaces }))
}

/// Remove an app
///
/// What it has kept stays, for when it comes back.
#[utoipa::path(delete, path = "/api/apps/{id}", tag = "apps",
    params(("id" = String, Path, description = "Its id.")),
    responses((status = 200, body = Removed), (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody)))]
pub async fn remove(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<Reply<Removed>, ApiError> {
    app.host.ports.cabinet.remove(&id).await.map_err(|error| match error {
        RemoveError::Unknown(_) => ApiError::not_found(error.to_string()),
        RemoveError::Bundled(_) => ApiError::conflict(error.to_string()),
        RemoveError::Disk(_) => ApiError::internal(error.to_string()),
    })?;
    Ok(Reply(Removed { ok: true }))
}

/// The picture that stands for an app
#[utoipa::path(get, path = "/api/apps/{id}/icon", tag = "apps",
    params(("id" = String, Path, description = "Its id.")),
    responses((status = 200, content_type = "image/png", body = Vec<u8>), (status = 404, body = ErrorBody)))]
pub async fn icon(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let Some((ending, bytes)) = app.host.ports.cabinet.icon(&id).await else {
        return Err(ApiError::not_found(format!("no app `{id}` has a picture")));
    };
    let headers = [
        (header::CONTENT_TYPE, mime(&format!("icon.{ending}"))),
        (header::CACHE_CONTROL, "no-cache".to_owned()),
        (header::CONTENT_SECURITY_POLICY, PICTURE.to_owned()),
    ];
    Ok((headers, bytes).into_response())
}

fn shown(card: &Card) -> Shown {
    let Card { id, looks, asks, .. } = card;
    let Looks { variant, dock_edge, frameless, window_style, width, height } = looks.clone();
    let (icon, icon_type) = match &card.icon {
        Some(Icon::Emoji(emoji)) => (Some(emoji.clone()), Some("emoji")),
        Some(Icon::Picture) => (Some(format!("/api/apps/{id}/icon")), Some("image")),
        None => (None, None),
    };
    let associated = card.associations.iter().map(|it| Associated {
        extensions: it.extensions.clone(),
        command: it.command.clone(),
        param_key: it.param.clone(),
        encoding: match it.encoding {
            Encoding::Text => "text",
            Encoding::Base64 => "base64",
        },
    });
    let trouble = card
        .problems
        .iter()
        .map(|problem| Trouble { path: problem.path.clone(), message: problem.what.clone() });
    Shown {
        id: id.clone(),
        name: card.name.clone(),
        icon,
        icon_type,
        description: card.description.clone(),
        version: card.version.clone(),
        author: card.author.clone(),
        hidden: card.hidden,
        app_protocol: card.protocol,
        file_associations: associated.collect(),
        variant,
        dock_edge,
        frameless,
        window_style,
        default_width: width,
        default_height: height,
        entry: card.entry.clone(),
        bundled: card.folder.is_none(),
        permissions: asks.permissions.iter().map(kernel::cabinet::Permission::name).collect(),
        domains: Domains { connect: asks.connect.clone(), load: asks.load.clone() },
        storage: asks.storage,
        problems: trouble.collect(),
    }
}
