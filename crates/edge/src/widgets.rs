//! Widgets in frames: what a server shows beside the results of its tools.

mod context;
mod follow;
mod keepsake;
mod leave;
pub mod live;
mod mind;
mod page;
pub mod routes;
mod scribe;
mod site;
mod stage;
mod view;
mod wishes;

use std::{collections::BTreeMap, sync::Arc};

use kernel::{
    servers::ServerTool,
    update::{Fact, Seq, SessionId},
    views::{self, states::States, writing::Written},
};

use crate::{App, error::ApiError};
pub use view::View;

pub const KIND: &str = "widget";

/// What the page says of itself when it asks for a widget.
pub type Around = BTreeMap<String, String>;

/// What a view is to show.
enum Subject {
    /// A call that was asked for, and perhaps has returned.
    Call(Box<views::View>),
    /// One that the model is still writing.
    Written { place: (Seq, usize), written: Written },
}

impl Subject {
    /// The tool, as it is called here.
    fn tool(&self) -> &str {
        match self {
            Self::Call(view) => &view.request.name,
            Self::Written { written, .. } => &written.name,
        }
    }
}

/// The widget of a call in a session, for a frame of its own.
pub async fn open(
    app: &Arc<App>,
    id: &str,
    session: Option<SessionId>,
    around: &Around,
) -> Result<View, ApiError> {
    let session = session.ok_or_else(|| {
        ApiError::bad_request(
            "sessionId is required for widgets: each belongs to a call in a session",
        )
    })?;
    let subject = find(app, session, id).await?;
    let page = page::of(app, session, &subject).await?;
    let kept = match &subject {
        Subject::Call(view) => {
            let states = States::new(app.host.ports.catalog.clone());
            states.get(session, &view.request.id).await?
        }
        Subject::Written { .. } => None,
    };
    View::new(app, session, subject, (page, kept), around)
}

async fn find(app: &App, session: SessionId, id: &str) -> Result<Subject, ApiError> {
    let Some(place) = place(id) else { return called(app, session, id).await };
    let (step, index) = place;
    if let Some(written) = app.host.roster.writing.get((session, step, index)) {
        return Ok(Subject::Written { place, written });
    }
    // It was written to the end meanwhile.
    let after = app.host.ports.log.read(session, step, 16).await?;
    let call = after.into_iter().find_map(|entry| match entry.fact {
        Fact::Answered(answer) if answer.step == step => answer.calls.into_iter().nth(index),
        _ => None,
    });
    called(app, session, call.as_ref().map_or(id, |call| &call.id)).await
}

async fn called(app: &App, session: SessionId, call: &str) -> Result<Subject, ApiError> {
    let view = views::View::find(app.host.ports.log.as_ref(), session, call).await?;
    let unknown = || ApiError::not_found(format!("there is no call `{call}` in this session"));
    Ok(Subject::Call(Box::new(view.ok_or_else(unknown)?)))
}

/// A call that is being written: its step, and its place there.
fn place(id: &str) -> Option<(Seq, usize)> {
    let (step, index) = id.split_once(':')?;
    Some((Seq(step.parse().ok()?), index.parse().ok()?))
}

/// The server that lends a tool, and the tool as it is there.
fn lender(app: &App, offered: &str) -> Option<(String, ServerTool)> {
    app.servers.list().into_iter().find_map(|server| {
        let mut tools = server.tools.into_iter();
        let tool = tools.find(|tool| tool.offered.as_deref() == Some(offered))?;
        Some((server.name, tool))
    })
}
