//! Servers that hang, die, lie, flood or talk nonsense: they harm nobody but themselves.

use std::time::Duration;

use kernel::{
    inbox::CallError,
    servers::{Servers as _, Standing},
    toolbox::{Caller, ToolError},
};
use serde_json::json;

use crate::home::{Home, odd};

#[tokio::test]
async fn a_server_that_dies_is_started_again() {
    let home = Home::new(json!({ "odd": odd("calls"), "good": odd("plain") })).await;
    home.until_ready("odd").await;
    home.until_ready("good").await;
    let lost = "the server odd was lost in the middle of this call; whether it had its effect is \
                not known";
    assert_eq!(home.call("die", json!({})).await, Err(lost.into()));
    assert_eq!(home.text("ping", json!({})).await, "pong");
    home.until("it is up again", |home| home.info("odd").starts == 2).await;
    home.until_ready("odd").await;
    assert_eq!(home.text("steps", json!({})).await, "done");
    let logs = home.servers.logs("odd").unwrap();
    let said: Vec<&str> = logs.iter().map(|line| line.text.as_str()).collect();
    assert_eq!(said, ["the process ended: exit status: 5"]);
    home.servers.close().await;
}

#[tokio::test]
async fn a_server_that_never_starts_says_why_and_is_tried_again() {
    let home = Home::new(json!({
        "early": odd("early"),
        "absent": { "command": "/nowhere/at/all" },
        "good": odd("plain"),
    }))
    .await;
    let reason = home.until_failed("early").await;
    assert_eq!(reason, "the process ended: exit status: 3");
    let reason = home.until_failed("absent").await;
    assert_eq!(reason, "cannot run `/nowhere/at/all`: No such file or directory (os error 2)");
    assert!(matches!(home.info("absent").standing, Standing::Failed { retry: Some(_), .. }));
    home.until("it was tried again", |home| home.info("absent").starts > 1).await;
    home.until_ready("good").await;
    assert_eq!(home.tools(), ["ping"]);
    home.servers.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_says_nothing_is_given_up() {
    let home = Home::new(json!({ "odd": odd("silent") })).await;
    let failed = "it did not answer for 30 seconds";
    // Time passes as fast as nothing happens.
    while !matches!(&home.info("odd").standing, Standing::Failed { reason, .. } if reason == failed)
    {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    home.servers.close().await;
}

#[tokio::test]
async fn a_call_that_hangs_is_given_up_and_its_server_told() {
    let mut settings = odd("calls");
    settings["call_seconds"] = 60.into();
    let home = Home::new(json!({ "odd": settings })).await;
    home.until_ready("odd").await;
    let given_up = "nothing was heard of this call for 60 seconds; it was cancelled";
    let session = home.session().await;
    // Time passes as fast as nothing happens, and afterwards as it does for everybody.
    tokio::time::pause();
    let hung = home.host.call(session, Caller::Client, "hang", json!({})).await;
    tokio::time::resume();
    let Err(CallError::Tool(ToolError::Failed(why))) = hung else { panic!("{hung:?}") };
    assert_eq!(why, given_up);
    home.until_cancelled(&["nobody waits for it"]).await;
    home.servers.close().await;
}

#[tokio::test]
async fn a_call_that_is_dropped_is_cancelled_at_the_server() {
    let home = Home::new(json!({ "odd": odd("calls") })).await;
    home.until_ready("odd").await;
    let session = home.session().await;
    let call = home.call_in(session, "hang", json!({}));
    let first = async {
        // The server answers in order: once it has answered this, it has the other.
        home.text("cancelled", json!({})).await;
    };
    tokio::select! {
        biased;
        outcome = call => panic!("{outcome:?}"),
        () = first => (),
    }
    home.until_cancelled(&["nobody waits for it"]).await;
    home.servers.close().await;
}

#[tokio::test]
async fn nonsense_is_skipped_and_an_answer_without_sense_is_an_error() {
    let home = Home::new(json!({ "noisy": odd("garbage"), "odd": odd("calls") })).await;
    home.until_ready("noisy").await;
    home.until_ready("odd").await;
    assert_eq!(home.text("ping", json!({})).await, "pong");
    assert!(home.servers.logs("noisy").unwrap()[0].text.starts_with("not a message"));
    let answer = home.call("nonsense", json!({})).await.unwrap_err();
    assert!(answer.contains("no result") || answer.contains("makes no sense"), "{answer}");
    assert_eq!(home.text("steps", json!({})).await, "done");
    home.servers.close().await;
}

#[tokio::test]
async fn megabytes_are_cut_and_what_is_beyond_measure_ends_the_connection() {
    let home = Home::new(json!({ "odd": odd("calls") })).await;
    home.until_ready("odd").await;
    let reply = home.call("large", json!({})).await.unwrap();
    let word = "\n[cut after 4194304 of 6000000 bytes]";
    assert_eq!((reply.text.len(), reply.text.ends_with(word)), (4_194_304 + word.len(), true));
    assert!(home.call("larger", json!({})).await.unwrap_err().contains("was lost"));
    home.until("it is up again", |home| home.info("odd").starts == 2).await;
    home.until_ready("odd").await;
    let logs = home.servers.logs("odd").unwrap();
    assert_eq!(logs[0].text, "it sent a message of more than 16777216 bytes");
    assert_eq!(home.text("steps", json!({})).await, "done");
    home.servers.close().await;
}

#[tokio::test]
async fn a_flood_is_swallowed() {
    let home = Home::new(json!({ "odd": odd("calls") })).await;
    home.until_ready("odd").await;
    assert_eq!(home.text("flood", json!({})).await, "flooded");
    assert_eq!(home.text("stderr", json!({})).await, "spoken");
    let kept = |home: &Home| home.servers.logs("odd").unwrap();
    home.until("its words have been read", |home| {
        kept(home).last().is_some_and(|line| line.text.starts_with("line 19999"))
    })
    .await;
    assert_eq!(kept(&home).len(), 500);
    home.servers.close().await;
}

#[tokio::test]
async fn a_storm_of_changes_is_one_change() {
    let home = Home::new(json!({ "odd": odd("storm") })).await;
    home.until_ready("odd").await;
    assert_eq!(home.text("storm", json!({})).await, "stormed");
    home.until_text("lists", |lists| lists.parse::<u32>().unwrap() > 1).await;
    let lists: u32 = home.text("lists", json!({})).await.parse().unwrap();
    // Once a second at most, and a machine may be slow: it is far from the thousands that it said.
    assert!(lists <= 20, "it was listed {lists} times");
    home.servers.close().await;
}

#[tokio::test]
async fn schemas_that_lie_are_replaced_and_descriptions_bounded() {
    let home = Home::new(json!({ "odd": odd("schemas") })).await;
    home.until_ready("odd").await;
    let warned: Vec<bool> =
        home.info("odd").tools.iter().map(|tool| tool.warning.is_some()).collect();
    assert_eq!(home.tools(), ["broken", "elsewhere", "huge", "strict"]);
    assert_eq!(warned, [true, true, true, false]);
    assert_eq!(home.info("odd").tools[3].description.len(), 4000);
    assert_eq!(home.text("broken", json!({ "any": 1 })).await, r#"{"any":1}"#);
    assert_eq!(home.text("strict", json!({ "n": 2 })).await, "2");
    assert_eq!(
        home.call("strict", json!({ "n": "x" })).await,
        Err("the arguments do not fit strict: /n: \"x\" is not of type \"integer\"".into())
    );
    home.servers.close().await;
}

#[tokio::test]
async fn a_list_without_end_ends() {
    let home = Home::new(json!({ "odd": odd("pages") })).await;
    home.until_ready("odd").await;
    assert_eq!(home.tools().len(), 64);
    home.servers.close().await;
}

#[tokio::test]
async fn a_server_that_breaks_at_a_new_greeting_is_greeted_in_the_old_way() {
    let home = Home::new(json!({ "odd": odd("breaking") })).await;
    home.until_ready("odd").await;
    assert_eq!(home.info("odd").protocol.as_deref(), Some("2025-11-25"));
    assert_eq!(home.text("ping", json!({})).await, "pong");
    home.servers.close().await;
}
