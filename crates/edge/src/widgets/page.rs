//! The page of a view: the one that is kept, or the one that its server sends now, which is kept then.

use kernel::{
    update::SessionId,
    views::{
        View,
        fact::{Shown, WidgetFact},
        pages::Pages,
    },
    widget::{NoWidget, WidgetPage},
};

use super::{Subject, lender};
use crate::{App, error::ApiError};

/// A page, and whose it is.
pub struct Found {
    pub server: String,
    /// As its server calls it.
    pub tool: String,
    pub page: WidgetPage,
}

pub async fn of(app: &App, session: SessionId, subject: &Subject) -> Result<Found, ApiError> {
    if let Subject::Call(view) = subject
        && let Some(Shown { server, tool, page: digest, .. }) = &view.shown
        && let Some(page) = pages(app).get(digest).await?
    {
        return Ok(Found { server: server.clone(), tool: tool.clone(), page });
    }
    let fetched = fetch(app, subject.tool()).await;
    match (fetched, subject) {
        (Ok(page), Subject::Call(view)) => {
            keep(app, session, &view.request.id, &page).await?;
            Ok(page)
        }
        // The call itself notes it.
        (Ok(page), Subject::Written { .. }) => Ok(page),
        (Err(no), subject) => {
            if let Subject::Call(view) = subject {
                judge(app, session, view, &no).await?;
            }
            Err(ApiError::conflict(format!("{}: {no}", no.name())))
        }
    }
}

fn pages(app: &App) -> Pages {
    Pages::new(app.host.ports.catalog.clone())
}

async fn fetch(app: &App, offered: &str) -> Result<Found, NoWidget> {
    let (server, tool) = lender(app, offered).ok_or_else(|| NoWidget::NotLent(offered.into()))?;
    let page = app.servers.widget(server.clone(), tool.name.clone()).await?;
    Ok(Found { server, tool: tool.name, page })
}

async fn keep(app: &App, session: SessionId, call: &str, page: &Found) -> Result<(), ApiError> {
    let kept = pages(app).keep((session, call), &page.server, &page.page).await?;
    let shown = Shown {
        call: call.to_owned(),
        server: page.server.clone(),
        tool: page.tool.clone(),
        uri: page.page.uri.clone(),
        page: kept.digest,
        changed: kept.changed,
    };
    app.host.note_widgets(session, vec![WidgetFact::Shown(shown)]).await?;
    Ok(())
}

/// Writes down why there is none, unless that is known.
async fn judge(app: &App, session: SessionId, view: &View, no: &NoWidget) -> Result<(), ApiError> {
    let (verdict, detail) = (no.name(), no.to_string());
    let known = view.verdict.as_ref();
    if known.is_some_and(|known| known.name == verdict && known.detail == detail) {
        return Ok(());
    }
    let (call, verdict) = (view.request.id.clone(), verdict.to_owned());
    let fact = WidgetFact::Judged { call, verdict, detail, told: false };
    app.host.note_widgets(session, vec![fact]).await?;
    Ok(())
}
