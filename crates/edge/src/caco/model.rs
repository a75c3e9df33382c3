//! What is known of a model, as this API shows it wherever it lists them.

use kernel::ports;
use serde::Serialize;
use utoipa::ToSchema;

/// What is not known is absent.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ModelTraits)]
pub struct Traits {
    /// Who pays for it, for a person.
    #[schema(example = "nobody: it is built in")]
    payer: String,
    /// How many tokens it can be shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    context_window: Option<u64>,
    /// Whether it sees pictures.
    #[serde(skip_serializing_if = "Option::is_none")]
    vision: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    price: Option<Price>,
}

/// US dollars for a million tokens.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ModelPrice)]
struct Price {
    input: f64,
    output: f64,
    /// Where input that was cached has a price of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_read: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_write: Option<f64>,
}

impl Traits {
    pub fn new(payer: String, known: ports::Known) -> Self {
        let ports::Known { window, vision, price } = known;
        let price = price.map(|price| {
            let ports::Price { input, output, cache_read, cache_write } = price;
            Price { input, output, cache_read, cache_write }
        });
        Self { payer, context_window: window, vision, price }
    }
}
