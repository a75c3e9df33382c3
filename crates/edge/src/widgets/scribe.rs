//! Writes down what happens in a view: in order, and under the name of its call once that is known.

use std::sync::Arc;

use kernel::{host::Host, update::SessionId, views::fact::WidgetFact};
use tokio::sync::{mpsc, watch};

/// So many facts are stored together.
const TOGETHER: usize = 64;

pub struct Scribe {
    host: Arc<Host>,
    session: SessionId,
    call: watch::Sender<Option<String>>,
    later: mpsc::UnboundedSender<WidgetFact>,
}

impl Scribe {
    pub fn new(host: Arc<Host>, session: SessionId, call: Option<String>) -> Self {
        let call = watch::Sender::new(call);
        let (later, facts) = mpsc::unbounded_channel();
        tokio::spawn(write(host.clone(), session, call.subscribe(), facts));
        Self { host, session, call, later }
    }

    /// The call that the view shows is known now.
    pub fn name(&self, call: &str) {
        self.call.send_replace(Some(call.to_owned()));
    }

    /// The call that the view shows, once it is known.
    pub fn named(&self) -> watch::Receiver<Option<String>> {
        self.call.subscribe()
    }

    /// Returns once it is safe.
    pub async fn note(&self, fact: WidgetFact) -> Result<(), String> {
        let gone = || "the call of this view is gone".to_owned();
        let mut call = self.call.subscribe();
        let call = call.wait_for(Option::is_some).await.map_err(|_| gone())?.clone();
        let fact = fact.of(&call.ok_or_else(gone)?);
        let noted = self.host.note_widgets(self.session, vec![fact]).await;
        noted.map(drop).map_err(|error| error.to_string())
    }

    /// Waits for nothing.
    pub fn note_later(&self, fact: WidgetFact) {
        // It writes for as long as this is there.
        self.later.send(fact).ok();
    }
}

async fn write(
    host: Arc<Host>,
    session: SessionId,
    mut call: watch::Receiver<Option<String>>,
    mut facts: mpsc::UnboundedReceiver<WidgetFact>,
) {
    let mut waiting = Vec::new();
    while facts.recv_many(&mut waiting, TOGETHER).await > 0 {
        let Ok(Some(call)) = call.wait_for(Option::is_some).await.map(|call| call.clone()) else {
            return;
        };
        let named = waiting.drain(..).map(|fact| fact.of(&call)).collect();
        if let Err(error) = host.note_widgets(session, named).await {
            tracing::warn!(%session, %error, "cannot record what a widget did");
        }
    }
}
