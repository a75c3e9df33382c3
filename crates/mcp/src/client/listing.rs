//! The tools of a server as it lists them: bounded, and with schemas that work.

use std::{sync::Arc, time::Duration};

use rmcp::{
    RoleClient,
    model::{ClientRequest, ListToolsRequest, PaginatedRequestParams, ServerResult, Tool},
    service::{Peer, ServiceError},
};
use serde_json::Value;
use tokio::time::timeout;

use super::{link, logbook::cut, schema::Schema, widget::Shows};

pub const LISTING: Duration = Duration::from_secs(30);
const MOST_PAGES: usize = 64;
const MOST_TOOLS: usize = 512;
const LONGEST_NAME: usize = 128;
const LONGEST_DESCRIPTION: usize = 4000;

/// A tool as it can be used.
pub struct Listed {
    pub name: String,
    pub title: Option<String>,
    pub description: String,
    pub schema: Schema,
    /// What its server says; whether that counts is decided elsewhere.
    pub only_reads: bool,
    pub shows: Shows,
    pub warning: Option<String>,
    /// As it came.
    pub raw: Tool,
}

/// Why a list did not come.
pub enum ListError {
    /// Somebody has to sign in; with what the server said of how.
    SignIn(String),
    /// The server is not there any more.
    Lost(String),
    Failed(String),
}

impl ListError {
    pub fn reason(self) -> String {
        match self {
            Self::SignIn(_) => "it wants a sign-in".into(),
            Self::Lost(reason) | Self::Failed(reason) => reason,
        }
    }
}

/// All that a server has, or why that cannot be known.
pub async fn fetch(peer: Peer<RoleClient>) -> Result<Vec<Arc<Listed>>, ListError> {
    match timeout(LISTING, all(&peer)).await {
        Ok(Ok(tools)) => Ok(tools.into_iter().map(|tool| Arc::new(read(tool))).collect()),
        Ok(Err(ServiceError::TransportSend(error))) => {
            let error = error.error.as_ref();
            Err(match link::challenge(error) {
                Some(challenge) => ListError::SignIn(challenge),
                None => ListError::Lost(link::whole(error)),
            })
        }
        Ok(Err(error)) => Err(ListError::Failed(format!("its tools cannot be listed: {error}"))),
        Err(_) => {
            let seconds = LISTING.as_secs();
            Err(ListError::Failed(format!("it did not list its tools for {seconds} seconds")))
        }
    }
}

async fn all(peer: &Peer<RoleClient>) -> Result<Vec<Tool>, ServiceError> {
    if peer.peer_info().is_some_and(|info| info.capabilities.tools.is_none()) {
        return Ok(Vec::new());
    }
    let (mut tools, mut cursor) = (Vec::new(), None);
    for _ in 0..MOST_PAGES {
        let mut params = PaginatedRequestParams::default();
        params.cursor = cursor;
        // Not by the method that remembers: what is listed anew is to be new.
        let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params));
        let ServerResult::ListToolsResult(page) = peer.send_request(request).await? else {
            return Err(ServiceError::UnexpectedResponse);
        };
        tools.extend(page.tools);
        cursor = page.next_cursor;
        if cursor.is_none() || tools.len() >= MOST_TOOLS {
            break;
        }
    }
    tools.retain(|tool| !tool.name.is_empty() && tool.name.len() <= LONGEST_NAME);
    tools.truncate(MOST_TOOLS);
    tools.sort_by(|a, b| a.name.cmp(&b.name));
    tools.dedup_by(|a, b| a.name == b.name);
    Ok(tools)
}

pub fn read(raw: Tool) -> Listed {
    let (schema, warning) = match Schema::read(Value::Object((*raw.input_schema).clone())) {
        Ok(schema) => (schema, None),
        Err(wrong) => (Schema::open(), Some(format!("{wrong}; its arguments are not checked"))),
    };
    let shows = Shows::of(&raw);
    let bad = shows.uri.as_ref().and_then(|_| shows.place().err()).map(|bad| bad.to_string());
    let warning =
        [warning, bad].into_iter().flatten().reduce(|one, other| format!("{one}; {other}"));
    let annotations = raw.annotations.as_ref();
    let title = raw.title.clone().or_else(|| annotations.and_then(|it| it.title.clone()));
    Listed {
        name: raw.name.to_string(),
        title: title.map(|it| cut(&it, LONGEST_NAME).to_owned()),
        description: cut(raw.description.as_deref().unwrap_or_default(), LONGEST_DESCRIPTION)
            .to_owned(),
        schema,
        only_reads: annotations.is_some_and(|it| it.read_only_hint == Some(true)),
        shows,
        warning,
        raw,
    }
}
