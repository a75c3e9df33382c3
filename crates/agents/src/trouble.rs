//! What can go wrong with an agent, as far as somebody would treat it differently.

use crate::{
    calls::TooMuch,
    line::{Broken, Fault},
};

/// What went wrong. After all but the first few it is not asked again, but replaced.
#[derive(Debug)]
pub enum Trouble {
    /// It says so itself.
    Fault(Fault),
    SignIn(String),
    Refused,
    /// What was chosen for it in the configuration, it does not have.
    Choice(String),
    /// It came to the end of what it may say or do.
    Exhausted,
    Start(std::io::Error),
    /// Its version of the protocol.
    Foreign(String),
    Line(Broken),
    Slow(&'static str),
    Senseless(&'static str),
    TooMuch,
    /// It was told to stop, and did not.
    Stubborn,
    /// Nobody wants it any more, before it was asked anything.
    Dismissed,
}

impl Trouble {
    /// Whether it can go on all the same.
    pub fn is_passing(&self) -> bool {
        matches!(
            self,
            Self::Fault(_) | Self::SignIn(_) | Self::Refused | Self::Choice(_) | Self::Exhausted
        )
    }

    /// Whether it should be given time before it is started again.
    pub fn is_fault(&self) -> bool {
        !self.is_passing() && !matches!(self, Self::Dismissed)
    }
}

impl From<Broken> for Trouble {
    fn from(broken: Broken) -> Self {
        Self::Line(broken)
    }
}

impl From<TooMuch> for Trouble {
    fn from(_: TooMuch) -> Self {
        Self::TooMuch
    }
}
