//! What waits and runs on this machine's desktop, and whether a person has taken it over.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kernel::desktop::{Action, DesktopError, Order, Outcome, Pause, State};
use tokio::sync::{oneshot, watch};

use crate::stop::Stop;

/// Outlives every connection to the display.
pub struct Desk {
    book: Mutex<Book>,
    pub states: watch::Sender<State>,
}

#[derive(Default)]
struct Book {
    paused: Option<Pause>,
    /// Counts the times that a person took over.
    taken: u64,
    /// Counts orders.
    count: u64,
    open: Vec<Open>,
}

struct Open {
    number: u64,
    id: String,
    stop: Arc<Stop>,
}

/// An order on its way.
pub struct Job {
    number: u64,
    /// How often somebody had taken over when it came.
    taken: u64,
    pub order: Order,
    pub stop: Arc<Stop>,
    reply: oneshot::Sender<Result<Outcome, DesktopError>>,
}

impl Job {
    pub fn answer(self, result: Result<Outcome, DesktopError>) {
        // Whoever asked may have left.
        self.reply.send(result).ok();
    }
}

/// Stops an order that nobody waits for any more.
pub struct Waiting {
    desk: Arc<Desk>,
    number: u64,
    stop: Arc<Stop>,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.stop.say(DesktopError::cancelled());
        self.desk.close(self.number);
    }
}

impl Desk {
    pub fn new() -> Arc<Self> {
        let (states, _) = watch::channel(State::default());
        Arc::new(Self { book: Mutex::default(), states })
    }

    pub fn open(
        self: &Arc<Self>,
        order: Order,
    ) -> (Job, Waiting, oneshot::Receiver<Result<Outcome, DesktopError>>) {
        let (reply, answer) = oneshot::channel();
        let stop = Arc::new(Stop::default());
        let mut book = self.book();
        book.count += 1;
        let (number, taken) = (book.count, book.taken);
        book.open.push(Open { number, id: order.id.clone(), stop: stop.clone() });
        let queue = book.open.len();
        drop(book);
        self.states.send_if_modified(|state| std::mem::replace(&mut state.queue, queue) != queue);
        let waiting = Waiting { desk: self.clone(), number, stop: stop.clone() };
        (Job { number, taken, order, stop, reply }, waiting, answer)
    }

    /// Whether nothing else waits or runs.
    pub fn is_alone(&self, job: &Job) -> bool {
        matches!(self.book().open.as_slice(), [only] if only.number == job.number)
    }

    /// Whether an order may be done, now that it is its turn.
    pub fn admit(&self, job: &Job) -> Result<(), DesktopError> {
        let book = self.book();
        if job.order.action == Action::ReleaseAll {
            return Ok(());
        }
        if job.taken < book.taken {
            return Err(DesktopError::stopped());
        }
        if book.paused.is_some() && job.order.action.is_input() {
            return Err(DesktopError::paused());
        }
        job.stop.check()
    }

    pub fn finished(&self, job: &Job, held: (Vec<String>, Vec<String>)) {
        self.close(job.number);
        self.holds(held);
    }

    /// What is down now.
    pub fn holds(&self, (keys, buttons): (Vec<String>, Vec<String>)) {
        self.states.send_if_modified(|state| {
            let changed = state.keys != keys || state.buttons != buttons;
            (state.keys, state.buttons) = (keys, buttons);
            changed
        });
    }

    fn close(&self, number: u64) {
        let queue = {
            let mut book = self.book();
            book.open.retain(|open| open.number != number);
            book.open.len()
        };
        self.states.send_if_modified(|state| std::mem::replace(&mut state.queue, queue) != queue);
    }

    /// Whether the pointer is on its way.
    pub fn is_moving(&self) -> bool {
        self.book().open.iter().any(|open| open.stop.is_moving())
    }

    /// Cancels everything, or the orders of one id; says how many.
    pub fn cancel(&self, target: Option<&str>) -> usize {
        let book = self.book();
        let meant = book.open.iter().filter(|open| target.is_none_or(|id| open.id == id));
        meant.map(|open| open.stop.say(DesktopError::cancelled())).count()
    }

    /// A person is here: everything stops until they give it back. Says whether that is news.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "elsewhere nobody hears what a person does")
    )]
    pub fn take_over(&self, why: Pause) -> bool {
        let mut book = self.book();
        if book.paused.is_some() {
            return false;
        }
        book.paused = Some(why);
        book.taken += 1;
        for open in &book.open {
            open.stop.say(DesktopError::stopped());
        }
        drop(book);
        self.states.send_modify(|state| state.paused = Some(why));
        true
    }

    pub fn hand_back(&self) {
        self.book().paused = None;
        self.states.send_if_modified(|state| state.paused.take().is_some());
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
