//! Notifications for phones with an app of their own: the doors of the page, under the key of a device.

use std::sync::Arc;

use axum::{
    Extension, Json as Reply,
    extract::State,
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{Caller, refusal};
use crate::{
    App,
    devices::Device,
    error::{ApiError, ErrorBody},
    extract::Json,
    push::{
        routes::{self, Done, Wish},
        settings::Settings,
        subscription::Subscription,
    },
};

/// How many subscriptions one device may have.
const MOST: usize = 4;

pub fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(key)).routes(routes!(subscribe, unsubscribe))
}

#[derive(Serialize, ToSchema)]
#[schema(as = WindowPushKey)]
pub struct Known {
    /// What a subscription is made with.
    key: String,
}

/// The key that messages are signed with
#[utoipa::path(get, path = "/window/push/key", tag = "phone",
    responses((status = 200, body = Known), (status = 401, body = ErrorBody)))]
async fn key(State(app): State<Arc<App>>) -> Response {
    answer(routes::key(&app).map(|key| Reply(Known { key }).into_response()))
}

#[derive(Serialize, ToSchema)]
#[schema(as = WindowSubscription)]
pub struct Taken {
    id: String,
}

/// Tell a phone of what it did not hear
///
/// The subscription belongs to the device whose key it comes with, is told of what that key opens, and
/// goes when it is revoked. Answers are told as well, unless `settings` say otherwise.
#[utoipa::path(post, path = "/window/push/subscriptions", tag = "phone", request_body = Wish,
    responses((status = 201, body = Taken), (status = 400, body = ErrorBody),
        (status = 401, body = ErrorBody), (status = 409, body = ErrorBody)))]
async fn subscribe(
    State(app): State<Arc<App>>,
    Extension(Caller(device)): Extension<Caller>,
    wish: Result<Json<Wish>, ApiError>,
) -> Response {
    let taken = async { take(&app, &device, wish?.0).await }.await;
    answer(taken.map(|taken| (StatusCode::CREATED, Reply(taken)).into_response()))
}

async fn take(app: &App, device: &Device, wish: Wish) -> Result<Taken, ApiError> {
    let id = Subscription::id_of(wish.endpoint());
    let others = app.push.subscriptions.list();
    let own = |it: &&Arc<Subscription>| is_of(it, device) && it.id != id;
    if others.iter().filter(own).count() >= MOST {
        let text = format!("this device has {MOST} subscriptions already; remove one first");
        return Err(ApiError::conflict(text));
    }
    // Whoever has an app for talking wants to hear the answers.
    let otherwise = Settings { answers: true, ..Settings::default() };
    let known = routes::take(app, Some(device), wish, otherwise).await?;
    Ok(Taken { id: known.id.clone() })
}

#[derive(Deserialize, ToSchema)]
#[schema(as = WindowUnsubscribe)]
pub struct Unwanted {
    endpoint: String,
}

/// Tell a phone nothing more
#[utoipa::path(delete, path = "/window/push/subscriptions", tag = "phone", request_body = Unwanted,
    responses((status = 200, body = Done), (status = 400, body = ErrorBody),
        (status = 401, body = ErrorBody), (status = 404, body = ErrorBody)))]
async fn unsubscribe(
    State(app): State<Arc<App>>,
    Extension(Caller(device)): Extension<Caller>,
    unwanted: Result<Json<Unwanted>, ApiError>,
) -> Response {
    let left = async { leave(&app, &device, &unwanted?.0.endpoint).await }.await;
    answer(left.map(|done| Reply(done).into_response()))
}

async fn leave(app: &App, device: &Device, endpoint: &str) -> Result<Done, ApiError> {
    let known = app.push.subscriptions.get(&Subscription::id_of(endpoint));
    let known = known.filter(|it| is_of(it, device));
    let known = known.ok_or_else(|| ApiError::not_found("this device has no such subscription"))?;
    app.push.forget(&known.id).await?;
    Ok(Done { ok: true })
}

fn is_of(subscription: &Subscription, device: &Device) -> bool {
    subscription.device.as_deref() == Some(device.id.as_str())
}

/// Nothing of this is kept by anybody on the way.
fn answer(answer: Result<Response, ApiError>) -> Response {
    refusal::dress(answer.unwrap_or_else(ApiError::into_response))
}
