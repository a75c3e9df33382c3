//! The one way to drive a device, and what comes of it.

use std::{
    collections::BTreeMap,
    sync::{Arc, atomic::Ordering},
};

use jiff::Timestamp;
use serde_json::Value;
use tokio::{sync::broadcast, time::Instant};

use super::{Action, Armed, Code, Desktop, DesktopError, Devices, News, Noted, Order, Outcome};
use crate::{desktop::Leave, toolbox::Caller, update::SessionId};

/// Who drives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Who {
    /// None for the owner, who drives from outside any.
    pub session: Option<SessionId>,
    pub caller: Caller,
}

/// By which right something is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// The person lets somebody.
    Leave,
    /// The person does it.
    Hands,
}

/// Something that was done, or refused, as everybody may know it.
#[derive(Clone, Debug, PartialEq)]
pub struct Deed {
    pub device: String,
    pub command: String,
    pub who: Who,
    pub kind: &'static str,
    /// Without secrets.
    pub arguments: BTreeMap<String, Value>,
    /// Without pictures where something was secret.
    pub result: Result<Outcome, DesktopError>,
    /// None if it needs no leave, or had none.
    pub leave: Option<Leave>,
    pub at: Timestamp,
    pub ms: u64,
}

impl Devices {
    /// A name for an order that none has had before.
    pub fn number(&self) -> String {
        let number = self.orders.fetch_add(1, Ordering::Relaxed);
        format!("cmd_{number}_{}", self.clock.now().as_millisecond())
    }

    /// Does something on a device, if the one who asks may. Everybody drives by this way, and
    /// everything that comes of it is told.
    pub async fn act(
        &self,
        who: Who,
        device: &str,
        order: Order,
    ) -> (Arc<Deed>, Result<Outcome, DesktopError>) {
        self.perform(who, device, order, Way::Leave).await
    }

    pub(super) async fn perform(
        &self,
        who: Who,
        device: &str,
        mut order: Order,
        way: Way,
    ) -> (Arc<Deed>, Result<Outcome, DesktopError>) {
        // Whatever it was called by whoever wants it: a name that comes twice would be taken for a repeat.
        order.id = self.number();
        let (at, begun) = (self.clock.now(), Instant::now());
        let (command, action) = (order.id.clone(), order.action.clone());
        let allowed = self.allow(&who, device, &order, way);
        let leave = allowed.as_ref().ok().and_then(|(_, leave)| *leave);
        let result = match allowed {
            Ok((desktop, _)) => self.carry_out(&who, device, &*desktop, order, way).await,
            Err(error) => Err(error),
        };
        let mut told = result.clone();
        if action.is_secret()
            && let Ok(Outcome::Done(done)) = &mut told
        {
            done.picture = None;
        }
        let deed = Arc::new(Deed {
            device: device.to_owned(),
            command,
            who,
            kind: action.kind(),
            arguments: action.arguments(),
            result: told,
            leave,
            at,
            ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
        });
        // Every trembling of a hand would drown the rest.
        if way == Way::Leave || !matches!(action, Action::MouseMove { .. }) {
            let number = self.remember(&deed);
            self.tell(News::Acted(Noted { number, deed: deed.clone() }));
        }
        (deed, result)
    }

    /// The device, and the leave to use it; none where none is needed.
    fn allow(
        &self,
        who: &Who,
        device: &str,
        order: &Order,
        way: Way,
    ) -> Result<(Arc<dyn Desktop>, Option<Leave>), DesktopError> {
        order.action.check()?;
        if let Some(after) = &order.after {
            after.check()?;
        }
        let desktop = self.get(device).ok_or_else(DesktopError::no_client)?;
        let leave = match way {
            Way::Hands => {
                self.in_hands(device)?;
                Some(Leave::Hands)
            }
            Way::Leave if order.action == Action::ReleaseAll => None,
            Way::Leave => Some(self.may(who, device, &order.action)?),
        };
        Ok((desktop, leave))
    }

    async fn carry_out(
        &self,
        who: &Who,
        device: &str,
        desktop: &dyn Desktop,
        order: Order,
        way: Way,
    ) -> Result<Outcome, DesktopError> {
        if order.action.is_input() {
            if way == Way::Leave {
                if self.paused(device).is_some() {
                    return Err(DesktopError::paused());
                }
                self.settled(device).await;
            }
            self.fits(device, &order.action).await?;
        }
        if let Some(session) = who.session {
            self.inner().last.insert(session, device.to_owned());
        }
        let sight = self.witness(device, &order.action).await;
        let action = order.action.clone();
        let outcome = desktop.act(order).await?;
        self.note_step(device, &action, sight, &outcome);
        Ok(outcome)
    }

    fn may(&self, who: &Who, device: &str, action: &Action) -> Result<Leave, DesktopError> {
        match self.armed(device, who.session) {
            Armed::Never => Err(not_armed("Desktop control is not armed".into())),
            Armed::Expired(at) => Err(not_armed(format!("Desktop control expired at {at}"))),
            Armed::Until(until, classes) => {
                let missing = action.classes().into_iter().find(|it| !classes.contains(it));
                let Some(missing) = missing else { return Ok(Leave::Until(until)) };
                let error = DesktopError::new(Code::Denied, "Desktop control is not granted");
                Err(error.expecting([missing.name()]))
            }
        }
    }

    /// Returns when nobody is asked anything on a screen that may show the question: whoever is
    /// asked about shall not answer.
    async fn settled(&self, device: &str) {
        if device != Self::LOCAL {
            return;
        }
        let mut news = self.roster.listen();
        while self.roster.all().iter().any(|(_, state)| !state.questions.is_empty()) {
            // Having missed some is reason enough to look again.
            if let Err(broadcast::error::RecvError::Closed) = news.recv().await {
                return;
            }
        }
    }
}

fn not_armed(text: String) -> DesktopError {
    DesktopError::new(Code::NotArmed, text)
}
