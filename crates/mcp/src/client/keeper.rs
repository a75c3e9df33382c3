//! The task that keeps one server running: starts it, lists its tools, and starts it again.

use std::{path::PathBuf, sync::Arc, time::Duration};

use futures::{
    FutureExt as _,
    future::{BoxFuture, OptionFuture},
};
use kernel::{
    ports::{Catalog, Shelf},
    servers::Standing,
};
use rmcp::model::Tool;
use tokio::{
    sync::mpsc,
    time::{Instant, sleep, sleep_until},
};

use super::{
    calls::Calls,
    guest::Guest,
    link::{Connection, LinkError, Road},
    listing::{self, ListError, Listed},
    offers::Offers,
    server::{Order, Server},
};

const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_mins(5);
/// After so many failures in a row it is left alone until somebody needs it.
const PATIENCE: u32 = 10;
/// One that has lived this long has not failed to start.
const SETTLED: Duration = Duration::from_mins(1);
/// However often a server says so, its tools are listed no more often than this.
const PACE: Duration = Duration::from_secs(1);

pub struct Keeper {
    pub server: Arc<Server>,
    pub orders: mpsc::Receiver<Order>,
    pub offers: Arc<Offers>,
    pub catalog: Arc<dyn Catalog>,
    pub web: reqwest::Client,
    pub folder: PathBuf,
    pub failures: u32,
}

/// What a keeper does next.
enum Next {
    Start,
    /// Do nothing until it is told to.
    Wait,
    Leave,
}

impl Keeper {
    pub async fn keep(mut self) {
        let mut next = self.first().await;
        loop {
            next = match next {
                Next::Leave => break,
                Next::Wait => self.wait(None).await,
                Next::Start if !self.server.is_enabled() => {
                    self.offers.withdraw(&self.server.name);
                    self.server.stand(Standing::Disabled, None);
                    Next::Wait
                }
                Next::Start => self.start().await,
            };
        }
        self.offers.withdraw(&self.server.name);
    }

    /// A lazy server of which the tools are known need not be started to lend them.
    async fn first(&mut self) -> Next {
        if !self.server.settings.lazy || !self.server.is_enabled() {
            return Next::Start;
        }
        let known: Option<Vec<Tool>> =
            self.catalog.load(Shelf::Servers, &remembered(&self.server.name)).await.ok().flatten();
        let Some(known) = known else { return Next::Start };
        let tools = known.into_iter().map(|tool| Arc::new(listing::read(tool)));
        self.server.list(tools.collect());
        self.offers.replace(&self.server, self.server.lent());
        Next::Wait
    }

    /// Waits to be told what to do; or, if it was to be tried again, until then.
    async fn wait(&mut self, again: Option<Duration>) -> Next {
        let later = OptionFuture::from(again.map(sleep));
        tokio::pin!(later);
        loop {
            tokio::select! {
                Some(()) = &mut later, if again.is_some() => return Next::Start,
                order = self.orders.recv() => match order {
                    None | Some(Order::Close) => return Next::Leave,
                    Some(Order::Restart) => {
                        self.failures = 0;
                        return Next::Start;
                    }
                    Some(Order::Wake) if self.server.is_enabled() => return Next::Start,
                    Some(Order::Wake) => (),
                    Some(Order::Choose) => {
                        if !self.server.is_enabled() || self.is_disabled() {
                            return Next::Start;
                        }
                        self.offers.replace(&self.server, self.server.lent());
                    }
                },
            }
        }
    }

    fn is_disabled(&self) -> bool {
        self.server.info(&self.offers).standing == Standing::Disabled
    }

    async fn start(&mut self) -> Next {
        self.server.stand(Standing::Starting, None);
        let connected = tokio::select! {
            connected = connect(&self.server, self.web.clone(), self.folder.clone()) => connected,
            next = interrupted(&mut self.orders, &self.server) => return next,
        };
        match connected {
            Ok((connection, tools)) => self.serve(connection, tools).await,
            Err(LinkError::SignIn(challenge)) => self.send_to_sign_in(challenge).await,
            Err(LinkError::Failed(reason)) => self.fail(reason).await,
        }
    }

    async fn send_to_sign_in(&mut self, challenge: Option<String>) -> Next {
        if self.server.settings.has_own_key() {
            return self.fail("it refused the key it was shown".into()).await;
        }
        let Some(signin) = &self.server.signin else { return Next::Wait };
        match signin.begin(&self.server.settings, challenge.as_deref()).await {
            Ok(url) => {
                self.server.log.note("the person has to sign in");
                self.server.stand(Standing::NeedsSignIn { url }, None);
                Next::Wait
            }
            Err(error) => {
                self.fail(format!("it wants a sign-in, which does not work: {error}")).await
            }
        }
    }

    async fn fail(&mut self, reason: String) -> Next {
        let reason = self.server.settings.hide(&reason);
        self.server.log.note(&reason);
        tracing::warn!(server = self.server.name, reason, "a server of tools failed");
        self.failures += 1;
        let again = self.backoff();
        let retry = again.and_then(|wait| self.server.clock.now().checked_add(wait).ok());
        self.server.stand(Standing::Failed { reason, retry }, None);
        self.wait(again).await
    }

    fn backoff(&self) -> Option<Duration> {
        let doubled = FIRST_WAIT.saturating_mul(2_u32.saturating_pow(self.failures - 1));
        // Not all at once, should many have failed together.
        let wait = doubled.min(LONGEST_WAIT).mul_f64(1.0 + self.server.clock.chance() / 4.0);
        (self.failures < PATIENCE).then_some(wait)
    }

    /// Lends its tools for as long as the connection lasts.
    async fn serve(&mut self, mut connection: Connection, tools: Vec<Arc<Listed>>) -> Next {
        self.take(tools).await;
        let link = connection.link.clone();
        self.server.stand(Standing::Ready, Some(link.clone()));
        let news = link.news.clone();
        let begun = Instant::now();
        let mut listed = begun;
        let mut listing: Option<BoxFuture<'_, Result<Vec<Arc<Listed>>, ListError>>> = None;
        let next = loop {
            tokio::select! {
                reason = connection.lost() => {
                    if begun.elapsed() >= SETTLED {
                        self.failures = 0;
                    }
                    return self.fail(reason).await;
                }
                order = self.orders.recv() => match order {
                    None | Some(Order::Close) => break Next::Leave,
                    Some(Order::Wake) => (),
                    Some(Order::Choose) if self.server.is_enabled() => {
                        self.offers.replace(&self.server, self.server.lent());
                    }
                    Some(Order::Choose | Order::Restart) => break Next::Start,
                },
                () = news.notified(), if listing.is_none() => {
                    if let Some(challenge) = link.refused() {
                        drop(connection);
                        return self.send_to_sign_in(Some(challenge)).await;
                    }
                    let (peer, due) = (link.peer.clone(), listed + PACE);
                    listing = Some(async move {
                        sleep_until(due).await;
                        listing::fetch(peer).await
                    }.boxed());
                }
                Some(fetched) = OptionFuture::from(listing.as_mut()) => {
                    (listing, listed) = (None, Instant::now());
                    match fetched {
                        Ok(tools) => self.take(tools).await,
                        Err(ListError::SignIn(challenge)) => {
                            drop(connection);
                            return self.send_to_sign_in(Some(challenge)).await;
                        }
                        Err(ListError::Lost(reason)) => {
                            drop(connection);
                            return self.fail(reason).await;
                        }
                        // What is known is still better than nothing.
                        Err(ListError::Failed(wrong)) => self.server.log.note(&wrong),
                    }
                }
            }
        };
        self.failures = 0;
        self.server.stand(Standing::Resting, None);
        connection.close().await;
        next
    }

    async fn take(&mut self, tools: Vec<Arc<Listed>>) {
        if self.server.settings.lazy {
            let raw: Vec<&Tool> = tools.iter().map(|tool| &tool.raw).collect();
            // Not remembered, it is only started sooner next time.
            self.catalog.save(Shelf::Servers, &remembered(&self.server.name), &raw).await.ok();
        }
        self.server.list(tools);
        self.offers.replace(&self.server, self.server.lent());
    }
}

/// The record of what a lazy server has.
pub fn remembered(server: &str) -> String {
    format!("tools/{server}")
}

async fn connect(
    server: &Server,
    web: reqwest::Client,
    folder: PathBuf,
) -> Result<(Connection, Vec<Arc<Listed>>), LinkError> {
    let guest = Guest::new(
        &server.name,
        server.settings.clone(),
        server.host.clone(),
        Arc::new(Calls::default()),
        server.log.clone(),
    );
    let road = Road { guest: Arc::new(guest), web, signin: server.signin.as_ref(), folder };
    let connection = road.connect().await?;
    let tools = listing::fetch(connection.link.peer.clone()).await;
    let tools = tools.map_err(|error| match error {
        ListError::SignIn(challenge) => LinkError::SignIn(Some(challenge)),
        other => LinkError::Failed(other.reason()),
    })?;
    Ok((connection, tools))
}

/// Returns when something else is wanted than going on to connect.
async fn interrupted(orders: &mut mpsc::Receiver<Order>, server: &Server) -> Next {
    loop {
        match orders.recv().await {
            None | Some(Order::Close) => return Next::Leave,
            Some(Order::Restart) => return Next::Start,
            Some(Order::Choose) if !server.is_enabled() => return Next::Start,
            Some(Order::Choose | Order::Wake) => (),
        }
    }
}
