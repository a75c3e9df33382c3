//! Fetching the page of a widget while its call runs, so that both are there together.

use std::time::Duration;

use tokio::{task::JoinHandle, time::timeout};

use super::{
    fact::{Shown, WidgetFact, not_shown},
    pages::Pages,
};
use crate::{
    ports::Ports,
    session::Session,
    toolbox::{Reply, ToolError},
    widget::{NoWidget, Widget},
};

/// For so long a result waits for its widget, so that the model hears at once of one that is missing.
const WAIT: Duration = Duration::from_secs(5);

/// A page on its way.
pub(crate) struct Showing {
    session: Session,
    call: String,
    fetching: JoinHandle<Option<NoWidget>>,
}

impl Showing {
    pub fn begin(ports: &Ports, session: &Session, call: &str, widget: Widget) -> Self {
        let pages = Pages::new(ports.catalog.clone());
        let (session, call) = (session.clone(), call.to_owned());
        let fetching = tokio::spawn(fetch(pages, session.clone(), call.clone(), widget));
        Self { session, call, fetching }
    }

    /// The reply, with a word on the widget if there is none. One that takes longer is told of by
    /// itself.
    pub async fn beside(mut self, reply: Result<Reply, ToolError>) -> Result<Reply, ToolError> {
        let missing = match timeout(WAIT, &mut self.fetching).await {
            Ok(Ok(None)) => return reply,
            Ok(Ok(Some(missing))) => missing,
            Ok(Err(_)) => NoWidget::ReadFailed("reading it broke down".into()),
            Err(_) => {
                tokio::spawn(async move {
                    if let Ok(Some(missing)) = self.fetching.await {
                        judge(&self.session, &self.call, &missing, false).await;
                    }
                });
                return reply;
            }
        };
        let told = reply.is_ok();
        judge(&self.session, &self.call, &missing, told).await;
        let mut reply = reply?;
        reply.text += "\n";
        reply.text += &not_shown(missing.name(), &missing.to_string());
        Ok(reply)
    }
}

async fn judge(session: &Session, call: &str, missing: &NoWidget, told: bool) {
    let (call, verdict) = (call.to_owned(), missing.name().to_owned());
    note(session, WidgetFact::Judged { call, verdict, detail: missing.to_string(), told }).await;
}

async fn fetch(
    pages: Pages,
    session: Session,
    call: String,
    Widget { server, tool, page }: Widget,
) -> Option<NoWidget> {
    let page = match page.await {
        Ok(page) => page,
        Err(missing) => return Some(missing),
    };
    match pages.keep((session.id(), &call), &server, &page).await {
        Ok(kept) => {
            let (uri, changed) = (page.uri, kept.changed);
            let shown = Shown { call, server, tool, uri, page: kept.digest, changed };
            note(&session, WidgetFact::Shown(shown)).await;
        }
        // It is asked for again when somebody wants to see it.
        Err(error) => tracing::warn!(%error, "cannot keep the page of a widget"),
    }
    None
}

async fn note(session: &Session, fact: WidgetFact) {
    match session.note_widgets(vec![fact]).await {
        // A session that is closed is not looked at; whoever opens the widget then notes it.
        Ok(Ok(_)) | Err(_) => (),
        Ok(Err(error)) => tracing::warn!(%error, "cannot record what became of a widget"),
    }
}
