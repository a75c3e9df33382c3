//! Questions of a server to the person, put in the session whose call it works on.

use kernel::{
    question::{About, Question, Verdict},
    session::Session,
};
use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction};
use uuid::Uuid;

use super::{calls::Running, guest::Guest, logbook::cut, schema::Schema};

/// How often an answer that does not fit is asked for again.
const ATTEMPTS: usize = 5;
const LONGEST_TEXT: usize = 4000;

pub async fn answer(guest: &Guest, running: &Running, params: ElicitRequestParams) -> ElicitResult {
    match params {
        ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } => {
            let schema = serde_json::to_value(requested_schema).unwrap_or_default();
            match Schema::read(schema) {
                Ok(schema) => form(guest, running, &message, &schema).await,
                Err(wrong) => refuse(guest, &format!("a form cannot be shown: {wrong}")),
            }
        }
        ElicitRequestParams::UrlElicitationParams { message, url, .. } => {
            visit(guest, running, &message, url).await
        }
        _ => refuse(guest, "a question of a kind that is not known here"),
    }
}

async fn form(guest: &Guest, running: &Running, message: &str, schema: &Schema) -> ElicitResult {
    let asked = cut(message, LONGEST_TEXT).to_owned();
    let mut text = asked.clone();
    for _ in 0..ATTEMPTS {
        let about = About::Form { text, schema: schema.value.clone() };
        match guest.put(running, running.tool.clone(), title(guest), about).await {
            Some(Verdict::Answered { value }) => match schema.check(&value) {
                Ok(()) => return ElicitResult::new(ElicitationAction::Accept).with_content(value),
                Err(wrong) => text = format!("{asked}\n\nThe last answer did not fit: {wrong}"),
            },
            verdict => return without_answer(verdict.as_ref()),
        }
    }
    ElicitResult::new(ElicitationAction::Cancel)
}

async fn visit(guest: &Guest, running: &Running, message: &str, url: String) -> ElicitResult {
    if !url::Url::parse(&url).is_ok_and(|url| matches!(url.scheme(), "https" | "http")) {
        return refuse(guest, "it wants an address visited that is not one of the web");
    }
    let about = About::Visit { text: cut(message, LONGEST_TEXT).to_owned(), url };
    match guest.put(running, running.tool.clone(), title(guest), about).await {
        Some(Verdict::Answered { .. }) => ElicitResult::new(ElicitationAction::Accept),
        verdict => without_answer(verdict.as_ref()),
    }
}

fn without_answer(verdict: Option<&Verdict>) -> ElicitResult {
    ElicitResult::new(match verdict {
        Some(Verdict::Denied { .. }) => ElicitationAction::Decline,
        _ => ElicitationAction::Cancel,
    })
}

fn refuse(guest: &Guest, why: &str) -> ElicitResult {
    guest.log.note(&format!("declined for the person: {why}"));
    ElicitResult::new(ElicitationAction::Decline)
}

fn title(guest: &Guest) -> String {
    format!("{} has a question", guest.server)
}

/// Asks, and takes the question back should nobody wait for the answer any more.
pub async fn put(session: &Session, question: Question) -> Option<Verdict> {
    let mut open = Open { session: session.clone(), id: Some(question.id) };
    let verdict = session.put(question).await;
    open.id = None;
    verdict
}

struct Open {
    session: Session,
    id: Option<Uuid>,
}

impl Drop for Open {
    fn drop(&mut self) {
        let (Some(id), Ok(runtime)) = (self.id, tokio::runtime::Handle::try_current()) else {
            return;
        };
        let session = self.session.clone();
        runtime.spawn(async move {
            // Unsettled, it would only expire.
            session.settle(id, Verdict::Withdrawn, "whoever asked").await.ok();
        });
    }
}
