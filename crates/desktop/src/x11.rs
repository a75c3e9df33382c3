//! A display of X11: one thread that does, one that listens, and a line for quick questions.

mod census;
mod ears;
mod eyes;
mod hands;
mod journal;
mod keymap;
mod lamp;
mod link;
mod performing;
mod pointer;
mod typing;
mod windows;

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use kernel::desktop::{Action, DesktopError, Outcome, Shot};

use self::{
    ears::{Alarm, Ears, Touch},
    eyes::Eyes,
    hands::Hands,
    journal::Journal,
    link::{Link, lost},
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
};

/// How many orders may wait.
const DEPTH: usize = 64;
/// After how long without an order nothing is listened to any more that would pile up.
const REST: Duration = Duration::from_secs(2);

/// A display that is connected.
pub struct Seat {
    jobs: Arc<SyncSender<Job>>,
    eyes: Mutex<Eyes>,
    ears: Arc<Ears>,
}

impl Seat {
    pub fn open(settings: &Settings, desk: &Arc<Desk>) -> Result<Self, DesktopError> {
        let display = link::named(settings.display.as_deref())?;
        let link = Link::open(&display)?;
        let journal = Journal::open(settings.journal.clone(), &settings.guard, &link)?;
        let ledger = Arc::new(Ledger::default());
        let (jobs, waiting) = sync_channel(DEPTH);
        let jobs = Arc::new(jobs);
        let alarm = alarm(desk, &jobs);
        let ears = Ears::open(&display, ledger.clone(), alarm)?;
        link.watch()?;
        let eyes = Eyes::open(Link::open(&display)?)?;
        let hands =
            Hands::new(link.clone(), ears.clone(), ledger, journal, settings.paste_patience);
        let performer = Performer::new(hands, Eyes::open(link)?, settings.denied.clone());
        let (desk, longest_hold) = (desk.clone(), settings.longest_hold);
        let begun = thread::Builder::new()
            .name("desktop-hands".into())
            .spawn(move || work(performer, &waiting, &desk, longest_hold));
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

    pub fn capture(&self) -> Result<(), DesktopError> {
        let mut eyes = self.eyes();
        let area = eyes.area(&Shot::default())?;
        eyes.capture(area).map(drop)
    }

    pub fn size(&self) -> Result<(u32, u32), DesktopError> {
        self.eyes().link.size()
    }

    pub fn is_alive(&self) -> bool {
        !self.ears.is_gone()
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

/// What a person does stops everything, and nothing of ours stays pressed.
fn alarm(desk: &Arc<Desk>, jobs: &Arc<SyncSender<Job>>) -> Alarm {
    let (desk, jobs) = (Arc::downgrade(desk), Arc::downgrade(jobs));
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

fn work(mut performer: Performer, jobs: &Receiver<Job>, desk: &Desk, longest_hold: Duration) {
    let mut held_since: Option<Instant> = None;
    let mut idle_since = Instant::now();
    loop {
        let let_go = held_since.map(|since| since + longest_hold);
        let rest = performer.is_listening().then(|| idle_since + REST);
        let job = match let_go.into_iter().chain(rest).min() {
            None => jobs.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(until) => jobs.recv_timeout(until.saturating_duration_since(Instant::now())),
        };
        let job = match job {
            Ok(job) => job,
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                let now = Instant::now();
                if let_go.is_some_and(|at| at <= now) {
                    performer.calm();
                    held_since = None;
                    desk.holds(performer.held());
                }
                if rest.is_some_and(|at| at <= now) {
                    performer.rest();
                }
                continue;
            }
        };
        let result = desk.admit(&job).and_then(|()| performer.perform(&job.order, &job.stop));
        if result.is_err() {
            performer.calm();
        }
        held_since = performer.is_holding().then(|| held_since.unwrap_or_else(Instant::now));
        let cut = result.is_err() && !performer.is_alive();
        if cut {
            // Before anybody hears of it: whoever comes next shall not come to us.
            performer.part();
        }
        desk.finished(&job, performer.held());
        job.answer(result);
        idle_since = Instant::now();
        if cut {
            return;
        }
    }
    performer.leave();
}
