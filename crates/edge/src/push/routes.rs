//! Notifications over HTTP: which browsers are told, of what, and whether it gets there.

use std::sync::Arc;

use axum::{
    Extension, Json as Reply,
    extract::{Path, State},
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use url::Url;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{
    cipher::Recipient,
    post::{self, Letter, Outcome},
    settings::Settings,
    subscription::{self, SubscribeError, Subscription},
};
use crate::{
    App,
    auth::Entered,
    caco::Iso,
    devices::{Device, NAME_CHARS},
    error::{ApiError, ErrorBody},
    extract::Json,
};

/// A test that does not arrive within a minute is none.
const TEST_SECONDS: i64 = 60;

pub fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(subscribe))
        .routes(routes!(change, unsubscribe))
        .routes(routes!(test))
}

#[derive(Serialize, ToSchema)]
#[schema(as = PushBrowser)]
#[serde(rename_all = "camelCase")]
pub struct Shown {
    id: String,
    name: String,
    /// The device whose key it came with; null for the owner's own browsers.
    device_id: Option<String>,
    /// Who carries the messages.
    service: String,
    #[schema(value_type = String)]
    created_at: Iso,
    #[schema(value_type = Option<String>)]
    last_success_at: Option<Iso>,
    /// Why the last message did not get there.
    last_error: Option<String>,
    #[schema(value_type = Option<String>)]
    last_error_at: Option<Iso>,
    settings: Settings,
}

impl Shown {
    fn of(it: &Subscription) -> Self {
        let url = Url::parse(&it.endpoint).ok();
        let service = url.as_ref().and_then(Url::host_str).unwrap_or_default().to_owned();
        Self {
            id: it.id.clone(),
            name: it.name.clone(),
            device_id: it.device.clone(),
            service,
            created_at: Iso(it.created),
            last_success_at: it.last_success.map(Iso),
            last_error: it.trouble.as_ref().map(|it| it.what.clone()),
            last_error_at: it.trouble.as_ref().map(|it| Iso(it.at)),
            settings: it.settings.clone(),
        }
    }
}

#[derive(Serialize, ToSchema)]
#[schema(as = PushList)]
#[serde(rename_all = "camelCase")]
pub struct Listed {
    /// What a browser needs to subscribe.
    public_key: String,
    /// Oldest first.
    subscriptions: Vec<Shown>,
    /// How many there may be.
    most: usize,
}

/// Browsers that are told
///
/// Every page hears `devices.changed` when one of them comes, goes or is told something.
#[utoipa::path(get, path = "/api/push", tag = "phone", responses((status = 200, body = Listed)))]
async fn list(State(app): State<Arc<App>>) -> Result<Reply<Listed>, ApiError> {
    let public_key = key(&app)?;
    let known = app.push.subscriptions.list();
    let subscriptions = known.iter().map(|it| Shown::of(it)).collect();
    Ok(Reply(Listed { public_key, subscriptions, most: subscription::MOST }))
}

/// What a browser needs to subscribe.
pub fn key(app: &App) -> Result<String, ApiError> {
    app.push.vapid.public().map_err(|error| ApiError::internal(error.to_string()))
}

#[derive(Deserialize, ToSchema)]
#[schema(as = PushWish)]
pub struct Wish {
    /// As the browser gives it: an address with https, of a service on the open internet.
    endpoint: String,
    keys: Keys,
    /// What the browser is called, 60 characters at most.
    name: Option<String>,
    /// What was chosen before stays if this is absent.
    settings: Option<Settings>,
    /// Where the browser is: `Europe/Berlin`.
    #[serde(rename = "timeZone")]
    time_zone: Option<String>,
}

impl Wish {
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }
}

#[derive(Deserialize, ToSchema)]
#[schema(as = PushKeys)]
struct Keys {
    p256dh: String,
    auth: String,
}

/// Tell a browser
///
/// With the `PushSubscription` that it made. The same browser again changes what is known of it. It
/// belongs to the device whose key it comes with, and goes when that is revoked.
#[utoipa::path(post, path = "/api/push/subscriptions", tag = "phone", request_body = Wish,
    responses((status = 200, body = Shown), (status = 400, body = ErrorBody),
        (status = 409, body = ErrorBody)))]
async fn subscribe(
    State(app): State<Arc<App>>,
    entered: Option<Extension<Entered>>,
    Json(wish): Json<Wish>,
) -> Result<Reply<Shown>, ApiError> {
    let device = entered.as_ref().map(|Extension(Entered(device))| device.as_ref());
    let known = take(&app, device, wish, Settings::default()).await?;
    Ok(Reply(Shown::of(&known)))
}

/// Takes in a browser, or an app that is told like one. `otherwise` are the settings of one that is new and
/// has none.
pub async fn take(
    app: &App,
    device: Option<&Device>,
    wish: Wish,
    otherwise: Settings,
) -> Result<Arc<Subscription>, ApiError> {
    let Wish { endpoint, keys, name, settings, time_zone } = wish;
    post::check(app.host.ports.web.as_ref(), &endpoint).map_err(ApiError::bad_request)?;
    let read = Recipient::read(&keys.p256dh, &keys.auth);
    read.map_err(|error| ApiError::bad_request(error.to_string()))?;
    let keep_settings = settings.is_none();
    let mut settings = settings.unwrap_or(otherwise);
    settings.time_zone = settings.time_zone.or(time_zone);
    settings.check().map_err(ApiError::bad_request)?;
    let name = match name {
        Some(name) => named(&name)?,
        None => device.map_or("Browser", |device| device.name.as_str()).to_owned(),
    };
    let put = app.push.subscriptions.put(
        Subscription {
            id: Subscription::id_of(&endpoint),
            name,
            device: device.map(|device| device.id.clone()),
            endpoint,
            point: keys.p256dh,
            secret: keys.auth,
            created: app.host.ports.clock.now(),
            settings,
            last_success: None,
            trouble: None,
        },
        keep_settings,
    );
    let known = put.await?;
    app.push.tell();
    Ok(known)
}

#[derive(Deserialize, ToSchema)]
#[schema(as = PushChange)]
pub struct Wanted {
    name: Option<String>,
    /// All of them; what is absent is as it was in the beginning.
    settings: Option<Settings>,
}

/// Change what a browser is told
#[utoipa::path(patch, path = "/api/push/subscriptions/{id}", tag = "phone", request_body = Wanted,
    params(("id" = String, Path)),
    responses((status = 200, body = Shown), (status = 400, body = ErrorBody),
        (status = 404, body = ErrorBody)))]
async fn change(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    Json(Wanted { name, settings }): Json<Wanted>,
) -> Result<Reply<Shown>, ApiError> {
    let name = name.as_deref().map(named).transpose()?;
    if let Some(settings) = &settings {
        settings.check().map_err(ApiError::bad_request)?;
    }
    let changed = app.push.subscriptions.change(&id, |it| {
        if let Some(name) = name {
            it.name = name;
        }
        if let Some(settings) = settings {
            it.settings = settings;
        }
    });
    let changed = changed.await?.ok_or_else(|| absent(&id))?;
    app.push.tell();
    Ok(Reply(Shown::of(&changed)))
}

#[derive(Serialize, ToSchema)]
#[schema(as = PushDone)]
pub struct Done {
    pub ok: bool,
}

/// Tell a browser nothing more
#[utoipa::path(delete, path = "/api/push/subscriptions/{id}", tag = "phone",
    params(("id" = String, Path)),
    responses((status = 200, body = Done), (status = 404, body = ErrorBody)))]
async fn unsubscribe(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<Reply<Done>, ApiError> {
    if !app.push.forget(&id).await? {
        return Err(absent(&id));
    }
    Ok(Reply(Done { ok: true }))
}

/// Send a message to see whether it arrives
///
/// Whatever the hour. 502 says why the push service did not take it.
#[utoipa::path(post, path = "/api/push/subscriptions/{id}/test", tag = "phone",
    params(("id" = String, Path)),
    responses((status = 200, body = Done), (status = 404, body = ErrorBody),
        (status = 502, body = ErrorBody)))]
async fn test(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<Reply<Done>, ApiError> {
    let browser = app.push.subscriptions.get(&id).ok_or_else(|| absent(&id))?;
    let payload =
        json!({ "title": "Megaron", "body": "Notifications reach this device.", "kind": "test" });
    let topic = Some(browser.topic("test"));
    let letter =
        Letter { to: &browser, payload: &payload, seconds: TEST_SECONDS, urgency: "high", topic };
    let ports = &app.host.ports;
    let now = ports.clock.now();
    let what = match post::deliver(ports.web.as_ref(), &app.push.vapid, letter, now).await {
        Outcome::Sent => None,
        Outcome::Gone => {
            app.push.forget(&id).await?;
            return Err(ApiError::bad_gateway("the browser is not subscribed any more"));
        }
        Outcome::Later { what, .. } | Outcome::Refused(what) => Some(what),
    };
    app.push.record(&id, what.clone(), now).await;
    match what {
        None => Ok(Reply(Done { ok: true })),
        Some(what) => Err(ApiError::bad_gateway(what)),
    }
}

fn named(name: &str) -> Result<String, ApiError> {
    let name = name.trim();
    let fits = (1..=NAME_CHARS).contains(&name.chars().count());
    if !fits || name.chars().any(char::is_control) {
        let message = format!("name must have 1 to {NAME_CHARS} characters, all of them visible");
        return Err(ApiError::bad_request(message));
    }
    Ok(name.to_owned())
}

fn absent(id: &str) -> ApiError {
    ApiError::not_found(format!("Subscription not found: {id}"))
}

impl From<SubscribeError> for ApiError {
    fn from(error: SubscribeError) -> Self {
        match error {
            SubscribeError::Full => Self::conflict(error.to_string()),
            SubscribeError::Store(error) => error.into(),
        }
    }
}
