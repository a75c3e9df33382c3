use super::*;

fn hear(calls: &mut Calls, update: Value) -> Vec<String> {
    let update = serde_json::from_value(update).unwrap();
    calls.update(update).unwrap().iter().map(|doing| format!("{doing:?}")).collect()
}

fn chunk(text: &str) -> Value {
    json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text } })
}

#[test]
fn words_thoughts_and_plans_are_told_apart() {
    let mut calls = Calls::default();
    assert_eq!(hear(&mut calls, chunk("hi")), [r#"Text("hi")"#]);
    let thought = json!({
        "sessionUpdate": "agent_thought_chunk",
        "content": { "type": "resource_link", "name": "a", "uri": "file:///a" },
    });
    assert_eq!(hear(&mut calls, thought), [r#"Reasoning("[a](file:///a)")"#]);
    let plan = json!({ "sessionUpdate": "plan", "entries": [
        { "content": "look\nagain", "priority": "high", "status": "in_progress" },
        { "content": "go", "priority": "low", "status": "pending" },
        { "nonsense": true },
    ]});
    let expected = r#"Plan(Plan { title: "Plan", steps: [Step { text: "look", progress: Active }, Step { text: "go", progress: Pending }], visibility: None })"#;
    assert_eq!(hear(&mut calls, plan), [expected]);
    let commands = json!({ "sessionUpdate": "available_commands_update", "availableCommands": [] });
    assert_eq!(hear(&mut calls, commands), [""; 0]);
}

#[test]
fn a_call_begins_prints_and_ends_once() {
    let mut calls = Calls::default();
    let begun = json!({ "sessionUpdate": "tool_call", "toolCallId": "c", "title": "Run ls",
        "kind": "execute", "rawInput": { "command": "ls" } });
    let began = r#"Began { call: "c", tool: "agent_execute", args: Object {"command": String("ls")}, title: "Run ls" }"#;
    assert_eq!(hear(&mut calls, begun.clone()), [began]);
    assert_eq!(hear(&mut calls, begun.clone()), [""; 0]);
    let printing = |text: &str, status: &str| {
        json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c", "status": status,
            "content": [{ "type": "content", "content": { "type": "text", "text": text } }] })
    };
    let started = r#"Started { call: "c" }"#;
    let printed = |delta: &str| format!(r#"Printed {{ call: "c", delta: "{delta}" }}"#);
    assert_eq!(hear(&mut calls, printing("a", "in_progress")), [started, &printed("a")]);
    assert_eq!(hear(&mut calls, printing("ab", "in_progress")), [started, &printed("b")]);
    let ended = hear(&mut calls, printing("abc", "completed"));
    assert!(
        ended[0].starts_with(r#"Ended { call: "c", result: Ok(Reply { text: "abc""#),
        "{ended:?}"
    );
    assert_eq!(hear(&mut calls, printing("abcd", "failed")), [""; 0]);
    assert_eq!(hear(&mut calls, begun), [""; 0]);
}

#[test]
fn a_call_that_is_first_heard_of_in_the_middle_has_begun_all_the_same() {
    let mut calls = Calls::default();
    let failed = json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c", "kind": "unheard of",
        "status": "failed" });
    let expected = [
        r#"Began { call: "c", tool: "agent_act", args: Object {}, title: "Working" }"#,
        r#"Ended { call: "c", result: Err("It failed, and did not say why.") }"#,
    ];
    assert_eq!(hear(&mut calls, failed), expected);
}

#[test]
fn what_was_changed_is_told_as_a_diff_and_for_programs() {
    let mut calls = Calls::default();
    let edited = json!({ "sessionUpdate": "tool_call", "toolCallId": "c", "title": "Edit a",
        "kind": "edit", "status": "completed", "locations": [{ "path": "/w/a", "line": 3 }],
        "content": [{ "type": "diff", "path": "/w/a", "oldText": "x\n", "newText": "y\n" }] });
    let doings = calls.update(serde_json::from_value(edited).unwrap()).unwrap();
    let Some(Doing::Ended { result: Ok(reply), .. }) = doings.last() else { panic!("{doings:?}") };
    let diff = "--- a/w/a\n+++ b/w/a\n@@ -1 +1 @@\n-x\n+y\n";
    let data = json!({ "title": "Edit a", "kind": "edit",
        "locations": [{ "path": "/w/a", "line": 3 }],
        "changes": [{ "path": "/w/a", "diff": diff }] });
    assert_eq!(*reply, Reply { text: diff.into(), data: Some(data), ..Reply::default() });
}

#[test]
fn a_flood_ends_somewhere() {
    let mut calls = Calls::default();
    let many: SessionUpdate = serde_json::from_value(chunk(&"x".repeat(SAID / 2))).unwrap();
    assert!(calls.update(many.clone()).is_ok() && calls.update(many.clone()).is_ok());
    assert_eq!(calls.update(many).unwrap_err(), TooMuch);
    let mut calls = Calls::default();
    let mut begin = |id: usize| {
        let call = json!({ "sessionUpdate": "tool_call", "toolCallId": id.to_string(),
            "title": "t", "status": "completed" });
        calls.update(serde_json::from_value(call).unwrap())
    };
    assert!((0..BEGUN).all(|id| begin(id).is_ok()));
    assert_eq!(begin(BEGUN).unwrap_err(), TooMuch);
}
