//! Widgets in frames: what a server shows beside the results of its tools.

mod context;
pub mod routes;
mod site;
mod view;

use std::sync::Arc;

use kernel::{
    back::{Back, END},
    servers::ServerTool,
    update::{Fact, Output, SessionId, ToolRequest},
};

use crate::{App, error::ApiError};
pub use view::View;

pub const KIND: &str = "widget";

/// A call whose result has come, and where the widget is that shows it.
struct Shown {
    request: ToolRequest,
    output: Output,
    server: String,
    tool: ServerTool,
}

/// The widget of a call in a session, for a frame of its own.
pub async fn open(
    app: &Arc<App>,
    call: &str,
    session: Option<SessionId>,
    around: &view::Around<'_>,
) -> Result<View, ApiError> {
    let session = session.ok_or_else(|| {
        ApiError::bad_request(
            "sessionId is required for widgets: each belongs to a call in a session",
        )
    })?;
    let shown = find(app, session, call).await?;
    let (server, tool) = (shown.server.clone(), shown.tool.name.clone());
    let page = app.servers.widget(server, tool).await;
    let page = page.map_err(|no| ApiError::conflict(format!("{}: {no}", no.name())))?;
    Ok(View::new(app, session, &shown, page, around))
}

async fn find(app: &App, session: SessionId, call: &str) -> Result<Shown, ApiError> {
    let (request, output) = recall(app, session, call).await?;
    let output = output.ok_or_else(|| ApiError::conflict("the call has not returned yet"))?;
    let servers = app.servers.list();
    let found = servers.into_iter().find_map(|server| {
        let mut tools = server.tools.into_iter();
        let tool = tools.find(|tool| tool.offered.as_ref() == Some(&request.name))?;
        Some((server.name, tool))
    });
    let (server, tool) = found.ok_or_else(|| {
        let name = &request.name;
        ApiError::conflict(format!("no-meta: no server lends a tool named `{name}` any more"))
    })?;
    Ok(Shown { request, output, server, tool })
}

/// What was asked for in a call, and what came of it if something has.
async fn recall(
    app: &App,
    session: SessionId,
    call: &str,
) -> Result<(ToolRequest, Option<Output>), ApiError> {
    let mut back = Back::from(app.host.ports.log.as_ref(), session, END);
    let mut output = None;
    while let Some(entry) = back.next().await? {
        match entry.fact {
            Fact::ToolReturned { call: of, output: its } if of == call => output = Some(its),
            Fact::Answered(answer) => {
                let asked = answer.calls.into_iter().find(|request| request.id == call);
                if let Some(request) = asked {
                    return Ok((request, output));
                }
            }
            _ => (),
        }
    }
    Err(ApiError::not_found(format!("there is no call `{call}` in this session")))
}
