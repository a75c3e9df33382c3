//! What was used, by day and model, for ever; whatever session it was for, or none.

use jiff::civil::Date;

use crate::update::{Answer, Compaction, Fact, Usage};

/// What was used of one model on one day.
#[derive(Clone, Debug, PartialEq)]
pub struct Spending {
    pub day: Date,
    pub model: String,
    pub sum: Sum,
}

impl Spending {
    /// One request.
    pub fn new(day: Date, model: impl Into<String>, usage: Usage) -> Self {
        Self { day, model: model.into(), sum: Sum::of(usage) }
    }

    /// What a fact tells of, if it tells of any use.
    pub fn of(fact: &Fact, day: Date) -> Option<Self> {
        used(fact).map(|(model, usage)| Self::new(day, model, usage))
    }
}

/// What some requests used together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sum {
    pub requests: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cache_read_tokens: u64,
    pub cache_write_tokens: u64,
    pub reasoning_tokens: u64,
    /// In US dollars, as far as prices are known.
    pub cost: f64,
}

impl Sum {
    /// What one request used.
    pub fn of(usage: Usage) -> Self {
        Self {
            requests: 1,
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cache_read_tokens: usage.cache_read_tokens,
            cache_write_tokens: usage.cache_write_tokens,
            reasoning_tokens: usage.reasoning_tokens,
            cost: usage.dollars(),
        }
    }

    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            requests: self.requests.saturating_add(other.requests),
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            cache_read_tokens: self.cache_read_tokens.saturating_add(other.cache_read_tokens),
            cache_write_tokens: self.cache_write_tokens.saturating_add(other.cache_write_tokens),
            reasoning_tokens: self.reasoning_tokens.saturating_add(other.reasoning_tokens),
            cost: (self.cost + other.cost).min(f64::MAX),
        }
    }

    pub fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

impl Usage {
    /// What it cost, as far as that is known. Something that is no amount of money costs nothing.
    pub fn dollars(&self) -> f64 {
        self.cost.filter(|cost| cost.is_finite() && *cost > 0.0).unwrap_or_default()
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            cache_read_tokens: self.cache_read_tokens.saturating_add(other.cache_read_tokens),
            cache_write_tokens: self.cache_write_tokens.saturating_add(other.cache_write_tokens),
            reasoning_tokens: self.reasoning_tokens.saturating_add(other.reasoning_tokens),
            cost: self.cost.or(other.cost).map(|_| self.dollars() + other.dollars()),
        }
    }
}

/// What a fact says was used, and of which model.
pub fn used(fact: &Fact) -> Option<(&str, Usage)> {
    match fact {
        Fact::Answered(Answer { model, usage, .. })
        | Fact::CompactionEnded(
            Compaction::Done { model, usage, .. } | Compaction::Failed { model, usage, .. },
        ) => Some((model, (*usage)?)),
        Fact::ModelLent { model, usage, .. } => Some((model, *usage)),
        Fact::Opened { .. }
        | Fact::Renamed { .. }
        | Fact::EnvHinted { .. }
        | Fact::ModelChanged { .. }
        | Fact::ModeChanged { .. }
        | Fact::ToolStarted { .. }
        | Fact::Asked(_)
        | Fact::Settled { .. }
        | Fact::TaskOpened(_)
        | Fact::TaskMoved(_)
        | Fact::TaskClosed { .. }
        | Fact::ContextChanged { .. }
        | Fact::Embedded(_)
        | Fact::WindowOpened(_)
        | Fact::WindowChanged { .. }
        | Fact::WindowClosed { .. }
        | Fact::App(_)
        | Fact::Desktop(_)
        | Fact::Widget(_)
        | Fact::Observed
        | Fact::Queued(_)
        | Fact::Unqueued { .. }
        | Fact::Said { .. }
        | Fact::StepStarted { .. }
        | Fact::ToolReturned { .. }
        | Fact::CompactionStarted
        | Fact::Rewound { .. }
        | Fact::TurnEnded(_) => None,
    }
}
