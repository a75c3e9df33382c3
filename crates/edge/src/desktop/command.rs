//! The owner drives a desktop over HTTP, in the words of the protocol.

use std::sync::Arc;

use axum::{
    Json,
    body::Body,
    extract::State,
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use kernel::{
    desktop::{Code, DesktopError, Outcome, Who},
    toolbox::Caller,
};
use remote::{
    coerce::understood,
    command::{self, PREFIX, Request},
    reply::{self, Envelope},
};
use serde_json::{Map, Value};

use crate::{
    App,
    error::{ApiError, ErrorBody},
    extract,
};

/// Command a desktop
///
/// The body is a command: `type` names it, `device` the desktop if there are several, and the rest is
/// what the command takes. Numbers may be written as texts, and are brought into range where that does
/// no harm; `adjusted` and `ignored` in the answer tell what was done. The answer is the device's own,
/// with the `commandId` that was given to it. The device must be armed.
#[utoipa::path(post, path = "/api/command", tag = "desktop", request_body = Object,
    responses(
        (status = 200, body = Object, description = "What the device answered, errors of its own included"),
        (status = 400, body = Object, description = "It is not a command, or its arguments are wrong"),
        (status = 403, body = Object, description = "It is not allowed"),
        (status = 409, body = Object, description = "The device is not armed, or a person has taken it"),
        (status = 413, body = ErrorBody),
        (status = 429, body = Object, description = "Too many at once"),
        (status = 502, body = Object, description = "The device left before it answered"),
        (status = 503, body = Object, description = "No device is connected"),
        (status = 504, body = Object, description = "The device did not answer in time"),
    ))]
pub async fn command(State(app): State<Arc<App>>, body: Body) -> Result<Response, ApiError> {
    let body = extract::read(body, extract::SMALL).await?;
    let body = serde_json::from_slice(&body).map_err(|error| malformed(&error));
    Ok(match body.and_then(read) {
        Ok(wish) => run(&app, wish).await,
        Err(error) => answer(StatusCode::BAD_REQUEST, &Err(error), Map::new()),
    })
}

pub struct Wish {
    device: Option<String>,
    pub request: Request,
    /// What was done to it before it was understood.
    notes: Map<String, Value>,
}

fn malformed(text: impl std::fmt::Display) -> DesktopError {
    DesktopError::bad(format!("{PREFIX}{text}"))
}

pub fn read(body: Value) -> Result<Wish, DesktopError> {
    let Value::Object(mut body) = body else {
        return Err(malformed("expected an object with a `type`"));
    };
    let device = match body.remove("device") {
        None | Some(Value::Null) => None,
        Some(Value::String(name)) => Some(name),
        Some(_) => return Err(malformed("device must be the name of one")),
    };
    let Some(Value::String(kind)) = body.get("type").cloned() else {
        // A device says what is wrong with it, and so do we.
        let error = command::order(body).err();
        return Err(error.unwrap_or_else(|| malformed("missing field `type`")));
    };
    let (kind, coerced) = understood(&kind, &body).map_err(malformed)?;
    let notes = coerced.notes();
    let request = command::action(&kind, coerced.arguments)?;
    Ok(Wish { device, request, notes })
}

async fn run(app: &App, Wish { device, request, mut notes }: Wish) -> Response {
    let devices = app.hub.devices();
    let device = match devices.pick(device.as_deref(), None) {
        Ok(device) => device,
        Err(error) if error.code == Code::NoDisplay => {
            // Said as the device would, had it come so far.
            let error = match &request {
                Request::Do(order) => order.action.failed(error),
                _ => error,
            };
            return answer(StatusCode::OK, &Err(error), notes);
        }
        Err(error) => return answer(refusal(&error, true), &Err(error), notes),
    };
    let result = match request {
        Request::Do(order) => {
            let who = Who { session: None, caller: Caller::Owner };
            let (deed, result) = app.host.drive(who, &device, *order).await;
            notes.insert("commandId".to_owned(), deed.command.as_str().into());
            result
        }
        Request::Cancel { target } => devices.cancel(&device, target).await.map(cancelled),
        Request::HandBack => app.host.hand_back(&device).await.map(|()| Outcome::said("Resumed")),
        Request::Acknowledged { .. } | Request::Nothing => {
            Err(DesktopError::bad(format!("{PREFIX}that is not a command")))
        }
    };
    let status = match &result {
        Ok(_) => StatusCode::OK,
        Err(error) => refusal(error, false),
    };
    answer(status, &result, notes)
}

fn cancelled(count: usize) -> Outcome {
    let commands = if count == 1 { "command" } else { "commands" };
    Outcome::said(format!("Cancelled {count} {commands}"))
}

/// What a device says of a command is an answer like any other; the rest is ours to say.
fn refusal(error: &DesktopError, before: bool) -> StatusCode {
    match error.code {
        Code::Timeout => StatusCode::GATEWAY_TIMEOUT,
        Code::Disconnected if *error == DesktopError::disconnected() => StatusCode::BAD_GATEWAY,
        Code::Disconnected => StatusCode::SERVICE_UNAVAILABLE,
        Code::NotArmed | Code::Paused => StatusCode::CONFLICT,
        Code::Denied => StatusCode::FORBIDDEN,
        Code::RateLimited | Code::QueueFull => StatusCode::TOO_MANY_REQUESTS,
        Code::Unsupported if error.text.contains(" is not supported by device ") => {
            StatusCode::BAD_REQUEST
        }
        _ if before => StatusCode::BAD_REQUEST,
        Code::BadRequest
        | Code::UnknownKey
        | Code::OutOfBounds
        | Code::TextUnsupported
        | Code::Unsupported
        | Code::NoDisplay
        | Code::Permission
        | Code::Cancelled
        | Code::Failed => StatusCode::OK,
    }
}

fn answer(
    status: StatusCode,
    result: &Result<Outcome, DesktopError>,
    notes: Map<String, Value>,
) -> Response {
    let envelope = Envelope { extended: true, ..Envelope::PLAIN };
    let mut frame = reply::written(result, envelope);
    frame.extend(notes);
    (status, Json(Value::Object(frame))).into_response()
}
