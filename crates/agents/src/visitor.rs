//! A running agent in one session: greeted, asked, and told to stop.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use agent_client_protocol::{
    schema::ProtocolVersion,
    v1::schema::{
        AGENT_METHOD_NAMES, AuthMethod, CLIENT_METHOD_NAMES, CancelNotification,
        ClientCapabilities, FileSystemCapabilities, Implementation, InitializeRequest,
        InitializeResponse, LoadSessionRequest, McpServer, NewSessionRequest, PromptRequest,
        PromptResponse, ResumeSessionRequest, SessionNotification, SessionUpdate, StopReason,
    },
};
use futures::{StreamExt as _, future::BoxFuture, stream::FuturesUnordered};
use kernel::{
    ports::ModelError,
    visit::{Doing, Visit},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::{sync::mpsc, time::timeout};

use crate::{
    Settings,
    calls::{Calls, TooMuch},
    guest::{Offer, servers},
    guise::{Guise, Request},
    line::{Broken, Fault, Heard, Line, code},
    process::Process,
    prompt,
    talk::{self, Handled, Talk},
    trouble::Trouble,
    used::{self, Account},
};

/// How long it may take to be ready: some are fetched from afar when they are first called.
const GREETING: Duration = Duration::from_mins(1);
/// How long to begin a session, or to remember one.
const SETTLING: Duration = Duration::from_mins(2);
/// How long one that was told to stop may take to do so.
const GRACE: Duration = Duration::from_secs(5);
/// How much it may ask for at once.
const REQUESTS: usize = 64;
/// How often it may speak between two turns.
const OVERHEARD: usize = 10_000;

/// Where what an agent does is told.
pub type Doings = mpsc::Sender<Result<Doing, ModelError>>;
type Replies = FuturesUnordered<BoxFuture<'static, (Value, Result<Value, Fault>)>>;

pub struct Visitor {
    process: Process,
    line: Line,
    /// The number of the next question.
    next: u64,
    greeting: InitializeResponse,
    session: Option<String>,
    guise: SharedGuise,
    account: Account,
}

/// What it tells of itself, where others can look at it.
pub type SharedGuise = Arc<Mutex<Guise>>;

impl Visitor {
    pub async fn arrive(
        settings: &Settings,
        cwd: &Path,
        log: Option<PathBuf>,
        guise: SharedGuise,
    ) -> Result<Self, Trouble> {
        let (process, stdin, stdout) =
            Process::start(settings, cwd, log).map_err(Trouble::Start)?;
        let line = Line::new(stdout, stdin);
        let greeting = InitializeResponse::new(ProtocolVersion::V1);
        let account = Account::default();
        let mut visitor = Self { process, line, next: 0, greeting, session: None, guise, account };
        let files = FileSystemCapabilities::new().read_text_file(true).write_text_file(true);
        let hello = InitializeRequest::new(ProtocolVersion::V1)
            .client_capabilities(ClientCapabilities::new().fs(files).terminal(true))
            .client_info(Implementation::new("megaron", env!("CARGO_PKG_VERSION")));
        let greeted = visitor.request(AGENT_METHOD_NAMES.initialize, &hello);
        let greeted = timeout(GREETING, greeted).await.map_err(|_| Trouble::Slow("to be ready"))?;
        visitor.greeting = greeted?;
        let version = visitor.greeting.protocol_version;
        if version != ProtocolVersion::V1 {
            return Err(Trouble::Foreign(json!(version).to_string()));
        }
        Ok(visitor)
    }

    /// Returns when it has left by itself. Whatever it says or wants meanwhile is of no interest.
    pub async fn idle(&mut self) -> Broken {
        for _ in 0..OVERHEARD {
            let overheard = match self.line.hear().await {
                Ok(heard) => self.overhear(heard).await,
                Err(broken) => Err(broken),
            };
            if let Err(broken) = overheard {
                return broken;
            }
        }
        Broken::Flood
    }

    /// Shows it out, and gives it a moment to put its things in order.
    pub async fn leave(self) {
        let Self { mut process, line, .. } = self;
        drop(line);
        process.ended().await;
    }

    /// How its program ended, for a person.
    pub async fn ended(&mut self) -> String {
        self.process.ended().await.map_or("it closed the line".to_owned(), |it| it.to_string())
    }

    /// Answers a message. Nobody listening any more is the sign to stop.
    pub async fn answer(
        &mut self,
        visit: &Visit,
        offers: &[Offer],
        options: &BTreeMap<String, String>,
        doings: &Doings,
    ) -> Result<(), Trouble> {
        let settling = timeout(SETTLING, self.settle_in(visit, offers, options));
        let unheard = tokio::select! {
            settled = settling => settled.map_err(|_| Trouble::Slow("to begin a session"))??,
            () = doings.closed() => return Err(Trouble::Dismissed),
        };
        let Some(session) = self.session.clone() else {
            return Err(Trouble::Senseless("a session"));
        };
        doings.send(Ok(self.memory(&session))).await.ok();
        let sees = self.greeting.agent_capabilities.prompt_capabilities.image;
        let blocks = prompt::blocks(&visit.text, unheard, visit.images.clone(), sees).await;
        let asked = PromptRequest::new(session.clone(), blocks);
        let asked = self.ask(AGENT_METHOD_NAMES.session_prompt, &asked).await?;
        self.attend(&session, asked, &visit.cwd, doings).await
    }

    async fn attend(
        &mut self,
        session: &str,
        asked: u64,
        cwd: &Path,
        doings: &Doings,
    ) -> Result<(), Trouble> {
        let (mut talk, mut replies) = (Talk::new(cwd), Replies::new());
        loop {
            let heard = tokio::select! {
                heard = self.line.hear() => heard?,
                Some((id, result)) = replies.next() => {
                    self.line.answer(id, result).await?;
                    continue;
                }
                () = doings.closed() => return self.dismiss(session, asked, replies).await,
            };
            let told = match heard {
                Heard::Answer { id, result } if id == asked => {
                    if let Some(usage) = result.as_ref().ok().and_then(used::tokens) {
                        doings.send(Ok(Doing::Used(usage))).await.ok();
                    }
                    return self.end(result);
                }
                Heard::Answer { .. } => Vec::new(),
                Heard::Told { method, params } => match update(&method, params) {
                    Some((of, update)) if of == session => {
                        self.told(&mut talk.calls, session, update)?
                    }
                    _ => Vec::new(),
                },
                Heard::Request { id, method, .. } if replies.len() >= REQUESTS => {
                    let message = format!("{method}: more than {REQUESTS} requests at once");
                    let fault = Fault { code: code::INTERNAL, message };
                    self.line.answer(id, Err(fault)).await?;
                    Vec::new()
                }
                Heard::Request { id, method, params } => {
                    let Handled { doings, answer } = talk.handle(&method, params).await?;
                    replies.push(Box::pin(async { (id, answer.await) }));
                    doings
                }
            };
            for doing in told {
                if doings.send(Ok(doing)).await.is_err() {
                    return self.dismiss(session, asked, replies).await;
                }
            }
        }
    }

    /// Tells it to stop, and waits until it has.
    async fn dismiss(
        &mut self,
        session: &str,
        asked: u64,
        mut replies: Replies,
    ) -> Result<(), Trouble> {
        let stop = said(&CancelNotification::new(session.to_owned()))?;
        self.line.tell(AGENT_METHOD_NAMES.session_cancel, stop).await?;
        let stopping = async {
            loop {
                tokio::select! {
                    heard = self.line.hear() => match heard? {
                        Heard::Answer { id, .. } if id == asked => return Ok(()),
                        heard => self.overhear(heard).await?,
                    },
                    Some((id, result)) = replies.next() => self.line.answer(id, result).await?,
                }
            }
        };
        timeout(GRACE, stopping).await.unwrap_or(Err(Trouble::Stubborn))
    }

    fn end(&self, result: Result<Value, Fault>) -> Result<(), Trouble> {
        let ended = result.map_err(|fault| self.complaint(fault))?;
        let PromptResponse { stop_reason, .. } =
            serde_json::from_value(ended).map_err(|_| Trouble::Senseless("a prompt"))?;
        match stop_reason {
            StopReason::Refusal => Err(Trouble::Refused),
            StopReason::MaxTokens | StopReason::MaxTurnRequests => Err(Trouble::Exhausted),
            _ => Ok(()),
        }
    }

    /// Begins a session, or goes on with one; returns what it has not heard of ours.
    async fn settle_in<'a>(
        &mut self,
        visit: &'a Visit,
        offers: &[Offer],
        options: &BTreeMap<String, String>,
    ) -> Result<&'a str, Trouble> {
        if self.session.is_some() {
            return Ok(&visit.since);
        }
        let tools = servers(offers, self.greeting.agent_capabilities.mcp_capabilities.http);
        let remembered = visit.memory.as_ref().and_then(|it| it.get("session")?.as_str());
        if let Some(session) = remembered
            && self.remember(session, visit, &tools).await?
        {
            let cost = visit.memory.as_ref().and_then(|it| it.get("cost")?.as_f64());
            self.account = Account::new(cost);
            self.choose(session, options).await?;
            self.session = Some(session.to_owned());
            return Ok(&visit.since);
        }
        let new = NewSessionRequest::new(&visit.cwd).mcp_servers(tools);
        let begun: Value = self.request(AGENT_METHOD_NAMES.session_new, &new).await?;
        let session = begun.get("sessionId").and_then(Value::as_str);
        let session = session.ok_or(Trouble::Senseless(AGENT_METHOD_NAMES.session_new))?;
        self.guise().settle(&begun);
        self.account = Account::new(Some(0.0));
        self.choose(session, options).await?;
        self.session = Some(session.to_owned());
        Ok(&visit.past)
    }

    /// Has it do what the configuration says.
    async fn choose(
        &mut self,
        session: &str,
        options: &BTreeMap<String, String>,
    ) -> Result<(), Trouble> {
        for (name, value) in options {
            let request = self.guise().choose(session, name, value);
            let Request { method, params } = request.map_err(Trouble::Choice)?;
            let told: Value = self.request(method, &params).await?;
            self.guise().chosen(name, value, &told);
        }
        Ok(())
    }

    /// What there is to remember: the agent's own name of the session, and what it has cost.
    fn memory(&self, session: &str) -> Doing {
        Doing::Memory(match self.account.known() {
            Some(cost) if cost > 0.0 => json!({ "session": session, "cost": cost }),
            _ => json!({ "session": session }),
        })
    }

    fn told(
        &mut self,
        calls: &mut Calls,
        session: &str,
        update: SessionUpdate,
    ) -> Result<Vec<Doing>, TooMuch> {
        self.guise().hear(&update);
        let SessionUpdate::UsageUpdate(used) = update else { return calls.update(update) };
        let new = used.cost.as_ref().and_then(|cost| self.account.hear(cost));
        Ok(new.map_or_else(Vec::new, |new| vec![self.memory(session), Doing::Used(new)]))
    }

    fn guise(&self) -> MutexGuard<'_, Guise> {
        self.guise.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it still knows a session of its own.
    async fn remember(
        &mut self,
        session: &str,
        visit: &Visit,
        tools: &[McpServer],
    ) -> Result<bool, Trouble> {
        let can = &self.greeting.agent_capabilities;
        let names = AGENT_METHOD_NAMES;
        let known: Result<Value, Trouble> = if can.session_capabilities.resume.is_some() {
            let resume = ResumeSessionRequest::new(session.to_owned(), &visit.cwd);
            self.request(names.session_resume, &resume.mcp_servers(tools.to_vec())).await
        } else if can.load_session {
            // All of it is told once more, and nobody listens.
            let load = LoadSessionRequest::new(session.to_owned(), &visit.cwd);
            self.request(names.session_load, &load.mcp_servers(tools.to_vec())).await
        } else {
            return Ok(false);
        };
        match known {
            Ok(told) => {
                self.guise().settle(&told);
                Ok(true)
            }
            Err(Trouble::Fault(_)) => Ok(false),
            Err(trouble) => Err(trouble),
        }
    }

    async fn ask(&mut self, method: &str, params: &impl Serialize) -> Result<u64, Trouble> {
        self.next += 1;
        self.line.ask(self.next, method, said(params)?).await?;
        Ok(self.next)
    }

    async fn request<T: DeserializeOwned>(
        &mut self,
        method: &'static str,
        params: &impl Serialize,
    ) -> Result<T, Trouble> {
        let asked = self.ask(method, params).await?;
        loop {
            match self.line.hear().await? {
                Heard::Answer { id, result } if id == asked => {
                    let result = result.map_err(|fault| self.complaint(fault))?;
                    return serde_json::from_value(result).map_err(|_| Trouble::Senseless(method));
                }
                heard => self.overhear(heard).await?,
            }
        }
    }

    /// Something that comes at the wrong time. Requests are owed an answer even so.
    async fn overhear(&self, heard: Heard) -> Result<(), Broken> {
        match heard {
            Heard::Request { id, method, .. } => self.line.answer(id, talk::dismiss(&method)).await,
            Heard::Told { method, params } => {
                // Only this session is there to be spoken of.
                if let Some((_, update)) = update(&method, params) {
                    self.guise().hear(&update);
                }
                Ok(())
            }
            Heard::Answer { .. } => Ok(()),
        }
    }

    fn complaint(&self, fault: Fault) -> Trouble {
        if fault.code != code::SIGN_IN {
            return Trouble::Fault(fault);
        }
        let way = |method: &AuthMethod| {
            let (name, about) = match method {
                AuthMethod::Terminal(it) => (&it.name, &it.description),
                AuthMethod::Agent(it) => (&it.name, &it.description),
                _ => return None,
            };
            Some(about.as_ref().map_or(name.clone(), |about| format!("{name} ({about})")))
        };
        let ways: Vec<String> = self.greeting.auth_methods.iter().filter_map(way).collect();
        Trouble::SignIn(ways.join(", or "))
    }
}

fn said(params: &impl Serialize) -> Result<Value, Trouble> {
    serde_json::to_value(params).map_err(|_| Trouble::Senseless("our own request"))
}

/// Something told of a session: of which, and what.
fn update(method: &str, params: Value) -> Option<(String, SessionUpdate)> {
    if method != CLIENT_METHOD_NAMES.session_update {
        return None;
    }
    // What we do not understand may be of a later version.
    let SessionNotification { session_id, update, .. } = serde_json::from_value(params).ok()?;
    Some((session_id.to_string(), update))
}
