use super::*;

#[tokio::test]
async fn the_demo_is_always_there() {
    let lineup = Lineup::with_default("demo").unwrap();
    let demo = ModelInfo {
        id: "demo".into(),
        name: "Demo (built in)".into(),
        cost: 0.0,
        payer: "nobody: it is built in".into(),
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
