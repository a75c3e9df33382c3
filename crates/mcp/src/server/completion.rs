//! Finishing what a client has begun to type: names of sessions, paths of files.

use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo};

use super::{errands::cards, files, house::House, prompts};

pub async fn complete(house: &House, request: &CompleteRequestParams) -> CompleteResult {
    let of_template = request.r#ref.as_resource_uri().is_some();
    let begun = request.argument.value.as_str();
    let values = match request.argument.name.as_str() {
        prompts::SESSION => sessions(house, begun),
        "id" if of_template => sessions(house, begun),
        "path" if of_template => paths(house, begun).await,
        _ => Vec::new(),
    };
    let total = values.len();
    let told: Vec<String> = values.into_iter().take(CompletionInfo::MAX_VALUES).collect();
    let more = total > told.len();
    let info = CompletionInfo::with_pagination(told, u32::try_from(total).ok(), more);
    // It has no more values than it may have.
    CompleteResult::new(info.unwrap_or_default())
}

/// By the beginning of the id, or by something in the name.
fn sessions(house: &House, begun: &str) -> Vec<String> {
    let wanted = begun.to_lowercase();
    let cards = cards(house).into_iter();
    let like = cards.filter(|card| {
        card.session_id.starts_with(&wanted) || card.title().to_lowercase().contains(&wanted)
    });
    like.map(|card| card.session_id).collect()
}

async fn paths(house: &House, begun: &str) -> Vec<String> {
    let files = files::list(house.host.ports.workspace.clone()).await;
    files.into_iter().map(|(path, _)| path).filter(|path| path.starts_with(begun)).collect()
}
