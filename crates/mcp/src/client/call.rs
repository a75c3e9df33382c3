//! One call of a tool, from what is sent to what comes back, however often the server asks in between.

use std::{collections::BTreeMap, time::Duration};

use kernel::{toolbox::Call, update::Signal};
use rmcp::{
    RoleClient,
    model::{
        CallToolRequest, CallToolRequestParams, CallToolResult, CancelledNotificationParam,
        ElicitationAction, ErrorCode, InputRequiredResult, JsonObject, RequestId, ServerResult,
    },
    service::{Peer, PeerRequestOptions, ServiceError},
};
use serde_json::Value;
use tokio::{
    sync::{mpsc, oneshot},
    time::{Instant, sleep},
};

use super::{
    calls::{Mark, Running, Step},
    elicit,
    link::{LONGEST_REASON, Link, challenge, whole},
    logbook::cut,
};

/// How often a server may come back with questions before it gives an answer.
const ROUNDS: u32 = 10;
/// How a server says that the person must visit an address first, and how often it may.
const VISIT_FIRST: ErrorCode = ErrorCode(-32042);
const VISITS: u32 = 2;
const MOST_VISITS: usize = 4;
/// So many steps of a call are told in a second, and the rest is left out.
const TOLD: u32 = 20;

pub struct Wanted<'a> {
    /// The name its server gave the tool.
    pub tool: &'a str,
    /// And the one it has here.
    pub offered: &'a str,
    pub args: JsonObject,
    pub idle: Duration,
}

/// Why a call came to nothing.
pub enum Fault {
    /// The server did nothing: somebody has to sign in first, in the way that it says.
    SignIn(String),
    Failed(String),
}

impl From<String> for Fault {
    fn from(reason: String) -> Self {
        Self::Failed(reason)
    }
}

pub async fn make(link: &Link, wanted: Wanted<'_>, call: Call) -> Result<CallToolResult, Fault> {
    let (underway, mut steps) = link.guest.calls.begin(call, wanted.offered);
    let running = &underway.running;
    link.guest.show_folders(&link.peer).await;
    let mut params = CallToolRequestParams::new(wanted.tool.to_owned()).with_arguments(wanted.args);
    let mut watch = Watch { running, idle: wanted.idle, since: Instant::now(), told: 0 };
    for round in 0..ROUNDS {
        let mut request = CallToolRequest::new(params.clone());
        request.extensions.insert(Mark(running.clone()));
        let options = PeerRequestOptions::no_options();
        let sent = link.peer.send_cancellable_request(request.into(), options).await;
        let sent = sent.map_err(|error| explain(link, &error))?;
        let mut sent_out = SentOut { peer: &link.peer, id: Some(sent.id) };
        let answer = watch.wait(sent.rx, &mut steps).await?;
        sent_out.id = None;
        let answer = match answer {
            Err(ServiceError::McpError(error)) if error.code == VISIT_FIRST && round < VISITS => {
                visit_all(link, running, error.data).await?;
                continue;
            }
            other => other.map_err(|error| explain(link, &error))?,
        };
        match answer {
            ServerResult::CallToolResult(result) => return Ok(result),
            ServerResult::InputRequiredResult(asked) => {
                if asked.input_requests.as_ref().is_none_or(BTreeMap::is_empty) {
                    sleep(Duration::from_millis(50) * 2_u32.pow(round.min(4))).await;
                }
                answer_all(link, running, &mut params, asked).await?;
            }
            _ => {
                let reason = "the server answered with something that is no result";
                return Err(Fault::Failed(reason.into()));
            }
        }
    }
    Err(Fault::Failed(format!("the server asked {ROUNDS} times for more and gave no result")))
}

/// Sends the person wherever the server wants them to have been before it does anything.
async fn visit_all(link: &Link, running: &Running, data: Option<Value>) -> Result<(), String> {
    let listed = data.as_ref().and_then(|data| data.get("elicitations")?.as_array());
    for entry in listed.into_iter().flatten().take(MOST_VISITS) {
        let params = serde_json::from_value(entry.clone());
        let params = params.map_err(|_| "the server wants something that makes no sense")?;
        let answer = elicit::answer(&link.guest, running, params).await;
        if answer.action != ElicitationAction::Accept {
            return Err("the server wanted the person to visit an address first".into());
        }
    }
    Ok(())
}

/// Gets what the server wants to know first, and adds it to the call.
async fn answer_all(
    link: &Link,
    running: &Running,
    params: &mut CallToolRequestParams,
    asked: InputRequiredResult,
) -> Result<(), String> {
    let mut answers = BTreeMap::new();
    for (name, request) in asked.input_requests.unwrap_or_default() {
        let answer = link.guest.fulfil(running, request).await;
        answers.insert(name, answer.map_err(|error| error.message.into_owned())?);
    }
    params.input_responses = (!answers.is_empty()).then_some(answers);
    params.request_state = asked.request_state;
    Ok(())
}

/// Waits for an answer, tells how far it has come, and knows when to give up.
struct Watch<'a> {
    running: &'a Running,
    idle: Duration,
    since: Instant,
    told: u32,
}

type Answer = Result<ServerResult, ServiceError>;

impl Watch<'_> {
    async fn wait(
        &mut self,
        mut answer: oneshot::Receiver<Answer>,
        steps: &mut mpsc::Receiver<Step>,
    ) -> Result<Answer, String> {
        let mut idle = std::pin::pin!(sleep(self.idle));
        loop {
            tokio::select! {
                biased;
                Some(step) = steps.recv() => {
                    idle.as_mut().reset(Instant::now() + self.idle);
                    self.tell(step).await;
                }
                answer = &mut answer => return Ok(answer.unwrap_or(Err(ServiceError::TransportClosed))),
                () = &mut idle => {
                    if !self.running.awaits_person() {
                        let seconds = self.idle.as_secs();
                        return Err(format!("nothing was heard of this call for {seconds} seconds; \
                                            it was cancelled"));
                    }
                    idle.as_mut().reset(Instant::now() + self.idle);
                }
            }
        }
    }

    async fn tell(&mut self, Step { message, done, total }: Step) {
        if self.since.elapsed() > Duration::from_secs(1) {
            (self.since, self.told) = (Instant::now(), 0);
        }
        self.told += 1;
        if self.told > TOLD {
            return;
        }
        if let Some(companion) = &self.running.call.companion {
            companion.progressed(&message, done, total);
        }
        if let Some(call) = self.running.call.id.clone() {
            let signal = Signal::Progress { call, message, done, total };
            // Nobody listens to a session that is closed.
            self.running.call.session.tell(signal).await.ok();
        }
    }
}

fn explain(link: &Link, error: &ServiceError) -> Fault {
    let challenge = match error {
        // With a key of their own nobody signs in.
        ServiceError::TransportSend(error) if !link.guest.settings.has_own_key() => {
            challenge(error.error.as_ref())
        }
        _ => None,
    };
    match challenge {
        Some(challenge) => Fault::SignIn(challenge),
        None => Fault::Failed(describe(link, error)),
    }
}

fn describe(link: &Link, error: &ServiceError) -> String {
    let server = &link.guest.server;
    match error {
        ServiceError::McpError(error) => link.guest.settings.hide(&error.message),
        ServiceError::TransportClosed | ServiceError::TransportSend(_) => {
            // Its keeper looks whether it is there at all.
            link.news.notify_one();
            let why = match error {
                ServiceError::TransportSend(error) => {
                    let why = link.guest.settings.hide(&whole(error.error.as_ref()));
                    format!(" ({})", cut(&why, LONGEST_REASON))
                }
                _ => String::new(),
            };
            format!(
                "the server {server} was lost in the middle of this call{why}; whether it had its \
                 effect is not known"
            )
        }
        other => link.guest.settings.hide(&other.to_string()),
    }
}

/// A request that was sent; dropped before its answer came, the server is told not to bother.
struct SentOut<'a> {
    peer: &'a Peer<RoleClient>,
    id: Option<RequestId>,
}

impl Drop for SentOut<'_> {
    fn drop(&mut self) {
        let (Some(id), Ok(runtime)) = (self.id.take(), tokio::runtime::Handle::try_current())
        else {
            return;
        };
        let peer = self.peer.clone();
        let param =
            CancelledNotificationParam::new(Some(id), Some("nobody waits for it".to_owned()));
        // One that is gone need not be told.
        runtime.spawn(async move { peer.notify_cancelled(param).await.ok() });
    }
}
