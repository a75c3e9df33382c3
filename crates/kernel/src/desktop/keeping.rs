//! What is done on devices is kept: in the session for which it was done, or in the one kept for what the
//! person does themselves.

use std::sync::Arc;

use super::{Action, Deed, DesktopError, DesktopFact, Done, Order, Outcome, Who, devices::MOST};
use crate::{
    back::Back,
    host::{Host, OpenError},
    ports::{Shelf, StoreError},
    toolbox::Caller,
    update::{Entry, Fact, SessionId},
};

/// Where it is written which session that is.
const OWN: &str = "desktop-session";
/// What it is called until somebody calls it otherwise.
const NAME: &str = "Desktop";
/// Where it is written which sessions drove last, and how many of them.
const DRIVERS: &str = "desktop-drivers";
const MOST_DRIVERS: usize = 8;
/// How much of the past of a session is looked through for what was done, at most.
const FAR: usize = 4 * MOST;

/// In which sessions there is something to be found.
#[derive(Default)]
pub(crate) struct Kept {
    /// The one kept for what the person does themselves.
    own: Option<SessionId>,
    /// Those that drove, the last of them last.
    drivers: Vec<SessionId>,
}

impl Host {
    /// Does something on a device, if the one who asks may, and keeps it on record.
    pub async fn drive(
        &self,
        who: Who,
        device: &str,
        order: Order,
    ) -> (Arc<Deed>, Result<Outcome, DesktopError>) {
        let (deed, result) = self.devices.act(who, device, order).await;
        self.keep(&deed).await;
        (deed, result)
    }

    /// The person does something with their own hands, and that is on record too; but not every
    /// trembling of them.
    pub async fn touch(
        &self,
        device: &str,
        order: Order,
    ) -> (Arc<Deed>, Result<Outcome, DesktopError>) {
        let trembles = matches!(order.action, Action::MouseMove { .. });
        let (deed, result) = self.devices.touch(device, order).await;
        if !trembles {
            self.keep(&deed).await;
        }
        (deed, result)
    }

    async fn keep(&self, deed: &Deed) {
        let session = match deed.who.session {
            Some(session) => {
                self.remember_driver(session).await;
                Ok(session)
            }
            None => self.desktop_session(None).await,
        };
        match session {
            Ok(session) => self.note_or_warn(session, deed.fact()).await,
            Err(error) => {
                tracing::warn!(%error, "cannot keep on record what was done on a desktop");
            }
        }
    }

    /// Written only when another one drives.
    async fn remember_driver(&self, session: SessionId) {
        let mut kept = self.desktop_sessions.lock().await;
        if kept.drivers.last() == Some(&session) {
            return;
        }
        kept.drivers.retain(|driver| *driver != session);
        kept.drivers.push(session);
        let surplus = kept.drivers.len().saturating_sub(MOST_DRIVERS);
        kept.drivers.drain(..surplus);
        let saved = self.ports.catalog.save(Shelf::Preferences, DRIVERS, &kept.drivers).await;
        if let Err(error) = saved {
            tracing::warn!(%error, "cannot keep on record who drove a desktop");
        }
    }

    /// The session in which the person's own deeds are kept, and in which whoever comes by the door
    /// of the desktop protocol is answered. It is made when it is first needed, and again when
    /// somebody has removed it.
    pub async fn desktop_session(&self, model: Option<String>) -> Result<SessionId, OpenError> {
        let mut known = self.desktop_sessions.lock().await;
        if let Some(own) = known.own.filter(|it| self.roster.get(*it).is_some()) {
            return Ok(own);
        }
        let catalog = &self.ports.catalog;
        let kept: Option<SessionId> = catalog.load(Shelf::Preferences, OWN).await?;
        if let Some(kept) = kept.filter(|it| self.roster.get(*it).is_some()) {
            known.own = Some(kept);
            return Ok(kept);
        }
        let model = model.unwrap_or_else(|| self.ports.models.default_id());
        let id = self.create(&self.ports.workspace, &model, NAME).await?;
        catalog.save(Shelf::Preferences, OWN, &id).await?;
        known.own = Some(id);
        Ok(id)
    }

    /// What was done before the house was last shut is known again.
    pub(crate) async fn recall_deeds(&self) -> Result<(), StoreError> {
        let catalog = &self.ports.catalog;
        let own: Option<SessionId> = catalog.load(Shelf::Preferences, OWN).await?;
        let drivers: Option<Vec<SessionId>> = catalog.load(Shelf::Preferences, DRIVERS).await?;
        let drivers = drivers.unwrap_or_default();
        let mut deeds = Vec::new();
        for session in own.iter().chain(drivers.iter().filter(|it| own != Some(**it))) {
            deeds.extend(self.deeds_of(*session).await?);
        }
        self.desktop_sessions.lock().await.drivers = drivers;
        deeds.sort_by_key(|deed| deed.at);
        let surplus = deeds.len().saturating_sub(MOST);
        self.devices.recall(deeds.into_iter().skip(surplus));
        Ok(())
    }

    /// Oldest first; none of a session that is gone.
    async fn deeds_of(&self, session: SessionId) -> Result<Vec<Deed>, StoreError> {
        let Some(state) = self.roster.get(session) else { return Ok(Vec::new()) };
        let mut back = Back::from(self.ports.log.as_ref(), session, state.last.next());
        let mut deeds = Vec::new();
        for _ in 0..FAR {
            let Some(entry) = back.next().await? else { break };
            deeds.extend(Deed::recalled(session, entry));
            if deeds.len() == MOST {
                break;
            }
        }
        deeds.reverse();
        Ok(deeds)
    }
}

impl Deed {
    fn fact(&self) -> DesktopFact {
        let (result, code) = match &self.result {
            Ok(outcome) => (outcome.summary(), None),
            Err(error) => (error.text.clone(), Some(error.code)),
        };
        let seen = self.result.as_ref().ok();
        DesktopFact::Acted {
            device: self.device.clone(),
            command: self.command.clone(),
            kind: self.kind.to_owned(),
            arguments: self.arguments.clone(),
            result,
            code,
            before: seen.and_then(Outcome::before),
            at: seen.and_then(Outcome::at),
            window: seen.and_then(Outcome::window).map(ToOwned::to_owned),
            leave: self.leave,
            ms: self.ms,
            caller: Some(self.who.caller.clone()),
        }
    }

    /// Something that was done, as far as it was kept.
    pub fn recalled(session: SessionId, entry: Entry) -> Option<Self> {
        let Fact::Desktop(fact) = entry.fact else { return None };
        let DesktopFact::Acted {
            device,
            command,
            kind,
            arguments,
            result,
            code,
            before,
            at,
            window,
            leave,
            ms,
            caller,
        } = *fact
        else {
            return None;
        };
        let caller = caller.unwrap_or(Caller::Model);
        let session = (caller != Caller::Owner).then_some(session);
        Some(Self {
            device,
            command,
            who: Who { session, caller },
            kind: Action::KINDS.into_iter().find(|known| *known == kind)?,
            arguments,
            result: match code {
                None => {
                    let message = result;
                    Ok(Outcome::Done(Done { message, before, at, window, ..Done::default() }))
                }
                Some(code) => Err(DesktopError::new(code, result)),
            },
            leave,
            at: entry.at,
            ms,
        })
    }
}
