//! The past of a session over HTTP: its events a page at a time, the newest page first.

use std::{fmt::Write as _, sync::Arc};

use axum::{
    extract::State,
    http::header,
    response::{IntoResponse as _, Response},
};
use kernel::{
    back::Back,
    update::{Fact, Seq, SessionId},
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{
    say::{self, Line},
    sessions::known,
};
use crate::{
    App,
    error::{ApiError, ErrorBody},
    extract::{Params, SessionPath},
};

const FEW: usize = 200;
const MANY: usize = 1000;
/// How large a page may become before it is cut, whatever was asked for.
const BYTES: usize = 4 << 20;

#[derive(Deserialize, IntoParams)]
pub struct Which {
    /// Only what came before this; all when absent.
    before: Option<u64>,
    /// How many facts, 200 when absent. Fewer come if they are large.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<usize>,
}

/// Told to the description only: the frames are written elsewhere, once for all who want them.
#[derive(Serialize, ToSchema)]
pub struct EventPage {
    /// As they come over the socket, oldest first.
    #[schema(value_type = Vec<Object>)]
    frames: Vec<()>,
    /// What to pass for the page before this one; null when this is the first there is.
    #[schema(value_type = Option<u64>)]
    before: Option<Seq>,
    /// The newest place in the log: subscribe with it as `after` to go on from here.
    #[schema(value_type = u64)]
    last: Seq,
}

/// The events of a session, a page at a time
///
/// Without `before`, the newest. A page begins with a message where one is not far. Pieces of
/// text are not kept and do not appear; nor does what was taken back.
#[utoipa::path(get, path = "/api/sessions/{id}/events", tag = "sessions",
    params(SessionPath, Which),
    responses((status = 200, body = EventPage), (status = 400, body = ErrorBody),
        (status = 404, body = ErrorBody)))]
pub async fn events(
    State(app): State<Arc<App>>,
    SessionPath(text): SessionPath,
    Params(Which { before, limit }): Params<Which>,
) -> Result<Response, ApiError> {
    let id = known(&text)?;
    let state = app.host.roster.get(id).ok_or_else(|| ApiError::no_session(&text))?;
    let limit = limit.unwrap_or(FEW);
    if !(1..=MANY).contains(&limit) {
        let message = format!("limit must be from 1 to {MANY}, not {limit}");
        return Err(ApiError::bad_request(message));
    }
    let end = state.last.next();
    let before = before.map_or(end, |before| Seq(before).min(end));
    let page = Page::read(&app, id, before, limit).await?;
    let body = page.write(state.last);
    Ok(([(header::CONTENT_TYPE, "application/json")], body).into_response())
}

#[derive(Default)]
struct Page {
    /// Newest first.
    told: Vec<Told>,
    /// There are older ones.
    more: bool,
}

struct Told {
    /// Where to read on.
    before: Seq,
    /// Whether something begins here.
    begins: bool,
    lines: Vec<Line>,
}

impl Page {
    async fn read(
        app: &App,
        session: SessionId,
        before: Seq,
        limit: usize,
    ) -> Result<Self, ApiError> {
        let mut back = Back::from(app.host.ports.log.as_ref(), session, before);
        let (mut page, mut size) = (Self::default(), 0);
        while let Some(entry) = back.next().await? {
            let lines = say::past(session, &entry);
            if lines.is_empty() {
                continue;
            }
            size += lines.iter().map(|line| line.text.len()).sum::<usize>();
            if page.told.len() == limit || size > BYTES && !page.told.is_empty() {
                page.more = true;
                break;
            }
            let begins = matches!(entry.fact, Fact::Said { .. } | Fact::Rewound { .. });
            page.told.push(Told { before: back.place(), begins, lines });
        }
        page.begin_well();
        Ok(page)
    }

    /// Leaves what comes before a message to the page before this, if that is no more than half.
    fn begin_well(&mut self) {
        let first = self.told.iter().rposition(|told| told.begins);
        if let Some(first) = first.filter(|first| self.more && *first >= self.told.len() / 2) {
            self.told.truncate(first + 1);
        }
    }

    /// The frames go out as they are: they were written for the socket and are JSON already.
    fn write(&self, last: Seq) -> String {
        let frames = self.told.iter().rev().flat_map(|told| &told.lines);
        let frames: Vec<&str> = frames.map(|line| line.text.as_str()).collect();
        let oldest = self.told.last().filter(|_| self.more);
        let before = oldest.map_or_else(|| "null".to_owned(), |told| told.before.0.to_string());
        let mut body = format!(r#"{{"frames":[{}]"#, frames.join(","));
        // Cannot fail: it is a text that is written to.
        write!(body, r#","before":{before},"last":{}}}"#, last.0).ok();
        body
    }
}
