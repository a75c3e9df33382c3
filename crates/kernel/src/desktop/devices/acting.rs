//! The one way to drive a device, and what comes of it.

use std::{
    collections::BTreeMap,
    sync::{Arc, atomic::Ordering},
};

use jiff::Timestamp;
use serde_json::Value;
use tokio::{sync::broadcast, time::Instant};

use super::{
    Action, Armed, Code, Desktop, DesktopError, Devices, News, Noted, Order, Outcome,
    lasting::{Lasting, Right},
    region::{Begun, Turn},
};
use crate::{
    desktop::{Leave, Sight},
    toolbox::Caller,
    update::SessionId,
};

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
        // Counted before it is allowed, so that no stop falls in between.
        let lasting = self.lasting();
        let allowed = self.allow(&who, device, &order, way);
        let leave = allowed.as_ref().ok().and_then(|(_, leave)| *leave);
        let right = Right { who: &who, device, action: &action, way };
        let result = match allowed {
            Ok((desktop, _)) => self.carry_out(right, &*desktop, order, lasting).await,
            Err(error) => Err(error),
        };
        // Whoever knows the secret need not be shown it.
        let result = action.silenced(result);
        let is_hushed = action.is_secret() || (way == Way::Hands && action.is_typed());
        let shown = if way == Way::Hands { action.untyped() } else { action };
        let told = if is_hushed { shown.hushed(&result) } else { result.clone() };
        let deed = Arc::new(Deed {
            device: device.to_owned(),
            command,
            who,
            kind: shown.kind(),
            arguments: shown.arguments(),
            result: told,
            leave,
            at,
            ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
        });
        // Every trembling of a hand would drown the rest.
        if way == Way::Leave || !matches!(shown, Action::MouseMove { .. }) {
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

    /// Does it for as long as they may: what is stopped, or loses its leave, waits and works no more.
    async fn carry_out(
        &self,
        right: Right<'_>,
        desktop: &dyn Desktop,
        order: Order,
        mut lasting: Lasting,
    ) -> Result<Outcome, DesktopError> {
        let stops = lasting.stops;
        let begun = Begun::default();
        let doing = self.do_in_turn(right, desktop, order, stops, &begun);
        tokio::pin!(doing);
        loop {
            tokio::select! {
                // Before anything else: what is let go by one that was stopped is for nobody.
                biased;
                Ok(()) = lasting.endings.changed() => {
                    self.still(right, stops)?;
                    self.still_within(right, &begun)?;
                }
                result = &mut doing => return result,
            }
        }
    }

    async fn do_in_turn(
        &self,
        right: Right<'_>,
        desktop: &dyn Desktop,
        order: Order,
        stops: u64,
        begun: &Begun,
    ) -> Result<Outcome, DesktopError> {
        let Right { device, action, .. } = right;
        let waited = self.wait(device, &order.id, self.turn(right, desktop, begun)).await?;
        let (sight, _turn) = waited?;
        // All of that may have taken its time.
        self.still(right, stops)?;
        let outcome = desktop.act(order).await?;
        self.note_step(device, action, sight, &outcome);
        Ok(outcome)
    }

    /// Returns when the device may be told, with what is seen where it will be done.
    async fn turn(
        &self,
        right: Right<'_>,
        desktop: &dyn Desktop,
        begun: &Begun,
    ) -> Result<(Option<Sight>, Option<Turn>), DesktopError> {
        let Right { who, device, action, way } = right;
        if action.is_input() {
            if way == Way::Leave {
                if self.paused(device).is_some() {
                    return Err(DesktopError::paused());
                }
                self.settled(device).await;
            }
            self.fits(device, action).await?;
        }
        if let Some(session) = who.session {
            self.inner().last.insert(session, device.to_owned());
        }
        let sight = self.witness(device, action).await;
        let turn = match way {
            Way::Leave if action.is_input() => Some(self.within(right, desktop, begun).await?),
            Way::Leave | Way::Hands => None,
        };
        Ok((sight, turn))
    }

    pub(super) fn may(
        &self,
        who: &Who,
        device: &str,
        action: &Action,
    ) -> Result<Leave, DesktopError> {
        match self.armed(device, who.session) {
            Armed::Never => Err(not_armed("Desktop control is not armed".into())),
            Armed::Expired(at) => Err(not_armed(format!("Desktop control expired at {at}"))),
            Armed::Until(_, classes) => {
                let wanted = action.classes();
                if let Some(until) = self.lent_until(device, who.session, &wanted) {
                    return Ok(Leave::Until(until));
                }
                let missing = wanted.iter().find(|it| !classes.contains(it));
                let error = DesktopError::new(Code::Denied, "Desktop control is not granted");
                Err(error.expecting(missing.map(|it| it.name())))
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
