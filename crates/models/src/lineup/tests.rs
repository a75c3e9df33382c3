use kernel::ports::Price;

use super::*;
use crate::config::Kind;

#[tokio::test]
async fn the_demo_is_always_there() {
    let lineup = Lineup::with_default("demo").unwrap();
    let demo = ModelInfo {
        id: "demo".into(),
        name: "Demo (built in)".into(),
        cost: 0.0,
        payer: "nobody: it is built in".into(),
        known: Known { window: Some(100_000), vision: Some(false), price: None },
    };
    assert_eq!(lineup.list().await, Ok(vec![demo]));
    assert_eq!(lineup.default_id(), "demo");
    assert_eq!(Lineup::default().default_id(), "demo");
    assert_eq!(lineup.find("demo").map(|demo| demo.window()), Some(100_000));
    assert!(lineup.find("other").is_none());
}

#[test]
fn an_unknown_default_is_refused_with_the_names_there_are() {
    let error = Lineup::with_default("local/fake").unwrap_err();
    assert_eq!(error.to_string(), "no model is named `local/fake`; known models: demo");
}

fn house(default: &str, providers: &[(&str, &[&str])]) -> Result<Lineup, BuildError> {
    let settings = |models: &[&str]| {
        let mut settings = ProviderSettings::new(Kind::OpenaiChat);
        settings.base_url = Some("https://models.example".into());
        settings.models = Some(models.iter().map(|model| (*model).to_owned()).collect());
        settings
    };
    let providers = providers.iter().map(|(name, models)| ((*name).to_owned(), settings(models)));
    Lineup::build(default, providers.collect(), |_| None)
}

#[test]
fn a_model_is_found_by_its_full_name_or_by_its_own_where_that_is_clear() {
    let lineup = house("a/x", &[("a", &["x", "both", "lab/deep"]), ("b", &["both"])]).unwrap();
    assert_eq!(lineup.default_id(), "a/x");
    for id in ["a/x", "x", "a/both", "b/both", "b/not-listed", "lab/deep", "a/lab/deep", "demo"] {
        assert!(lineup.find(id).is_some(), "{id}");
    }
    for id in ["both", "a/", "/x", "c/x", "", "a"] {
        assert!(lineup.find(id).is_none(), "{id}");
    }
}

#[test]
fn what_cannot_be_built_says_where_it_is_wrong() {
    let error = house("z", &[("a", &["x"])]).unwrap_err();
    assert_eq!(error.to_string(), "no model is named `z`; known models: demo, a/x");
    let error = house("demo", &[("demo", &["x"])]).unwrap_err();
    assert!(error.to_string().starts_with("providers.demo: "), "{error}");
}

#[tokio::test]
async fn a_model_is_listed_with_its_price_and_payer() {
    let listed = house("demo", &[("r", &["openai/gpt-4o", "new"])]).unwrap().list().await.unwrap();
    let info = |model: &str, cost: f64, known| ModelInfo {
        id: format!("r/{model}"),
        name: format!("{model} (r)"),
        cost,
        payer: "your account at models.example".into(),
        known,
    };
    let price = Price { input: 2.5, output: 10.0, cache_read: Some(1.25), cache_write: None };
    let known = Known { window: Some(128_000), vision: Some(true), price: Some(price) };
    let expected = [info("openai/gpt-4o", 10.0, known), info("new", 1.0, Known::default())];
    assert_eq!(listed[1..], expected);
}

#[test]
fn a_window_can_be_set_right() {
    let mut settings = ProviderSettings::new(Kind::Anthropic);
    let window = |settings: &ProviderSettings| {
        let providers = [("a".to_owned(), settings.clone())].into();
        let lineup = Lineup::build("demo", providers, |_| None).unwrap();
        lineup.find("a/claude-sonnet-4-5").unwrap().window()
    };
    assert_eq!(window(&settings), 200_000);
    settings.context_window = Some(1_000_000);
    assert_eq!(window(&settings), 1_000_000);
}
