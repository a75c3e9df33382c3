//! Which tools show their results in widgets.

use std::sync::Arc;

use axum::{Json as Reply, extract::State};
use serde::Serialize;
use utoipa::ToSchema;

use crate::App;

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
