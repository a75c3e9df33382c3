//! Telling clients that what they have seen is no longer what there is.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use futures::{StreamExt as _, stream::FuturesUnordered};
use kernel::{
    apps::Touched,
    host::Host,
    roster::{Change, News},
    update::{Seq, SessionId, Update},
};
use rmcp::{
    Peer, RoleServer,
    model::{ResourceUpdatedNotificationParam, SubscriptionFilter},
    service::SubscriptionSink,
};
use tokio::{
    sync::{
        broadcast::{self, error::RecvError},
        watch,
    },
    task::JoinHandle,
};

use super::{
    hearing::{self, pieces},
    house::{House, lock},
    resources::{SESSIONS, session_at},
    shown::{self, Place},
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
    /// What a subscription is about to tell of.
    promised: Mutex<Option<Promised>>,
}

/// Ends with whoever wanted it.
struct Task(JoinHandle<()>);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Where to listen, from before the client was told that we do: nothing is missed in between.
struct Promised {
    tools: Option<Editions>,
    list: Option<Listing>,
    resources: Vec<(String, Watched)>,
}

/// Something that can be watched, and since when.
enum Watched {
    Sessions(broadcast::Receiver<News>),
    Session(SessionId, Seq),
    /// A state of an app.
    State(Place, broadcast::Receiver<Touched>),
}

/// When there are other tools: of the house, or of apps.
struct Editions {
    house: watch::Receiver<u64>,
    apps: watch::Receiver<u64>,
}

impl Editions {
    fn of(host: &Host) -> Self {
        Self { house: host.ports.tools.editions(), apps: host.apps.editions() }
    }
}

/// When there is something else to read.
struct Listing {
    news: broadcast::Receiver<News>,
    apps: watch::Receiver<u64>,
}

impl Listing {
    fn of(host: &Host) -> Self {
        Self { news: host.roster.listen(), apps: host.apps.editions() }
    }
}

impl Watching {
    /// From now on the client hears when a list is no longer what it was.
    pub fn begin(&self, house: &Arc<House>, peer: Peer<RoleServer>) {
        let host = house.host.clone();
        let (tools, list) = (Editions::of(&host), Listing::of(&host));
        let task = tokio::spawn(async move {
            let ear = Ear::Connection(peer);
            futures::join!(watch_tools(tools, &ear), watch_list(list, &ear));
        });
        *lock(&self.lists) = Some(Task(task));
    }

    pub fn subscribe(&self, house: &Arc<House>, uri: &str, ear: Ear) -> Result<(), String> {
        let watched = Watched::find(house, uri)?;
        let (host, uri) = (house.host.clone(), uri.to_owned());
        let mut resources = lock(&self.resources);
        if resources.len() >= MOST && !resources.contains_key(&uri) {
            return Err(format!("at most {MOST} resources can be watched at a time"));
        }
        let name = uri.clone();
        let task = tokio::spawn(async move { watched.watch(&host, &name, &ear).await });
        resources.insert(uri, Task(task));
        Ok(())
    }

    pub fn unsubscribe(&self, uri: &str) {
        lock(&self.resources).remove(uri);
    }

    /// What of this can be watched here; [`Watching::listen`] does.
    pub fn promise(&self, house: &House, requested: &SubscriptionFilter) -> SubscriptionFilter {
        let uris = requested.resource_subscriptions.iter().flatten();
        let found = uris.filter_map(|uri| Some((uri.clone(), Watched::find(house, uri).ok()?)));
        let promised = Promised {
            tools: wanted(requested.tools_list_changed, || Editions::of(&house.host)),
            list: wanted(requested.resources_list_changed, || Listing::of(&house.host)),
            resources: found.take(MOST).collect(),
        };
        let mut accepted = requested.clone();
        accepted.prompts_list_changed = None;
        if let Some(uris) = &mut accepted.resource_subscriptions {
            *uris = promised.resources.iter().map(|(uri, _)| uri.clone()).collect();
        }
        *lock(&self.promised) = Some(promised);
        accepted
    }

    /// Tells of all that was promised, until it is dropped.
    pub async fn listen(&self, house: &House, sink: &SubscriptionSink) {
        let Some(Promised { tools, list, resources }) = lock(&self.promised).take() else { return };
        let (host, ear) = (&house.host, &Ear::Subscription(sink.clone()));
        let tools = async {
            if let Some(tools) = tools {
                watch_tools(tools, ear).await;
            }
        };
        let list = async {
            if let Some(list) = list {
                watch_list(list, ear).await;
            }
        };
        let watch = |(uri, watched): (String, Watched)| async move {
            watched.watch(host, &uri, ear).await;
        };
        let resources = resources.into_iter().map(watch).collect::<FuturesUnordered<_>>();
        futures::join!(tools, list, resources.for_each(async |()| ()));
    }
}

fn wanted<T>(asked: Option<bool>, listen: impl FnOnce() -> T) -> Option<T> {
    asked.unwrap_or_default().then(listen)
}

impl Watched {
    fn find(house: &House, uri: &str) -> Result<Self, String> {
        if uri == SESSIONS {
            return Ok(Self::Sessions(house.host.roster.listen()));
        }
        // From before it is looked up, so that nothing is missed.
        let touches = house.host.apps.touches();
        if let Some(place) = shown::place(house, uri) {
            return Ok(Self::State(place, touches));
        }
        match session_at(uri) {
            Some(session) => house.session(session).map(|(id, it)| Self::Session(id, it.last)),
            None => Err("only sessions and states of apps on show can be watched".to_owned()),
        }
    }

    async fn watch(self, host: &Host, uri: &str, ear: &Ear) {
        match self {
            Self::Sessions(news) => watch_sessions(news, uri, ear).await,
            Self::Session(id, since) => watch_session(host, id, since, uri, ear).await,
            Self::State(place, touches) => watch_state(&place, touches, uri, ear).await,
        }
    }
}

async fn watch_tools(mut editions: Editions, ear: &Ear) {
    loop {
        let changed = tokio::select! {
            changed = editions.house.changed() => changed,
            changed = editions.apps.changed() => changed,
        };
        if changed.is_err() || !ear.tools_changed().await {
            return;
        }
    }
}

async fn watch_state(
    Place { session, window, key }: &Place,
    mut touches: broadcast::Receiver<Touched>,
    uri: &str,
    ear: &Ear,
) {
    loop {
        let changed = match touches.recv().await {
            Ok(touched) => touched.is_of(*session, window, key),
            Err(RecvError::Lagged(_)) => true,
            Err(RecvError::Closed) => return,
        };
        if changed && !ear.updated(uri).await {
            return;
        }
    }
}

/// Sessions that come, go and get another name, and apps that come and go.
async fn watch_list(Listing { mut news, mut apps }: Listing, ear: &Ear) {
    loop {
        let heard = tokio::select! {
            heard = news.recv() => Some(heard),
            changed = apps.changed() => {
                if changed.is_err() {
                    return;
                }
                None
            }
        };
        let changed = heard.map_or(Ok(true), |heard| heard.map(|news| is_of_list(&news)));
        let changed = match changed {
            Ok(changed) => changed,
            Err(RecvError::Lagged(_)) => true,
            Err(RecvError::Closed) => return,
        };
        if changed && !ear.resources_changed().await {
            return;
        }
    }
}

fn is_of_list(news: &News) -> bool {
    match news {
        News::Session { change, .. } => {
            matches!(change, Change::Created | Change::Deleted | Change::Renamed)
        }
        News::AppletState { .. }
        | News::AppletChanged { .. }
        | News::AppChanged { .. }
        | News::Schedules
        | News::Devices => false,
    }
}

/// Anything that the list of sessions tells.
async fn watch_sessions(mut news: broadcast::Receiver<News>, uri: &str, ear: &Ear) {
    loop {
        let changed = match news.recv().await {
            Ok(News::Session { change, .. }) => !matches!(change, Change::Observed { .. }),
            Ok(
                News::AppletState { .. }
                | News::AppletChanged { .. }
                | News::AppChanged { .. }
                | News::Schedules
                | News::Devices,
            ) => false,
            Err(RecvError::Lagged(_)) => true,
            Err(RecvError::Closed) => return,
        };
        if changed && !ear.updated(uri).await {
            return;
        }
    }
}

async fn watch_session(host: &Host, id: SessionId, since: Seq, uri: &str, ear: &Ear) {
    let Ok(mut feed) = host.feed(id, Some(since)).await else { return };
    let is_fact = |it: &Update| matches!(it, Update::Fact(_));
    // An error is the end of the session, or of the house.
    while let Ok(heard) = hearing::next(host, &mut feed).await {
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
