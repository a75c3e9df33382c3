//! How a session is begun, or opened again after a rest or a crash.

use std::{collections::HashMap, sync::Arc, time::Duration};

use tokio::{
    sync::{broadcast, mpsc, watch},
    time::Instant,
};

use super::{Desk, FEED_DEPTH};
use crate::{
    approvals::Approvals,
    apps::Apps,
    budget::Purse,
    feed::Draft,
    ports::{Ports, StoreError},
    roster::Roster,
    session::Session,
    state::State,
    update::{Command, Fact, Outcome, SessionId},
    visit,
};

/// What a desk is set up with.
pub(crate) struct Opening {
    pub id: SessionId,
    pub ports: Ports,
    pub roster: Arc<Roster>,
    pub approvals: Arc<Approvals>,
    pub purse: Arc<Purse>,
    pub apps: Arc<Apps>,
    /// Let go after so long without a wish, a turn or a listener.
    pub rest: Duration,
    /// How often a model is asked before a passing failure counts as one.
    pub attempts: u32,
}

impl Opening {
    /// A new session, whose first fact is this.
    pub async fn begin(self, fact: Fact) -> Result<Session, StoreError> {
        let (mut desk, session, commands) = self.desk(Arc::default());
        desk.record(vec![fact]).await?;
        tokio::spawn(desk.serve(commands));
        Ok(session)
    }

    /// A session that exists. A turn that waited for the person goes on waiting, unless an agent
    /// answered that is gone by now; any other that a crash cut short is recorded as interrupted
    /// first.
    pub async fn resume(self, state: Arc<State>) -> Result<Session, StoreError> {
        let (mut desk, session, commands) = self.desk(state);
        desk.withdraw_orphans().await?;
        if desk.state.awaits_person() && !visit::names_agent(&desk.state.model) {
            desk.go_on().await?;
        } else if desk.state.is_busy() {
            let step = desk.state.turn.as_ref().and_then(|turn| turn.step);
            desk.draft.step = step.unwrap_or_default();
            desk.draft.text = desk.ports.log.drafted(desk.id).await?;
            desk.end(Outcome::Interrupted).await?;
        }
        desk.start_next().await?;
        tokio::spawn(desk.serve(commands));
        Ok(session)
    }

    fn desk(self, state: Arc<State>) -> (Desk, Session, mpsc::Receiver<Command>) {
        let Self { id, ports, roster, approvals, purse, apps, rest, attempts } = self;
        let (inbox, commands) = mpsc::channel(32);
        let (life, alive) = watch::channel(());
        let session = Session { id, inbox, log: ports.log.clone(), life: alive.clone() };
        let desk = Desk {
            id,
            state,
            roster,
            approvals,
            purse,
            seat: apps.seat(id),
            rest,
            attempts,
            inbox: session.inbox.downgrade(),
            alive,
            feed: broadcast::Sender::new(FEED_DEPTH),
            draft: Draft::default(),
            waiting: HashMap::new(),
            heard: None,
            running: None,
            owed: None,
            overdue: false,
            closing: false,
            left: false,
            used: Instant::now(),
            ports,
            _life: life,
        };
        (desk, session, commands)
    }
}
