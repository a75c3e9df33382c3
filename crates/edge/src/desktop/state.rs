//! How every desktop stands, and what was done there lately: what the page shows.

use std::{collections::BTreeMap, sync::Arc};

use axum::{Json as Reply, extract::State};
use kernel::{
    back::Back,
    desktop::{Arming, Class, Code, Deed, Devices, Leave, Noted, Outcome, Pause, Point},
    update::Seq,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::{
    arming::Region,
    list::{Standing, standing},
    viewer,
};
use crate::{
    App,
    caco::known,
    error::{ApiError, ErrorBody},
    extract::Params,
};

const FEW: usize = 50;
const MANY: usize = 200;

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DesktopState {
    /// What the server's clock says, in milliseconds since 1970.
    now: i64,
    devices: Vec<DesktopDevice>,
    /// The system of the server's own machine; its screen is the device `local`, if it can be had.
    platform: &'static str,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct DesktopDevice {
    #[serde(flatten)]
    standing: Standing,
    /// Since when it has been there, in milliseconds since 1970.
    since: i64,
    /// Why it cannot be used although it is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    trouble: Option<String>,
    /// Who may drive it.
    armings: Vec<DesktopArming>,
    /// The person has taken it over here.
    in_hands: bool,
    /// What is being recorded there.
    #[serde(skip_serializing_if = "Option::is_none")]
    recording: Option<DesktopRecording>,
}

#[derive(Serialize, ToSchema)]
struct DesktopArming {
    /// The one session that may; all if it is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    until: i64,
    classes: Vec<&'static str>,
    /// The part of the screen that may be touched; all of it if it is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<Region>,
}

#[derive(Serialize, ToSchema)]
struct DesktopRecording {
    since: i64,
    steps: usize,
}

/// How every desktop stands
///
/// Who may drive it and until when, whether the person has it in their hands, and what is recorded.
/// The socket tells `desktop.changed` when this has become another, and `desktop.acted` for
/// everything that is done.
#[utoipa::path(get, path = "/api/desktop", tag = "desktop",
    responses((status = 200, body = DesktopState)))]
pub async fn state(State(app): State<Arc<App>>) -> Reply<DesktopState> {
    let mut devices = Vec::new();
    for (name, since) in app.hub.devices().list() {
        devices.extend(device(&app, name, since.as_millisecond()).await);
    }
    let now = app.hub.now().as_millisecond();
    Reply(DesktopState { now, devices, platform: std::env::consts::OS })
}

async fn device(app: &App, name: String, since: i64) -> Option<DesktopDevice> {
    let devices: &Devices = app.hub.devices();
    let trouble = devices.get(&name)?.info().await.err().map(|error| error.text);
    let armings = devices.armings().into_iter().filter(|it| it.device == name).map(arming);
    let recording = devices.recording(&name).map(|recording| DesktopRecording {
        since: recording.since.as_millisecond(),
        steps: recording.steps().len(),
    });
    Some(DesktopDevice {
        since,
        trouble,
        armings: armings.collect(),
        in_hands: devices.paused(&name) == Some(Pause::Owner),
        recording,
        standing: standing(app, devices, name).await?,
    })
}

fn arming(Arming { session, classes, until, area, .. }: Arming) -> DesktopArming {
    DesktopArming {
        session: session.map(|session| session.to_string()),
        until: until.as_millisecond(),
        classes: classes.into_iter().map(Class::name).collect(),
        region: area.map(Region::from),
    }
}

#[derive(Deserialize, IntoParams)]
pub struct Which {
    /// Only what was done there.
    device: Option<String>,
    /// What was done for this session, from its log; else what was done lately by anybody.
    session: Option<String>,
    /// Only what came before this; the newest when absent.
    before: Option<u64>,
    /// 50 when absent.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<usize>,
}

#[derive(Serialize, ToSchema)]
pub struct DesktopLog {
    /// Newest first.
    actions: Vec<DesktopAction>,
    /// What to pass for the page before this one; null when this is the first there is.
    before: Option<u64>,
}

/// Something that was done on a desktop, or refused.
#[derive(Serialize, ToSchema)]
pub struct DesktopAction {
    number: u64,
    device: String,
    tool: String,
    /// Without secrets.
    #[schema(value_type = Object)]
    arguments: BTreeMap<String, Value>,
    result: DesktopResult,
    /// Where the pointer was before.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    before: Option<Point>,
    /// Where the pointer was afterwards.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    at: Option<Point>,
    /// The program that got it, if it was input: `XTerm`.
    #[serde(skip_serializing_if = "Option::is_none")]
    window: Option<String>,
    /// `hands` if the person did it, else until when they had lent the device.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    leave: Option<Leave>,
    ms: u64,
    /// Milliseconds since 1970.
    ts: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    caller: Option<&'static str>,
}

/// In the words of the protocol.
#[derive(Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
enum DesktopResult {
    Success { message: String },
    Error { error: String, code: &'static str },
}

/// What was done on desktops
///
/// A page at a time, the newest first.
#[utoipa::path(get, path = "/api/desktop/log", tag = "desktop", params(Which),
    responses((status = 200, body = DesktopLog), (status = 400, body = ErrorBody),
        (status = 404, body = ErrorBody)))]
pub async fn log(
    State(app): State<Arc<App>>,
    Params(which): Params<Which>,
) -> Result<Reply<DesktopLog>, ApiError> {
    let limit = which.limit.unwrap_or(FEW);
    if !(1..=MANY).contains(&limit) {
        let message = format!("limit must be from 1 to {MANY}, not {limit}");
        return Err(ApiError::bad_request(message));
    }
    if which.session.is_some() {
        return past(&app, &which, limit).await.map(Reply);
    }
    let before = which.before.unwrap_or(u64::MAX);
    let (recent, more) = app.hub.devices().recent(which.device.as_deref(), before, limit);
    let before = recent.last().filter(|_| more).map(|oldest| oldest.number);
    Ok(Reply(DesktopLog { actions: recent.iter().map(action).collect(), before }))
}

/// From the log of a session.
async fn past(app: &App, which: &Which, limit: usize) -> Result<DesktopLog, ApiError> {
    let text = which.session.as_deref().unwrap_or_default();
    let session = known(text)?;
    let state = app.host.roster.get(session).ok_or_else(|| ApiError::no_session(text))?;
    let end = state.last.next();
    let before = which.before.map_or(end, |before| Seq(before).min(end));
    let mut back = Back::from(app.host.ports.log.as_ref(), session, before);
    let mut actions = Vec::new();
    while let Some(entry) = back.next().await? {
        let number = entry.seq.0;
        let Some(deed) = Deed::recalled(session, entry) else { continue };
        if which.device.as_ref().is_some_and(|device| *device != deed.device) {
            continue;
        }
        if actions.len() == limit {
            let before = actions.last().map(|oldest: &DesktopAction| oldest.number);
            return Ok(DesktopLog { actions, before });
        }
        let action = action(&Noted { number, deed: Arc::new(deed) });
        actions.push(DesktopAction { session: Some(session.to_string()), ..action });
    }
    Ok(DesktopLog { actions, before: None })
}

/// As the page is told of it.
pub fn action(Noted { number, deed }: &Noted) -> DesktopAction {
    let Deed { device, command: _, who, kind, arguments, result, leave, at, ms } = &**deed;
    let seen = result.as_ref().ok();
    let place = (seen.and_then(Outcome::before), seen.and_then(Outcome::at));
    let window = seen.and_then(Outcome::window).map(ToOwned::to_owned);
    let result = match result {
        Ok(outcome) => DesktopResult::Success { message: outcome.summary() },
        Err(error) => {
            DesktopResult::Error { error: error.text.clone(), code: Code::name(error.code) }
        }
    };
    DesktopAction {
        number: *number,
        device: device.clone(),
        tool: (*kind).to_owned(),
        arguments: arguments.clone(),
        result,
        before: place.0,
        at: place.1,
        window,
        leave: *leave,
        ms: *ms,
        ts: at.as_millisecond(),
        session: who.session.map(|session| session.to_string()),
        caller: Some(viewer::caller(&who.caller)),
    }
}
