//! One piece of work from the wish to the end, with everything that can come between: answers from two
//! places, a change of mind, and two power cuts.

use std::{fs, path::Path, slice};

use kernel::update::{Fact, Outcome, Output};
use reqwest::Method;
use serde_json::{Value, json};
use testkit::history;

use crate::{client::Client, script::Script, server::Home, until};

const BUG: &str = "add() { echo $(($1 - $2)); }\n";
const WRONG: &str = "add() { echo $(($1 * $2)); }\n";
const RIGHT: &str = "add() { echo $(($1 + $2)); }\n";
/// Leaves a line behind whenever it is run.
const CHECK: &str = ". ./sum.sh; echo ran >> runs.txt
if [ $(add 2 3) = 5 ]; then echo all is well; else echo it is broken; exit 1; fi
";
/// Has its effect, and then no end: nobody makes that file.
const DEPLOY: &str = "echo $$ >> deployed.txt; until [ -e go ]; do sleep 0.02; done";

#[tokio::test]
async fn a_bug_is_fixed_through_two_kills_and_a_cancel_and_nothing_is_done_twice() {
    let home = Home::new();
    let script = Script::play(&home, "");
    fs::write(home.path("sum.sh"), BUG).unwrap();
    fs::write(home.path("check.sh"), CHECK).unwrap();
    let server = home.serve(&[]).await;
    let person = Person { clients: [Client::of(&home), Client::of(&home)] };
    let [client, _] = &person.clients;
    let session = client.create_with(json!({ "mode": "ask" })).await;
    let (file, runs) = (home.path("sum.sh"), home.path("runs.txt"));

    script.calls("look", "read_file", &json!({ "path": "sum.sh" }));
    script.calls("wrong", "edit_file", &edit(" - ", " * "));
    client.post(&session, "add() is wrong, see check.sh").await;
    let asked = person.is_asked("it changes files").await;
    assert!(script.told().contains("$1 - $2"), "{}", script.told());
    assert_eq!((script.asked(), read(&file)), (2, BUG.into()), "it waits");

    script.calls("failing", "shell", &json!({ "command": "sh check.sh" }));
    person.allows(&asked).await;
    let asked = person.is_asked("it runs a program that can do whatever you can").await;
    assert_eq!((read(&file), runs.exists()), (WRONG.into(), false));

    script.calls("given up", "edit_file", &edit(" * ", " + "));
    person.allows(&asked).await;
    let asked = person.is_asked("it changes files").await;
    assert!(script.told().contains("it is broken"), "{}", script.told());
    client.must(Method::POST, &format!("/api/sessions/{session}/cancel"), json!({})).await;
    client.idle(&session).await;
    assert_eq!(person.questions().await, Vec::<Value>::new(), "what nobody waits for is withdrawn");
    assert_eq!(person.answers(&asked, "once").await, [409, 409]);
    assert_eq!((script.asked(), read(&file)), (4, WRONG.into()), "nothing more is done");

    script.calls("right", "edit_file", &edit(" * ", " + "));
    client.post(&session, "go on").await;
    let asked = person.is_asked("it changes files").await;
    script.calls("passing", "shell", &json!({ "command": "sh check.sh" }));
    person.allows(&asked).await;
    let asked = person.is_asked("it runs a program that can do whatever you can").await;
    server.kill().await;

    let server = home.serve(&[]).await;
    assert_eq!(person.questions().await, slice::from_ref(&asked), "it waits across a kill");
    assert_eq!((read(&file), read(&runs)), (RIGHT.into(), "ran\n".into()));
    script.calls("cut off", "shell", &json!({ "command": DEPLOY }));
    person.allows(&asked).await;
    let asked = person.is_asked("it runs a program that can do whatever you can").await;
    assert!(script.told().contains("all is well"), "{}", script.told());
    assert_eq!(read(&runs), "ran\nran\n", "once for each yes");
    person.allows(&asked).await;
    let deployed = home.path("deployed.txt");
    let once = until("the effect", async || {
        fs::read_to_string(&deployed).ok().filter(|text| text.ends_with('\n'))
    })
    .await;
    server.kill().await;

    let _server = home.serve(&[]).await;
    client.idle(&session).await;
    let left = Path::new("/proc").join(once.trim());
    until("what was left running to end", async || (!left.exists()).then_some(())).await;
    let place = format!("/api/sessions/{session}");
    client.must(Method::PATCH, &place, json!({ "mode": "full" })).await;
    script.calls("repeated", "shell", &json!({ "command": DEPLOY }));
    client.post(&session, "go on, I trust you").await;
    let why = "the same call was cut off before; it may have had its effect already";
    let asked = person.is_asked(why).await;
    script.says("It is fixed.");
    let mut statuses = person.answers(&asked, "deny").await;
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409]);
    client.idle(&session).await;

    assert!(script.told().contains("The person refused this"), "{}", script.told());
    assert_eq!(script.asked(), 9, "no answer of the model was lost or asked for twice");
    assert_eq!(read(&file), RIGHT);
    assert_eq!(read(&runs), "ran\nran\n");
    assert_eq!(read(&deployed), once);
    tells_the_story(client, &session).await;
}

/// What is on record of all this.
async fn tells_the_story(client: &Client, session: &str) {
    let log = client.log(session).await;
    assert_eq!(history::check(&log), Ok(()));
    let facts = || log.iter().map(|entry| &entry.fact);
    let outcomes = facts().filter_map(|fact| match fact {
        Fact::TurnEnded(outcome) => Some(outcome.clone()),
        _ => None,
    });
    let expected = [Outcome::Cancelled, Outcome::Interrupted, Outcome::Finished];
    assert_eq!(outcomes.collect::<Vec<_>>(), expected);
    let verdicts = facts().filter_map(|fact| match fact {
        Fact::Settled { verdict, .. } => Some(verdict.name()),
        _ => None,
    });
    let expected = ["allowed", "allowed", "withdrawn", "allowed", "allowed", "allowed", "denied"];
    assert_eq!(verdicts.collect::<Vec<_>>(), expected);
    let started = facts().filter(|fact| matches!(fact, Fact::ToolStarted { .. })).count();
    assert_eq!(started, 5, "as often as it was allowed");
    let outputs = facts().filter_map(|fact| match fact {
        Fact::ToolReturned { output, .. } => Some(match output {
            Output::Done { .. } => "done",
            Output::Failed { .. } => "failed",
            Output::Interrupted => "interrupted",
        }),
        _ => None,
    });
    let expected = ["done", "done", "done", "interrupted", "done", "done", "interrupted", "failed"];
    assert_eq!(outputs.collect::<Vec<_>>(), expected);
}

/// Sits at two screens, and answers at both.
struct Person {
    clients: [Client; 2],
}

impl Person {
    async fn questions(&self) -> Vec<Value> {
        self.clients[0].questions().await
    }

    async fn is_asked(&self, why: &str) -> Value {
        let asked = until("a question", async || self.questions().await.pop()).await;
        assert_eq!(asked["why"], why, "{asked}");
        asked
    }

    /// One of the two is first.
    async fn allows(&self, question: &Value) {
        let mut statuses = self.answers(question, "once").await;
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409]);
    }

    async fn answers(&self, question: &Value, decision: &str) -> [u16; 2] {
        let [one, other] = &self.clients;
        tokio::join!(one.decide(question, decision), other.decide(question, decision)).into()
    }
}

fn edit(old: &str, new: &str) -> Value {
    json!({ "path": "sum.sh", "old": old, "new": new })
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}
