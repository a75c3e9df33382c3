//! The example agent of the official SDK, where `make agents` has put it.

use kernel::{
    question::{About, Decision, Scope},
    toolbox::{Detail, Risk},
    update::Output,
};

use crate::*;

/// `None` if it was not installed.
fn example() -> Option<Settings> {
    let Some(path) = std::env::var_os("MEGARON_ACP_AGENT").map(PathBuf::from) else {
        eprintln!("skipped: `make agents` installs the example, and MEGARON_ACP_AGENT names it");
        return None;
    };
    assert!(path.is_file(), "{} is not there", path.display());
    let args = vec![path.display().to_string()];
    Some(Settings { command: "node".into(), args, ..Settings::default() })
}

const BEGINNING: &str = "I'll help you with that. Let me start by reading some files to understand \
    the current situation. Now I understand the project structure. I need to make some changes to \
    improve it.";

#[tokio::test]
async fn the_example_of_the_sdk_answers_asks_and_obeys() {
    let Some(settings) = example() else { return };
    let mut scene = Scene::new(settings).await;
    let allow = Decision::Allow { scope: Scope::Once, pattern: None, lasts: None };
    let yes =
        " Perfect! I've successfully updated the configuration. The changes have been applied.";
    let no =
        " I understand you prefer not to make that change. I'll skip the configuration update.";
    for (decision, end) in [(allow, yes), (Decision::Deny { reason: None }, no)] {
        scene.say("hello").await;
        let waiting = scene.decide(decision).await;
        let About::Leave { deed, .. } = &waiting.question.about else { panic!("{waiting:?}") };
        assert_eq!(deed.risk, Risk::Acts);
        assert!(
            matches!(&deed.detail, Detail::Arguments { args } if args["path"] == "/home/user/project/config.json")
        );
        assert_eq!(deed.subjects, ["/home/user/project/config.json"]);
        assert_eq!(waiting.question.title, "Modifying critical configuration file");
        let (said, how) = scene.ended().await;
        assert_eq!((said, how.as_str()), (format!("{BEGINNING}{end}"), "finished"));
    }
    let calls = scene.calls().await;
    let names: Vec<_> =
        calls.iter().map(|(name, title, _)| (name.as_str(), title.as_str())).collect();
    let turn = [
        ("agent_read", "Reading project files"),
        ("agent_edit", "Modifying critical configuration file"),
    ];
    assert_eq!(names, [turn, turn].concat());
    let Some(Output::Done { text, .. }) = &calls[0].2 else { panic!("{calls:?}") };
    assert_eq!(text, "# My Project\n\nThis is a sample project...");
}

#[tokio::test]
async fn the_example_of_the_sdk_stops_when_told() {
    let Some(settings) = example() else { return };
    let mut scene = Scene::new(settings).await;
    scene.say("hello").await;
    scene.until_said("I'll help").await;
    assert!(scene.host.cancel(scene.id).await.unwrap());
    assert_eq!(scene.ended().await.1, "cancelled");
    scene.say("hello").await;
    scene.question().await;
    assert!(scene.host.cancel(scene.id).await.unwrap());
    assert_eq!(scene.ended().await.1, "cancelled");
    assert_eq!(scene.host.questions().await.unwrap(), []);
}
