//! Version 2 of the phone's protocol: going on without a gap, calling off, answering, choosing, bringing files.

use kernel::{toolbox::Risk, update::Amendment};
use phone::News;
use serde_json::{Value, json};
use testkit::{
    Gate, TestTool, World,
    model::{call, text, wait},
};

use crate::{
    common::{Ask, House, Newer, Phone, Socket, error},
    phone_talk::{ANSWER, golden},
};

/// Frames that facts make, without those that tell how things stand.
fn facts(frames: &[Value]) -> Vec<Value> {
    let passing = ["connected", "status.update", "message.stream", "caught_up"];
    let lasts = |frame: &&Value| !passing.contains(&frame["type"].as_str().unwrap());
    frames.iter().filter(lasts).cloned().collect()
}

#[tokio::test]
async fn whoever_goes_on_from_any_place_hears_every_later_fact_once_and_in_order() {
    let house = House::new(golden()).await;
    let mut phone = Newer::paired(&house, "one").await;
    phone.say("a", "Where is it?").await;
    phone.until_idle().await;
    let last = phone.timeline.seq.unwrap();
    assert_eq!(phone.words(), ["Where is it?", ANSWER]);
    let accepted = phone.frames.iter().find(|frame| frame["type"] == "message.accepted").unwrap();
    assert_eq!((&accepted["reply_to"], &accepted["position"]), (&json!("a"), &json!(0)));
    let complete = phone.frames.iter().find(|frame| frame["type"] == "message.complete").unwrap();
    assert_eq!(complete["outcome"], "ok");

    let mut reader = Newer::new(&phone.key, "reader");
    reader.connect_with(&house, "&after_seq=0").await.unwrap();
    reader.until("caught_up").await;
    let all = facts(&reader.frames);
    let kinds: Vec<_> = all.iter().map(|frame| frame["type"].as_str().unwrap()).collect();
    assert_eq!(kinds[0], "message.user");
    assert_eq!(kinds[kinds.len() - 2..], ["task.completed", "message.complete"]);
    assert_eq!(kinds.iter().filter(|kind| **kind == "task.created").count(), 1);
    for after in 0..=last {
        let mut again = Newer::new(&phone.key, "again");
        again.connect_with(&house, &format!("&after_seq={after}")).await.unwrap();
        assert_eq!(again.frames[0]["seq"], after);
        let end = again.until("caught_up").await;
        assert_eq!(end["seq"], last);
        // Frames of a fact that carry the number before it are told again with the rest of that fact.
        let told = facts(&again.frames);
        assert_eq!(told, all[all.len() - told.len()..], "after {after}");
        let later = |frames: &[Value]| {
            frames.iter().filter(|frame| frame["seq"].as_i64() > Some(after)).count()
        };
        assert_eq!(later(&told), later(&all), "after {after}");
        again.cut();
    }
    for (query, status) in [("&after_seq=x", 400), ("&after_seq=-1", 400), ("&after_seq=", 400)] {
        let refused = Newer::new(&phone.key, "junk").connect_with(&house, query).await;
        let text = "after_seq must be a whole number from 0 on";
        assert_eq!(refused, Err((status, error("BAD_REQUEST", text))), "{query}");
    }
    let mut beyond = Newer::new(&phone.key, "beyond");
    beyond.connect_with(&house, "&after_seq=999999").await.unwrap();
    assert_eq!(beyond.until("reset").await, json!({ "type": "reset", "seq": last }));
    assert!(beyond.timeline.is_void);
    beyond.until("caught_up").await;
}

#[tokio::test]
async fn whoever_is_far_behind_is_told_to_read_the_history() {
    let house = House::new([vec![text("Yes.")]]).await;
    let mut phone = Newer::paired(&house, "phone").await;
    let id = house.host().roster.all()[0].0;
    let session = house.host().open(id).await.unwrap();
    for number in 0..1010 {
        let name = Some(number.to_string());
        session.amend(Amendment { name, ..Amendment::default() }).await.unwrap().unwrap();
    }
    phone.say("a", "are you there?").await;
    phone.until_idle().await;
    let last = i64::try_from(house.host().roster.get(id).unwrap().last.0).unwrap();
    for (after, is_far) in [(0, true), (last - 1001, true), (last - 1000, false)] {
        let mut reader = Newer::new(&phone.key, "reader");
        reader.connect_with(&house, &format!("&after_seq={after}")).await.unwrap();
        reader.until("caught_up").await;
        let resets = reader.frames.iter().filter(|frame| frame["type"] == "reset").count();
        assert_eq!(resets == 1, is_far, "after {after} of {last}");
        let said = reader.frames.iter().any(|frame| frame["type"] == "message.complete");
        assert_eq!(said, !is_far, "after {after} of {last}");
    }
}

#[tokio::test]
async fn the_first_version_sees_nothing_of_the_second() {
    let house = House::new([vec![text("Yes.")], vec![text("Yes.")]]).await;
    let mut old = Phone::open(&house, "old").await;
    let mut new = Newer::paired(&house, "new").await;
    new.say("a", "hello").await;
    new.until_idle().await;
    old.socket().send(json!({ "type": "message.cancel" })).await;
    let mut kinds = Vec::new();
    loop {
        let frame = old.socket().next().await;
        assert!(frame.get("seq").is_none(), "{frame}");
        let kind = frame["type"].as_str().unwrap().to_owned();
        let is_last = kind == "error";
        kinds.push(kind);
        if is_last {
            assert_eq!(frame["code"], "unknown_type");
            break;
        }
    }
    let known = ["message.stream", "message.complete", "status.update", "error"];
    assert!(kinds.iter().all(|kind| known.contains(&kind.as_str())), "{kinds:?}");
    old.say("b", "and from here?").await;
    let said = new.until("message.user").await;
    assert_eq!((&said["content"], &said["origin"]), (&json!("and from here?"), &json!("window")));
    let page = old.ask("/messages").await.json().1;
    let keys: Vec<_> = page["messages"][0].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["id", "role", "content", "timestamp"]);
    assert_eq!(page.as_object().unwrap().len(), 1);
    // Whoever asks for something unheard of gets what there is.
    for (asked, v) in [("3", json!(2)), ("junk", Value::Null), ("1", Value::Null)] {
        let path = format!("/ws?token={}&v={asked}", house.key());
        let mut socket = Socket::open(house.address(), &path, &[]).await.unwrap();
        assert_eq!(socket.next().await["v"], v, "{asked}");
    }
}

#[tokio::test]
async fn pages_have_an_exact_cursor() {
    let world = World::new([]);
    world.model.otherwise(vec![text("Yes.")]);
    let house = House::over(world).await;
    let mut phone = Newer::paired(&house, "pages").await;
    for number in 0..3 {
        phone.say(&number.to_string(), &format!("question {number}")).await;
        phone.until_idle().await;
    }
    let (_, all) = phone.ask(&house, "/messages?v=2").await.json();
    assert_eq!(all["messages"].as_array().unwrap().len(), 6);
    assert_eq!((&all["has_more"], &all["last_seq"]), (&json!(false), &json!(phone.timeline.seq)));
    let (mut found, mut before) = (Vec::new(), u64::MAX);
    loop {
        let path = format!("/messages?v=2&limit=1&before_seq={before}");
        let (_, page) = phone.ask(&house, &path).await.json();
        let row = page["messages"][0].clone();
        before = row["seq"].as_u64().unwrap();
        found.insert(0, row);
        if page["has_more"] == false {
            break;
        }
    }
    assert_eq!(Value::from(found), all["messages"]);
    assert_eq!(phone.ask(&house, "/messages?v=2&before_seq=x").await.status, 400);
}

#[tokio::test]
async fn what_waits_or_runs_is_called_off_by_name() {
    let gate = Gate::default();
    let house = House::new([vec![text("So far"), wait(&gate)], vec![text("Third.")]]).await;
    let mut phone = Newer::paired(&house, "cancels").await;
    let cancel = |id: &str| json!({ "type": "message.cancel", "id": id });
    for id in ["a", "b", "c"] {
        phone.say(id, &format!("question {id}")).await;
    }
    gate.reached().await;
    while phone.words().len() < 3 {
        phone.next().await;
    }
    phone.send(cancel("b")).await;
    let off = phone.until("message.complete").await;
    assert_eq!((&off["reply_to"], &off["outcome"]), (&json!("b"), &json!("cancelled")));
    phone.send(cancel("a")).await;
    let off = phone.until("message.complete").await;
    assert_eq!((&off["reply_to"], &off["outcome"]), (&json!("a"), &json!("cancelled")));
    assert_eq!(off["content"], "So far\n\nStopped.");
    let third = phone.until("message.complete").await;
    assert_eq!((&third["reply_to"], &third["content"]), (&json!("c"), &json!("Third.")));
    phone.until_rows(6).await;
    for id in ["a", "nothing"] {
        phone.send(cancel(id)).await;
        let refused = phone.until("error").await;
        assert_eq!((&refused["code"], &refused["reply_to"]), (&json!("not_found"), &json!(id)));
    }
    phone.send(json!({ "type": "message.cancel" })).await;
    assert_eq!(phone.until("error").await["code"], "not_found");
    // Other words under a name that was used are no message.
    phone.send(json!({ "type": "message.send", "id": "c", "content": "other" })).await;
    assert_eq!(phone.until("error").await["code"], "id_conflict");
    phone.send(json!({ "type": "message.send", "id": "c", "content": "question c" })).await;
    assert_eq!(phone.until("message.accepted").await["duplicate"], true);
    assert_eq!(phone.until("message.complete").await["content"], "Third.");
}

#[tokio::test]
async fn a_question_is_answered_from_a_phone_and_the_first_answer_counts() {
    let world = World::new([
        vec![call("1", "danger", json!({}))],
        vec![text("Done so.")],
        vec![call("2", "danger", json!({}))],
        vec![text("Not done.")],
    ]);
    let tool = TestTool::echo().named("danger").risky(Risk::Acts);
    let house = House::over(world.tool(&tool)).await;
    let mut one = Newer::paired(&house, "one").await;
    let mut other = Newer::paired(&house, "other").await;
    one.say("a", "do it").await;
    let asked = one.until("approval.request").await;
    let id = asked["approval_id"].as_str().unwrap().to_owned();
    assert_eq!(asked["options"], json!(["once", "session", "deny"]));
    // It is still open for whoever comes back.
    one.cut();
    one.connect(&house).await;
    assert_eq!(one.until("approval.request").await["approval_id"], id.as_str());
    other.until("approval.request").await;
    let respond = |decision: &str| json!({ "type": "approval.respond", "id": decision, "approval_id": id, "decision": decision });
    one.send(respond("once")).await;
    assert_eq!(one.until("approval.resolved").await["by"], "one");
    other.send(respond("deny")).await;
    assert_eq!(other.until("error").await["code"], "already_resolved");
    other.until_rows(2).await;
    assert_eq!(other.words(), ["do it", "Done so."]);
    assert!(other.timeline.asked.is_empty());
    one.send(json!({ "type": "approval.respond", "approval_id": "nonsense", "decision": "deny" }))
        .await;
    assert_eq!(one.until("error").await["code"], "not_found");
    one.until_rows(2).await;
    // A phone of version 1 is told where to answer.
    let mut old = Phone::open(&house, "old").await;
    other.say("b", "once more").await;
    let told = old.until(|event| {
        matches!(event, phone::Event::Complete { content, .. } if content.contains("in the page"))
    });
    told.await;
    let asked = other.until("approval.request").await;
    other.send(json!({ "type": "approval.respond", "approval_id": asked["approval_id"], "decision": "deny" })).await;
    other.until_idle().await;
    assert_eq!(other.words().last(), Some(&"Not done."));
    // One that nobody answers counts as denied, and everybody is told.
    house.world.model.push(vec![call("3", "danger", json!({}))]);
    house.world.model.push(vec![text("Nobody said yes.")]);
    other.say("c", "and again").await;
    let asked = other.until("approval.request").await;
    let expires: jiff::Timestamp = asked["expires_at"].as_str().unwrap().parse().unwrap();
    house.world.clock.advance(expires.duration_since(house.now()));
    // Whoever waits looks at the clock again when something happens.
    let id = house.host().roster.all()[0].0;
    house.patch(&format!("/api/sessions/{id}"), json!({ "name": "late" })).await;
    for phone in [&mut one, &mut other] {
        let settled = loop {
            let settled = phone.until("approval.resolved").await;
            if settled["approval_id"] == asked["approval_id"] {
                break settled;
            }
        };
        assert_eq!(settled["decision"], "expired");
    }
    other.until_idle().await;
    assert_eq!(other.words().last(), Some(&"Nobody said yes."));
}

#[tokio::test]
async fn a_phone_chooses_among_the_conversations_its_key_opens() {
    let house = House::new([vec![text("Here.")]]).await;
    let elsewhere = house.session().await;
    let mut bound = Newer::paired(&house, "bound").await;
    bound.send(json!({ "type": "session.list", "id": "l" })).await;
    let listed = bound.until("session.list").await;
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 1);
    let select = json!({ "type": "session.select", "id": "s", "session": elsewhere });
    bound.send(select.clone()).await;
    assert_eq!(bound.until("error").await["code"], "forbidden");

    let mut free = Newer::new(&house.key(), "free");
    free.connect_with(&house, "").await.unwrap();
    free.until("caught_up").await;
    free.send(json!({ "type": "session.list", "id": "l" })).await;
    let listed = free.next().await;
    assert!(matches!(&listed.news, News::Sessions { sessions, .. } if sessions.len() == 2));
    free.send(select).await;
    let selected = free.until("session.selected").await;
    assert_eq!((&selected["session"], &selected["reply_to"]), (&json!(elsewhere), &json!("s")));
    free.until("caught_up").await;
    free.say("a", "where are we?").await;
    free.until_rows(2).await;
    let (_, page) = free.ask(&house, &format!("/messages?v=2&chat_id={elsewhere}")).await.json();
    assert_eq!(page["messages"][1]["content"], "Here.");
    // What the other hears of typing, and of nothing else.
    bound.send(json!({ "type": "typing", "active": true })).await;
    let mut third = Newer::paired(&house, "third").await;
    third.until("caught_up").await;
    bound.send(json!({ "type": "typing", "active": false })).await;
    bound.send(json!({ "type": "typing", "active": true })).await;
    let typing = third.until("typing").await;
    assert_eq!(typing["active"], true);
    bound.send(json!({ "type": "typing", "active": false })).await;
    assert_eq!(third.until("typing").await["active"], false);
}

#[tokio::test]
async fn files_come_with_a_message_and_are_read_by_those_who_see_it() {
    let house = House::new([vec![text("Nice.")], vec![text("Read.")]]).await;
    let mut phone = Newer::paired(&house, "files").await;
    let put = |path: &str, key: &str, kind: &str, body: Vec<u8>| {
        let ask = Ask::new(house.address(), "POST", path);
        ask.header("authorization", &format!("Bearer {key}")).body(kind, body).send()
    };
    let path = "/window/attachments?name=cat%20one.png";
    assert_eq!(put(path, "wrong", "image/png", b"png".to_vec()).await.status, 401);
    let kept = put(path, &phone.key, "image/png", b"png".to_vec()).await.json();
    assert_eq!((kept.0, &kept.1["name"], &kept.1["size"]), (201, &json!("cat one.png"), &json!(3)));
    let note = put("/window/attachments?name=note.txt", &phone.key, "text/plain", b"hi".to_vec());
    let note = note.await.json().1;
    assert_eq!(
        put("/window/attachments?name=..%2Fx", &phone.key, "text/plain", b"x".to_vec())
            .await
            .status,
        400
    );
    let large = vec![0; (20 << 20) + 1];
    assert_eq!(put(path, &phone.key, "image/png", large).await.status, 413);

    let files = json!([{ "id": kept.1["id"] }, { "id": note["id"] }]);
    let message =
        json!({ "type": "message.send", "id": "a", "content": "look", "attachments": files });
    phone.send(message.clone()).await;
    phone.until_idle().await;
    // Sent once, they cannot be sent again; the same message is the same.
    phone.send(message).await;
    assert_eq!(phone.until("message.accepted").await["duplicate"], true);
    let again =
        json!({ "type": "message.send", "id": "b", "content": "look", "attachments": files });
    phone.send(again).await;
    assert_eq!(phone.until("error").await["code"], "not_found");

    let (_, page) = phone.ask(&house, "/messages?v=2").await.json();
    let row = &page["messages"][0];
    let url = row["attachments"][0]["url"].as_str().unwrap().to_owned();
    let expected = json!([{ "id": row["attachments"][0]["id"], "name": "cat one.png", "mime": "image/png", "size": 3, "url": url }]);
    assert_eq!(row["attachments"], expected);
    let mut reader = Newer::new(&phone.key, "reader");
    reader.connect_with(&house, "&after_seq=0").await.unwrap();
    assert_eq!(reader.until("message.user").await["attachments"], expected);
    let said = row["content"].as_str().unwrap();
    let place = said.strip_prefix("look\n\nAttached: note.txt is at ").unwrap();
    assert_eq!(std::fs::read(place).unwrap(), b"hi");
    let shown = phone.ask(&house, &url).await;
    assert_eq!((shown.status, shown.body.as_slice()), (200, &b"png"[..]));
    let kind = "attachment; filename*=UTF-8''cat%20one%2Epng";
    assert_eq!(shown.header("content-disposition"), Some(kind));
    assert_eq!(house.ask_without_key("GET", &url).send().await.status, 401);
    let elsewhere = house.session().await;
    let (_, paired) = house.post("/api/keys", json!({ "name": "x", "sessionId": elsewhere })).await;
    let stranger = Newer::new(paired["key"].as_str().unwrap(), "x");
    assert_eq!(stranger.ask(&house, &url).await.status, 404);
    let old = Phone::open(&house, "old").await;
    let shown = &old.rows("").await[0].content;
    assert!(shown.ends_with(&format!("\n\n[cat one.png]({url})")), "{shown}");
}

#[tokio::test]
async fn pictures_of_tools_come_with_the_answer() {
    let tool = TestTool::showing([("image/png", b"one"), ("image/jpeg", b"three")]).named("look");
    let looks = (0..6).map(|_| vec![call("", "look", json!({}))]);
    let world = World::new(looks.chain([vec![text("There.")]])).tool(&tool);
    let house = House::over(world).await;
    let mut phone = Newer::paired(&house, "phone").await;
    let mut old = Phone::open(&house, "old").await;
    phone.say("a", "what do you see?").await;
    let answer = phone.until("message.complete").await;
    let files = answer["attachments"].as_array().unwrap();
    let kinds: Vec<_> = files.iter().map(|it| (&it["mime"], &it["size"])).collect();
    let pair = [(&json!("image/png"), &json!(3)), (&json!("image/jpeg"), &json!(5))];
    assert_eq!(kinds, pair.repeat(5), "the last ten of twelve");
    let (_, page) = phone.ask(&house, "/messages?v=2").await.json();
    assert_eq!(page["messages"][1]["attachments"], answer["attachments"]);
    for (file, bytes) in [(&files[0], &b"one"[..]), (&files[9], b"three")] {
        let shown = phone.ask(&house, file["url"].as_str().unwrap()).await;
        assert_eq!((shown.status, shown.body.as_slice()), (200, bytes));
    }
    // The same message again is answered with the same.
    phone.until_idle().await;
    phone.send(json!({ "type": "message.send", "id": "a", "content": "what do you see?" })).await;
    let again = phone.until("message.complete").await;
    assert_eq!(again["attachments"], answer["attachments"]);
    // Version 1 hears the words alone, as it was told them piece by piece.
    old.until_idle().await;
    assert_eq!(old.words().last(), Some(&"There."));
    assert_eq!(old.rows("").await[1].content, "There.");
}
