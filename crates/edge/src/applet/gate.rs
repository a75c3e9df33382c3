//! Where applets and apps ask for something: for applets the same answers as at the front door, as far as they may have them.

use std::sync::Arc;

use axum::{
    Router,
    body::Body,
    extract::{FromRequest as _, Request},
    http::{HeaderValue, Method, StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use serde_json::{Map, Value, json};
use tower::ServiceExt as _;
use utoipa_axum::routes;

use super::{
    capability::Capability,
    table::{self, Need, Way},
};
use crate::{
    App, cabinet, caco,
    error::ApiError,
    extract::{Json, LARGE},
    files::{self, Reach},
    frames::capability::Capability as Who,
    shell,
};

/// What a client without a name is called; applets are told apart by their tickets.
const CLIENT: &str = "applet";

pub struct Gate {
    app: Arc<App>,
    routes: Router,
}

impl Gate {
    pub fn new(app: Arc<App>) -> Self {
        let routes = caco::routes().merge(files::routes()).routes(routes!(shell::post));
        let routes = routes.merge(cabinet::launch::routes());
        let (routes, _) = routes.split_for_parts();
        let routes = routes.fallback(unknown).method_not_allowed_fallback(unknown);
        Self { routes: routes.with_state(app.clone()), app }
    }

    /// `path` is what was asked for under the ticket, as it was written.
    pub async fn answer(&self, capability: &Who, path: &str, request: Request) -> Response {
        let answered = match capability {
            _ if request.method() == Method::OPTIONS => Ok(allowed()),
            Who::Applet(capability) => self.find(capability, path, request).await,
            Who::App(lease) => cabinet::gate::find(&self.app, lease, path, request).await,
        };
        let mut answer = answered.unwrap_or_else(IntoResponse::into_response);
        // Should it be looked at as a document, it is nothing but a document.
        let policy = HeaderValue::from_static("default-src 'none'; sandbox");
        let headers = answer.headers_mut();
        headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(policy);
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("*"));
        answer
    }

    async fn find(
        &self,
        capability: &Arc<Capability>,
        path: &str,
        request: Request,
    ) -> Result<Response, ApiError> {
        let session = capability.session().map(|session| session.to_string());
        let line = format!("{} {path}", request.method());
        let Some((need, way)) = table::find(request.method(), path, session.as_deref()) else {
            return Err(ApiError::forbidden(format!("An applet may not use {line}")));
        };
        match need {
            Need::Nothing | Need::OwnSession => (),
            Need::Leave(permission) => capability.ask(permission, &line).await?,
        }
        let query = request.uri().query().map(str::to_owned);
        match way {
            Way::Plain => self.pass(capability, path, query, request).await,
            Way::OwnState => {
                let own = session.map(|session| format!("&sessionId={session}"));
                let query = format!("slug={}{}", capability.slug, own.unwrap_or_default());
                self.pass(capability, path, Some(query), request).await
            }
            Way::OwnMessage => {
                let Json(body) =
                    Json::<Map<String, Value>, LARGE>::from_request(request, &()).await?;
                let request = posted(&own_message(body, &capability.slug));
                self.pass(capability, path, None, request).await
            }
            Way::OwnSession => {
                let Json(mut body) =
                    Json::<Map<String, Value>, LARGE>::from_request(request, &()).await?;
                body.insert("session".to_owned(), session.into());
                self.pass(capability, path, None, posted(&body.into())).await
            }
            Way::Parts => {
                let slug = path.split('/').nth(3).unwrap_or_default();
                Ok(axum::Json(caco::applets::read(&self.app, slug).await?).into_response())
            }
        }
    }

    async fn pass(
        &self,
        capability: &Arc<Capability>,
        path: &str,
        query: Option<String>,
        mut request: Request,
    ) -> Result<Response, ApiError> {
        let uri = query.map_or_else(|| path.to_owned(), |query| format!("{path}?{query}"));
        let uri: Uri = uri.parse().map_err(|_| ApiError::bad_request("Invalid path"))?;
        *request.uri_mut() = uri;
        let headers = request.headers_mut();
        for foreign in [header::AUTHORIZATION, header::COOKIE, header::ORIGIN] {
            headers.remove(foreign);
        }
        headers.insert("x-client-id", HeaderValue::from_static(CLIENT));
        request.extensions_mut().insert(capability.clone());
        request.extensions_mut().insert(Reach::Allowed);
        // It has no error of its own.
        Ok(self.routes.clone().oneshot(request).await.unwrap_or_else(|never| match never {}))
    }
}

async fn unknown(request: Request) -> ApiError {
    ApiError::not_found(format!("Not found: {} {}", request.method(), request.uri().path()))
}

/// A frame is of no origin, so browsers ask first.
fn allowed() -> Response {
    let headers = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, HEAD, POST, PUT, PATCH, DELETE"),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, "*, Content-Type, X-Iframe-Token"),
        (header::ACCESS_CONTROL_MAX_AGE, "7200"),
    ];
    (StatusCode::NO_CONTENT, headers).into_response()
}

fn posted(body: &Value) -> Request {
    let mut request = Request::new(Body::from(body.to_string()));
    *request.method_mut() = Method::POST;
    let kind = HeaderValue::from_static("application/json");
    request.headers_mut().insert(header::CONTENT_TYPE, kind);
    request
}

/// Whatever it says of itself, it is this applet that speaks.
fn own_message(mut body: Map<String, Value>, slug: &str) -> Value {
    let said = ["prompt", "imageData", "appletState", "appletNavigation", "queue"];
    body.retain(|name, _| said.contains(&name.as_str()));
    body.insert("source".to_owned(), json!("applet"));
    body.insert("appletSlug".to_owned(), json!(slug));
    Value::Object(body)
}
