//! Telling clients that what they have seen is no longer what there is.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use futures::{StreamExt as _, stream::FuturesUnordered};
use kernel::{
    host::Host,
    roster::{Change, News},
    update::SessionId,
};
use rmcp::{
    Peer, RoleServer,
    model::{ResourceUpdatedNotificationParam, SubscriptionFilter},
    service::SubscriptionSink,
};
use tokio::{sync::broadcast::error::RecvError, task::JoinHandle};

use super::{
    hearing::{self, pieces},
    house::{House, lock},
    resources::{SESSIONS, session_at},
};

/// How much one client may watch at a time.
const MOST: usize = 64;

/// Who is told.
#[derive(Clone)]
pub enum Ear {
    Connection(Peer<RoleServer>),
    Subscription(SubscriptionSink),
}

/// What a client on a connection watches, for as long as this lives.
#[derive(Default)]
pub struct Watching {
    lists: Mutex<Option<Task>>,
    resources: Mutex<HashMap<String, Task>>,
}

/// Ends with whoever wanted it.
struct Task(JoinHandle<()>);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Watching {
    /// From now on the client hears when a list is no longer what it was.
    pub fn begin(&self, house: &Arc<House>, peer: Peer<RoleServer>) {
        let host = house.host.clone();
        let task = tokio::spawn(async move {
            let ear = Ear::Connection(peer);
            futures::join!(watch_tools(&host, &ear), watch_list(&host, &ear));
        });
        *lock(&self.lists) = Some(Task(task));
    }

    pub fn subscribe(&self, house: &Arc<House>, uri: &str, ear: Ear) -> Result<(), String> {
        let watched = watchable(house, uri)?;
        let (host, uri) = (house.host.clone(), uri.to_owned());
        let mut resources = lock(&self.resources);
        if resources.len() >= MOST && !resources.contains_key(&uri) {
            return Err(format!("at most {MOST} resources can be watched at a time"));
        }
        let name = uri.clone();
        let task = tokio::spawn(async move { watch(&host, &watched, &name, &ear).await });
        resources.insert(uri, Task(task));
        Ok(())
    }

    pub fn unsubscribe(&self, uri: &str) {
        lock(&self.resources).remove(uri);
    }
}

/// What of this can be watched here.
pub fn accepted(house: &House, requested: &SubscriptionFilter) -> SubscriptionFilter {
    let mut accepted = requested.clone();
    accepted.prompts_list_changed = None;
    if let Some(uris) = &mut accepted.resource_subscriptions {
        uris.retain(|uri| watchable(house, uri).is_ok());
        uris.truncate(MOST);
    }
    accepted
}

/// Tells of all that the subscription is about, until it is dropped.
pub async fn listen(house: &House, accepted: &SubscriptionFilter, sink: &SubscriptionSink) {
    let (host, ear) = (&house.host, Ear::Subscription(sink.clone()));
    let tools = async {
        if accepted.tools_list_changed == Some(true) {
            watch_tools(host, &ear).await;
        }
    };
    let list = async {
        if accepted.resources_list_changed == Some(true) {
            watch_list(host, &ear).await;
        }
    };
    let uris = accepted.resource_subscriptions.iter().flatten();
    let watched = uris.filter_map(|uri| Some((uri, watchable(house, uri).ok()?)));
    let ear = &ear;
    let mut resources: FuturesUnordered<_> = watched
        .map(|(uri, watched)| async move { watch(host, &watched, uri, ear).await })
        .collect();
    let resources = async { while resources.next().await.is_some() {} };
    futures::join!(tools, list, resources);
}

enum Watched {
    Sessions,
    Session(SessionId),
}

fn watchable(house: &House, uri: &str) -> Result<Watched, String> {
    if uri == SESSIONS {
        return Ok(Watched::Sessions);
    }
    match session_at(uri) {
        Some(session) => house.session(session).map(|(id, _)| Watched::Session(id)),
        None => Err("only sessions can be watched".to_owned()),
    }
}

async fn watch(host: &Host, watched: &Watched, uri: &str, ear: &Ear) {
    match watched {
        Watched::Sessions => watch_sessions(host, uri, ear).await,
        Watched::Session(id) => watch_session(host, *id, uri, ear).await,
    }
}

async fn watch_tools(host: &Host, ear: &Ear) {
    let mut editions = host.ports.tools.editions();
    while editions.changed().await.is_ok() {
        if !ear.tools_changed().await {
            return;
        }
    }
}

/// Sessions that come, go and get another name.
async fn watch_list(host: &Host, ear: &Ear) {
    let mut news = host.roster.listen();
    loop {
        let changed = match news.recv().await {
            Ok(News::Session { change, .. }) => {
                matches!(change, Change::Created | Change::Deleted | Change::Renamed)
            }
            Ok(News::AppletState { .. }) => false,
            Err(RecvError::Lagged(_)) => true,
            Err(RecvError::Closed) => return,
        };
        if changed && !ear.resources_changed().await {
            return;
        }
    }
}

/// Anything that the list of sessions tells.
async fn watch_sessions(host: &Host, uri: &str, ear: &Ear) {
    let mut news = host.roster.listen();
    loop {
        let changed = match news.recv().await {
            Ok(News::Session { change, .. }) => !matches!(change, Change::Observed { .. }),
            Ok(News::AppletState { .. }) => false,
            Err(RecvError::Lagged(_)) => true,
            Err(RecvError::Closed) => return,
        };
        if changed && !ear.updated(uri).await {
            return;
        }
    }
}

async fn watch_session(host: &Host, id: SessionId, uri: &str, ear: &Ear) {
    let Ok(mut feed) = host.feed(id, None).await else { return };
    // An error is the end of the session, or of the house.
    while let Ok(heard) = hearing::next(host, &mut feed).await {
        let is_fact = |it: &kernel::update::Update| matches!(it, kernel::update::Update::Fact(_));
        let mut changed = pieces(heard).iter().any(is_fact);
        while let Some(more) = feed.next_now() {
            changed |= pieces(more).iter().any(is_fact);
        }
        if changed && !ear.updated(uri).await {
            return;
        }
    }
}

/// Each says whether there is still somebody to tell.
impl Ear {
    async fn tools_changed(&self) -> bool {
        match self {
            Self::Connection(peer) => peer.notify_tool_list_changed().await.is_ok(),
            Self::Subscription(sink) => sink.notify_tool_list_changed().await.is_ok(),
        }
    }

    async fn resources_changed(&self) -> bool {
        match self {
            Self::Connection(peer) => peer.notify_resource_list_changed().await.is_ok(),
            Self::Subscription(sink) => sink.notify_resource_list_changed().await.is_ok(),
        }
    }

    async fn updated(&self, uri: &str) -> bool {
        match self {
            Self::Connection(peer) => {
                let what = ResourceUpdatedNotificationParam::new(uri);
                peer.notify_resource_updated(what).await.is_ok()
            }
            Self::Subscription(sink) => sink.notify_resource_updated(uri).await.is_ok(),
        }
    }
}
