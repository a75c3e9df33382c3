//! Which models there are, as their providers tell.

use std::time::Duration;

use kernel::ports::{Known, ModelInfo, Models as _};
use models::{Kind, Problem, ProviderSettings};

use crate::{
    KEY, lineup,
    server::{Reply, Server, Standstill, response, soon},
    settings,
};

fn info(id: &str, name: &str) -> ModelInfo {
    let payer = "nobody: it runs on this machine";
    let known = Known::default();
    ModelInfo { id: id.into(), name: name.into(), cost: 0.0, payer: payer.into(), known }
}

#[tokio::test]
async fn a_provider_is_asked_once_and_one_that_is_down_hides_no_other() {
    let _still = Standstill::begin();
    let list = r#"{"data":[{"id":"small","context_length":4096},{"id":"big"}]}"#;
    let mut up = Server::start(&[Reply::Whole(response("200 OK", "", list))]).await;
    let down = Server::start(&[Reply::Whole(response("500 Oops", "", ""))]).await;
    let (mut asked, mut silent) = (settings(Kind::OpenaiChat, &up), settings(Kind::Gemini, &down));
    (asked.models, silent.models) = (None, None);
    let named = settings(Kind::Anthropic, &down);
    let lineup = lineup([("up", asked), ("silent", silent), ("named", named)]);
    assert!(lineup.find("small").is_none(), "nobody has been asked yet");
    assert_eq!(lineup.find("up/small").unwrap().window(), 128_000);
    for _ in 0..2 {
        let listed = soon(lineup.list()).await.unwrap();
        assert_eq!(listed[0].id, "demo");
        let known = Known { window: Some(4096), ..Known::default() };
        let expected = [
            info("named/best", "best (named)"),
            info("up/big", "big (up)"),
            ModelInfo { known, ..info("up/small", "small (up)") },
        ];
        assert_eq!(listed[1..], expected);
    }
    let request = up.request().await;
    assert!(request.starts_with("GET /v1/models HTTP/1.1"), "{request}");
    assert_eq!(up.asked(), 0);
    assert_eq!(lineup.find("small").unwrap().window(), 4096);
    assert_eq!(lineup.find("up/small").unwrap().window(), 4096);
}

#[tokio::test]
async fn what_a_server_of_this_machine_can_read_is_learnt_although_its_models_are_configured() {
    let _still = Standstill::begin();
    let list = r#"{"data":[{"id":"best","meta":{"n_ctx":2048}}]}"#;
    let server = Server::start(&[Reply::Whole(response("200 OK", "", list))]).await;
    let lineup = lineup([("here", settings(Kind::OpenaiChat, &server))]);
    assert_eq!(lineup.find("best").unwrap().window(), 128_000);
    soon(lineup.learn()).await;
    assert_eq!(lineup.find("best").unwrap().window(), 2048);
    assert_eq!(lineup.find("here/best").unwrap().window(), 2048);
}

#[tokio::test]
async fn a_provider_that_says_nothing_is_not_waited_for() {
    let mut stuck = Server::start(&[Reply::Stuck(String::new())]).await;
    let mut settings = settings(Kind::OpenaiResponses, &stuck);
    settings.models = None;
    let lineup = lineup([("stuck", settings)]);
    let still = Standstill::begin();
    let asked = async {
        stuck.request().await;
        drop(still);
    };
    let (listed, ()) = tokio::join!(lineup.list(), asked);
    assert_eq!(listed.unwrap().len(), 1);
    assert!(lineup.find("stuck/anything").is_some());
}

#[tokio::test]
async fn a_name_that_nobody_has_is_refused_once_the_provider_has_told_what_it_has() {
    let _still = Standstill::begin();
    let list =
        |names: &str| Reply::Whole(response("200 OK", "", &format!(r#"{{"data":[{names}]}}"#)));
    let first = list(r#"{"id":"small:latest","context_length":4096}"#);
    let then = list(r#"{"id":"small:latest"},{"id":"new"}"#);
    let mut server = Server::start(&[first, then]).await;
    let mut asked = settings(Kind::OpenaiChat, &server);
    asked.models = None;
    let lineup = lineup([("here", asked), ("named", settings(Kind::Gemini, &server))]);
    assert!(lineup.find("here/new").is_some(), "nobody has been asked yet");
    soon(lineup.list()).await.unwrap();
    assert_eq!(lineup.find("here/small").unwrap().window(), 4096);
    assert!(lineup.find("here/new").is_none());
    assert!(lineup.find("named/new").is_some(), "this one was not asked");
    assert_eq!(server.asked(), 1, "so new a list is believed");
    tokio::time::advance(Duration::from_secs(3)).await;
    assert!(lineup.find("here/new").is_none(), "the list is doubted");
    soon(lineup.list()).await.unwrap();
    assert!(lineup.find("here/new").is_some(), "it has come since");
}

fn problem(provider: &str, what: &str, fix: &str) -> Problem {
    Problem { provider: provider.into(), what: what.into(), fix: fix.into() }
}

#[tokio::test]
async fn what_keeps_providers_from_being_used_is_told_with_what_to_do() {
    let _still = Standstill::begin();
    let whole = |status: &str, body: &str| Reply::Whole(response(status, "", body));
    let locked = Server::start(&[whole("401 No", &format!("no such key: {KEY}"))]).await;
    let listless = Server::start(&[whole("404 None", "nothing here")]).await;
    let asked = |server: &Server| {
        let mut settings = settings(Kind::OpenaiChat, server);
        settings.models = None;
        settings
    };
    let mut keyless = asked(&locked);
    keyless.api_key_env = Some("NO_KEY".into());
    let lineup = lineup([
        ("keyless", keyless),
        ("locked", asked(&locked)),
        ("listless", asked(&listless)),
        ("named", settings(Kind::OpenaiChat, &listless)),
    ]);
    let keyless = problem(
        "keyless",
        "has no key: the environment variable NO_KEY is not set; put the key there and start again",
        "`megaron key list` shows where every key comes from",
    );
    assert_eq!(lineup.problems(), std::slice::from_ref(&keyless), "nobody has been asked yet");
    soon(lineup.learn()).await;
    let listless = problem(
        "listless",
        "does not list its models: HTTP 404: nothing here",
        "Correct its base_url, or name its models in the configuration",
    );
    let locked = problem(
        "locked",
        "does not accept the key: HTTP 401: no such key: [key]",
        "Correct the key in HOUSE_KEY",
    );
    assert_eq!(lineup.problems(), [keyless, listless, locked]);
    let keys = lineup.keys().into_iter().map(|(_, from)| from);
    let missing = "missing: the environment variable NO_KEY is not set; put the key there and start \
                   again";
    assert_eq!(keys.collect::<Vec<_>>(), [missing, "HOUSE_KEY", "HOUSE_KEY", "HOUSE_KEY"]);
}

#[tokio::test]
async fn a_server_that_is_down_is_told_of() {
    // Nothing listens on this port, and nobody is given it.
    let address = "127.0.0.1:1";
    let mut settings = ProviderSettings::new(Kind::OpenaiChat);
    settings.base_url = Some(format!("http://{address}"));
    let lineup = lineup([("down", settings)]);
    soon(lineup.learn()).await;
    let problems = lineup.problems();
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].what.starts_with("does not answer: cannot connect"), "{problems:?}");
    assert_eq!(problems[0].fix, format!("Is the server at {address} running?"));
}
