//! Ready-made requests: a few of our own, and the skills that are written for agents.

use std::collections::BTreeMap;

use kernel::ports::Brief;
use rmcp::{
    ErrorData,
    model::{
        GetPromptRequestParams, GetPromptResult, ListPromptsResult, PaginatedRequestParams, Prompt,
        PromptArgument, PromptMessage, Role,
    },
};
use serde_json::Value;

use super::{errands::Card, house::House, pages::After, resources, transcript::Transcript};

const CONTINUE: &str = "continue-session";
const REVIEW: &str = "review-changes";
/// What the name of a skill's prompt begins with.
const SKILL: &str = "skill-";
/// The argument that names a session, wherever there is one.
pub const SESSION: &str = "sessionId";

pub async fn list(
    house: &House,
    params: Option<&PaginatedRequestParams>,
) -> Result<ListPromptsResult, ErrorData> {
    let after = After::read(params)?;
    let ports = &house.host.ports;
    let skills = ports.briefing.skills(ports.workspace.clone()).await;
    let skills = skills.into_iter().map(|Brief { title, text }| {
        let name = format!("{SKILL}{title}");
        let what = if text.is_empty() { format!("The skill `{title}`.") } else { text };
        let subject = PromptArgument::new("task").with_description("What to do with it.");
        (format!("1{name}"), Prompt::new(name, Some(what), Some(vec![subject])).with_title(title))
    });
    let own = own().into_iter().map(|prompt| (format!("0{}", prompt.name), prompt));
    let (page, next) = after.page(own.chain(skills).collect());
    let mut result = ListPromptsResult::with_all_items(page);
    result.next_cursor = next;
    Ok(result)
}

fn own() -> [Prompt; 2] {
    let session = PromptArgument::new(SESSION).with_description("The session.");
    let focus = PromptArgument::new("focus").with_description("What to look at above all.");
    [
        Prompt::new(
            CONTINUE,
            Some("Go on where a session stopped."),
            Some(vec![session.with_required(true)]),
        )
        .with_title("Continue a session"),
        Prompt::new(
            REVIEW,
            Some("Review the changes in the workspace that are not committed yet."),
            Some(vec![focus]),
        )
        .with_title("Review changes"),
    ]
}

pub async fn get(
    house: &House,
    request: GetPromptRequestParams,
) -> Result<GetPromptResult, ErrorData> {
    let GetPromptRequestParams { name, arguments, .. } = request;
    let given = texts(arguments.unwrap_or_default())?;
    let given = |argument: &str| given.get(argument).filter(|it| !it.trim().is_empty());
    match (name.as_str(), name.strip_prefix(SKILL)) {
        (CONTINUE, _) => {
            let session = given(SESSION).ok_or_else(|| bad(format!("`{SESSION}` is missing")))?;
            go_on(house, session).await
        }
        (REVIEW, _) => Ok(review(house, given("focus"))),
        (_, Some(skill)) => {
            let ports = &house.host.ports;
            let found = ports.briefing.skill(ports.workspace.clone(), skill.to_owned()).await;
            let skill = found.ok_or_else(|| unknown(&name))?;
            let task = given("task").map(|task| format!("\n\nUse it for this: {task}"));
            let text = format!("Follow this:\n\n{skill}{}", task.unwrap_or_default());
            Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]))
        }
        (_, None) => Err(unknown(&name)),
    }
}

async fn go_on(house: &House, session: &str) -> Result<GetPromptResult, ErrorData> {
    let (id, state) = house.session(session).map_err(bad)?;
    let transcript = Transcript::read(&house.host, id).await;
    let transcript =
        transcript.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    let card = Card::of(id, &state);
    let text = format!(
        "Here is what was said in the session {id}. Say in a few sentences where it stands and what \
         is still to be done, then go on with it: `ask_session` with this sessionId speaks to its \
         agent."
    );
    let said = PromptMessage::new_resource(
        Role::User,
        resources::address(session),
        Some("text/markdown".to_owned()),
        Some(transcript.markdown(card.title())),
        None,
        None,
        None,
    );
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text), said]))
}

fn review(house: &House, focus: Option<&String>) -> GetPromptResult {
    let folder = house.host.ports.workspace.display();
    let focus = focus.map(|focus| format!(" Look above all at this: {focus}."));
    let text = format!(
        "Review the changes in {folder} that are not committed yet.{} Read what they touch before you \
         judge. Name what is wrong or risky first, each with its file and line, then what could be \
         simpler. Change nothing.",
        focus.unwrap_or_default()
    );
    GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)])
}

fn texts(arguments: serde_json::Map<String, Value>) -> Result<BTreeMap<String, String>, ErrorData> {
    let text = |(name, value): (String, Value)| match value {
        Value::String(text) => Ok((name, text)),
        _ => Err(bad(format!("the argument `{name}` must be a text"))),
    };
    arguments.into_iter().map(text).collect()
}

fn bad(message: String) -> ErrorData {
    ErrorData::invalid_params(message, None)
}

fn unknown(name: &str) -> ErrorData {
    bad(format!("Unknown prompt: {name}"))
}
