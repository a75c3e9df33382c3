//! One server as everybody sees it: what it is, how it stands, and the way to it. Its keeper does the rest.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use jiff::Timestamp;
use kernel::{
    host::Host,
    ports::Clock,
    question::{About, Question, Verdict},
    servers::{ServerInfo, ServerTool, Standing},
    toolbox::Call,
    widget::{NoWidget, WidgetPage},
};
use serde::{Deserialize, Serialize};
use tokio::{
    sync::{mpsc, watch},
    time::timeout,
};

use super::{
    elicit,
    link::{CONNECTING, Link},
    listing::Listed,
    logbook::Logbook,
    offers::Offers,
    settings::Settings,
    signin::SignIn,
    widget,
};

/// A server that is started for a call may take as long as two attempts, and a moment to be listed.
const WAKING: Duration = Duration::from_secs(2 * CONNECTING.as_secs() + 5);

pub struct Server {
    pub name: String,
    pub settings: Arc<Settings>,
    /// It is in the configuration file.
    pub configured: bool,
    pub log: Arc<Logbook>,
    pub host: Weak<Host>,
    pub clock: Arc<dyn Clock>,
    pub signin: Option<SignIn>,
    stand: watch::Sender<Stand>,
    orders: mpsc::Sender<Order>,
    choice: Mutex<Choice>,
    tools: Mutex<Vec<Arc<Listed>>>,
}

/// What the person has chosen, over what the settings say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Choice {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<String, bool>,
}

/// What its keeper is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// It is needed.
    Wake,
    Restart,
    /// Something else was chosen.
    Choose,
    Close,
}

#[derive(Clone)]
pub struct Stand {
    pub standing: Standing,
    pub since: Timestamp,
    /// How often it was started.
    pub starts: u32,
    /// How many starts came to something, good or bad.
    pub settled: u32,
    pub link: Option<Arc<Link>>,
}

impl Server {
    #[expect(clippy::too_many_arguments, reason = "each is a thing of its own")]
    pub fn new(
        name: &str,
        settings: Arc<Settings>,
        configured: bool,
        choice: Choice,
        host: Weak<Host>,
        clock: Arc<dyn Clock>,
        signin: Option<SignIn>,
        orders: mpsc::Sender<Order>,
    ) -> Self {
        let stand = Stand {
            standing: Standing::Resting,
            since: clock.now(),
            starts: 0,
            settled: 0,
            link: None,
        };
        Self {
            name: name.to_owned(),
            log: Arc::new(Logbook::new(clock.clone(), settings.clone())),
            settings,
            configured,
            host,
            clock,
            signin,
            stand: watch::Sender::new(stand),
            orders,
            choice: Mutex::new(choice),
            tools: Mutex::default(),
        }
    }

    /// The way to it, once there is one. Starts it if need be, and sends the person to sign in.
    pub async fn link(&self, call: &Call, tool: &str) -> Result<Arc<Link>, String> {
        match self.wake().await {
            Err(Standing::NeedsSignIn { url }) => self.sign_in(call, tool, url).await,
            woken => woken.map_err(|standing| self.explain(standing)),
        }
    }

    /// The same, where there is nobody who could be sent to sign in.
    pub async fn reach(&self) -> Result<Arc<Link>, String> {
        self.wake().await.map_err(|standing| self.explain(standing))
    }

    /// The way to it, started if need be; or how it stands instead.
    async fn wake(&self) -> Result<Arc<Link>, Standing> {
        if let Some(link) = self.stand.borrow().link.clone() {
            return Ok(link);
        }
        let mut stand = self.stand.subscribe();
        let before = stand.borrow_and_update().clone();
        if !matches!(before.standing, Standing::NeedsSignIn { .. } | Standing::Disabled) {
            self.order(Order::Wake).await;
            let over = |it: &Stand| it.link.is_some() || it.settled > before.settled;
            // Below it is seen whether it came to something.
            timeout(WAKING, stand.wait_for(over)).await.ok();
        }
        let now = stand.borrow().clone();
        now.link.ok_or(now.standing)
    }

    fn explain(&self, standing: Standing) -> String {
        let name = &self.name;
        match standing {
            Standing::NeedsSignIn { .. } => format!("the server {name} needs a sign-in"),
            Standing::Failed { reason, .. } => {
                format!("the server {name} cannot be used: {reason}")
            }
            Standing::Disabled => format!("the server {name} is disabled"),
            Standing::Resting | Standing::Starting | Standing::Ready => {
                format!("the server {name} does not start")
            }
        }
    }

    /// The widget that shows the results of a tool.
    pub async fn widget(&self, tool: &str) -> Result<WidgetPage, NoWidget> {
        let listed = self.listed().iter().find(|it| it.name == tool).cloned();
        let listed = listed.ok_or_else(|| NoWidget::NoTool(tool.to_owned()))?;
        let uri = listed.shows.place()?;
        let link = self.reach().await.map_err(NoWidget::ReadFailed)?;
        widget::read(&link, uri).await
    }

    /// Another way to it, after a call was refused on this one for want of a sign-in.
    pub async fn sign_in_anew(
        &self,
        refused: &Arc<Link>,
        challenge: String,
        call: &Call,
        tool: &str,
    ) -> Result<Arc<Link>, String> {
        refused.refuse(challenge);
        let other = |it: &Stand| it.link.as_ref().is_none_or(|link| !Arc::ptr_eq(link, refused));
        // Should it come to nothing, the call is refused again, which says enough.
        timeout(WAKING, self.stand.subscribe().wait_for(other)).await.ok();
        let link = self.link(call, tool).await;
        if link.is_err() {
            // What was allowed before is still allowed.
            self.order(Order::Restart).await;
        }
        link
    }

    async fn sign_in(&self, call: &Call, tool: &str, url: String) -> Result<Arc<Link>, String> {
        let name = &self.name;
        let refused = || format!("the server {name} needs a sign-in, and nobody signed in");
        let host = self.host.upgrade().ok_or_else(refused)?;
        let question = Question {
            id: host.ports.clock.id(),
            call: call.id.clone(),
            caller: call.caller.clone(),
            tool: tool.to_owned(),
            title: format!("{name} needs you to sign in"),
            about: About::Visit { text: format!("Sign in to use the tools of {name}."), url },
            expires: host.approvals.expiry(call.attended),
        };
        let mut stand = self.stand.subscribe();
        let asked = elicit::put(&call.session, question);
        tokio::select! {
            verdict = asked => {
                if !matches!(verdict, Some(Verdict::Answered { .. })) {
                    return Err(refused());
                }
            }
            // Then the question is taken back.
            _ = stand.wait_for(|it| it.link.is_some()) => (),
        }
        let ready = timeout(WAKING, stand.wait_for(|it| it.link.is_some())).await;
        let link = ready.ok().and_then(Result::ok).and_then(|it| it.link.clone());
        link.ok_or_else(refused)
    }

    /// Returns when its first start has come to something, or none is meant to.
    pub async fn began(&self) {
        if self.settings.lazy || !self.is_enabled() {
            return;
        }
        // An error would mean that it is gone, which is as good.
        self.stand.subscribe().wait_for(|stand| stand.settled > 0).await.ok();
    }

    /// Tells its keeper; one that is gone has nothing left to do.
    pub async fn order(&self, order: Order) {
        self.orders.send(order).await.ok();
    }

    pub fn stand(&self, standing: Standing, link: Option<Arc<Link>>) {
        let now = self.clock.now();
        self.stand.send_modify(|stand| {
            match standing {
                Standing::Starting => stand.starts += 1,
                Standing::Disabled | Standing::Resting => (),
                Standing::Ready | Standing::Failed { .. } | Standing::NeedsSignIn { .. } => {
                    stand.settled += 1;
                }
            }
            stand.standing = standing;
            stand.since = now;
            stand.link = link;
        });
    }

    pub fn choice(&self) -> Choice {
        self.chosen().clone()
    }

    pub fn choose(&self, choice: Choice) {
        *self.chosen() = choice;
    }

    pub fn is_enabled(&self) -> bool {
        self.chosen().enabled.unwrap_or(self.settings.enabled)
    }

    pub fn has_tool(&self, name: &str) -> bool {
        self.listed().iter().any(|tool| tool.name == name)
    }

    fn is_tool_enabled(&self, name: &str) -> bool {
        let chosen = self.chosen().tools.get(name).copied();
        chosen.unwrap_or_else(|| !self.settings.disabled_tools.iter().any(|it| it == name))
    }

    pub fn list(&self, tools: Vec<Arc<Listed>>) {
        for tool in &tools {
            if let Some(warning) = &tool.warning {
                self.log.note(&format!("{}: {warning}", tool.name));
            }
        }
        *self.listed() = tools;
    }

    /// Those that may be called.
    pub fn lent(&self) -> Vec<Arc<Listed>> {
        let tools = self.listed().clone();
        tools.into_iter().filter(|tool| self.is_tool_enabled(&tool.name)).collect()
    }

    pub fn info(&self, offers: &Offers) -> ServerInfo {
        let stand = self.stand.borrow().clone();
        let peer = stand.link.as_ref().and_then(|link| link.info.clone());
        let implementation = peer.as_ref().and_then(|peer| peer.server_info.clone());
        let title =
            implementation.map(|it| format!("{} {}", it.title.unwrap_or(it.name), it.version));
        let tool = |tool: &Arc<Listed>| ServerTool {
            name: tool.name.clone(),
            offered: offers.name(&self.name, &tool.name),
            description: tool.description.clone(),
            enabled: self.is_tool_enabled(&tool.name),
            widget: tool.shows.uri.clone(),
            audience: tool.shows.audience,
            warning: tool.warning.clone(),
        };
        let listed = self.listed().clone();
        ServerInfo {
            name: self.name.clone(),
            kind: self.settings.kind(),
            place: self.settings.place(),
            standing: stand.standing,
            since: stand.since,
            starts: stand.starts,
            trusted: self.settings.trusted,
            gesture: self.settings.gesture,
            configured: self.configured,
            protocol: peer.map(|peer| peer.protocol_version.to_string()),
            title,
            tools: listed.iter().map(tool).collect(),
        }
    }

    fn chosen(&self) -> MutexGuard<'_, Choice> {
        self.choice.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn listed(&self) -> MutexGuard<'_, Vec<Arc<Listed>>> {
        self.tools.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
