//! An agent that keeps to the protocol.

use std::fs;

use agents::Offer;
use kernel::{
    approvals::Mode,
    question::{About, Decision, Scope},
    tasks::{Close, Progress},
    toolbox::{Caller, Deed, Detail, Risk},
    update::{Amendment, Fact, Output},
};
use serde_json::{Value, json};

use crate::*;

fn allow(scope: Scope) -> Decision {
    Decision::Allow { scope, pattern: None, lasts: None }
}

fn answered(text: &str) -> (String, String) {
    (text.to_owned(), "finished".to_owned())
}

#[tokio::test]
async fn an_agent_answers_and_stays_for_the_next_message() {
    let mut scene = Scene::new(scripted("")).await;
    assert_eq!(scene.ask("say hello, you").await, answered("hello, you"));
    assert_eq!(scene.ask("think hm").await, answered("Thought."));
    let (first, _) = scene.ask("pid").await;
    assert_eq!(scene.ask("pid").await, answered(&first));
    let log = scene.log().await;
    let thought = log
        .iter()
        .any(|entry| matches!(&entry.fact, Fact::Answered(answer) if answer.reasoning == "hm"));
    assert!(thought);
}

#[tokio::test]
async fn each_session_has_a_process_of_its_own_that_goes_with_it_or_with_the_house() {
    let mut scene = Scene::new(scripted("")).await;
    let (first, _) = scene.ask("pid").await;
    let other = scene.host.create(&scene.room(), "agent/guest", "").await.unwrap();
    let mine = std::mem::replace(&mut scene.id, other);
    scene.feed = scene.host.feed(other, Some(Seq(0))).await.unwrap();
    let (second, _) = scene.ask("pid").await;
    assert!(first != second && mine != other);
    let (third, _) = {
        let doomed = scene.host.create(&scene.room(), "agent/guest", "").await.unwrap();
        scene.feed = scene.host.feed(doomed, Some(Seq(0))).await.unwrap();
        scene.id = doomed;
        scene.ask("pid").await
    };
    assert!(runs(&first) && runs(&second) && runs(&third));
    scene.host.delete(scene.id).await.unwrap();
    until_gone(&third).await;
    assert!(runs(&first) && runs(&second));
    scene.host.shut(Duration::ZERO).await;
    drop(scene);
    until_gone(&first).await;
    until_gone(&second).await;
}

#[tokio::test]
async fn a_plan_is_the_task_of_the_session() {
    let mut scene = Scene::new(scripted("")).await;
    assert_eq!(scene.ask("plan").await, answered("Planned."));
    let log = scene.log().await;
    let told: Vec<_> = log
        .iter()
        .filter_map(|entry| match &entry.fact {
            Fact::TaskOpened(task) | Fact::TaskMoved(task) => Some(task.steps[0].progress),
            _ => None,
        })
        .collect();
    assert_eq!(told, [Progress::Active, Progress::Done]);
    let closed = |entry: &Entry| matches!(entry.fact, Fact::TaskClosed { close: Close::Done, .. });
    assert!(log.iter().any(closed));
}

#[tokio::test]
async fn leave_is_asked_of_the_person_and_every_answer_reaches_the_agent() {
    let mut scene = Scene::new(scripted("")).await;
    let four = "leave allow_always allow_once reject_always reject_once";
    for (decision, chosen) in
        [(allow(Scope::Once), "id-allow_once"), (Decision::Deny { reason: None }, "id-reject_once")]
    {
        scene.say(four).await;
        let waiting = scene.decide(decision).await;
        assert_eq!(waiting.question.caller, Caller::Agent { name: "guest".into() });
        assert_eq!(waiting.question.title, "Doing c1");
        let About::Leave { deed, .. } = waiting.question.about else { panic!("{waiting:?}") };
        let args = Detail::Arguments { args: json!({ "path": "a" }) };
        assert_eq!(
            deed,
            Deed { risk: Risk::Acts, detail: args, subjects: Vec::new(), within: None }
        );
        assert_eq!(scene.ended().await, answered(chosen));
    }
    scene.say(four).await;
    scene.decide(allow(Scope::Session)).await;
    assert_eq!(scene.ended().await, answered("id-allow_once"));
    assert_eq!(scene.ask(four).await, answered("id-allow_once"), "nobody is asked again");
    let outputs: Vec<_> = scene.calls().await.into_iter().map(|(.., output)| output).collect();
    let failed = Output::failed("It failed, and did not say why.");
    assert!(matches!(outputs[0], Some(Output::Done { .. })));
    assert_eq!(outputs[1], Some(failed));
}

#[tokio::test]
async fn options_of_unknown_kinds_are_shown_by_name() {
    let mut scene = Scene::new(scripted("")).await;
    scene.say("leave allow_once and_dance").await;
    let waiting = scene.decide(Decision::Answer("and dance".into())).await;
    let About::Choice { choices, .. } = waiting.question.about else { panic!("{waiting:?}") };
    assert_eq!(choices, ["allow once", "and dance"]);
    assert_eq!(scene.ended().await, answered("id-and_dance"));
}

#[tokio::test]
async fn a_file_is_written_by_the_house_once_the_person_agrees() {
    let mut scene = Scene::new(scripted("")).await;
    let path = scene.room().join("a.txt");
    scene.say(&format!("write {} some words", path.display())).await;
    let waiting = scene.decide(Decision::Deny { reason: Some("not now".into()) }).await;
    assert_eq!(waiting.question.tool, "write_file");
    let (said, _) = scene.ended().await;
    assert!(said.contains("The person refused this: not now"), "{said}");
    assert!(!path.exists());
    scene.say(&format!("write {} some words", path.display())).await;
    scene.decide(allow(Scope::Once)).await;
    assert_eq!(scene.ended().await, answered("{}"));
    assert_eq!(fs::read_to_string(&path).unwrap(), "some words");
    scene.mode(Mode::AutoSafe).await;
    assert_eq!(scene.ask("write a.txt more").await, answered("{}"));
    assert_eq!(fs::read_to_string(&path).unwrap(), "more");
    let names: Vec<_> = scene.calls().await.into_iter().map(|(name, ..)| name).collect();
    assert_eq!(names, ["write_file", "write_file", "write_file"]);
}

#[tokio::test]
async fn files_are_read_in_the_folder_and_nowhere_else() {
    let mut scene = Scene::new(scripted("")).await;
    let path = scene.room().join("a.txt");
    fs::write(&path, "one\n").unwrap();
    fs::write(scene.dir.path().join("secret"), "s3cret").unwrap();
    std::os::unix::fs::symlink("../secret", scene.room().join("link")).unwrap();
    let (said, _) = scene.ask(&format!("read {}", path.display())).await;
    assert_eq!(serde_json::from_str::<Value>(&said).unwrap(), json!({ "content": "one\n" }));
    for way in ["link", "../secret", "/etc/hostname"] {
        let (said, _) = scene.ask(&format!("read {way}")).await;
        assert!(said.contains("-32603") && !said.contains("s3cret"), "{said}");
    }
    scene.mode(Mode::Full).await;
    for way in ["../new", "/tmp/no-such-folder/x", "link"] {
        let (said, _) = scene.ask(&format!("write {way} x")).await;
        assert!(said.contains("outside the session's folder"), "{said}");
    }
    assert_eq!(fs::read_to_string(scene.dir.path().join("secret")).unwrap(), "s3cret");
}

#[tokio::test]
async fn what_is_not_offered_is_refused() {
    let mut scene = Scene::new(scripted("")).await;
    let (said, how) = scene.ask("unheard").await;
    assert!(said.contains("-32601") && how == "finished", "{said}");
}

#[tokio::test]
async fn leave_for_a_change_is_leave_to_write_it_once_and_nothing_else() {
    let mut scene = Scene::new(scripted("")).await;
    let path = scene.room().join("a.txt");
    fs::write(&path, "one\ntwo\n").unwrap();
    let edit = |new: &str, writes: &[&str]| {
        let change = json!({ "path": path, "old": "two", "new": new, "writes": writes });
        format!("edit {change}")
    };
    scene.say(&edit("three", &["one\nthree\n"])).await;
    let waiting = scene.decide(allow(Scope::Once)).await;
    let About::Leave { deed, .. } = waiting.question.about else { panic!("{waiting:?}") };
    assert!(matches!(deed.detail, Detail::Change { diff, .. } if diff.contains("+three")));
    assert_eq!(scene.ended().await, answered("{}"), "nobody is asked a second time");
    assert_eq!(fs::read_to_string(&path).unwrap(), "one\nthree\n");

    fs::write(&path, "one\ntwo\n").unwrap();
    scene.say(&edit("four", &["one\nfour\n", "one\nfive\n"])).await;
    scene.decide(allow(Scope::Once)).await;
    let waiting = scene.decide(Decision::Deny { reason: None }).await;
    assert_eq!(waiting.question.tool, "write_file");
    let About::Leave { deed, .. } = waiting.question.about else { panic!("{waiting:?}") };
    assert!(matches!(deed.detail, Detail::Change { diff, .. } if diff.contains("+five")));
    assert!(scene.ended().await.0.contains("The person refused this"));
    assert_eq!(fs::read_to_string(&path).unwrap(), "one\nfour\n");

    fs::write(&path, "one\ntwo\n").unwrap();
    scene.say(&edit("six", &["one\nsix\n"])).await;
    scene.decide(Decision::Deny { reason: None }).await;
    let waiting = scene.decide(Decision::Deny { reason: None }).await;
    assert_eq!(waiting.question.tool, "write_file", "a no is no leave");
    scene.ended().await;
    assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntwo\n");
}

fn told(said: &str) -> Value {
    serde_json::from_str(said).unwrap_or_else(|_| panic!("{said}"))
}

#[tokio::test]
async fn a_command_is_run_by_the_house_once_the_person_agrees() {
    let mut scene = Scene::new(scripted("")).await;
    let run = json!({ "command": "printf", "args": ["%s\\n", "a b"], "outputByteLimit": 3 });
    scene.say(&format!("run {run}")).await;
    let waiting = scene.decide(allow(Scope::Once)).await;
    assert_eq!(waiting.question.tool, "shell");
    assert_eq!(waiting.question.caller, Caller::Agent { name: "guest".into() });
    let About::Leave { deed, .. } = waiting.question.about else { panic!("{waiting:?}") };
    let command = r"printf '%s\n' 'a b'".to_owned();
    let cwd = scene.room().display().to_string();
    let detail = Detail::Command { command, cwd, sandboxed: false, why_not: None };
    assert_eq!((deed.risk, deed.detail), (Risk::Runs, detail));
    let (said, how) = scene.ended().await;
    let status = json!({ "exitCode": 0 });
    let output = json!({ "output": " b\n", "truncated": true, "exitStatus": status });
    assert_eq!((told(&said), how.as_str()), (json!([status, output, -32602]), "finished"));
    let calls = scene.calls().await;
    let [(name, _, Some(Output::Done { text, .. }))] = &calls[..] else { panic!("{calls:?}") };
    assert!(name == "shell" && text.ends_with("a b\n"), "{text}");
}

#[tokio::test]
async fn a_command_that_is_refused_is_not_begun_and_the_agent_hears_why() {
    let mut scene = Scene::new(scripted("")).await;
    scene.say(r#"run {"command": "touch done"}"#).await;
    scene.decide(Decision::Deny { reason: Some("not here".into()) }).await;
    let (said, _) = scene.ended().await;
    assert_eq!(told(&said)["message"], "The person refused this: not here");
    scene.mode(Mode::Full).await;
    let (said, _) =
        scene.ask(r#"run {"command": "x", "env": [{"name": "A B", "value": ""}]}"#).await;
    assert_eq!(told(&said)["code"], -32602);
    let (said, _) = scene.ask(r#"run {"command": "exit 7"}"#).await;
    assert_eq!(told(&said)[0], json!({ "exitCode": 7 }));
    assert!(!scene.room().join("done").exists());
}

#[tokio::test]
async fn a_command_can_be_ended_and_what_it_printed_is_kept() {
    let mut scene = Scene::new(scripted("")).await;
    scene.mode(Mode::Full).await;
    let (said, _) = scene.ask("kill").await;
    let status = json!({ "signal": "SIGKILL" });
    let output = json!({ "output": "begun\n", "truncated": false, "exitStatus": status });
    assert_eq!(told(&said), json!([status, output]));
    let calls = scene.calls().await;
    let Some(Output::Done { text, .. }) = &calls[0].2 else { panic!("{calls:?}") };
    assert!(text.contains("ended at the wish of whoever started it"), "{text}");
    assert!(text.ends_with("begun\n"), "{text}");
}

#[tokio::test]
async fn a_command_that_is_left_running_ends_with_the_turn() {
    let mut scene = Scene::new(scripted("")).await;
    scene.mode(Mode::Full).await;
    let (pid, how) = scene.ask("abandon").await;
    assert_eq!(how, "finished");
    until_gone(&pid).await;
    assert_eq!(scene.calls().await[0].2, Some(Output::Interrupted));
}

#[tokio::test]
async fn a_cancelled_agent_stops_and_can_be_asked_again() {
    let mut scene = Scene::new(scripted("")).await;
    let (pid, _) = scene.ask("pid").await;
    scene.say("wait").await;
    scene.until_said("Waiting.").await;
    assert!(scene.host.cancel(scene.id).await.unwrap());
    assert_eq!(scene.ended().await, ("Waiting.".to_owned(), "cancelled".to_owned()));
    assert_eq!(scene.ask("pid").await, answered(&pid), "it is still the same");
    scene.say("leave allow_once").await;
    scene.question().await;
    assert!(scene.host.cancel(scene.id).await.unwrap());
    assert_eq!(scene.host.questions().await.unwrap(), []);
    assert_eq!(scene.ended().await.1, "cancelled");
    assert_eq!(scene.ask("pid").await, answered(&pid));
}

#[tokio::test]
async fn an_agent_that_remembers_is_resumed_after_a_restart() {
    let mut scene = Scene::new(scripted("loads")).await;
    let (session, _) = scene.ask("session").await;
    let mut scene = scene.again(scripted("loads")).await;
    assert_eq!(scene.ask("session").await, answered(&session));
    let (blocks, _) = scene.ask("prompt").await;
    let blocks: Value = serde_json::from_str(&blocks).unwrap();
    assert_eq!(blocks, json!([{ "type": "text", "text": "prompt" }]), "it has heard the rest");
}

#[tokio::test]
async fn an_agent_that_forgets_is_told_what_was_said() {
    let mut scene = Scene::new(scripted("")).await;
    let (session, _) = scene.ask("session").await;
    let mut scene = scene.again(scripted("")).await;
    let (blocks, _) = scene.ask("prompt").await;
    let blocks: Value = serde_json::from_str(&blocks).unwrap();
    let told = blocks[0]["text"].as_str().unwrap();
    let expected = format!("User: session\nAssistant (agent/guest): {session}\n");
    assert!(told.contains(&expected), "{told}");
    assert_eq!(blocks[1]["text"], "prompt");
}

#[tokio::test]
async fn what_a_model_said_meanwhile_is_told_to_an_agent_that_stayed() {
    let mut scene = Scene::new(scripted("")).await;
    scene.world.model.push(vec![testkit::model::text("I am a model.")]);
    assert_eq!(scene.ask("say one").await, answered("one"));
    for (model, text) in [("test", "two"), ("agent/guest", "prompt")] {
        let amendment = Amendment { model: Some(model.into()), ..Amendment::default() };
        scene.host.amend(scene.id, amendment).await.unwrap();
        let (said, _) = scene.ask(text).await;
        if text == "prompt" {
            let blocks: Value = serde_json::from_str(&said).unwrap();
            let told = blocks[0]["text"].as_str().unwrap();
            assert!(told.contains("User: two\nAssistant (test): I am a model."), "{told}");
            assert!(!told.contains("say one"), "{told}");
        }
    }
}

#[tokio::test]
async fn tools_of_the_house_are_offered() {
    let offer = Offer {
        name: "megaron".into(),
        http: Some(("http://127.0.0.1:1/mcp".into(), BTreeMap::new())),
        program: Some(Settings { command: "/bin/true".into(), ..Settings::default() }),
    };
    for (mode, is_http) in [("loads", true), ("", false)] {
        let mut scene = Scene::with(scripted(mode), std::slice::from_ref(&offer)).await;
        let (said, _) = scene.ask("servers").await;
        let servers: Value = serde_json::from_str(&said).unwrap();
        assert_eq!(servers[0]["type"] == "http", is_http, "{servers}");
        assert_eq!(servers[0]["name"], "megaron");
    }
}

fn choosing(options: &[(&str, &str)]) -> Settings {
    let options = options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Settings { options: options.collect(), ..scripted("choosy") }
}

#[tokio::test]
async fn an_agent_is_in_the_mode_and_has_the_model_that_were_chosen_for_it() {
    let mut scene = Scene::new(choosing(&[("mode", "plan"), ("model", "big")])).await;
    assert_eq!(scene.ask("chosen").await, answered("plan big"));
    assert_eq!(scene.ask("switch ask").await, answered("Switched."));
    let told = scene.host.ports.agents.about("agent/guest", scene.id);
    let told: Vec<_> = told.into_iter().map(|it| (it.title, it.text)).collect();
    let part = |title: &str, text: &str| (title.to_owned(), text.to_owned());
    let commands = "Commands that it knows, at the beginning of a message";
    let expected = [
        part("Its modes (mode)", "- `ask` (now): Ask\n- `plan`: Plan\n"),
        part("Model (m)", "- `small`: Small\n- `big` (now): Big\n"),
        part(commands, "- `/review`: Looks at changes\n"),
    ];
    assert_eq!(told, expected);
}

#[tokio::test]
async fn what_was_chosen_and_is_not_there_is_said_before_anything_is_done() {
    let mut scene = Scene::new(choosing(&[("mode", "fly")])).await;
    let complaint = "Refused: guest cannot be as config.toml wants it: `fly` cannot be its mode; \
                     it has ask, plan";
    for _ in 0..2 {
        assert_eq!(scene.ask("chosen").await, (String::new(), complaint.to_owned()));
    }
}

#[tokio::test]
async fn what_an_agent_says_it_used_is_on_record_once() {
    let mut scene = Scene::new(scripted("loads")).await;
    assert_eq!(scene.ask("cost 0.25 0.75").await, answered("Paid."));
    let mut scene = scene.again(scripted("loads")).await;
    assert_eq!(scene.ask("cost 1.0").await, answered("Paid."));
    let log = scene.log().await;
    let used: Vec<_> = log
        .iter()
        .filter_map(|entry| match &entry.fact {
            Fact::Answered(answer) => answer.usage.map(|it| (it.input_tokens, it.cost)),
            _ => None,
        })
        .collect();
    assert_eq!(used, [(5, Some(0.75)), (5, Some(0.25))]);
}
