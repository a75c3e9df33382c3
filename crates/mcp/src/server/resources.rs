//! What can be read: sessions, what apps show, and the files of the workspace.

use rmcp::{
    ErrorData,
    model::{
        ListResourceTemplatesResult, ListResourcesResult, PaginatedRequestParams,
        ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
    },
};
use serde_json::json;

use super::{
    errands::{Card, cards, showing},
    files,
    house::House,
    pages::{After, PAGE},
    shown,
    transcript::Transcript,
};

/// The list of sessions.
pub const SESSIONS: &str = "megaron://sessions";

/// The address of a session.
pub fn address(session: &str) -> String {
    format!("{SESSIONS}/{session}")
}

/// The session that an address names.
pub fn session_at(uri: &str) -> Option<&str> {
    uri.strip_prefix(SESSIONS)?.strip_prefix('/')
}

pub async fn list(
    house: &House,
    params: Option<&PaginatedRequestParams>,
) -> Result<ListResourcesResult, ErrorData> {
    let after = After::read(params)?;
    let all = Resource::new(SESSIONS, "sessions")
        .with_title("Sessions")
        .with_description("Every session and how it stands.")
        .with_mime_type("application/json");
    let mut sorted = vec![("0".to_owned(), all), ("00".to_owned(), showing::resource())];
    // Under the same sign as the list, and behind it.
    let states = shown::resources(house).into_iter();
    sorted.extend(states.map(|state| (format!("0{}", state.uri), state)));
    sorted.sort_by(|one, other| one.0.cmp(&other.0));
    let mut sessions = house.host.roster.all();
    sessions.sort_by_key(|(id, _)| std::cmp::Reverse(*id));
    for (id, state) in sessions {
        let card = Card::of(id, &state);
        let resource = Resource::new(address(&card.session_id), card.session_id.clone())
            .with_title(card.title())
            .with_description(format!("What was said in a session that works in {}.", card.cwd))
            .with_mime_type("text/markdown");
        // Ids grow with time, and the newest should come first.
        sorted.push((format!("1{:032x}", !id.0.as_u128()), resource));
    }
    // Looking for files takes time, and is in vain if there is no room for them.
    if sorted.iter().filter(|(key, _)| after.covers(key)).count() <= PAGE {
        let files = files::list(house.host.ports.workspace.clone()).await;
        sorted.extend(files.into_iter().map(|(path, file)| (format!("2{path}"), file)));
    }
    let (page, next) = after.page(sorted);
    let mut result = ListResourcesResult::with_all_items(page);
    result.next_cursor = next;
    Ok(result)
}

pub fn templates(house: &House) -> ListResourceTemplatesResult {
    let mut templates = vec![
        ResourceTemplate::new(address("{id}"), "session")
            .with_title("A session")
            .with_description("What was said in a session, for people and for programs.")
            .with_mime_type("text/markdown"),
    ];
    templates.push(
        ResourceTemplate::new("yaar://{monitor}/{window}/state/{+key}", "app-state")
            .with_title("A state of an app")
            .with_description("What the app in a window shows, while somebody has it open.")
            .with_mime_type("application/json"),
    );
    if let Some(root) = files::address(&house.host.ports.workspace, "".as_ref()) {
        let file =
            ResourceTemplate::new(format!("{}/{{+path}}", root.trim_end_matches('/')), "file");
        let file = file.with_title("A file").with_description("A file of the workspace.");
        templates.push(file);
    }
    ListResourceTemplatesResult::with_all_items(templates)
}

pub async fn read(house: &House, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let internal =
        |error: &dyn std::fmt::Display| ErrorData::internal_error(error.to_string(), None);
    if uri == SESSIONS {
        let list = json!({ "sessions": cards(house) }).to_string();
        let list = ResourceContents::text(list, uri).with_mime_type("application/json");
        return Ok(ReadResourceResult::new(vec![list]));
    }
    if let Some(session) = session_at(uri) {
        let (id, state) = house.session(session).map_err(|_| not_found(uri))?;
        let card = Card::of(id, &state);
        let transcript = Transcript::read(&house.host, id).await;
        let transcript = transcript.map_err(|error| internal(&error))?;
        let markdown = transcript.markdown(card.title());
        let data = json!({ "session": card, "transcript": transcript }).to_string();
        return Ok(ReadResourceResult::new(vec![
            ResourceContents::text(markdown, uri).with_mime_type("text/markdown"),
            ResourceContents::text(data, uri).with_mime_type("application/json"),
        ]));
    }
    if let Some(place) = shown::place(house, uri) {
        return Ok(ReadResourceResult::new(vec![shown::read(house, place, uri).await?]));
    }
    match files::read(house.host.ports.workspace.clone(), uri.to_owned()).await {
        Some(Ok(contents)) => Ok(ReadResourceResult::new(vec![contents])),
        Some(Err(error)) => Err(internal(&error)),
        None => Err(not_found(uri)),
    }
}

fn not_found(uri: &str) -> ErrorData {
    ErrorData::resource_not_found("Resource not found", Some(json!({ "uri": uri })))
}
