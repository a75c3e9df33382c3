//! Whoever does what is asked, in its order: on a thread of its own, or at once where handing it over would take
//! longer than doing it.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak,
        mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use kernel::desktop::{Code, DesktopError, Order, Outcome};

use crate::{
    desk::{Desk, Job},
    stop::Stop,
};

/// How many orders may wait.
const DEPTH: usize = 64;
/// After how long without an order nothing is listened to any more that would pile up.
const REST: Duration = Duration::from_secs(2);

/// What acts on a desktop, one order at a time.
pub trait Performer: Send + 'static {
    fn perform(&mut self, order: &Order, stop: &Stop) -> Result<Outcome, DesktopError>;

    /// After an order that was not done to its end: nothing of it stays pressed.
    fn calm(&mut self);

    /// Keys and buttons that are down, by name.
    fn held(&self) -> (Vec<String>, Vec<String>);

    fn is_holding(&self) -> bool;

    fn is_alive(&mut self) -> bool;

    /// The line is cut: whoever comes next shall not come to us.
    fn part(&mut self);

    /// Whether an order takes less time than to wake somebody for it, harms nobody who wants to go on
    /// on this thread, and leaves nothing to do later.
    fn is_quick(&self, _order: &Order) -> bool {
        false
    }

    /// Whether something would have to be heard while nothing is done.
    fn is_listening(&self) -> bool {
        false
    }

    /// Nothing has been done for a while.
    fn rest(&mut self) {}

    /// Nobody will ask for anything any more, and nothing stays pressed.
    fn leave(&mut self) {
        self.calm();
    }
}

/// Where orders wait that are not done at once.
pub struct Queue {
    jobs: Arc<SyncSender<Job>>,
    waiting: Receiver<Job>,
}

/// The way into a queue, as long as somebody serves it.
pub type Inlet = Weak<SyncSender<Job>>;

impl Queue {
    pub fn open() -> Self {
        let (jobs, waiting) = sync_channel(DEPTH);
        Self { jobs: Arc::new(jobs), waiting }
    }

    pub fn inlet(&self) -> Inlet {
        Arc::downgrade(&self.jobs)
    }
}

/// Ends when it is dropped, once it has done what it was asked to.
pub struct Worker {
    jobs: Arc<SyncSender<Job>>,
    bench: Arc<Mutex<Bench>>,
    desk: Arc<Desk>,
}

impl Worker {
    pub fn start(
        performer: impl Performer,
        Queue { jobs, waiting }: Queue,
        desk: &Arc<Desk>,
        longest_hold: Duration,
    ) -> Result<Self, DesktopError> {
        let bench = Arc::new(Mutex::new(Bench {
            performer: Box::new(performer),
            longest_hold,
            held_since: None,
            idle_since: Instant::now(),
            cut: false,
        }));
        let (theirs, place) = (desk.clone(), bench.clone());
        let begun = thread::Builder::new()
            .name("desktop-hands".into())
            .spawn(move || work(&place, &waiting, &theirs));
        begun.map_err(|error| cut(&format!("no thread can be started: {error}")))?;
        Ok(Self { jobs, bench, desk: desk.clone() })
    }

    /// Whether it could be put behind the others; if not, its owner has been told.
    pub fn enqueue(&self, job: Job) {
        let Some(job) = self.done_at_once(job) else { return };
        match self.jobs.try_send(job) {
            Ok(()) => (),
            Err(TrySendError::Full(job)) => job.answer(Err(DesktopError::queue_full())),
            Err(TrySendError::Disconnected(job)) => {
                job.answer(Err(cut("the line to the display is cut")));
            }
        }
    }

    /// Gives it back where it has to wait its turn, or would keep others waiting.
    fn done_at_once(&self, job: Job) -> Option<Job> {
        if !self.desk.is_alone(&job) {
            return Some(job);
        }
        let mut bench = match self.bench.try_lock() {
            Ok(bench) => bench,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return Some(job),
        };
        if bench.cut || !bench.performer.is_quick(&job.order) {
            return Some(job);
        }
        bench.carry_out(job, &self.desk);
        None
    }
}

struct Bench {
    performer: Box<dyn Performer>,
    longest_hold: Duration,
    held_since: Option<Instant>,
    idle_since: Instant,
    cut: bool,
}

impl Bench {
    fn carry_out(&mut self, job: Job, desk: &Desk) {
        let performer = &mut self.performer;
        let result = desk.admit(&job).and_then(|()| performer.perform(&job.order, &job.stop));
        if result.as_ref().is_err_and(|error| !is_refusal(error.code)) {
            performer.calm();
        }
        let held_since = self.held_since;
        self.held_since = performer.is_holding().then(|| held_since.unwrap_or_else(Instant::now));
        self.cut = result.is_err() && !performer.is_alive();
        if self.cut {
            // Before anybody hears of it.
            performer.part();
        }
        desk.finished(&job, performer.held());
        job.answer(result);
        self.idle_since = Instant::now();
    }

    fn lets_go(&self) -> Option<Instant> {
        self.held_since.map(|since| since + self.longest_hold)
    }

    fn rests(&self) -> Option<Instant> {
        self.performer.is_listening().then(|| self.idle_since + REST)
    }

    /// When something is to be done that nobody asks for.
    fn until(&self) -> Option<Instant> {
        self.lets_go().into_iter().chain(self.rests()).min()
    }

    fn tick(&mut self, now: Instant, desk: &Desk) {
        if self.lets_go().is_some_and(|at| at <= now) {
            self.performer.calm();
            self.held_since = None;
            desk.holds(self.performer.held());
        }
        if self.rests().is_some_and(|at| at <= now) {
            self.performer.rest();
        }
    }
}

fn work(bench: &Mutex<Bench>, jobs: &Receiver<Job>, desk: &Desk) {
    loop {
        let until = lock(bench).until();
        let job = match until {
            None => jobs.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(until) => jobs.recv_timeout(until.saturating_duration_since(Instant::now())),
        };
        let mut bench = lock(bench);
        match job {
            // Whoever waits hears of it when what they wait for is dropped.
            _ if bench.cut => return,
            Ok(job) => bench.carry_out(job, desk),
            Err(RecvTimeoutError::Timeout) => bench.tick(Instant::now(), desk),
            Err(RecvTimeoutError::Disconnected) => {
                bench.performer.leave();
                desk.holds(bench.performer.held());
                return;
            }
        }
        if bench.cut {
            return;
        }
    }
}

fn lock(bench: &Mutex<Bench>) -> MutexGuard<'_, Bench> {
    bench.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether nothing had been begun when it was found out: then what is held goes on being held.
fn is_refusal(code: Code) -> bool {
    match code {
        Code::BadRequest
        | Code::UnknownKey
        | Code::OutOfBounds
        | Code::TextUnsupported
        | Code::Unsupported
        | Code::Permission
        | Code::NotArmed
        | Code::Denied
        | Code::RateLimited
        | Code::QueueFull => true,
        Code::NoDisplay
        | Code::Paused
        | Code::Cancelled
        | Code::Timeout
        | Code::Disconnected
        | Code::Failed => false,
    }
}

pub fn cut(text: &str) -> DesktopError {
    DesktopError::failed(format!("OS Failure: {text}"))
}
