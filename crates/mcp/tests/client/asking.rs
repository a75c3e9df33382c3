//! What servers ask while they work: forms, visits, models, folders; and what they tell.

use kernel::{
    inbox::Waiting,
    question::{About, Decision, Scope},
    toolbox::{Caller, Risk},
    update::{Message, Signal, Update, WhenBusy},
};
use serde_json::{Value, json};
use testkit::{World, model};

use crate::home::{Home, odd};

async fn home() -> Home {
    let home = Home::new(json!({ "odd": odd("calls") })).await;
    home.until_ready("odd").await;
    home
}

fn read(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[tokio::test]
async fn a_form_waits_until_the_answer_fits() {
    let home = home().await;
    let answering = async {
        let first = home.question().await;
        let About::Form { text, schema } = &first.question.about else { panic!("{first:?}") };
        assert_eq!(text, "Who are you?");
        assert_eq!(schema["required"], json!(["name"]));
        assert_eq!((&*first.question.tool, &*first.question.title), ("form", "odd has a question"));
        let wrong = Decision::Answer(json!({ "name": "x", "age": "old" }));
        let refused = home.host.decide(first.question.id, wrong, "the test").await.unwrap_err();
        assert!(refused.to_string().starts_with("age: \"old\" is not of type"), "{refused}");
        home.answer(&first, json!({ "name": "Ada", "age": 36 })).await;
    };
    let (said, ()) = tokio::join!(home.text("form", json!({})), answering);
    let expected = json!({ "action": "accept", "content": { "name": "Ada", "age": 36 } });
    assert_eq!(read(&said), expected);
    home.servers.close().await;
}

#[tokio::test]
async fn a_person_may_decline_and_may_be_sent_elsewhere() {
    let home = home().await;
    let decline = async |waiting: Waiting| {
        let no = Decision::Deny { reason: None };
        home.host.decide(waiting.question.id, no, "the test").await.unwrap();
    };
    let answering = async { decline(home.question().await).await };
    let (said, ()) = tokio::join!(home.text("form", json!({})), answering);
    assert_eq!(read(&said), json!({ "action": "decline" }));
    let answering = async {
        let waiting = home.question().await;
        let visit = About::Visit { text: "Pay".into(), url: "https://a.example/pay".into() };
        assert_eq!(waiting.question.about, visit);
        home.answer(&waiting, json!({})).await;
    };
    let (said, ()) = tokio::join!(home.text("visit", json!({})), answering);
    assert_eq!(read(&said), json!({ "action": "accept" }));
    let said = home.text("bad_url", json!({})).await;
    assert_eq!(read(&said), json!({ "action": "decline" }), "nobody is sent to a file");
    home.servers.close().await;
}

#[tokio::test]
async fn a_call_goes_on_once_the_person_has_been_where_the_server_wants_them() {
    let home = home().await;
    let answering = async {
        let waiting = home.question().await;
        let visit = About::Visit { text: "Pay".into(), url: "https://a.example/pay".into() };
        assert_eq!(waiting.question.about, visit);
        home.answer(&waiting, json!({})).await;
    };
    let (said, ()) = tokio::join!(home.text("pay", json!({})), answering);
    assert_eq!(said, "paid");
    home.servers.close().await;
}

#[tokio::test]
async fn two_questions_of_one_call_are_asked_one_after_the_other() {
    let home = home().await;
    let answering = async {
        let first = home.question().await;
        home.answer(&first, json!({})).await;
        let second = home.question_after(&first).await;
        home.answer(&second, json!({})).await;
    };
    let (said, ()) = tokio::join!(home.text("ask_twice", json!({})), answering);
    let accept = json!({ "action": "accept", "content": {} });
    assert_eq!(read(&said), json!([accept, accept]));
    home.servers.close().await;
}

#[tokio::test]
async fn a_question_of_a_call_that_was_given_up_is_taken_back() {
    let home = home().await;
    let session = home.session().await;
    let call = home.call_in(session, "form", json!({}));
    tokio::select! {
        outcome = call => panic!("{outcome:?}"),
        _ = home.question() => (),
    }
    home.until_quiet().await;
    home.servers.close().await;
}

async fn sampling(policy: &str) -> Home {
    let mut settings = odd("calls");
    settings["sampling"] = policy.into();
    let world = World::new([vec![model::text("hi "), model::text("there")]]);
    let home = Home::with(world, json!({ "odd": settings }), "http://127.0.0.1:1/").await;
    home.until_ready("odd").await;
    home
}

#[tokio::test]
async fn a_server_uses_the_model_only_as_far_as_it_may() {
    let answer = json!({ "role": "assistant", "content": { "type": "text", "text": "hi there" },
        "model": "test", "stopReason": "endTurn" });
    let home = sampling("deny").await;
    let said = home.text("sample", json!({})).await;
    assert_eq!(read(&said)["error"]["message"], "this server may not use the model");
    home.servers.close().await;

    let home = sampling("allow").await;
    assert_eq!(read(&home.text("sample", json!({})).await), answer);
    home.servers.close().await;

    let home = sampling("ask").await;
    let answering = async {
        let waiting = home.question().await;
        let About::Leave { deed, why, .. } = &waiting.question.about else { panic!("{waiting:?}") };
        assert_eq!(why, "the server odd wants your model to answer this");
        assert_eq!((deed.risk, &*waiting.question.tool), (Risk::Acts, "sampling:odd"));
        let allow = Decision::Allow { scope: Scope::Once, pattern: None, lasts: None };
        home.host.decide(waiting.question.id, allow, "the test").await.unwrap();
    };
    let (said, ()) = tokio::join!(home.text("sample", json!({})), answering);
    assert_eq!(read(&said), answer);
    home.servers.close().await;
}

#[tokio::test]
async fn roots_are_the_folder_of_the_session_that_calls() {
    let home = home().await;
    let folder = home.folder.path().canonicalize().unwrap().join("other folder");
    std::fs::create_dir(&folder).unwrap();
    let session = home.session_in(&folder).await;
    let said = home.call_in(session, "roots", json!({})).await.unwrap().text;
    let uri = format!("file://{}/", folder.display()).replace(' ', "%20");
    assert_eq!(read(&said), json!({ "roots": [{ "uri": uri, "name": "other folder" }] }));
    home.servers.close().await;
}

#[tokio::test]
async fn progress_is_told_in_order_while_the_tool_runs() {
    let world = World::new([vec![model::call("1", "steps", json!({}))], vec![model::text("ok")]]);
    let home = Home::with(world, json!({ "odd": odd("calls") }), "http://127.0.0.1:1/").await;
    home.until_ready("odd").await;
    let session = home.session().await;
    let mut heard = home.listen(session).await;
    home.host.post(session, Message::from_user("go"), WhenBusy::Refuse).await.unwrap();
    let mut steps = Vec::new();
    while steps.len() < 3 {
        if let Update::Signal { signal: Signal::Progress { call, message, done, total }, .. } =
            heard.next().await
        {
            steps.push((call, message, done, total));
        }
    }
    let step = |count: f64| ("1".to_owned(), format!("step {count}"), count, Some(3.0));
    assert_eq!(steps, [step(1.0), step(2.0), step(3.0)]);
    home.servers.close().await;
}

#[tokio::test]
async fn only_a_trusted_server_is_believed_to_read() {
    for (trusted, asks) in [(true, false), (false, true)] {
        let mut settings = odd("reads");
        settings["trusted"] = trusted.into();
        let home = Home::asking(json!({ "odd": settings })).await;
        home.until_ready("odd").await;
        let session = home.session().await;
        let call = home.host.call(session, Caller::Client, "look", json!({}));
        tokio::select! {
            reply = call => {
                assert!(!asks, "it was not asked about");
                assert_eq!(reply.unwrap().text, "seen");
            }
            waiting = home.question() => {
                let About::Leave { deed, .. } = waiting.question.about else { panic!() };
                assert!(asks && deed.risk == Risk::Acts);
            }
        }
        home.servers.close().await;
    }
}
