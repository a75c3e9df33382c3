//! The agents that may be called, each with its visitors: one process for each session, as long as it is of use.

use std::{
    collections::{BTreeMap, HashMap},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use agent_client_protocol::v1::schema::{
    EnvVariable, HttpHeader, McpServer, McpServerHttp, McpServerStdio,
};
use futures::{
    StreamExt as _,
    stream::{self, BoxStream},
};
use kernel::{
    ports::{Agent, Agents, Known, ModelError, ModelInfo},
    update::{Failure, SessionId},
    visit::{Doing, Visit, model_of},
};
use tokio::{
    sync::mpsc,
    time::{Instant, sleep, sleep_until},
};

use crate::{
    line::Broken,
    visitor::{Doings, Trouble, Visitor},
};

/// A visitor that nobody has asked anything for so long is sent home.
const IDLE: Duration = Duration::from_mins(10);
/// How long one that fails again and again is left alone at most.
const LONGEST_WAIT: Duration = Duration::from_mins(1);
/// How much may be done before the session has taken notice.
const AHEAD: usize = 32;
/// How many messages may wait for one that is still being stopped.
const WAITING: usize = 8;
/// How much of what it says is wrong is passed on.
const COMPLAINT: usize = 500;

/// How an agent is started.
#[derive(Clone, Default)]
pub struct Settings {
    pub command: String,
    pub args: Vec<String>,
    pub env: BTreeMap<String, String>,
}

/// A server of tools that agents are offered: over HTTP to those who can, else as a program.
#[derive(Clone)]
pub struct Offer {
    pub name: String,
    /// The address, and what to send along.
    pub http: Option<(String, BTreeMap<String, String>)>,
    pub program: Option<Settings>,
}

/// All of them, by name.
pub struct Guests {
    guests: BTreeMap<String, Arc<Guest>>,
}

struct Guest {
    invitation: Arc<Invitation>,
    /// Those who are here go when this does.
    visitors: Mutex<HashMap<SessionId, mpsc::Sender<Job>>>,
}

/// How visitors come here.
struct Invitation {
    name: String,
    settings: Settings,
    offers: Vec<Offer>,
    /// Where what they complain of is kept.
    log: Option<PathBuf>,
    health: Mutex<Health>,
}

#[derive(Clone, Copy, Default)]
struct Health {
    /// In a row.
    failures: u32,
    /// Not to be started before.
    until: Option<Instant>,
}

struct Job {
    visit: Visit,
    doings: Doings,
}

impl Guests {
    /// `logs` is the folder where each may complain.
    pub fn new(
        settings: BTreeMap<String, Settings>,
        offers: &[Offer],
        logs: Option<&Path>,
    ) -> Self {
        let guest = |(name, settings): (String, Settings)| {
            let log = logs.map(|logs| logs.join(format!("agent-{name}.log")));
            let invitation = Arc::new(Invitation {
                name: name.clone(),
                settings,
                offers: offers.to_vec(),
                log,
                health: Mutex::default(),
            });
            (name, Arc::new(Guest { invitation, visitors: Mutex::default() }))
        };
        Self { guests: settings.into_iter().map(guest).collect() }
    }
}

impl Agents for Guests {
    fn list(&self) -> Vec<ModelInfo> {
        let info = |name: &String| ModelInfo {
            id: model_of(name),
            name: format!("{name} (agent)"),
            cost: 0.0,
            payer: "its own sign-in".to_owned(),
            known: Known::default(),
        };
        self.guests.keys().map(info).collect()
    }

    fn find(&self, id: &str) -> Option<Arc<dyn Agent>> {
        let (_, guest) = self.guests.iter().find(|(name, _)| model_of(name) == id)?;
        Some(Arc::new(Reception(guest.clone())))
    }

    fn dismiss(&self, session: SessionId) {
        for guest in self.guests.values() {
            guest.visitors().remove(&session);
        }
    }
}

/// Where an agent is called.
struct Reception(Arc<Guest>);

impl Agent for Reception {
    fn name(&self) -> &str {
        &self.0.invitation.name
    }

    fn visit(&self, visit: Visit) -> BoxStream<'static, Result<Doing, ModelError>> {
        let (doings, heard) = mpsc::channel(AHEAD);
        if let Err(busy) = self.0.send(Job { visit, doings }) {
            return stream::iter([Err(busy)]).boxed();
        }
        let next = |mut heard: mpsc::Receiver<_>| async { Some((heard.recv().await?, heard)) };
        stream::unfold(heard, next).boxed()
    }
}

impl Guest {
    /// To the visitor of this session; invites one if there is none.
    fn send(&self, job: Job) -> Result<(), ModelError> {
        let session = job.visit.session;
        let mut visitors = self.visitors();
        visitors.retain(|_, jobs| !jobs.is_closed());
        let jobs = visitors.entry(session).or_insert_with(|| {
            let (jobs, waiting) = mpsc::channel(WAITING);
            tokio::spawn(self.invitation.clone().receive(waiting));
            jobs
        });
        jobs.try_send(job).map_err(|_| {
            let message =
                format!("{} has not yet stopped what it did before", self.invitation.name);
            ModelError::new(Failure::Overloaded, message)
        })
    }

    fn visitors(&self) -> MutexGuard<'_, HashMap<SessionId, mpsc::Sender<Job>>> {
        self.visitors.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Invitation {
    /// Lets a visitor answer, and another when it has left, until nobody can call it any more.
    async fn receive(self: Arc<Self>, mut jobs: mpsc::Receiver<Job>) {
        let mut visitor: Option<Visitor> = None;
        loop {
            let job = match &mut visitor {
                None => tokio::select! {
                    job = jobs.recv() => job,
                    () = sleep(IDLE) => {
                        // What was sent meanwhile is still taken.
                        jobs.close();
                        continue;
                    }
                },
                Some(present) => tokio::select! {
                    job = jobs.recv() => job,
                    broken = present.idle() => {
                        tracing::info!(agent = self.name, ?broken, "an agent has left");
                        visitor = None;
                        continue;
                    }
                    () = sleep(IDLE) => {
                        show_out(&mut visitor).await;
                        continue;
                    }
                },
            };
            let Some(Job { visit, doings }) = job else {
                return show_out(&mut visitor).await;
            };
            if let Err(trouble) = self.answer(&mut visitor, visit, &doings).await {
                let error = self.explain(&trouble, visitor.as_mut()).await;
                if !trouble.is_passing() {
                    visitor = None;
                }
                if trouble.is_fault() {
                    self.fail();
                }
                // Whoever told it to stop does not want to know.
                doings.send(Err(error)).await.ok();
            }
        }
    }

    async fn answer(
        &self,
        visitor: &mut Option<Visitor>,
        visit: Visit,
        doings: &Doings,
    ) -> Result<(), Trouble> {
        let present = if let Some(present) = visitor {
            present
        } else {
            tokio::select! {
                arrived = self.invite(&visit) => visitor.insert(arrived?),
                () = doings.closed() => return Ok(()),
            }
        };
        present.answer(&visit, &self.offers, doings).await?;
        *self.health() = Health::default();
        Ok(())
    }

    /// One that has failed is given time before it is started again.
    async fn invite(&self, visit: &Visit) -> Result<Visitor, Trouble> {
        let until = self.health().until;
        if let Some(until) = until {
            sleep_until(until).await;
        }
        Visitor::arrive(&self.settings, &visit.cwd, self.log.clone()).await
    }

    fn fail(&self) {
        let mut health = self.health();
        let wait = Duration::from_secs(1).saturating_mul(2_u32.saturating_pow(health.failures));
        health.failures = health.failures.saturating_add(1);
        health.until = Some(Instant::now() + wait.min(LONGEST_WAIT));
    }

    async fn explain(&self, trouble: &Trouble, visitor: Option<&mut Visitor>) -> ModelError {
        let name = &self.name;
        let complaints = self.log.as_ref().map(|log| log.display().to_string());
        let see =
            complaints.map_or(String::new(), |log| format!("; what it complained of is in {log}"));
        let (kind, message) = match trouble {
            Trouble::Fault(fault) => {
                let end = fault.message.floor_char_boundary(COMPLAINT);
                (Failure::Protocol, format!("{name} says: {}", &fault.message[..end]))
            }
            Trouble::SignIn(ways) if ways.is_empty() => {
                (Failure::BadKey, format!("{name} needs sign-in; do that with its own program"))
            }
            Trouble::SignIn(ways) => {
                let message = format!("{name} needs sign-in, with its own program: {ways}");
                (Failure::BadKey, message)
            }
            Trouble::Refused => (Failure::Refused, format!("{name} refused to go on")),
            Trouble::Exhausted => {
                (Failure::Refused, format!("{name} stopped at the end of what it may do at once"))
            }
            Trouble::Start(error) => {
                let command = &self.settings.command;
                (Failure::NoModel, format!("{name} cannot be started: `{command}`: {error}"))
            }
            Trouble::Foreign(version) => {
                let message = format!("{name} speaks version {version} of the protocol, not 1");
                (Failure::Protocol, message)
            }
            Trouble::Line(Broken::Closed) => {
                let how = match visitor {
                    Some(visitor) => visitor.ended().await,
                    None => "before it was ready".to_owned(),
                };
                (Failure::Protocol, format!("{name} has ended: {how}{see}"))
            }
            Trouble::Line(Broken::Flood) | Trouble::TooMuch => {
                (Failure::Protocol, format!("{name} said more than can be taken, and was ended"))
            }
            Trouble::Line(Broken::Noise) => {
                let message = format!("{name} does not speak the Agent Client Protocol{see}");
                (Failure::Protocol, message)
            }
            Trouble::Line(Broken::Deaf) => {
                (Failure::Protocol, format!("{name} does not listen any more, and was ended"))
            }
            Trouble::Slow(what) => {
                (Failure::Protocol, format!("{name} took too long {what}, and was ended{see}"))
            }
            Trouble::Senseless(what) => {
                (Failure::Protocol, format!("{name} gave an answer without sense to {what}"))
            }
            Trouble::Dismissed | Trouble::Stubborn => {
                (Failure::Protocol, format!("{name} did not stop, and was ended"))
            }
        };
        ModelError::new(kind, message)
    }

    fn health(&self) -> MutexGuard<'_, Health> {
        self.health.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn show_out(visitor: &mut Option<Visitor>) {
    if let Some(visitor) = visitor.take() {
        visitor.leave().await;
    }
}

/// The offers as an agent takes them.
pub fn servers(offers: &[Offer], over_http: bool) -> Vec<McpServer> {
    let server = |Offer { name, http, program }: &Offer| match (http, program) {
        (Some((url, headers)), _) if over_http => {
            let headers = headers.iter().map(|(name, value)| HttpHeader::new(name, value));
            Some(McpServer::Http(McpServerHttp::new(name, url).headers(headers.collect())))
        }
        (_, Some(Settings { command, args, env })) => {
            let env = env.iter().map(|(name, value)| EnvVariable::new(name, value)).collect();
            let program = McpServerStdio::new(name, command).args(args.clone()).env(env);
            Some(McpServer::Stdio(program))
        }
        _ => None,
    };
    offers.iter().filter_map(server).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tools_are_offered_the_way_an_agent_can_take_them() {
        let key = BTreeMap::from([("Authorization".to_owned(), "Bearer k".to_owned())]);
        let http = Some(("http://127.0.0.1:1/mcp".to_owned(), key));
        let program = Settings {
            command: "/bin/m".into(),
            args: vec!["mcp".into()],
            env: BTreeMap::from([("A".to_owned(), "b".to_owned())]),
        };
        let far = Offer { name: "far".into(), http: http.clone(), program: None };
        let both = Offer { name: "both".into(), http, program: Some(program) };
        let offers = [far, both];
        let header = json!([{ "name": "Authorization", "value": "Bearer k" }]);
        let url = "http://127.0.0.1:1/mcp";
        let taken = |over_http| serde_json::to_value(servers(&offers, over_http)).unwrap();
        let expected = json!([
            { "type": "http", "name": "far", "url": url, "headers": header },
            { "type": "http", "name": "both", "url": url, "headers": header },
        ]);
        assert_eq!(taken(true), expected);
        let env = json!([{ "name": "A", "value": "b" }]);
        let expected =
            json!([{ "name": "both", "command": "/bin/m", "args": ["mcp"], "env": env }]);
        assert_eq!(taken(false), expected);
    }
}
