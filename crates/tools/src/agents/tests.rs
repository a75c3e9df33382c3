//! Agents that make others and talk to them, in a house of their own.

use std::{fs, os::unix::fs::symlink, sync::Arc};

use kernel::{
    approvals::Mode,
    host::{Host, Settings},
    inbox::{CallError, Waiting},
    question::{About, Decision, Scope},
    toolbox::{Call, Caller, Deed, Reply, Risk, ToolError, ToolSpec},
    update::{Amendment, Fact, Message, Origin, Seq, SessionId, WhenBusy},
};
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::{
    Gate, World,
    model::{Script, text, wait},
};

use crate::add_social;

pub struct Home {
    pub world: World,
    pub host: Arc<Host>,
    pub folder: TempDir,
    pub session: SessionId,
}

impl Home {
    pub async fn new(scripts: impl IntoIterator<Item = Script>) -> Self {
        let world = World::new(scripts);
        let host = Host::start(world.ports(), Settings::default()).await.unwrap();
        add_social(&host);
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("own")).unwrap();
        fs::create_dir(folder.path().join("own/sub")).unwrap();
        fs::create_dir(folder.path().join("other")).unwrap();
        let own = folder.path().join("own").canonicalize().unwrap();
        let session = host.create(&own, "test", "").await.unwrap();
        Self { world, host, folder, session }
    }

    pub async fn mode(&self, session: SessionId, mode: Mode) {
        let amendment = Amendment { mode: Some(mode), ..Amendment::default() };
        self.host.amend(session, amendment).await.unwrap();
    }

    /// As the session's own agent would call it.
    pub async fn call(&self, name: &str, args: Value) -> Result<Reply, ToolError> {
        self.call_by(Caller::Model, name, args).await
    }

    pub async fn call_by(
        &self,
        caller: Caller,
        name: &str,
        args: Value,
    ) -> Result<Reply, ToolError> {
        match self.host.call(self.session, caller, name, args).await {
            Ok(reply) => Ok(reply),
            Err(CallError::Tool(error)) => Err(error),
            Err(CallError::Open(error)) => panic!("{error}"),
        }
    }

    pub async fn text(&self, name: &str, args: Value) -> Result<String, String> {
        self.call(name, args).await.map(|reply| reply.text).map_err(|error| error.to_string())
    }

    /// What is asked of the person, once it is.
    pub async fn asked(&self) -> Waiting {
        let mut news = self.host.roster.listen();
        loop {
            if let Some(waiting) = self.host.questions().await.unwrap().pop() {
                return waiting;
            }
            news.recv().await.unwrap();
        }
    }

    /// The deed that a call needs leave for, which is refused.
    async fn refused_deed(&self, name: &str, args: Value) -> Deed {
        let refuse = async {
            let waiting = self.asked().await;
            let no = Decision::Deny { reason: None };
            self.host.decide(waiting.question.id, no, "test").await.unwrap();
            waiting.question.about
        };
        let (called, about) = tokio::join!(self.call(name, args), refuse);
        assert!(matches!(called, Err(ToolError::Denied(_))), "{called:?}");
        let About::Leave { deed, .. } = about else { panic!("{about:?}") };
        deed
    }

    fn path(&self, name: &str) -> String {
        let path = self.folder.path().canonicalize().unwrap().join(name);
        path.to_str().unwrap().to_owned()
    }

    /// A session made by the agent.
    async fn child(&self, args: Value) -> SessionId {
        let made = self.call_by(Caller::Owner, "create_agent_session", args).await.unwrap();
        SessionId::parse(made.data.unwrap()["sessionId"].as_str().unwrap()).unwrap()
    }
}

#[tokio::test]
async fn models_are_told_of_them() {
    let home = Home::new([]).await;
    let specs = home.host.ports.tools.specs(&Caller::Model);
    let told = |spec: &ToolSpec| {
        let required = spec.schema["required"].as_array().cloned().unwrap_or_default();
        (spec.name.clone(), Value::from(required).to_string(), spec.description.len() > 40)
    };
    let told: Vec<_> = specs.iter().map(told).filter(|(name, ..)| name != "echo").collect();
    let expected = [
        ("ask_person", r#"["question"]"#),
        ("create_agent_session", "[]"),
        ("get_session_state", r#"["sessionId"]"#),
        ("list_models", "[]"),
        ("plan", r#"["title","steps"]"#),
        ("send_agent_message", r#"["sessionId","message"]"#),
        ("wait_for_agent", r#"["sessionId"]"#),
    ];
    let expected = expected.map(|(name, required)| (name.to_owned(), required.to_owned(), true));
    assert_eq!(told, expected);
}

#[tokio::test]
async fn an_agent_is_made_told_what_to_do_and_waited_for() {
    let home = Home::new([vec![text("All "), text("done")]]).await;
    home.mode(home.session, Mode::AutoSafe).await;
    let wish = json!({ "cwd": "sub", "model": "test", "initialMessage": "work" });
    let made = home.call("create_agent_session", wish).await.unwrap();
    let data = made.data.unwrap();
    let (id, cwd) = (data["sessionId"].as_str().unwrap(), home.path("own/sub"));
    assert_eq!(made.text, format!("Created session {id} in {cwd}."));
    assert_eq!(data, json!({ "sessionId": id, "cwd": cwd, "model": "test" }));
    let child = SessionId::parse(id).unwrap();
    let state = home.host.roster.get(child).unwrap();
    assert_eq!(state.parent, Some(home.session));
    assert_eq!(home.host.approvals.mode(&state), Mode::AutoSafe, "it inherits the mode");
    let answer = home.text("wait_for_agent", json!({ "sessionId": id })).await;
    assert_eq!(answer.as_deref(), Ok("All done"));
    home.mode(home.session, Mode::Ask).await;
    let state = home.host.roster.get(child).unwrap();
    assert_eq!(home.host.approvals.mode(&state), Mode::Ask, "and never has more than its maker");
}

#[tokio::test]
async fn what_is_said_to_a_child_comes_from_its_maker_in_the_same_flow() {
    let home = Home::new([vec![text("one")], vec![text("two")]]).await;
    home.mode(home.session, Mode::AutoSafe).await;
    let child = home.child(json!({ "initialMessage": "first" })).await;
    let wish = || json!({ "sessionId": child.to_string() });
    assert_eq!(home.text("wait_for_agent", wish()).await.as_deref(), Ok("one"));
    let mut said = wish();
    said["message"] = json!("second");
    let sent = home.text("send_agent_message", said).await;
    assert_eq!(sent, Ok(format!("Message sent to session {child}.")));
    assert_eq!(home.text("wait_for_agent", wish()).await.as_deref(), Ok("two"));
    let log = home.host.ports.log.read(child, Seq(0), 100).await.unwrap();
    let said: Vec<Message> = log
        .into_iter()
        .filter_map(|entry| match entry.fact {
            Fact::Said { message, .. } => Some(message),
            _ => None,
        })
        .collect();
    let origin = Origin::Agent { session: home.session.to_string() };
    let texts: Vec<_> = said.iter().map(|it| (it.text.as_str(), &it.origin)).collect();
    assert_eq!(texts, [("first", &origin), ("second", &origin)]);
    assert!(said.iter().all(|it| !it.flow.is_empty()));
}

#[tokio::test]
async fn agents_within_bounds_pass_when_safe_and_others_need_leave() {
    let home = Home::new([]).await;
    let inside = home.refused_deed("create_agent_session", json!({ "cwd": "sub" })).await;
    assert_eq!((inside.risk, inside.subjects), (Risk::RunsBoxed, vec![home.path("own/sub")]));
    home.mode(home.session, Mode::AutoSafe).await;
    for outside in ["../other", &home.path("other")] {
        let deed = home.refused_deed("create_agent_session", json!({ "cwd": outside })).await;
        assert_eq!((deed.risk, deed.subjects), (Risk::Acts, vec![home.path("other")]), "{outside}");
    }
    assert_eq!(home.host.roster.len(), 1, "none was made");
    home.child(json!({ "cwd": "../other" })).await;
}

#[tokio::test]
async fn nobody_is_lent_what_they_may_not_do_themselves() {
    let home = Home::new([]).await;
    home.mode(home.session, Mode::AutoSafe).await;
    let own = home.folder.path().join("own").canonicalize().unwrap();
    let mighty = home.host.create(&own, "test", "").await.unwrap();
    home.mode(mighty, Mode::Full).await;
    let elsewhere = home.folder.path().join("other");
    let elsewhere = home.host.create(&elsewhere, "test", "").await.unwrap();
    for target in [mighty, elsewhere] {
        let wish = json!({ "sessionId": target.to_string(), "message": "do it" });
        let deed = home.refused_deed("send_agent_message", wish).await;
        assert_eq!((deed.risk, deed.subjects), (Risk::Acts, vec![target.to_string()]));
        assert!(!home.host.roster.get(target).unwrap().has_messages());
    }
}

#[tokio::test]
async fn what_cannot_be_made_is_explained() {
    let home = Home::new([]).await;
    home.mode(home.session, Mode::Full).await;
    fs::write(home.folder.path().join("own/file"), "").unwrap();
    symlink("../other", home.folder.path().join("own/door")).unwrap();
    for (args, problem) in [
        (json!({ "cwd": "gone" }), "Path does not exist: gone"),
        (json!({ "cwd": "file" }), "Path is not a directory: file"),
        (json!({ "cwd": "door" }), "Path leads out of your folder by a link; name it itself: door"),
        (json!({ "model": "none" }), "Unknown model: none"),
    ] {
        let made = home.text("create_agent_session", args).await;
        assert_eq!(made, Err(format!("Failed to create session: {problem}")));
    }
    assert_eq!(home.host.roster.len(), 1);
}

#[tokio::test]
async fn what_cannot_be_said_is_explained() {
    let gate = Gate::default();
    let home = Home::new([vec![wait(&gate)]]).await;
    home.mode(home.session, Mode::Full).await;
    let own = home.session.to_string();
    let child = home.child(json!({ "initialMessage": "work" })).await.to_string();
    for (session, message, problem) in [
        ("x", "hi", "Session not found: x"),
        (&own, "hi", "Cannot post to own session"),
        (&child, "hi", "Session is busy processing another message"),
        (&child, "", "message is required"),
    ] {
        let wish = json!({ "sessionId": session, "message": message });
        let sent = home.text("send_agent_message", wish).await;
        assert_eq!(sent, Err(format!("Failed to send message: {problem}")));
    }
    gate.open();
}

#[tokio::test]
async fn agents_do_not_go_deeper_than_they_may() {
    let home = Home::new([vec![text("one")], vec![text("two")]]).await;
    home.mode(home.session, Mode::Full).await;
    let child = home.child(json!({})).await;
    let chain = [home.session, child].map(|id| (id, "flow"));
    for (id, flow) in chain {
        let message = Message { flow: flow.to_owned(), ..Message::from_user("hi") };
        home.host.post(id, message, WhenBusy::Queue).await.unwrap();
    }
    let call = Call {
        caller: Caller::Owner,
        session: home.host.open(child).await.unwrap(),
        id: None,
        cwd: home.folder.path().join("own"),
        flow: "flow".to_owned(),
        mode: Mode::Full,
        attended: true,
        agreed: false,
        companion: None,
        args: json!({ "initialMessage": "and so on" }),
    };
    let (tools, approvals) = (&home.host.ports.tools, &home.host.approvals);
    let made = tools.call(approvals, "create_agent_session", call).await;
    let problem = "Failed to create session: Agent call rejected: \
                   Effective call depth 3 exceeds limit (max 2)";
    assert_eq!(made, Err(ToolError::Failed(problem.to_owned())));
    assert_eq!(home.host.roster.len(), 2, "what was made in vain is gone");
}

#[tokio::test]
async fn how_a_session_stands_and_which_models_there_are_can_be_looked_at() {
    let home = Home::new([]).await;
    let id = home.session.to_string();
    let state = home.text("get_session_state", json!({ "sessionId": id })).await.unwrap();
    let expected = json!({
        "sessionId": id, "status": "idle", "name": "", "cwd": home.path("own"), "model": "test",
        "mode": "ask", "isActive": true, "isBusy": false, "currentIntent": null, "queued": 0,
        "waitsForPerson": false, "usage": { "inputTokens": 0, "outputTokens": 0, "cost": 0.0 },
    });
    assert_eq!(serde_json::from_str::<Value>(&state).unwrap(), expected);
    let unknown = home.text("get_session_state", json!({ "sessionId": "x" })).await;
    assert_eq!(unknown, Err("Session x not found".to_owned()));
    let models = home.text("list_models", json!({})).await.unwrap();
    let expected = json!({ "models": [
        { "id": "test", "name": "test", "multiplier": 1.0, "payer": "nobody" },
    ] });
    assert_eq!(serde_json::from_str::<Value>(&models).unwrap(), expected);
}

#[tokio::test(start_paused = true)]
async fn waiting_ends_in_time_and_says_so() {
    let gate = Gate::default();
    let home = Home::new([vec![wait(&gate), text("late")], vec![]]).await;
    home.mode(home.session, Mode::Full).await;
    let child = home.child(json!({ "initialMessage": "work" })).await;
    let wish = json!({ "sessionId": child.to_string(), "timeoutSeconds": 5 });
    let waited = home.text("wait_for_agent", wish.clone()).await;
    let busy = format!("Session {child} is still busy after 5 s. You can wait again.");
    assert_eq!(waited, Ok(busy));
    gate.open();
    assert_eq!(home.text("wait_for_agent", wish).await.as_deref(), Ok("late"));
    let (own, idle) = (home.session.to_string(), home.child(json!({})).await.to_string());
    for (args, answer) in [
        (json!({ "sessionId": "x" }), Err("Session x not found")),
        (json!({ "sessionId": own }), Err("a session cannot wait for itself")),
        (
            json!({ "sessionId": idle, "timeoutSeconds": 0 }),
            Err("timeoutSeconds must be from 1 to 3600, not 0"),
        ),
        (json!({ "sessionId": idle }), Ok("Nothing has been said in that session yet.")),
    ] {
        let waited = home.text("wait_for_agent", args).await;
        assert_eq!(waited.as_deref().map_err(String::as_str), answer);
    }
}

#[tokio::test]
async fn leave_for_one_folder_is_not_leave_for_another() {
    let home = Home::new([]).await;
    let wish = || json!({ "cwd": "sub" });
    let allow = async {
        let waiting = home.asked().await;
        let (scope, pattern) = (Scope::Session, Some(home.path("own/sub")));
        let yes = Decision::Allow { scope, pattern, lasts: None };
        home.host.decide(waiting.question.id, yes, "test").await.unwrap();
    };
    let (made, ()) = tokio::join!(home.call("create_agent_session", wish()), allow);
    made.unwrap();
    home.call("create_agent_session", wish()).await.unwrap();
    home.refused_deed("create_agent_session", json!({})).await;
}
