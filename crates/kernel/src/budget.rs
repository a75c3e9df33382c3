//! How much may be used: limits, how they stand, and who is told when they are nearly reached.

mod limits;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use jiff::civil::Date;

use crate::{
    ledger::Sum,
    ports::{Catalog, Clock, Ledger, Model, ModelError, Ports, Shelf, StoreError},
    roster::Roster,
    update::{Failure, SessionId},
};

pub use limits::{Amount, BadBudget, Budgets, Level, Limit, Period, Standing};

/// Under which name a person's own budgets are kept.
const RECORD: &str = "budgets";

/// The budgets in force, and what is left of them.
pub struct Purse {
    ledger: Arc<dyn Ledger>,
    catalog: Arc<dyn Catalog>,
    clock: Arc<dyn Clock>,
    roster: Arc<Roster>,
    /// What holds while nobody has said otherwise.
    configured: Budgets,
    inner: Mutex<Inner>,
    /// Held from reading to writing.
    changing: tokio::sync::Mutex<()>,
}

struct Inner {
    /// What was said while running, and wins.
    set: Option<Budgets>,
    /// Which budgets those present were told of, and in which period.
    told: BTreeMap<(&'static str, Option<SessionId>), Date>,
}

#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    #[error(transparent)]
    Bad(#[from] BadBudget),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What was used in the periods that end today.
#[derive(Clone, Copy, Default)]
struct Recent {
    day: Sum,
    month: Sum,
}

impl Purse {
    pub(crate) async fn open(
        ports: &Ports,
        roster: Arc<Roster>,
        configured: Budgets,
    ) -> Result<Self, StoreError> {
        let set = ports.catalog.load::<Budgets>(Shelf::Preferences, RECORD).await?;
        let set = set.filter(|set| set.check().is_ok());
        let purse = Self {
            ledger: ports.ledger.clone(),
            catalog: ports.catalog.clone(),
            clock: ports.clock.clone(),
            roster,
            configured,
            inner: Mutex::new(Inner { set, told: BTreeMap::new() }),
            changing: tokio::sync::Mutex::default(),
        };
        // What was crossed before is no news.
        let sessions = purse.roster.all().into_iter().map(|(id, _)| id);
        let recent = purse.recent(&purse.budgets()).await?;
        for session in sessions.map(Some).chain([None]) {
            purse.note(session, purse.standings(session, recent));
        }
        Ok(purse)
    }

    /// The budgets in force.
    pub fn budgets(&self) -> Budgets {
        self.inner().set.unwrap_or(self.configured)
    }

    /// Whether they were set while running, and not by the configuration.
    pub fn is_set(&self) -> bool {
        self.inner().set.is_some()
    }

    /// Changes the budgets in force, from now on and after the next start as well.
    pub async fn change(&self, change: impl FnOnce(&mut Budgets)) -> Result<(), ChangeError> {
        let _changing = self.changing.lock().await;
        let mut budgets = self.budgets();
        change(&mut budgets);
        budgets.check()?;
        self.catalog.save(Shelf::Preferences, RECORD, &budgets).await?;
        self.inner().set = Some(budgets);
        Ok(())
    }

    /// Goes back to what the configuration says.
    pub async fn reset(&self) -> Result<(), StoreError> {
        let _changing = self.changing.lock().await;
        self.catalog.discard(Shelf::Preferences, RECORD).await?;
        self.inner().set = None;
        Ok(())
    }

    /// Whether this model may be asked once more, for a session or for nobody's. A free one is
    /// stopped by a want of tokens only.
    pub async fn check(
        &self,
        session: Option<SessionId>,
        model: &dyn Model,
    ) -> Result<(), ModelError> {
        let recent = self.recent(&self.budgets()).await;
        let recent =
            recent.map_err(|error| ModelError::new(Failure::Internal, error.to_string()))?;
        let stops = |standing: &Standing| {
            let is_paid = matches!(standing.limit.amount, Amount::Dollars(_));
            standing.level == Level::Spent && !(is_paid && model.is_free())
        };
        match self.standings(session, recent).into_iter().find(stops) {
            Some(standing) => Err(ModelError::new(Failure::OverBudget, standing.refusal())),
            None => Ok(()),
        }
    }

    /// The budgets that are nearly spent, or are, and of which nobody was told yet.
    pub async fn news(&self, session: SessionId) -> Result<Vec<Standing>, StoreError> {
        let recent = self.recent(&self.budgets()).await?;
        Ok(self.note(Some(session), self.standings(Some(session), recent)))
    }

    /// How every budget stands; one for sessions as it stands where most of it is used.
    pub async fn all(&self) -> Result<Vec<Standing>, StoreError> {
        let recent = self.recent(&self.budgets()).await?;
        let used = |standing: &Standing| standing.used.number();
        let mut all = self.standings(None, recent);
        let sessions =
            self.roster.all().into_iter().map(|(id, _)| self.standings(Some(id), recent));
        for standing in sessions.flatten().filter(|it| it.limit.period == Period::Session) {
            match all.iter_mut().find(|known| known.limit.name == standing.limit.name) {
                Some(known) if used(known) >= used(&standing) => (),
                Some(known) => *known = standing,
                None => all.push(standing),
            }
        }
        for limit in self.budgets().limits().filter(|limit| limit.period == Period::Session) {
            if all.iter().all(|known| known.limit.name != limit.name) {
                all.push(Standing::new(limit, Sum::default(), self.budgets().warn_at, None));
            }
        }
        all.sort_by_key(|standing| standing.limit.place);
        Ok(all)
    }

    /// Only those that concern this session, or all.
    fn standings(&self, session: Option<SessionId>, recent: Recent) -> Vec<Standing> {
        let budgets = self.budgets();
        let spent = session.and_then(|id| self.roster.get(id)).map(|state| state.spent);
        let standing = |limit: Limit| {
            let (sum, whose) = match limit.period {
                Period::Session => (Sum::from(spent?), session),
                Period::Day => (recent.day, None),
                Period::Month => (recent.month, None),
            };
            Some(Standing::new(limit, sum, budgets.warn_at, whose))
        };
        budgets.limits().filter_map(standing).collect()
    }

    /// Remembers what is told now, and forgets what is in order again.
    fn note(&self, session: Option<SessionId>, standings: Vec<Standing>) -> Vec<Standing> {
        let today = self.clock.today();
        let mut inner = self.inner();
        let is_news = |standing: &Standing| {
            let whose = session.filter(|_| standing.limit.period == Period::Session);
            let key = (standing.limit.name, whose);
            if standing.level == Level::Fine {
                inner.told.remove(&key);
                return false;
            }
            let period = standing.limit.period.begin(today);
            inner.told.insert(key, period) != Some(period)
        };
        standings.into_iter().filter(is_news).collect()
    }

    /// Reads the ledger only if a budget asks for it.
    async fn recent(&self, budgets: &Budgets) -> Result<Recent, StoreError> {
        let periods = budgets.limits().map(|limit| limit.period);
        let Some(longest) = periods.max().filter(|longest| *longest > Period::Session) else {
            return Ok(Recent::default());
        };
        let today = self.clock.today();
        let mut recent = Recent::default();
        for spending in self.ledger.spending(longest.begin(today)..=today).await? {
            recent.month = recent.month.plus(spending.sum);
            if spending.day == today {
                recent.day = recent.day.plus(spending.sum);
            }
        }
        Ok(recent)
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
