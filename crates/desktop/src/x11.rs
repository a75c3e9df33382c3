//! A display of X11: one thread that does, one that listens, and a line for quick questions.

mod census;
mod ears;
mod eyes;
mod hands;
mod journal;
mod keymap;
mod lamp;
mod leeway;
mod line;
mod link;
mod performing;
mod pointer;
mod typing;
mod windows;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kernel::desktop::{Action, DesktopError, Outcome, Shot};

use self::{
    ears::{Alarm, Ears, Touch},
    eyes::Eyes,
    hands::Hands,
    journal::Journal,
    link::Link,
    performing::Performer,
};
pub use self::{
    journal::mend,
    keymap::{symbol_of, symbols_of},
    lamp::shine,
};
use crate::{
    desk::{Desk, Job},
    ledger::Ledger,
    local::Settings,
    worker::{Inlet, Queue, Worker},
};

/// A display that is connected.
pub struct Seat {
    worker: Worker,
    eyes: Mutex<Eyes>,
    ears: Arc<Ears>,
}

impl Seat {
    pub fn open(settings: &Settings, desk: &Arc<Desk>) -> Result<Self, DesktopError> {
        let display = link::named(settings.display.as_deref())?;
        let link = Link::open(&display)?;
        let journal = Journal::open(settings.journal.clone(), &settings.guard, &link)?;
        let ledger = Arc::new(Ledger::default());
        let queue = Queue::open();
        let alarm = alarm(desk, queue.inlet());
        let ears = Ears::open(&display, settings, ledger.clone(), alarm)?;
        link.watch()?;
        let eyes = Eyes::open(Link::open(&display)?)?;
        let hands =
            Hands::new(link.clone(), ears.clone(), ledger, journal, settings.paste_patience);
        let performer = Performer::new(hands, Eyes::open(link)?, settings.denied.clone());
        let worker = Worker::start(performer, queue, desk, settings.longest_hold)?;
        Ok(Self { worker, eyes: Mutex::new(eyes), ears })
    }

    pub fn enqueue(&self, job: Job) {
        self.worker.enqueue(job);
    }

    /// What is answered at once, whatever is being done.
    pub fn position(&self, moving: bool) -> Result<Outcome, DesktopError> {
        let at = self.eyes().link.pointer()?;
        let signed = |number: u32| i32::try_from(number).unwrap_or(i32::MAX);
        Ok(Outcome::Position { x: signed(at.x), y: signed(at.y), moving })
    }

    pub fn screen(&self) -> Result<Outcome, DesktopError> {
        self.eyes().screen().map(Outcome::Screen)
    }

    pub fn glance(&self, cursor: bool) -> Result<kernel::desktop::Pixels, DesktopError> {
        self.eyes().glance(cursor)
    }

    pub fn capture(&self) -> Result<(), DesktopError> {
        let mut eyes = self.eyes();
        let area = eyes.area(&Shot::default())?;
        eyes.capture(area).map(drop)
    }

    pub fn size(&self) -> Result<(u32, u32), DesktopError> {
        self.eyes().link.size()
    }

    pub fn hears(&self) -> bool {
        self.ears.hears
    }

    pub fn is_alive(&self) -> bool {
        !self.ears.is_gone()
    }

    /// What a person does from now on does not matter until we do something again.
    pub fn rest(&self) -> Result<(), DesktopError> {
        self.ears.rest();
        self.ears.catch_up()
    }

    fn eyes(&self) -> MutexGuard<'_, Eyes> {
        self.eyes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a person does stops everything, and nothing of ours stays pressed.
fn alarm(desk: &Arc<Desk>, jobs: Inlet) -> Alarm {
    let desk = Arc::downgrade(desk);
    Box::new(move |touch| {
        let Some(desk) = desk.upgrade() else { return };
        match touch {
            Touch::Stop(why) => {
                if desk.take_over(why)
                    && let Some(jobs) = jobs.upgrade()
                {
                    let (job, _, _) = desk.open(Action::ReleaseAll.into());
                    // Where too many wait they are refused now, and each of them lets go.
                    jobs.try_send(job).ok();
                }
            }
            Touch::HandBack => desk.hand_back(),
        }
    })
}
