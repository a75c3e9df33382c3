//! Drives the App Protocol of a session: joins those who show its windows with those who ask its apps.
//!
//! One task for a session, while somebody shows its windows or waits for an app. It owns the machine,
//! stores what the machine wants recorded, and holds back what must not be said before that is safe.

mod gazette;
mod hands;
mod relay;
mod saving;

use std::{fmt, sync::Arc};

use tokio::sync::{mpsc, oneshot};

use super::protocol::{Answer, CallId, Called, Connection, HandsWish, Outgoing, Standing, Undo};
use crate::{
    apps::{Apps, Asked, Cause, News, Remark, Response, texts},
    host::{Host, OpenError},
    update::{Entry, SessionId},
    windows::{By, Hands},
};

pub use hands::Undoing;

/// Somebody who shows the windows of a session, and can be told something at any time.
pub trait Line: Send + Sync {
    /// Must not wait. What cannot be said is lost, as it would be on a connection that breaks.
    fn tell(&self, word: Word);
}

/// What is said to one who shows windows, and to nobody else. What all of them hear is in the feed.
#[derive(Clone, Debug, PartialEq)]
pub enum Word {
    /// To the app in a window.
    Request(Outgoing),
}

/// A place among those who show the windows of a session; given up when it is dropped.
pub struct Attendance {
    apps: Arc<Apps>,
    session: SessionId,
    connection: Connection,
}

impl fmt::Debug for Attendance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in {}", self.connection, self.session)
    }
}

impl Attendance {
    pub fn session(&self) -> SessionId {
        self.session
    }

    /// An app has registered in a window.
    pub fn ready(&self, window: String, monitor: Option<String>, instance: Option<String>) {
        self.ready_after(window, monitor, instance, None);
    }

    /// The same, of a client that remembers the last command that the document was given again.
    pub fn ready_after(
        &self,
        window: String,
        monitor: Option<String>,
        instance: Option<String>,
        replayed: Option<u64>,
    ) {
        let connection = self.connection;
        self.say(Wish::Ready { connection, window, monitor, instance, replayed });
    }

    /// An app has answered a request, or the page in its place.
    pub fn answered(&self, request: String, window: Option<String>, response: Response) {
        let connection = self.connection;
        self.say(Wish::Answered { connection, request, window, response });
    }

    /// The person did something in a window, by hand.
    pub fn touched(&self, window: String, monitor: Option<String>) {
        let connection = self.connection;
        self.say(Wish::Touched { connection, window, monitor });
    }

    /// The person says whose hands a window is in.
    pub fn hand(&self, window: String, monitor: Option<String>, to: Hands) {
        let wish = HandsWish { call: None, window, monitor, to };
        self.say(Wish::Hands { wish, reply: None });
    }

    /// An app has said something of itself, unasked.
    pub fn remarked(&self, window: String, monitor: Option<String>, remark: Remark) {
        let connection = self.connection;
        self.say(Wish::Remarked { connection, window, monitor, remark });
    }

    fn say(&self, wish: Wish) {
        self.apps.tell(self.session, wish);
    }
}

impl Drop for Attendance {
    fn drop(&mut self) {
        self.say(Wish::Leave(self.connection));
    }
}

/// The app in a window as it is seen from here.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    pub standing: Standing,
    /// What was told lately and is in no log, oldest first.
    pub news: Vec<Arc<News>>,
}

/// What somebody wants of an app.
#[derive(Clone, Debug, PartialEq)]
pub struct AppCall {
    /// As they name it.
    pub window: String,
    /// Where they look for windows that they name without saying where.
    pub monitor: Option<String>,
    pub asked: Asked,
    /// Their own name for a command, which is then carried out once.
    pub key: Option<String>,
    pub cause: Cause,
    /// What a model calls the call.
    pub tool_call: Option<String>,
    /// Who wants it. Only the person does something in a window that the person has taken over.
    pub by: By,
    /// Whether a person who has taken the window over is waited for.
    pub attended: bool,
}

impl AppCall {
    pub fn new(window: impl Into<String>, asked: Asked) -> Self {
        Self {
            window: window.into(),
            monitor: None,
            asked,
            key: None,
            cause: Cause::Tool,
            tool_call: None,
            by: By::Agent,
            attended: true,
        }
    }
}

pub(super) enum Wish {
    Join {
        connection: Connection,
        line: Arc<dyn Line>,
    },
    Leave(Connection),
    Ready {
        connection: Connection,
        window: String,
        monitor: Option<String>,
        instance: Option<String>,
        replayed: Option<u64>,
    },
    Answered {
        connection: Connection,
        request: String,
        window: Option<String>,
        response: Response,
    },
    Remarked {
        connection: Connection,
        window: String,
        monitor: Option<String>,
        remark: Remark,
    },
    /// How things stand with the app in a window.
    Observe {
        window: String,
        monitor: Option<String>,
        reply: oneshot::Sender<Result<Observed, String>>,
    },
    Call {
        called: Called,
        reply: oneshot::Sender<Answer>,
    },
    Touched {
        connection: Connection,
        window: String,
        monitor: Option<String>,
    },
    Hands {
        wish: HandsWish,
        reply: Option<oneshot::Sender<Answer>>,
    },
    Await {
        call: CallId,
        window: String,
        attended: bool,
        reply: oneshot::Sender<Answer>,
    },
    Undo {
        undo: Undo,
        reply: oneshot::Sender<Answer>,
    },
    Abandon(CallId),
    /// What has become of windows, as it was stored.
    Heard(Vec<Arc<Entry>>),
}

pub(super) type Wishes = mpsc::UnboundedSender<Wish>;

impl Host {
    /// Somebody shows the windows of a session from now on, until they drop what they are given.
    pub fn attend(
        self: &Arc<Self>,
        session: SessionId,
        line: Arc<dyn Line>,
    ) -> Result<Attendance, OpenError> {
        self.roster.get(session).ok_or(OpenError::Unknown(session))?;
        let connection = Connection(self.apps.count());
        self.relay(session, Wish::Join { connection, line });
        Ok(Attendance { apps: self.apps.clone(), session, connection })
    }

    /// Asks an app in a window of a session, and waits for what it says. Dropping the future takes
    /// back a call that was not sent yet.
    pub async fn ask_app(
        self: &Arc<Self>,
        session: SessionId,
        call: AppCall,
    ) -> Result<Answer, OpenError> {
        let AppCall { window, monitor, asked, key, cause, tool_call, by, attended } = call;
        self.wish(session, |call, reply| {
            let undoes = None;
            let called = Called {
                call,
                window,
                monitor,
                asked,
                key,
                cause,
                tool_call,
                by,
                attended,
                undoes,
            };
            Wish::Call { called, reply }
        })
        .await
    }

    /// Wishes something and waits for what comes of it. Dropping the future takes it back.
    async fn wish(
        self: &Arc<Self>,
        session: SessionId,
        wish: impl FnOnce(CallId, oneshot::Sender<Answer>) -> Wish,
    ) -> Result<Answer, OpenError> {
        self.roster.get(session).ok_or(OpenError::Unknown(session))?;
        let call = CallId(self.apps.count());
        let (reply, answer) = oneshot::channel();
        let _abandon = Abandon { apps: self.apps.clone(), session, call };
        self.relay(session, wish(call, reply));
        let lost = || Answer::Refused(texts::unrecorded("the session ended meanwhile"));
        Ok(answer.await.unwrap_or_else(|_| lost()))
    }

    /// How things stand with the app in a window; or in words why there is none.
    pub async fn observe_app(
        self: &Arc<Self>,
        session: SessionId,
        window: String,
        monitor: Option<String>,
    ) -> Result<Result<Observed, String>, OpenError> {
        self.roster.get(session).ok_or(OpenError::Unknown(session))?;
        let (reply, observed) = oneshot::channel();
        self.relay(session, Wish::Observe { window, monitor, reply });
        // It goes without an answer only with its session.
        observed.await.map_err(|_| OpenError::Unknown(session))
    }

    /// Says something to the task of a session, which is begun if there is none.
    fn relay(self: &Arc<Self>, session: SessionId, wish: Wish) {
        let start = |apps: &Arc<Apps>| relay::start(self, apps.clone(), session);
        self.apps.tell_or_start(session, wish, start);
    }
}

/// Tells that nobody waits any longer, if it is dropped before the answer.
struct Abandon {
    apps: Arc<Apps>,
    session: SessionId,
    call: CallId,
}

impl Drop for Abandon {
    fn drop(&mut self) {
        self.apps.tell(self.session, Wish::Abandon(self.call));
    }
}
