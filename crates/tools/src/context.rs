//! Tools by which an agent notes what matters in a session, and looks it up after a break.

use kernel::{
    toolbox::{Call, Risk},
    update::{Amendment, Context, ContextChange},
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    agents::House,
    typed::{Typed, shorten},
};

const SET_ITEMS: usize = 10;
const ALL_ITEMS: usize = 50;
const NAME_CHARS: usize = 64;
const ITEM_CHARS: usize = 4096;

/// Notes what matters in this session, so that it is at hand after a break: files, the applet in use,
/// endpoints, ports. Everybody who watches the session sees it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SetInput {
    /// `files`, `applet`, `endpoints`, `ports`, or a name of your own.
    set_name: String,
    /// At most 10; an empty list clears the set. For `applet` the slug comes first, then `key=value`.
    items: Vec<String>,
    /// `replace` when absent.
    mode: Option<SetMode>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum SetMode {
    #[default]
    Replace,
    Merge,
}

pub struct SetRelevantContext {
    pub house: House,
}

impl Typed for SetRelevantContext {
    type Input = SetInput;
    type Output = String;
    const NAME: &'static str = "set_relevant_context";
    // It changes nothing but a note, and to make it twice is to make it once.
    const RISK: Risk = Risk::Reads;

    fn title(&self, input: &SetInput) -> String {
        format!("Noting {}", shorten(&input.set_name, 40))
    }

    async fn run(&self, input: SetInput, call: Call) -> Result<String, String> {
        let SetInput { set_name: set, items, mode } = input;
        let merge = mode.unwrap_or_default() == SetMode::Merge;
        check(&set, &items)?;
        let host = self.house.host()?;
        let state = host.roster.get(call.session.id()).unwrap_or_default();
        let kept = after(&state.context, &set, &items, merge);
        let others: usize =
            state.context.iter().filter(|(name, _)| **name != set).map(|(_, it)| it.len()).sum();
        let all = others + kept;
        if all > ALL_ITEMS {
            let text = "Remove some items first.";
            return Err(format!("Context too large ({all} items, max {ALL_ITEMS}). {text}"));
        }
        let said = match (kept, merge) {
            (0, _) => format!("Cleared {set}"),
            (kept, true) => format!("Merged {set}: {kept} items"),
            (kept, false) => format!("Set {set}: {kept} items"),
        };
        let change = ContextChange { set, items, merge, forget_empty: true };
        let amendment = Amendment { context: Some(change), ..Amendment::default() };
        match call.session.amend(amendment).await {
            Ok(Ok(())) => Ok(said),
            Ok(Err(error)) => Err(error.to_string()),
            Err(error) => Err(error.to_string()),
        }
    }
}

fn check(set: &str, items: &[String]) -> Result<(), String> {
    if set.is_empty() || set.chars().count() > NAME_CHARS {
        return Err(format!("setName must have 1 to {NAME_CHARS} characters"));
    }
    if items.len() > SET_ITEMS {
        return Err(format!("a set has at most {SET_ITEMS} items, not {}", items.len()));
    }
    if items.iter().any(|item| item.chars().count() > ITEM_CHARS) {
        return Err(format!("an item has at most {ITEM_CHARS} characters"));
    }
    Ok(())
}

/// How many items the set will have.
fn after(context: &Context, set: &str, items: &[String], merge: bool) -> usize {
    if !merge {
        return items.len();
    }
    let known = context.get(set).map(Vec::as_slice).unwrap_or_default();
    let mut kept: Vec<&String> = known.iter().collect();
    for item in items {
        if !kept.contains(&item) {
            kept.push(item);
        }
    }
    kept.len().min(SET_ITEMS)
}

/// Reads what was noted in this session.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GetInput {
    /// One set; all when absent.
    set_name: Option<String>,
}

pub struct GetRelevantContext {
    pub house: House,
}

impl Typed for GetRelevantContext {
    type Input = GetInput;
    type Output = String;
    const NAME: &'static str = "get_relevant_context";
    const RISK: Risk = Risk::Reads;
    const PARALLEL: bool = true;

    fn title(&self, _: &GetInput) -> String {
        "Looking up what was noted".to_owned()
    }

    async fn run(&self, GetInput { set_name }: GetInput, call: Call) -> Result<String, String> {
        let state = self.house.host()?.roster.get(call.session.id()).unwrap_or_default();
        if let Some(set) = set_name.filter(|set| !set.is_empty()) {
            let items = state.context.get(&set).cloned().unwrap_or_default();
            return pretty(&Context::from([(set, items)]));
        }
        if state.context.is_empty() {
            return Ok("No context is stored for this session.".to_owned());
        }
        pretty(&state.context)
    }
}

fn pretty(context: &Context) -> Result<String, String> {
    serde_json::to_string_pretty(context).map_err(|error| error.to_string())
}
