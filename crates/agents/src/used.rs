//! What an agent says it has used: its words are taken for it, for it pays with its own sign-in.

use agent_client_protocol::v1::schema::Cost;
use kernel::update::Usage;
use serde::Deserialize;
use serde_json::Value;

/// The only currency that is counted here.
const DOLLARS: &str = "USD";

/// Tokens of a turn, as some say at its end. Not yet in the official messages.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[expect(clippy::struct_field_names, reason = "the wire calls them so")]
struct Tokens {
    total_tokens: u64,
    input_tokens: u64,
    output_tokens: u64,
    thought_tokens: Option<u64>,
    cached_read_tokens: Option<u64>,
    cached_write_tokens: Option<u64>,
}

/// What the answer to a prompt says was used for it.
pub fn tokens(answer: &Value) -> Option<Usage> {
    let said = Tokens::deserialize(answer.get("usage")?).ok()?;
    let mut usage = Usage {
        input_tokens: said.input_tokens,
        output_tokens: said.output_tokens,
        cache_read_tokens: said.cached_read_tokens.unwrap_or_default(),
        cache_write_tokens: said.cached_write_tokens.unwrap_or_default(),
        reasoning_tokens: said.thought_tokens.unwrap_or_default(),
        cost: None,
    };
    // Some count what is cached and thought as part of the rest, and some beside it.
    if said.total_tokens > said.input_tokens.saturating_add(said.output_tokens) {
        let cached = usage.cache_read_tokens.saturating_add(usage.cache_write_tokens);
        usage.input_tokens = usage.input_tokens.saturating_add(cached);
        usage.output_tokens = usage.output_tokens.saturating_add(usage.reasoning_tokens);
    }
    (usage != Usage::default()).then_some(usage)
}

/// What a session has cost so far. Agents tell the sum; what is new of it is ours to find out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Account {
    /// `None` until something is heard of a session that was not begun here.
    known: Option<f64>,
}

impl Account {
    pub fn new(known: Option<f64>) -> Self {
        Self { known }
    }

    pub fn known(self) -> Option<f64> {
        self.known
    }

    /// What has come to it.
    pub fn hear(&mut self, cost: &Cost) -> Option<Usage> {
        if cost.currency != DOLLARS || !cost.amount.is_finite() {
            return None;
        }
        let before = self.known.replace(cost.amount)?;
        let new = cost.amount - before;
        (new > 0.0).then(|| Usage { cost: Some(new), ..Usage::default() })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tokens_are_counted_once_however_they_are_told() {
        let apart = json!({ "usage": { "totalTokens": 118, "inputTokens": 1, "outputTokens": 7,
            "thoughtTokens": 10, "cachedReadTokens": 60, "cachedWriteTokens": 40 } });
        let usage = Usage {
            input_tokens: 101,
            output_tokens: 17,
            cache_read_tokens: 60,
            cache_write_tokens: 40,
            reasoning_tokens: 10,
            cost: None,
        };
        assert_eq!(tokens(&apart), Some(usage));
        let within = json!({ "usage": { "totalTokens": 118, "inputTokens": 101,
            "outputTokens": 17, "thoughtTokens": 10, "cachedReadTokens": 60,
            "cachedWriteTokens": 40 } });
        assert_eq!(tokens(&within), Some(usage));
        for nothing in [json!({}), json!({ "usage": null }), json!({ "usage": "much" })] {
            assert_eq!(tokens(&nothing), None);
        }
    }

    #[test]
    fn only_what_is_new_of_a_sum_is_counted() {
        let cost = |amount: f64| Cost::new(amount, "USD");
        let used = |cost: f64| Some(Usage { cost: Some(cost), ..Usage::default() });
        let mut begun_here = Account::new(Some(0.0));
        assert_eq!(begun_here.hear(&cost(0.25)), used(0.25));
        assert_eq!(begun_here.hear(&cost(0.75)), used(0.5));
        assert_eq!(begun_here.hear(&cost(0.75)), None);
        assert_eq!(begun_here.hear(&Cost::new(9.0, "credits")), None);
        assert_eq!(begun_here.hear(&cost(f64::NAN)), None);
        assert_eq!(begun_here.known(), Some(0.75));
        let mut older = Account::new(None);
        assert_eq!(older.hear(&cost(3.0)), None, "who knows since when");
        assert_eq!(older.hear(&cost(3.5)), used(0.5));
    }
}
