//! What a budget is, and how it stands. Knows nothing of who is asked or told.

use std::fmt;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::{ledger::Sum, state::Spent, update::SessionId};

/// The limits of a house. What is absent has none.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Budgets {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_usd: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub day_usd: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub month_usd: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub day_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub month_tokens: Option<u64>,
    /// From which share on those present are told.
    pub warn_at: f64,
}

impl Default for Budgets {
    fn default() -> Self {
        Self {
            session_usd: None,
            day_usd: None,
            month_usd: None,
            session_tokens: None,
            day_tokens: None,
            month_tokens: None,
            warn_at: 0.8,
        }
    }
}

/// A budget that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadBudget {
    #[error("{0} must be an amount of US dollars, 0 or more")]
    Dollars(&'static str),
    #[error("warn_at must be a share of a budget: more than 0, and 1 at most")]
    WarnAt,
}

impl Budgets {
    pub fn check(&self) -> Result<(), BadBudget> {
        for Limit { name, amount, .. } in self.limits() {
            if let Amount::Dollars(dollars) = amount
                && !(dollars.is_finite() && dollars >= 0.0)
            {
                return Err(BadBudget::Dollars(name));
            }
        }
        if self.warn_at > 0.0 && self.warn_at <= 1.0 { Ok(()) } else { Err(BadBudget::WarnAt) }
    }

    /// Those that there are.
    pub fn limits(&self) -> impl Iterator<Item = Limit> + use<> {
        let dollars = |amount: Option<f64>| amount.map(Amount::Dollars);
        let tokens = |amount: Option<u64>| amount.map(Amount::Tokens);
        let limits = [
            ("session_usd", Period::Session, dollars(self.session_usd)),
            ("day_usd", Period::Day, dollars(self.day_usd)),
            ("month_usd", Period::Month, dollars(self.month_usd)),
            ("session_tokens", Period::Session, tokens(self.session_tokens)),
            ("day_tokens", Period::Day, tokens(self.day_tokens)),
            ("month_tokens", Period::Month, tokens(self.month_tokens)),
        ];
        limits.into_iter().enumerate().filter_map(|(place, (name, period, amount))| {
            Some(Limit { place, name, period, amount: amount? })
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// Where it stands in a list of all.
    pub place: usize,
    /// As the configuration calls it.
    pub name: &'static str,
    pub period: Period,
    pub amount: Amount,
}

/// What a budget is for; the longest is the greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Period {
    Session,
    Day,
    Month,
}

impl Period {
    /// When the one began that `today` belongs to.
    pub(super) fn begin(self, today: Date) -> Date {
        match self {
            Self::Session => Date::MIN,
            Self::Day => today,
            Self::Month => today.first_of_month(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    Dollars(f64),
    /// Read and written together.
    Tokens(u64),
}

impl Amount {
    #[expect(clippy::cast_precision_loss, reason = "a share needs no more digits")]
    pub(super) fn number(self) -> f64 {
        match self {
            Self::Dollars(dollars) => dollars,
            Self::Tokens(tokens) => tokens as f64,
        }
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tokens(tokens) => write!(f, "{tokens} tokens"),
            // Whole cents, unless that would hide something.
            Self::Dollars(dollars) if is_whole(dollars * 100.0) => write!(f, "${dollars:.2}"),
            Self::Dollars(dollars) => write!(f, "${dollars:.4}"),
        }
    }
}

fn is_whole(number: f64) -> bool {
    (number - number.round()).abs() < 1e-6
}

/// How far a budget is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Fine,
    /// `warn_at` is reached.
    Near,
    Spent,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    pub limit: Limit,
    pub used: Amount,
    pub level: Level,
    /// By which session, if it is a budget for each.
    pub session: Option<SessionId>,
}

impl Standing {
    pub(super) fn new(limit: Limit, sum: Sum, warn_at: f64, session: Option<SessionId>) -> Self {
        let used = match limit.amount {
            Amount::Dollars(_) => Amount::Dollars(sum.cost),
            Amount::Tokens(_) => Amount::Tokens(sum.tokens()),
        };
        let (part, whole) = (used.number(), limit.amount.number());
        let level = if part >= whole {
            Level::Spent
        } else if part >= whole * warn_at {
            Level::Near
        } else {
            Level::Fine
        };
        Self { limit, used, level, session }
    }

    /// Why nothing more is asked of a model, and what to do.
    pub(super) fn refusal(&self) -> String {
        let otherwise = match self.limit.period {
            Period::Session => "go on in a new session",
            Period::Day => "wait until tomorrow",
            Period::Month => "wait until next month",
        };
        format!(
            "{self}; raise it with PUT /api/budgets or under [budgets] in config.toml, or {otherwise}"
        )
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Limit { name, period, amount, .. } = self.limit;
        let period = match period {
            Period::Session => "this session",
            Period::Day => "today",
            Period::Month => "this month",
        };
        let level = match self.level {
            Level::Fine => "in order",
            Level::Near => "nearly spent",
            Level::Spent => "spent",
        };
        let used = self.used;
        write!(f, "the budget {name} for {period} is {level}: {used} of {amount}")
    }
}

impl From<Spent> for Sum {
    fn from(Spent { input_tokens, output_tokens, cost }: Spent) -> Self {
        Self { input_tokens, output_tokens, cost, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_is_told_in_cents_unless_that_would_hide_something() {
        for (amount, told) in [
            (Amount::Dollars(5.0), "$5.00"),
            (Amount::Dollars(0.29), "$0.29"),
            (Amount::Dollars(0.0034), "$0.0034"),
            (Amount::Tokens(1200), "1200 tokens"),
        ] {
            assert_eq!(amount.to_string(), told);
        }
    }

    #[test]
    fn budgets_that_make_no_sense_are_refused() {
        let budgets = |day_usd, warn_at| Budgets { day_usd, warn_at, ..Budgets::default() };
        for (budgets, answer) in [
            (budgets(Some(0.0), 1.0), Ok(())),
            (budgets(None, 0.01), Ok(())),
            (budgets(Some(-1.0), 0.8), Err(BadBudget::Dollars("day_usd"))),
            (budgets(Some(f64::NAN), 0.8), Err(BadBudget::Dollars("day_usd"))),
            (budgets(Some(f64::INFINITY), 0.8), Err(BadBudget::Dollars("day_usd"))),
            (budgets(None, 0.0), Err(BadBudget::WarnAt)),
            (budgets(None, 1.1), Err(BadBudget::WarnAt)),
            (budgets(None, f64::NAN), Err(BadBudget::WarnAt)),
        ] {
            assert_eq!(budgets.check(), answer, "{budgets:?}");
        }
    }
}
