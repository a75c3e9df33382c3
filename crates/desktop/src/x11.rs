//! A display of X11: one thread that does, one that listens, and a line for quick questions.

mod ears;
mod eyes;
mod hands;
mod journal;
mod keymap;
mod link;
mod performing;
mod pointer;
mod typing;
mod windows;

use std::{
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, SyncSender, TrySendError, sync_channel},
    },
    thread,
};

use kernel::desktop::{DesktopError, Outcome};

use self::{
    ears::{Ears, Touch},
    eyes::Eyes,
    hands::Hands,
    journal::Journal,
    link::{Link, lost},
    performing::Performer,
};
use crate::{
    desk::{Desk, Job},
    ledger::Ledger,
};

/// How many orders may wait.
const DEPTH: usize = 64;

/// A display that is connected.
pub struct Seat {
    jobs: SyncSender<Job>,
    eyes: Mutex<Eyes>,
    ears: Arc<Ears>,
}

impl Seat {
    pub fn open(
        display: Option<&str>,
        journal: Option<PathBuf>,
        desk: &Arc<Desk>,
    ) -> Result<Self, DesktopError> {
        let display = link::named(display)?;
        let link = Link::open(&display)?;
        let journal = Journal::open(journal, &link)?;
        let ledger = Arc::new(Ledger::default());
        let alarm = {
            let desk = Arc::downgrade(desk);
            Box::new(move |touch| {
                let Some(desk) = desk.upgrade() else { return };
                match touch {
                    Touch::Stop(why) => desk.take_over(why),
                    Touch::HandBack => desk.hand_back(),
                }
            })
        };
        let ears = Ears::open(&display, ledger.clone(), alarm)?;
        let eyes = Eyes::open(Link::open(&display)?)?;
        let hands = Hands::new(link.clone(), ears.clone(), ledger, journal);
        let performer = Performer::new(hands, Eyes::open(link)?);
        let (jobs, waiting) = sync_channel(DEPTH);
        let desk = desk.clone();
        let begun = thread::Builder::new()
            .name("desktop-hands".into())
            .spawn(move || work(performer, &waiting, &desk));
        begun.map_err(|error| lost(format!("no thread can be started: {error}")))?;
        Ok(Self { jobs, eyes: Mutex::new(eyes), ears })
    }

    /// Whether it could be put behind the others; if not, its owner has been told.
    pub fn enqueue(&self, job: Job) {
        match self.jobs.try_send(job) {
            Ok(()) => (),
            Err(TrySendError::Full(job)) => job.answer(Err(DesktopError::queue_full())),
            Err(TrySendError::Disconnected(job)) => {
                job.answer(Err(lost("the line to the display is cut")));
            }
        }
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

    pub fn size(&self) -> Result<(u32, u32), DesktopError> {
        self.eyes().link.size()
    }

    pub fn is_alive(&self) -> bool {
        self.eyes().link.is_alive()
    }

    /// What a person does from now on does not matter until we do something again.
    pub fn rest(&self) -> Result<(), DesktopError> {
        self.ears.rest();
        self.ears.catch_up()
    }

    fn eyes(&self) -> std::sync::MutexGuard<'_, Eyes> {
        self.eyes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn work(mut performer: Performer, jobs: &Receiver<Job>, desk: &Desk) {
    for job in jobs {
        let result = desk.admit(&job).and_then(|()| performer.perform(&job.order, &job.stop));
        if result.is_err() {
            performer.calm();
        }
        let cut = result.is_err() && !performer.is_alive();
        desk.finished(&job, performer.held());
        job.answer(result);
        if cut {
            return;
        }
    }
    performer.leave();
}
