//! Our models for other programs: what they are told, and what is refused.

use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use kernel::{prompt::Part, update::Attachment};
use serde_json::{Value, json};
use testkit::{
    Gate,
    model::{call, fail, hang, reasoning, text, usage, wait},
};
use tokio::{io::AsyncWriteExt as _, net::TcpStream};

use crate::common::House;

fn problem(message: &str, code: Option<&str>) -> Value {
    json!({ "error": {
        "message": message, "type": "invalid_request_error", "code": code, "param": null,
    } })
}

#[tokio::test]
async fn a_completion_is_told_whole() {
    let reply =
        vec![reasoning("hm"), text("well"), call("c1", "look", json!({ "at": 1 })), usage(7, 3)];
    let house = House::new([reply]).await;
    let body = json!({
        "model": "test",
        "messages": [{ "role": "system", "content": "be brief" }, { "role": "user", "content": "hi" }],
    });
    let (status, mut answer) = house.post("/v1/chat/completions", body).await;
    assert!(answer["id"].as_str().unwrap().starts_with("chatcmpl-"));
    answer["id"] = json!("");
    let expected = json!({
        "id": "", "object": "chat.completion", "created": 1_769_940_000, "model": "test",
        "choices": [{ "index": 0, "finish_reason": "tool_calls", "message": {
            "role": "assistant", "content": "well", "reasoning_content": "hm",
            "tool_calls": [{ "id": "c1", "type": "function",
                             "function": { "name": "look", "arguments": "{\"at\":1}" } }],
        } }],
        "usage": {
            "prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10,
            "prompt_tokens_details": { "cached_tokens": 0 },
            "completion_tokens_details": { "reasoning_tokens": 0 },
        },
    });
    assert_eq!((status, answer), (200, expected));
    let prompt = house.world.model.prompts().pop().unwrap();
    assert_eq!((prompt.system.as_str(), prompt.parts.len()), ("be brief", 1));
}

#[tokio::test]
async fn what_cannot_be_asked_is_refused_with_a_reason() {
    let house = House::new([]).await;
    let chat = |message: Value| json!({ "model": "test", "messages": [message] });
    let picture = json!([{ "type": "image_url", "image_url": { "url": "data:," } }]);
    let far = json!([{ "type": "input_image", "image_url": "https://cats.example/1.png" }]);
    for (path, body, message) in [
        (
            "chat/completions",
            chat(json!({ "role": "ghost", "content": "boo" })),
            "unknown role `ghost`",
        ),
        (
            "chat/completions",
            chat(json!({ "role": "tool", "content": "ok" })),
            "a tool message needs tool_call_id",
        ),
        (
            "chat/completions",
            chat(json!({ "role": "user", "content": picture })),
            "a picture is a data URL: data:image/png;base64,...",
        ),
        (
            "chat/completions",
            chat(json!({ "role": "assistant", "content": picture })),
            "pictures are taken in messages of the user only",
        ),
        (
            "chat/completions",
            chat(json!({ "role": "user", "content": [{ "type": "image_url" }] })),
            "content of type `image_url` lacks `image_url`",
        ),
        (
            "chat/completions",
            chat(json!({ "role": "user", "content": [{ "type": "input_audio" }] })),
            "content of type `input_audio` is not taken here",
        ),
        (
            "responses",
            json!({ "model": "test", "input": [{ "role": "user", "content": far }] }),
            "pictures are not fetched from elsewhere; a picture is a data URL: \
             data:image/png;base64,...",
        ),
        (
            "responses",
            json!({ "model": "test", "input": "hi", "previous_response_id": "resp_1" }),
            "previous_response_id: responses are not kept here; send the whole input",
        ),
        (
            "responses",
            json!({ "model": "test", "input": "hi", "tools": [{ "type": "web_search" }] }),
            "tools of type `web_search` are not taken here",
        ),
        (
            "responses",
            json!({ "model": "test", "input": [{ "type": "function_call", "call_id": "c" }] }),
            "an input item lacks `name`",
        ),
    ] {
        let answer = house.post(&format!("/v1/{path}"), body.clone()).await;
        assert_eq!(answer, (400, problem(message, None)), "{body}");
    }
    let nobody = json!({ "model": "nobody", "input": "hi" });
    let message = "no model is named `nobody`; GET /v1/models lists them";
    let answer = house.post("/v1/responses", nobody).await;
    assert_eq!(answer, (404, problem(message, Some("model_not_found"))));
    let typo = json!({ "model": "tets", "input": "hi" });
    let message = "no model is named `tets`; did you mean `test`? GET /v1/models lists them";
    let answer = house.post("/v1/responses", typo).await;
    assert_eq!(answer, (404, problem(message, Some("model_not_found"))));
    assert_eq!(house.world.model.prompts(), [], "the model was not bothered");
}

#[tokio::test]
async fn a_failing_model_is_told_of_in_each_way_of_asking() {
    use kernel::update::Failure;
    let too_long = || vec![fail(Failure::ContextTooLong, "too long")];
    let house = House::new([too_long(), too_long()]).await;
    let ask = json!({ "model": "test", "input": "hi" });
    let refused = problem("too long", Some("context_length_exceeded"));
    assert_eq!(house.post("/v1/responses", ask.clone()).await, (400, refused));
    let mut streamed = ask;
    streamed["stream"] = json!(true);
    let reply = house.ask("POST", "/v1/responses").json(&streamed).send().await;
    assert_eq!(reply.header("content-type"), Some("text/event-stream"));
    let told = reply.text();
    assert!(told.contains("event: response.failed"), "{told}");
    assert!(!told.contains("response.completed"), "{told}");
}

#[tokio::test]
async fn who_hangs_up_stops_the_model() {
    let house = House::new([vec![text("well"), hang()]]).await;
    let body = json!({ "model": "test", "stream": true,
                       "messages": [{ "role": "user", "content": "hi" }] })
    .to_string();
    let (address, key) = (house.address(), house.key());
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer \
         {key}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    stream.readable().await.unwrap();
    assert_eq!(house.world.model.speaking(), 1);
    drop(stream);
    house.world.model.silent().await;
}

#[tokio::test]
async fn pictures_are_shown_to_the_model_and_kept_no_longer_than_the_answer() {
    let url = |bytes: &[u8]| format!("data:image/png;base64,{}", STANDARD.encode(bytes));
    let chat = json!({ "model": "test", "messages": [{ "role": "user", "content": [
        { "type": "text", "text": "look" },
        { "type": "image_url", "image_url": { "url": url(b"one"), "detail": "low" } },
        { "type": "image_url", "image_url": { "url": url(b"two") } },
    ] }] });
    let responses = json!({ "model": "test", "stream": true, "input": [{ "role": "user", "content": [
        { "type": "input_image", "image_url": url(b"one") },
        { "type": "input_text", "text": "look" },
        { "type": "input_image", "image_url": url(b"two") },
    ] }] });
    for (path, body) in [("/v1/chat/completions", chat), ("/v1/responses", responses)] {
        let gate = Gate::default();
        let house = House::new([vec![text("nice"), wait(&gate)]]).await;
        let answering = house.ask("POST", path).json(&body).send();
        let seen = async {
            gate.reached().await;
            let prompt = house.world.model.prompts().pop().unwrap();
            let [Part::User { text, images }] = &prompt.parts[..] else { unreachable!() };
            assert_eq!(text, "look");
            let shown =
                |image: &Attachment| (std::fs::read(&image.path).unwrap(), image.mime.clone());
            let shown: Vec<_> = images.iter().map(shown).collect();
            let png = "image/png".to_owned();
            assert_eq!(shown, [(b"one".to_vec(), png.clone()), (b"two".to_vec(), png)]);
            gate.open();
            images.iter().map(|image| image.path.parent().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let (reply, folders) = tokio::join!(answering, seen);
        assert!(reply.text().contains("nice"));
        let gone = async {
            while folders.iter().any(|folder| folder.exists()) {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(50), gone).await.unwrap();
    }
}
