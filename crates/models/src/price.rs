//! How much a model can read and what it costs, as far as that is known.

use kernel::update::Usage;
use serde::Deserialize;

/// What most models of today can read at least.
pub const USUAL_WINDOW: u64 = 128_000;

/// US dollars for a million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    pub input: f64,
    pub output: f64,
    /// As dear as other input where this is left out.
    #[serde(default)]
    pub cache_read: Option<f64>,
    #[serde(default)]
    pub cache_write: Option<f64>,
}

impl Price {
    pub const fn new(input: f64, output: f64) -> Self {
        Self { input, output, cache_read: None, cache_write: None }
    }

    const fn cached(self, read: f64) -> Self {
        Self { cache_read: Some(read), ..self }
    }

    /// Anthropic's way: what is written to the cache costs a quarter more.
    const fn claude(input: f64, output: f64) -> Self {
        Self { input, output, cache_read: Some(input / 10.0), cache_write: Some(input * 1.25) }
    }

    fn parts(&self) -> [f64; 4] {
        let cached = [self.cache_read, self.cache_write].map(|price| price.unwrap_or(self.input));
        [self.input, self.output, cached[0], cached[1]]
    }

    /// Whether nothing is paid at all.
    pub fn is_nothing(&self) -> bool {
        self.parts().iter().all(|price| *price == 0.0)
    }

    /// Whether each is an amount of money.
    pub fn is_sound(&self) -> bool {
        self.parts().iter().all(|price| price.is_finite() && *price >= 0.0)
    }

    pub fn of(&self, usage: &Usage) -> f64 {
        let cached = usage.cache_read_tokens.saturating_add(usage.cache_write_tokens);
        let fresh = usage.input_tokens.saturating_sub(cached);
        let [read, written] = [usage.cache_read_tokens, usage.cache_write_tokens];
        let counts = [fresh, usage.output_tokens, read, written];
        counts
            .into_iter()
            .zip(self.parts())
            .map(|(tokens, price)| count(tokens) * price)
            .sum::<f64>()
            / 1e6
    }
}

#[expect(clippy::cast_precision_loss, reason = "nobody uses 2^52 tokens")]
fn count(tokens: u64) -> f64 {
    tokens as f64
}

struct Known {
    prefix: &'static str,
    window: u64,
    price: Option<Price>,
}

const fn known(prefix: &'static str, window: u64, price: Price) -> Known {
    Known { prefix, window, price: Some(price) }
}

const fn sized(prefix: &'static str, window: u64) -> Known {
    Known { prefix, window, price: None }
}

/// The longest prefix counts. List prices of November 2026; whoever pays otherwise says so.
const KNOWN: &[Known] = &[
    known("claude-fable-5", 1_000_000, Price::claude(10.0, 50.0)),
    known("claude-opus-5-5", 1_000_000, Price::claude(4.0, 20.0)),
    known("claude-opus-5", 1_000_000, Price::claude(5.0, 25.0)),
    known("claude-opus-4-8", 1_000_000, Price::claude(5.0, 25.0)),
    known("claude-opus-4-7", 1_000_000, Price::claude(5.0, 25.0)),
    known("claude-opus-4-6", 200_000, Price::claude(5.0, 25.0)),
    known("claude-opus-4-5", 200_000, Price::claude(5.0, 25.0)),
    known("claude-opus-4", 200_000, Price::claude(15.0, 75.0)),
    known("claude-sonnet-5-5", 1_000_000, Price::claude(2.0, 10.0)),
    sized("claude-sonnet-5", 1_000_000),
    known("claude-sonnet-4", 200_000, Price::claude(3.0, 15.0)),
    known("claude-3-7-sonnet", 200_000, Price::claude(3.0, 15.0)),
    known("claude-3-5-haiku", 200_000, Price::claude(0.8, 4.0)),
    sized("claude-haiku-5-5", 1_000_000),
    known("claude-haiku-4-5", 200_000, Price::claude(1.0, 5.0)),
    sized("claude-", 200_000),
    known("gpt-5.4-mini", 400_000, Price::new(0.75, 4.5).cached(0.075)),
    known("gpt-5.4", 400_000, Price::new(2.5, 15.0).cached(0.25)),
    known("gpt-5-mini", 400_000, Price::new(0.25, 2.0).cached(0.025)),
    known("gpt-5-nano", 400_000, Price::new(0.05, 0.4).cached(0.005)),
    known("gpt-5-codex", 400_000, Price::new(1.25, 10.0).cached(0.125)),
    sized("gpt-5-pro", 400_000),
    known("gpt-5-20", 400_000, Price::new(1.25, 10.0).cached(0.125)),
    sized("gpt-5", 400_000),
    known("gpt-4.1-mini", 1_047_576, Price::new(0.4, 1.6).cached(0.1)),
    known("gpt-4.1-nano", 1_047_576, Price::new(0.1, 0.4).cached(0.025)),
    known("gpt-4.1", 1_047_576, Price::new(2.0, 8.0).cached(0.5)),
    known("gpt-4o-mini", 128_000, Price::new(0.15, 0.6).cached(0.075)),
    known("gpt-4o", 128_000, Price::new(2.5, 10.0).cached(1.25)),
    sized("gpt-oss", 131_072),
    sized("gpt-3.5", 16_385),
    sized("o1", 200_000),
    sized("o3", 200_000),
    sized("o4-mini", 200_000),
    known("gemini-2.5-flash-lite", 1_048_576, Price::new(0.1, 0.4).cached(0.01)),
    known("gemini-2.5-flash", 1_048_576, Price::new(0.3, 2.5).cached(0.03)),
    sized("gemini-", 1_048_576),
    sized("gemma-", 32_768),
];

/// Models whose whole name says more than it does as a prefix.
const EXACT: &[Known] = &[known("gpt-5", 400_000, Price::new(1.25, 10.0).cached(0.125))];

fn find(model: &str) -> Option<&'static Known> {
    // A reseller puts the vendor's name in front.
    let model = model.rsplit('/').next().unwrap_or(model);
    let exact = EXACT.iter().find(|known| known.prefix == model);
    let fitting = KNOWN.iter().filter(|known| model.starts_with(known.prefix));
    exact.or_else(|| fitting.max_by_key(|known| known.prefix.len()))
}

pub fn window(model: &str) -> u64 {
    known_window(model).unwrap_or(USUAL_WINDOW)
}

/// The same, where it is no guess.
pub fn known_window(model: &str) -> Option<u64> {
    find(model).map(|known| known.window)
}

/// Whether a model sees pictures. The longest prefix counts here too.
pub fn vision(model: &str) -> Option<bool> {
    const SEEING: &[&str] = &[
        "claude-",
        "gpt-4o",
        "gpt-4.1",
        "gpt-5",
        "o1",
        "o3",
        "o4-mini",
        "gemini-",
        "gemma-3",
        "gemma3",
        "llava",
        "pixtral",
        "qwen2.5-vl",
        "qwen2.5vl",
        "qwen3-vl",
    ];
    const BLIND: &[&str] = &["gpt-3.5", "gpt-oss", "o1-mini", "o3-mini"];
    let model = model.rsplit('/').next().unwrap_or(model);
    let longest = |names: &[&str]| {
        names.iter().filter(|name| model.starts_with(**name)).map(|name| name.len()).max()
    };
    let (seeing, blind) = (longest(SEEING), longest(BLIND));
    (seeing != blind).then_some(seeing > blind)
}

pub fn price(model: &str) -> Option<Price> {
    find(model).and_then(|known| known.price)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_name_that_fits_counts() {
        assert_eq!(window("claude-opus-4-1-20250805"), 200_000);
        assert_eq!(price("claude-opus-4-1-20250805"), Some(Price::claude(15.0, 75.0)));
        assert_eq!(price("claude-opus-4-5"), Some(Price::claude(5.0, 25.0)));
        assert_eq!(price("gpt-5"), price("gpt-5-2025-08-07"));
        assert_eq!(price("gpt-5.9-future"), None);
        assert_eq!(window("openai/gpt-4.1-mini"), 1_047_576);
        assert_eq!((window("llama3"), price("llama3")), (USUAL_WINDOW, None));
    }

    #[test]
    fn who_sees_is_told_where_it_is_known() {
        let seen = ["claude-opus-5", "openai/gpt-5.4", "o3", "o3-mini", "gpt-oss-20b", "llama3"];
        let known = [Some(true), Some(true), Some(true), Some(false), Some(false), None];
        assert_eq!(seen.map(vision), known);
    }

    #[test]
    fn cached_tokens_have_their_own_price() {
        let usage = Usage {
            input_tokens: 1_000_000,
            output_tokens: 100_000,
            cache_read_tokens: 500_000,
            cache_write_tokens: 100_000,
            ..Usage::default()
        };
        let price =
            Price { input: 10.0, output: 20.0, cache_read: Some(1.0), cache_write: Some(12.5) };
        assert!((price.of(&usage) - (4.0 + 0.5 + 1.25 + 2.0)).abs() < 1e-9);
        assert!((Price::new(10.0, 20.0).of(&usage) - 12.0).abs() < 1e-9);
    }

    #[test]
    fn a_price_is_an_amount_of_money_and_may_be_nothing() {
        assert!(Price::new(0.0, 0.0).is_nothing() && !Price::new(0.0, 0.1).is_nothing());
        assert!(!Price::new(0.0, 0.0).cached(0.1).is_nothing());
        assert!(Price::new(0.0, 15.0).is_sound());
        for bad in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(
                !Price::new(bad, 1.0).is_sound() && !Price::new(1.0, 1.0).cached(bad).is_sound()
            );
        }
    }
}
