//! What a device makes of the frames of a hub: one thing at a time in their order, looking at once, and an answer to each.

mod ending;

use std::{collections::VecDeque, sync::Arc};

use futures::{
    FutureExt as _, StreamExt as _,
    future::{self, BoxFuture},
    stream::FuturesUnordered,
};
use jiff::Timestamp;
use kernel::{
    desktop::{Action, Code, Desktop, DesktopError, Order, Outcome, State},
    ports::Clock,
};
use serde_json::{Map, Value};
use tokio::{sync::watch, time::Instant};

use super::{
    leave::Leave,
    memory::Memory,
    pace::Pace,
    shown::{self, Window},
};
use crate::{
    command::{Parsed, Request, parse},
    hello::{self, Lent},
    reply::{Envelope, written},
};

/// How many commands wait, and how many looks are taken at once.
const MOST: usize = 64;

type Result = std::result::Result<Outcome, DesktopError>;

pub struct Engine {
    desktop: Arc<dyn Desktop>,
    clock: Arc<dyn Clock>,
    leave: Leave,
    /// When that is over, until everything was let go then.
    ends: Option<Timestamp>,
    /// Whether the hub has shown that it knows more than the seed.
    extended: bool,
    greeted: bool,
    /// Whether the hub says that somebody may drive us.
    lent: Lent,
    /// What whoever sits in front of us is shown of that.
    window: watch::Sender<Window>,
    /// What the hub calls us.
    name: Option<String>,
    waiting: VecDeque<Waiting>,
    running: Option<Running>,
    looks: FuturesUnordered<BoxFuture<'static, (Asked, Result)>>,
    memory: Memory,
    pace: Pace,
    states: watch::Receiver<State>,
    /// How we stood when we last said so.
    stood: Option<Value>,
    shots: u64,
    out: VecDeque<String>,
}

/// A command that is to be answered.
#[derive(Clone)]
struct Asked {
    id: Option<String>,
    begun: Instant,
    /// Whether it must not be done twice.
    is_input: bool,
}

enum Waiting {
    Order(Asked, Box<Order>),
    /// Answered already, in its turn: nobody could tell which it answers otherwise.
    Ready(Asked, Result),
}

struct Running {
    asked: Asked,
    work: BoxFuture<'static, Result>,
}

impl Engine {
    pub fn new(desktop: Arc<dyn Desktop>, clock: Arc<dyn Clock>, leave: Leave) -> Self {
        let states = desktop.states();
        Self {
            desktop,
            clock,
            leave,
            ends: leave.until,
            extended: false,
            greeted: false,
            lent: Lent::No,
            window: watch::Sender::default(),
            name: None,
            waiting: VecDeque::new(),
            running: None,
            looks: FuturesUnordered::new(),
            memory: Memory::default(),
            pace: Pace::default(),
            states,
            stood: None,
            shots: 0,
            out: VecDeque::new(),
        }
    }

    pub fn desktop(&self) -> &Arc<dyn Desktop> {
        &self.desktop
    }

    /// What the hub calls us, once it has said so.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Whether the hub has answered our introduction.
    pub fn is_greeted(&self) -> bool {
        self.greeted
    }

    /// Whether whoever sits here would have to say first that this hub may do anything.
    pub fn needs_leave(&self) -> bool {
        !self.extended && self.leave.until.is_none()
    }

    /// Whether a hub like this one may do anything here now.
    fn is_open(&self) -> bool {
        self.leave.holds(self.extended, self.clock.now())
    }

    /// Whether we may be driven, now and whenever that changes.
    pub fn window(&self) -> watch::Receiver<Window> {
        self.window.subscribe()
    }

    /// Whoever sits in front of us sees when we may be driven.
    fn indicate(&self) {
        let here = self.leave.until;
        let window = match (self.greeted, self.is_open(), self.lent) {
            // Whichever ends first.
            (true, true, Lent::Until(there)) => {
                Window::Open { until: here.into_iter().chain(there).min() }
            }
            (true, true, Lent::No) if here.is_some() => Window::Open { until: here },
            (true, false, _) if here.is_some() => Window::Over,
            _ => Window::Closed,
        };
        self.desktop.indicate(matches!(window, Window::Open { .. }));
        self.window.send_if_modified(|shown| std::mem::replace(shown, window) != window);
    }

    /// Takes in a frame, whatever it holds. Never waits.
    pub fn hear(&mut self, frame: &str) {
        self.notice();
        let Parsed { id, result } = parse(frame);
        let mut asked = Asked { id, begun: Instant::now(), is_input: false };
        match result {
            Ok(Request::Nothing) => (),
            Ok(Request::Acknowledged { extended, device, lent }) => {
                (self.greeted, self.extended, self.name) = (true, extended, device);
                self.lent = lent;
                self.indicate();
                self.stood = None;
            }
            Ok(Request::Cancel { target }) => self.cancel(&asked, target.as_deref()),
            // One that asks nobody would take from the person what they took.
            Ok(Request::HandBack) if !self.extended => self.refuse(asked, not_yours()),
            Ok(Request::HandBack) => {
                let desktop = self.desktop.clone();
                let resumed =
                    async move { desktop.hand_back().await.map(|()| Outcome::said("Resumed")) };
                self.look(asked, resumed.boxed());
            }
            Ok(Request::Do(order)) => {
                asked.is_input = order.action.is_input();
                self.take(asked, order);
            }
            Err(error) => self.refuse(asked, error),
        }
    }

    /// At once if its sender can tell what is answered, else in its turn.
    fn refuse(&mut self, asked: Asked, error: DesktopError) {
        match asked.id {
            Some(_) => self.answer(&asked, &Err(error)),
            None => self.wait(Waiting::Ready(asked, Err(error))),
        }
    }

    fn take(&mut self, asked: Asked, order: Box<Order>) {
        if let Some(id) = asked.id.as_deref().filter(|id| !id.is_empty()) {
            if let Some(reply) = self.memory.recall(id) {
                self.out.push_back(reply.to_owned());
                return;
            }
            if self.is_known(id) {
                return;
            }
        }
        if let Err(error) = self.leave.check(&order.action, self.extended, self.clock.now()) {
            return self.refuse(asked, error);
        }
        // A query without an id waits its turn: its sender could not tell what is answered.
        if asked.id.is_some() && is_aside(&order.action) {
            let desktop = self.desktop.clone();
            return self.look(asked, async move { desktop.act(*order).await }.boxed());
        }
        self.wait(Waiting::Order(asked, order));
    }

    /// Whether a command of this id is being done or waits to be.
    fn is_known(&self, id: &str) -> bool {
        let is = |asked: &Asked| asked.id.as_deref() == Some(id);
        self.running.as_ref().is_some_and(|running| is(&running.asked))
            || self.waiting.iter().any(|waiting| is(waiting.asked()))
    }

    fn look(&mut self, asked: Asked, work: BoxFuture<'static, Result>) {
        if self.looks.len() >= MOST {
            return self.answer(&asked, &Err(DesktopError::queue_full()));
        }
        self.looks.push(work.map(|result| (asked, result)).boxed());
    }

    fn wait(&mut self, waiting: Waiting) {
        if self.waiting.len() < MOST {
            return self.waiting.push_back(waiting);
        }
        // The order of answers is given up before the memory is.
        self.answer(waiting.asked(), &Err(DesktopError::queue_full()));
    }

    /// The next frame for the hub. Dropping this in between loses nothing.
    pub async fn next(&mut self) -> String {
        loop {
            if let Some(frame) = self.out.pop_front() {
                return frame;
            }
            // Before anything else is begun: it would be refused for another reason than the rest.
            self.notice();
            if self.begin() {
                continue;
            }
            self.stand();
            if !self.out.is_empty() {
                continue;
            }
            self.advance().await;
        }
    }

    /// Starts what is next, if its turn has come. Says whether something changed.
    fn begin(&mut self) -> bool {
        if self.running.is_some() {
            return false;
        }
        match self.waiting.pop_front() {
            None => false,
            Some(Waiting::Ready(asked, result)) => {
                self.answer(&asked, &result);
                true
            }
            Some(Waiting::Order(mut asked, order)) => {
                asked.begun = Instant::now();
                match self.pace.fit(&order.action, asked.begun) {
                    Ok(at) => self.running = Some(self.run(asked, order, at)),
                    Err(error) => self.answer(&asked, &Err(error)),
                }
                true
            }
        }
    }

    fn run(&self, asked: Asked, order: Box<Order>, at: Instant) -> Running {
        let (desktop, wait) = (self.desktop.clone(), at > asked.begun);
        let work = async move {
            if wait {
                tokio::time::sleep_until(at).await;
            }
            desktop.act(*order).await
        };
        Running { asked, work: work.boxed() }
    }

    /// Waits until something has changed, and takes note of it.
    async fn advance(&mut self) {
        let Self { running, looks, states, clock, ends, .. } = self;
        let ended = async {
            match *ends {
                Some(at) => clock.until(at).await,
                None => future::pending().await,
            }
        };
        let done = async {
            match running {
                Some(running) => (&mut running.work).await,
                None => future::pending().await,
            }
        };
        let looked = async {
            match looks.next().await {
                Some(looked) => looked,
                None => future::pending().await,
            }
        };
        let stood = shown::changed(states);
        tokio::select! {
            // What was asked first begins first.
            biased;
            result = done => {
                if let Some(Running { asked, .. }) = self.running.take() {
                    self.answer(&asked, &result);
                }
            }
            (asked, result) = looked => self.answer(&asked, &result),
            () = stood => self.stopped(),
            () = ended => self.expire().await,
        }
    }

    /// Looks whether the person has taken over meanwhile.
    fn notice(&mut self) {
        // An error means that who would tell is gone, and nothing changes any more.
        if self.states.has_changed().unwrap_or(false) {
            self.states.mark_unchanged();
            self.stopped();
        }
    }

    /// Says how we stand, if that is not what was said last.
    fn stand(&mut self) {
        if !self.extended {
            return;
        }
        let state = State { queue: self.waiting.len(), ..self.states.borrow().clone() };
        let state = State { until: self.leave.until.or(state.until), ..state };
        let stands = hello::standing(&state, self.is_open());
        if self.stood.as_ref() != Some(&stands) {
            self.out.push_back(stands.to_string());
            self.stood = Some(stands);
        }
    }

    fn answer(&mut self, asked: &Asked, result: &Result) {
        if matches!(result, Ok(Outcome::Picture(_))) {
            self.shots += 1;
        }
        let envelope = Envelope {
            extended: self.extended,
            now: self.clock.now().as_millisecond(),
            ms: u64::try_from(asked.begun.elapsed().as_millis()).ok(),
            shot: self.shots,
        };
        let mut reply: Map<String, Value> = written(result, envelope);
        if let Some(id) = &asked.id {
            reply.insert("commandId".to_owned(), id.as_str().into());
        }
        let is_final = !matches!(result, Err(error) if error.code == Code::QueueFull);
        if let Some(id) = asked.id.as_deref().filter(|_| asked.is_input && is_final) {
            self.memory.keep(id, &reply, self.extended);
        }
        self.out.push_back(Value::Object(reply).to_string());
    }
}

impl Waiting {
    fn asked(&self) -> &Asked {
        match self {
            Self::Order(asked, _) | Self::Ready(asked, _) => asked,
        }
    }
}

fn not_yours() -> DesktopError {
    let text = "Only the person at this machine hands it back to this hub: ctrl+alt+return";
    DesktopError::new(Code::Denied, text)
}

/// What is answered at once, whatever else is being done.
fn is_aside(action: &Action) -> bool {
    matches!(action, Action::GetMousePosition | Action::ScreenInfo | Action::ReleaseAll)
}

#[cfg(test)]
mod tests;
