//! Looking at sessions, making them, and stopping them.

use kernel::{approvals::Mode, question::About, state::State, update::SessionId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Done, Errand, Visit};
use crate::server::{
    house::{House, Wish},
    transcript,
};

const USUAL_LIMIT: usize = 50;
const MOST: usize = 200;
const NAME_CHARS: usize = 200;

/// What a session may do without asking the person.
#[derive(Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ModeName {
    /// Look around; it asks before it changes anything.
    Ask,
    /// Also edit files in its folder, and run programs that are locked in there.
    AutoSafe,
    /// Whatever it thinks right.
    Full,
}

impl From<ModeName> for Mode {
    fn from(name: ModeName) -> Self {
        match name {
            ModeName::Ask => Self::Ask,
            ModeName::AutoSafe => Self::AutoSafe,
            ModeName::Full => Self::Full,
        }
    }
}

impl From<Mode> for ModeName {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Ask => Self::Ask,
            Mode::AutoSafe => Self::AutoSafe,
            Mode::Full => Self::Full,
        }
    }
}

/// A session in short.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Card {
    pub session_id: String,
    pub name: String,
    /// The beginning of what was said first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    pub cwd: String,
    pub model: String,
    /// Whether it is answering.
    pub busy: bool,
    /// How many messages wait to be answered.
    pub waiting: usize,
    /// How much it has asked the person and not been told.
    pub open_questions: usize,
    pub updated_at: String,
}

impl Card {
    pub fn of(id: SessionId, state: &State) -> Self {
        Self {
            session_id: id.to_string(),
            name: state.name.clone(),
            summary: state.summary.clone(),
            cwd: state.cwd.clone(),
            model: state.model.clone(),
            busy: state.is_busy(),
            waiting: state.queue.len(),
            open_questions: state.questions.len(),
            updated_at: state.updated_at.to_string(),
        }
    }

    /// What to call it, for a person.
    pub fn title(&self) -> &str {
        let summary = self.summary.as_deref().unwrap_or("A new session");
        if self.name.is_empty() { summary } else { &self.name }
    }
}

/// Every session, the one that was last busy first.
pub fn cards(house: &House) -> Vec<Card> {
    let mut all = house.host.roster.all();
    all.sort_by_key(|(id, state)| std::cmp::Reverse((state.updated_at, *id)));
    all.iter().map(|(id, state)| Card::of(*id, state)).collect()
}

/// Lists the sessions, the one that was last busy first.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListSessionsInput {
    /// How many at most, from 1 to 200; 50 if absent.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<usize>,
}

#[derive(Serialize, JsonSchema)]
pub struct Listed {
    sessions: Vec<Card>,
    /// How many there are in all.
    total: usize,
}

pub struct ListSessions;

impl Errand for ListSessions {
    type Input = ListSessionsInput;
    type Output = Listed;
    const NAME: &'static str = "list_sessions";
    const TITLE: &'static str = "List sessions";
    const READS: bool = true;

    async fn run(input: ListSessionsInput, visit: &mut Visit<'_>) -> Result<Done<Listed>, String> {
        let limit = input.limit.unwrap_or(USUAL_LIMIT);
        if !(1..=MOST).contains(&limit) {
            return Err(format!("`limit` must be from 1 to {MOST}, and is {limit}"));
        }
        let mut sessions = cards(visit.house);
        let total = sessions.len();
        sessions.truncate(limit);
        Ok(Listed { sessions, total }.into())
    }
}

/// Makes a new session, in which an agent can then be asked.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateSessionInput {
    /// What to call it.
    name: Option<String>,
    /// Its folder, absolute or within the workspace; the workspace if absent.
    cwd: Option<String>,
    /// The model that answers; the default if absent.
    model: Option<String>,
    /// What it may do without asking the person; no more than is usual here.
    mode: Option<ModeName>,
}

pub struct CreateSession;

impl Errand for CreateSession {
    type Input = CreateSessionInput;
    type Output = Card;
    const NAME: &'static str = "create_session";
    const TITLE: &'static str = "Create a session";
    const READS: bool = false;

    async fn run(input: CreateSessionInput, visit: &mut Visit<'_>) -> Result<Done<Card>, String> {
        let CreateSessionInput { name, cwd, model, mode } = input;
        let name = name.unwrap_or_default();
        if name.chars().count() > NAME_CHARS {
            return Err(format!("`name` must have at most {NAME_CHARS} characters"));
        }
        let wish = Wish { name, cwd, model, mode: mode.map(Into::into) };
        let id = visit.house.create(wish).await?;
        let (id, state) = visit.house.session(&id.to_string())?;
        Ok(Card::of(id, &state).into())
    }
}

/// Tells how a session stands: what it is doing, what its agent said last, and what it has asked the
/// person. Questions are answered by the person, not from here.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GetSessionInput {
    session_id: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Detailed {
    #[serde(flatten)]
    card: Card,
    mode: ModeName,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_answer: Option<String>,
    /// Oldest first.
    questions: Vec<Open>,
}

/// Something that only the person can say.
#[derive(Serialize, JsonSchema)]
pub struct Open {
    id: String,
    /// The tool that wants to be run, or wants to know.
    tool: String,
    title: String,
    /// What is asked, or why it is.
    why: String,
    since: String,
    /// Unanswered by then, it counts as denied.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires: Option<String>,
}

pub struct GetSession;

impl Errand for GetSession {
    type Input = GetSessionInput;
    type Output = Detailed;
    const NAME: &'static str = "get_session";
    const TITLE: &'static str = "Look at a session";
    const READS: bool = true;

    async fn run(input: GetSessionInput, visit: &mut Visit<'_>) -> Result<Done<Detailed>, String> {
        Ok(detailed(visit.house, &input.session_id).await?.into())
    }
}

pub async fn detailed(house: &House, session: &str) -> Result<Detailed, String> {
    let (id, state) = house.session(session)?;
    let last_answer = transcript::last_answer(&house.host, id).await;
    let waiting = house.host.questions().await.map_err(|error| error.to_string())?;
    let questions = waiting.into_iter().filter(|it| it.session == id).map(|it| {
        let why = match it.question.about {
            About::Leave { why, .. } => why,
            About::Choice { text, .. } | About::Form { text, .. } | About::Visit { text, .. } => {
                text
            }
        };
        Open {
            id: it.question.id.to_string(),
            tool: it.question.tool,
            title: it.question.title,
            why,
            since: it.since.to_string(),
            expires: it.question.expires.map(|end| end.to_string()),
        }
    });
    Ok(Detailed {
        card: Card::of(id, &state),
        mode: house.host.approvals.mode(&state).into(),
        last_answer: last_answer.map_err(|error| error.to_string())?,
        questions: questions.collect(),
    })
}

/// Stops what a session is doing. What was said so far is kept.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CancelSessionInput {
    session_id: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cancelled {
    session_id: String,
    /// Whether there was something to stop.
    cancelled: bool,
}

pub struct CancelSession;

impl Errand for CancelSession {
    type Input = CancelSessionInput;
    type Output = Cancelled;
    const NAME: &'static str = "cancel_session";
    const TITLE: &'static str = "Stop a session";
    const READS: bool = false;

    async fn run(
        input: CancelSessionInput,
        visit: &mut Visit<'_>,
    ) -> Result<Done<Cancelled>, String> {
        let (id, _) = visit.house.session(&input.session_id)?;
        let cancelled = visit.house.host.cancel(id).await.map_err(|error| error.to_string())?;
        Ok(Cancelled { session_id: input.session_id, cancelled }.into())
    }
}
