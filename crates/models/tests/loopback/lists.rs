//! Which models there are, as their providers tell.

use kernel::ports::{ModelInfo, Models as _};
use models::Kind;

use crate::{
    lineup,
    server::{Reply, Server, response, soon},
    settings,
};

fn info(id: &str, name: &str) -> ModelInfo {
    let payer = "nobody: it runs on this machine";
    ModelInfo { id: id.into(), name: name.into(), cost: 0.0, payer: payer.into() }
}

#[tokio::test]
async fn a_provider_is_asked_once_and_one_that_is_down_hides_no_other() {
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
        let expected = [
            info("named/best", "best (named)"),
            info("up/big", "big (up)"),
            info("up/small", "small (up)"),
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
    let stuck = Server::start(&[Reply::Stuck(String::new())]).await;
    let mut settings = settings(Kind::OpenaiResponses, &stuck);
    settings.models = None;
    let lineup = lineup([("stuck", settings)]);
    let listed = soon(lineup.list()).await.unwrap();
    assert_eq!(listed.len(), 1);
    assert!(lineup.find("stuck/anything").is_some());
}
