//! The Caco socket: what it answers, who hears what, and in which order.

use serde_json::{Value, json};
use testkit::{
    Gate,
    model::{text, wait},
};
use tokio_tungstenite::tungstenite::Message;

use crate::common::{House, Socket, shorts};

const NOBODY: &str = "019c18a5-1d00-7000-8000-00000000ffff";

#[tokio::test]
async fn pieces_of_text_come_under_the_names_asked_for() {
    let house = House::new([]).await;
    house.world.model.otherwise(vec![text("Hel"), text("lo "), text("wörld")]);
    let id = house.session().await;
    let (native, seed) = ("assistant.message_delta", "assistant.message.delta");
    for (choice, names) in [
        (json!({}), [native, seed].as_slice()),
        (json!({ "deltas": "both" }), &[native, seed]),
        (json!({ "deltas": "seed" }), &[seed]),
        (json!({ "deltas": "native" }), &[native]),
    ] {
        let mut socket = house.socket().await;
        socket.subscribe_with(&id, choice).await;
        house.say(&id, "go").await;
        let heard = socket.turn().await;
        let is_delta = |frame: &&Value| {
            let kind = frame["event"]["type"].as_str().unwrap();
            kind == native || kind == seed
        };
        let deltas: Vec<&Value> = heard.iter().filter(is_delta).map(|it| &it["event"]).collect();
        assert_eq!(deltas.len(), 3 * names.len());
        let message = heard.iter().find(|it| it["event"]["type"] == "assistant.message").unwrap();
        let message = &message["event"]["data"];
        for name in names {
            let field = if *name == native { "deltaContent" } else { "content" };
            let pieces = deltas.iter().filter(|event| event["type"] == *name);
            let joined: String = pieces.map(|it| it["data"][field].as_str().unwrap()).collect();
            assert_eq!(message["content"], joined);
        }
        for pair in deltas.chunks(names.len()) {
            assert_eq!(pair[0]["type"], names[0], "the native name comes first");
            for event in pair {
                assert_eq!(event["data"]["messageId"], message["messageId"]);
                for field in ["id", "timestamp", "parentId"] {
                    assert_eq!(event[field], pair[0][field], "they are one to who knows both");
                }
            }
        }
    }
}

#[tokio::test]
async fn bad_frames_are_answered_and_the_socket_stays_open() {
    let house = House::new([]).await;
    let mut socket = house.socket().await;
    let texts = [
        ("nonsense", json!(null), "Invalid JSON message"),
        ("", json!(null), "Invalid JSON message"),
        ("null", json!(null), "Invalid JSON message"),
        ("{}{}", json!(null), "Invalid JSON message"),
        ("{}", json!(null), "Unknown message type: undefined"),
        ("[]", json!(null), "Unknown message type: undefined"),
        ("7", json!(null), "Unknown message type: undefined"),
        (r#""ping""#, json!(null), "Unknown message type: undefined"),
        (r#"{"id":"a"}"#, json!("a"), "Unknown message type: undefined"),
        (r#"{"type":"dance","id":3}"#, json!(3), "Unknown message type: dance"),
        (
            r#"{"type":"sendMessage","id":"s","prompt":"hi"}"#,
            json!("s"),
            "Use POST /api/sessions/:id/messages instead",
        ),
        (
            r#"{"type":"requestHistory","id":"h"}"#,
            json!("h"),
            "sessionId is required for requestHistory",
        ),
        (
            r#"{"type":"requestHistory","sessionId":"","id":"h"}"#,
            json!("h"),
            "sessionId is required for requestHistory",
        ),
        (r#"{"type":"requestHistory","sessionId":"x","after":-1}"#, json!(null), "Invalid after"),
        (r#"{"type":"requestHistory","sessionId":"x","after":"1"}"#, json!(null), "Invalid after"),
        (r#"{"type":"subscribe","sessionId":"x","after":1.5}"#, json!(null), "Invalid after"),
        (r#"{"type":"subscribe","sessionId":"x","after":{}}"#, json!(null), "Invalid after"),
        (
            r#"{"type":"subscribe","sessionId":"x","deltas":"all"}"#,
            json!(null),
            "Invalid deltas: all",
        ),
        (r#"{"type":"subscribe","sessionId":5}"#, json!(null), "sessionId must be a string"),
        (r#"{"type":"setState","data":[1]}"#, json!(null), "Invalid state object"),
        (r#"{"type":"setState","data":{},"appletSlug":"../x"}"#, json!(null), "Invalid slug"),
        (r#"{"type":"setState","data":{},"appletSlug":"x#y"}"#, json!(null), "Invalid slug"),
        (r#"{"type":"getState","sessionId":"x"}"#, json!(null), "Session not found: x"),
    ];
    for (frame, id, error) in texts {
        let mut answer = json!({ "type": "error", "error": error });
        if !id.is_null() {
            answer["id"] = id;
        }
        socket.send_raw(Message::text(frame)).await;
        assert_eq!(socket.next().await, answer, "{frame}");
        socket.send_raw(Message::binary(frame.as_bytes().to_vec())).await;
        assert_eq!(socket.next().await, answer, "{frame} as bytes");
    }
    socket.send_raw(Message::text("[".repeat(100_000))).await;
    assert_eq!(socket.next().await["error"], "Invalid JSON message");
    socket.send_raw(Message::binary(vec![0xff, 0xfe, 0x00])).await;
    assert_eq!(socket.next().await["error"], "Invalid JSON message");
    for silent in [json!({ "type": "subscribe" }), json!({ "type": "setState" })] {
        socket.send(silent).await;
    }
    socket.send_raw(Message::binary(br#"{"type":"ping","id":{"a":1}}"#.to_vec())).await;
    assert_eq!(socket.next().await, json!({ "type": "pong", "id": { "a": 1 } }));
    socket.send(json!({ "type": "ping" })).await;
    assert_eq!(socket.next().await, json!({ "type": "pong" }));
}

#[tokio::test]
async fn the_history_of_nobody_is_complete_at_once() {
    let house = House::new([]).await;
    let mut socket = house.socket().await;
    for id in [NOBODY, "nonsense"] {
        let complete = json!({ "type": "historyComplete", "sessionId": id, "seq": 0 });
        assert_eq!(socket.history(id, json!({})).await, [complete]);
    }
    let complete = json!({ "type": "historyComplete", "sessionId": NOBODY, "seq": 0, "id": 1 });
    assert_eq!(socket.history(NOBODY, json!({ "id": 1 })).await, [complete]);
}

#[tokio::test]
async fn events_go_to_subscribers_and_news_to_all() {
    let house = House::new([]).await;
    house.world.model.otherwise(vec![text("hi")]);
    let (one, other) = (house.session().await, house.session().await);
    let mut nobody = house.socket().await;
    let mut listener = house.listener(&other).await;
    let mut fickle = house.listener(&other).await;
    fickle.subscribe(&one).await;
    let all = house.turn(&one, json!({ "prompt": "go" })).await;
    let news = ["busy true", "list idle", "busy false"];
    assert_eq!(shorts(&nobody.turn().await), news);
    assert_eq!(shorts(&listener.turn().await), news);
    assert_eq!(fickle.turn().await, all, "the last subscription counts");
    let all = house.turn(&other, json!({ "prompt": "go" })).await;
    assert_eq!(listener.turn().await, all);
    assert_eq!(shorts(&fickle.turn().await), news, "and the first no more");
    fickle.send(json!({ "type": "subscribe" })).await;
    let all = house.turn(&one, json!({ "prompt": "go" })).await;
    assert_eq!(fickle.turn().await, all, "a subscription to nothing changes nothing");
}

/// The same place in many runs, because it is a race that would show here.
#[tokio::test]
async fn news_has_its_place_among_the_events_it_belongs_to() {
    let house = House::new([]).await;
    house.world.model.otherwise(vec![text("hi")]);
    let id = house.session().await;
    let mut socket = house.socket().await;
    socket.subscribe_with(&id, json!({ "deltas": "native" })).await;
    let events = [
        "busy true",
        "user.message",
        "assistant.turn_start",
        "assistant.message_delta",
        "assistant.message",
        "session.idle",
        "list idle",
        "busy false",
    ];
    for _ in 0..200 {
        house.say(&id, "go").await;
        assert_eq!(shorts(&socket.turn().await), events);
        house.post(&format!("/api/sessions/{id}/observe"), json!({})).await;
        assert_eq!(shorts(&[socket.next().await]), ["list observed"]);
    }
}

#[tokio::test]
async fn applet_state_reaches_the_others_and_not_the_sender() {
    let mut house = House::new([]).await;
    let (one, other) = (house.session().await, house.session().await);
    let mut sender = house.listener(&one).await;
    let mut same = house.listener(&one).await;
    let mut elsewhere = house.listener(&other).await;
    let mut loose = house.socket().await;
    let mut looser = house.socket().await;
    let set = |data: Value| json!({ "type": "setState", "data": data });
    let update = |data: Value| json!({ "type": "stateUpdate", "data": data });

    sender.send(set(json!({ "a": 1, "b": { "c": 2 } }))).await;
    assert_eq!(sender.waiting().await, Vec::<Value>::new());
    assert_eq!(same.waiting().await, [update(json!({ "a": 1, "b": { "c": 2 } }))]);
    same.send(set(json!({ "b": 3 }))).await;
    assert_eq!(same.waiting().await, Vec::<Value>::new());
    assert_eq!(sender.waiting().await, [update(json!({ "b": 3 }))]);
    assert_eq!(state(&mut sender, json!({})).await, json!({ "a": 1, "b": 3 }));
    assert_eq!(elsewhere.waiting().await, Vec::<Value>::new());
    assert_eq!(state(&mut elsewhere, json!({})).await, json!({}));
    let named = json!({ "sessionId": one });
    assert_eq!(state(&mut elsewhere, named.clone()).await, json!({ "a": 1, "b": 3 }));
    let slug = json!({ "sessionId": one, "appletSlug": "calc" });
    assert_eq!(state(&mut elsewhere, slug).await, json!({}), "each applet has its own");

    loose.send(set(json!({ "x": 1 }))).await;
    assert_eq!(loose.waiting().await, Vec::<Value>::new());
    assert_eq!(looser.waiting().await, [update(json!({ "x": 1 }))], "those without are a group");
    assert_eq!(sender.waiting().await, Vec::<Value>::new());
    let active = state(&mut elsewhere, json!({})).await;
    assert_eq!(active, json!({ "x": 1 }), "which is kept with the client's active session");

    let body = json!({ "prompt": "hi", "appletState": { "a": 9 } });
    house.world.model.otherwise(vec![text("fine")]);
    house.turn(&one, body).await;
    let heard = sender.turn().await;
    assert!(heard.iter().all(|frame| frame["type"] != "stateUpdate"), "with a message it is quiet");
    house.restart().await;
    let mut socket = house.socket().await;
    assert_eq!(state(&mut socket, named).await, json!({ "a": 9, "b": 3 }));
}

async fn state(socket: &mut Socket, place: Value) -> Value {
    let mut frame = json!({ "type": "getState", "id": "q" });
    frame.as_object_mut().unwrap().extend(place.as_object().unwrap().clone());
    socket.send(frame).await;
    let answer = socket.next().await;
    let expected = json!({ "type": "state", "id": "q", "data": answer["data"] });
    assert_eq!(answer, expected);
    answer["data"].clone()
}

#[tokio::test]
async fn applet_state_has_a_bound() {
    let house = House::new([]).await;
    let id = house.session().await;
    let mut socket = house.listener(&id).await;
    for number in 0..2 {
        let data = json!({ format!("k{number}"): "x".repeat(600_000) });
        socket.send(json!({ "type": "setState", "id": number, "data": data })).await;
    }
    let error = "applet state would be larger than 1 MB";
    assert_eq!(socket.next().await, json!({ "type": "error", "id": 1, "error": error }));
    let body = json!({ "prompt": "hi", "appletState": { "k1": "x".repeat(600_000) } });
    let (status, answer) = house.message(&id, body).await;
    assert_eq!((status, &answer["code"]), (413, &json!("PAYLOAD_TOO_LARGE")));
    assert_eq!(house.log(&id).await["last"], 1, "and what came with it was not said");
}

#[tokio::test]
async fn a_frame_over_a_megabyte_ends_the_socket_and_nothing_else() {
    let house = House::new([]).await;
    let mut other = house.socket().await;
    for message in [Message::text("x".repeat((1 << 20) + 1)), Message::binary(vec![0; 3 << 20])] {
        let mut socket = house.socket().await;
        socket.send_raw(message).await;
        let close = socket.closed().await.unwrap().unwrap();
        assert_eq!(u16::from(close.code), 1009);
        assert_eq!(close.reason.as_str(), "frame larger than 1 MB");
    }
    let fits = "x".repeat((1 << 20) - 100);
    other.send(json!({ "type": "ping", "id": fits })).await;
    assert_eq!(other.next().await, json!({ "type": "pong", "id": fits }));
}

#[tokio::test]
async fn who_listens_to_a_deleted_session_is_told() {
    let house = House::new([]).await;
    let id = house.session().await;
    let mut socket = house.listener(&id).await;
    house.delete(&format!("/api/sessions/{id}")).await;
    let heard = socket.until(|frame| frame["event"]["data"]["reason"] == "deleted").await;
    assert_eq!(shorts(&heard), ["error", "list deleted"]);
    let complete = json!({ "type": "historyComplete", "sessionId": id, "seq": 0 });
    assert_eq!(socket.history(&id, json!({})).await, [complete]);
}

#[tokio::test]
async fn a_subscription_may_come_before_its_session() {
    let house = House::new([vec![text("hi")]]).await;
    // Names are given in order here, so the next one is known.
    let first = house.session().await;
    let next = format!("{}2", first.strip_suffix('1').unwrap());
    let mut socket = house.socket().await;
    socket.subscribe(&next).await;
    assert_eq!(house.session().await, next);
    house.say(&next, "go").await;
    let heard = socket.turn().await;
    assert!(shorts(&heard).contains(&"user.message".to_owned()), "{heard:#?}");
}

#[tokio::test]
async fn a_server_that_stops_says_goodbye() {
    let gate = Gate::default();
    let mut house = House::new([vec![text("half"), wait(&gate), text(" done")]]).await;
    let id = house.session().await;
    let mut socket = house.listener(&id).await;
    house.say(&id, "go").await;
    gate.reached().await;
    gate.open();
    house.stop().await;
    let heard = socket.until(|frame| frame["event"]["data"]["isBusy"] == false).await;
    assert!(shorts(&heard).contains(&"session.idle".to_owned()), "a running turn may end");
    let close = socket.closed().await.unwrap().unwrap();
    assert_eq!(u16::from(close.code), 1001);
    assert_eq!(close.reason.as_str(), "the server is shutting down");
}
