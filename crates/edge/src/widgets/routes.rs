//! Widgets over HTTP: which tools have them, and what became of those in a session.

use std::sync::Arc;

use axum::{
    Json as Reply,
    extract::{Path, State},
    http::header,
    response::{IntoResponse as _, Response},
};
use kernel::{
    approvals::Grant,
    toolbox::Caller,
    update::{Attachment, Seq, SessionId},
    views::{
        self,
        fact::{Ending, Remembered},
    },
    widget::Feature,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::{router::OpenApiRouter, routes};

use widgets::Bridge;

use super::view::{leave_for, spelt};
use crate::{
    App,
    caco::pictures,
    error::{ApiError, ErrorBody},
    extract::{Json, Params, SessionPath},
};

/// So many of a session are told of, the newest.
const MOST: usize = 100;

pub fn routes() -> OpenApiRouter<Arc<App>> {
    let all =
        OpenApiRouter::new().routes(routes!(list)).routes(routes!(allow)).routes(routes!(bridge));
    all.routes(routes!(of_session)).routes(routes!(show))
}

#[derive(Serialize, ToSchema)]
pub struct Widgets {
    widgets: Vec<Widget>,
}

#[derive(Serialize, ToSchema)]
struct Widget {
    /// The tool, as it is called here.
    #[schema(example = "get-time")]
    tool: String,
    server: String,
    /// As its server calls it.
    name: String,
    #[schema(example = "ui://get-time/mcp-app.html")]
    uri: String,
}

/// Tools whose results are shown in widgets
#[utoipa::path(get, path = "/api/widgets", tag = "mcp", responses((status = 200, body = Widgets)))]
pub async fn list(State(app): State<Arc<App>>) -> Reply<Widgets> {
    let widgets = app.servers.list().into_iter().flat_map(|server| {
        server.tools.into_iter().filter_map(move |tool| {
            let (tool, uri, name) = (tool.offered?, tool.widget?, tool.name);
            Some(Widget { tool, server: server.name.clone(), name, uri })
        })
    });
    Reply(Widgets { widgets: widgets.collect() })
}

#[derive(Serialize, ToSchema)]
pub struct Views {
    views: Vec<View>,
}

/// The widget of one call.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct View {
    tool_call_id: String,
    /// The tool, as it is called here.
    tool: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uri: Option<String>,
    /// The digest of its page, if that is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<String>,
    /// The page is another than the one that was there before.
    changed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<Verdict>,
    /// What the model sees of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<ContextShown>,
    /// Whether somebody shows it now.
    live: bool,
    /// The tools that it defines.
    tools: Vec<Tool>,
    /// Features that it wants, and whether it may use them.
    features: Vec<Wanted>,
    /// What it asked for, oldest first.
    calls: Vec<Call>,
    log: Vec<Line>,
}

#[derive(Serialize, ToSchema)]
struct Verdict {
    #[schema(example = "csp-blocked")]
    verdict: String,
    detail: String,
}

#[derive(Serialize, ToSchema)]
#[schema(as = WidgetContext)]
struct ContextShown {
    version: u64,
    /// Word for word what the model is told.
    text: String,
    /// What it is shown with that.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pictures: Vec<Picture>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WidgetPicture)]
struct Picture {
    #[schema(example = "image/png")]
    mime_type: String,
    /// Where it can be looked at.
    url: String,
}

impl ContextShown {
    fn new(session: SessionId, at: Seq, memory: Remembered) -> Self {
        let (version, text) = (memory.version, memory.told());
        let shown = |(index, it): (usize, Attachment)| Picture {
            mime_type: it.mime,
            url: pictures::url(session, at, index),
        };
        let pictures = memory.pictures.into_iter().enumerate().map(shown).collect();
        Self { version, text, pictures }
    }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WidgetTool)]
struct Tool {
    name: String,
    description: String,
    input_schema: Value,
    /// What the model calls it, if it can be called.
    offered: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = WidgetFeature)]
struct Wanted {
    #[schema(example = "camera")]
    feature: &'static str,
    granted: bool,
}

#[derive(Serialize, ToSchema)]
#[schema(as = WidgetCall)]
struct Call {
    #[schema(value_type = u64)]
    seq: Seq,
    method: String,
    params: Value,
    /// `done`, `failed`, `taken-back`, or `interrupted` if nobody knows.
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<i64>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = WidgetLine)]
struct Line {
    level: String,
    text: String,
}

/// Widgets of a session, the newest call first
#[utoipa::path(get, path = "/api/sessions/{id}/widgets", tag = "mcp", params(SessionPath),
    responses((status = 200, body = Views), (status = 404, body = ErrorBody)))]
pub async fn of_session(
    State(app): State<Arc<App>>,
    SessionPath(id): SessionPath,
) -> Result<Reply<Views>, ApiError> {
    let session = there(&app, &id)?;
    let log = app.host.ports.log.as_ref();
    let mut views = Vec::new();
    for view in views::View::newest(log, session, MOST).await? {
        views.push(told(&app, session, view).await?);
    }
    Ok(Reply(Views { views }))
}

/// The widget of a call
#[utoipa::path(get, path = "/api/sessions/{id}/widgets/{call}", tag = "mcp",
    params(("id" = String, Path), ("call" = String, Path, description = "The `toolCallId`.")),
    responses((status = 200, body = View), (status = 404, body = ErrorBody)))]
pub async fn show(
    State(app): State<Arc<App>>,
    Path((id, call)): Path<(String, String)>,
) -> Result<Reply<View>, ApiError> {
    let session = there(&app, &id)?;
    let view = views::View::find(app.host.ports.log.as_ref(), session, &call).await?;
    let unknown = || ApiError::not_found(format!("there is no call `{call}` in this session"));
    Ok(Reply(told(&app, session, view.ok_or_else(unknown)?).await?))
}

fn there(app: &App, id: &str) -> Result<SessionId, ApiError> {
    let session = SessionId::parse(id).filter(|id| app.host.roster.get(*id).is_some());
    session.ok_or_else(|| ApiError::no_session(id))
}

async fn told(app: &App, session: SessionId, view: views::View) -> Result<View, ApiError> {
    let views::View { request, shown, verdict, memory, acts, lines, .. } = view;
    let live = app.widgets.tools(session, &request.id);
    let tools = live.as_ref().into_iter().flatten().map(|told| Tool {
        name: told.tool.name.clone(),
        description: told.tool.description.clone(),
        input_schema: told.tool.input_schema.clone(),
        offered: told.offered.clone(),
    });
    let tools = tools.collect();
    let mut features = Vec::new();
    if let Some(shown) = &shown {
        let pages = views::pages::Pages::new(app.host.ports.catalog.clone());
        let wanted = pages.get(&shown.page).await?.map(|page| page.wants.features);
        let wanted = wanted.unwrap_or_default();
        let granted = super::view::granted(app, session, &shown.server, &wanted);
        features.extend(
            wanted.iter().map(|it| Wanted { feature: spelt(*it).0, granted: granted.contains(it) }),
        );
    }
    let call = |act: views::Act| Call {
        seq: act.at,
        method: act.method,
        params: act.params,
        outcome: act.ending.map_or("interrupted", Ending::name),
        code: act.code,
    };
    let memory = memory.filter(|(_, memory)| !memory.is_empty());
    let (server, uri, page, changed) = shown.map_or((None, None, None, false), |it| {
        (Some(it.server), Some(it.uri), Some(it.page), it.changed)
    });
    Ok(View {
        tool_call_id: request.id,
        tool: request.name,
        server,
        uri,
        page,
        changed,
        verdict: verdict.map(|it| Verdict { verdict: it.name, detail: it.detail }),
        context: memory.map(|(at, it)| ContextShown::new(session, at, it)),
        live: live.is_some(),
        tools,
        features,
        calls: acts.into_iter().map(call).collect(),
        log: lines.into_iter().map(|it| Line { level: it.level, text: it.text }).collect(),
    })
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Wanting {
    /// Ways to a host, the best first, with commas: `ext-apps`, `openai`, `generic`.
    #[serde(default)]
    adapters: String,
    /// Origins of hosts to trust, with commas; without any, whoever frames the widget.
    #[serde(default)]
    trusted_origins: String,
}

/// The bridge for authors of widgets
///
/// A script that sets `window.FrontMcpBridge`, to be put into a widget's own page.
#[utoipa::path(get, path = "/api/widgets/bridge.js", tag = "mcp", params(Wanting),
    responses((status = 200, body = String, content_type = "text/javascript"),
        (status = 400, body = ErrorBody)))]
pub async fn bridge(
    Params(Wanting { adapters, trusted_origins }): Params<Wanting>,
) -> Result<Response, ApiError> {
    let list = |text: &str| -> Vec<String> {
        let named = text.split(',').map(str::trim).filter(|it| !it.is_empty());
        named.map(str::to_owned).collect()
    };
    let bridge = Bridge::new(list(&adapters), list(&trusted_origins));
    let script = bridge.map_err(ApiError::bad_request)?.script();
    Ok(([(header::CONTENT_TYPE, "text/javascript; charset=utf-8")], script).into_response())
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = AllowFeature)]
pub struct Allowing {
    server: String,
    /// `camera`, `microphone`, `geolocation` or `clipboardWrite`.
    #[schema(example = "clipboardWrite")]
    feature: String,
}

#[derive(Serialize, ToSchema)]
#[schema(as = FeatureAllowed)]
pub struct Allowed {
    ok: bool,
    /// The grant by which it can be taken back.
    #[schema(value_type = String)]
    grant: uuid::Uuid,
}

/// Let the widgets of a server use a feature of the browser
///
/// For good, until the grant is taken back, and for frames that are opened from now on.
#[utoipa::path(post, path = "/api/widgets/features", tag = "mcp", request_body = Allowing,
    responses((status = 200, body = Allowed), (status = 400, body = ErrorBody)))]
pub async fn allow(
    State(app): State<Arc<App>>,
    Json(Allowing { server, feature }): Json<Allowing>,
) -> Result<Reply<Allowed>, ApiError> {
    use Feature::{Camera, ClipboardWrite, Geolocation, Microphone};
    let all = [Camera, Microphone, Geolocation, ClipboardWrite];
    let found = all.into_iter().find(|it| spelt(*it).0 == feature);
    let found = found.ok_or_else(|| {
        let names = all.map(|it| spelt(it).0).join(", ");
        ApiError::bad_request(format!("no feature is called `{feature}`; there are: {names}"))
    })?;
    let clock = &app.host.ports.clock;
    let id = clock.id();
    let grant = Grant {
        id,
        tool: leave_for(found),
        caller: Caller::widget(server),
        session: None,
        schedule: None,
        pattern: None,
        expires: None,
        given: clock.now(),
    };
    app.host.approvals.grant(grant).await?;
    Ok(Reply(Allowed { ok: true, grant: id }))
}
