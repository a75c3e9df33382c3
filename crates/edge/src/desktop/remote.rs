//! A connected device as the rest of the house drives it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use super::glance;
use futures::{
    FutureExt as _,
    future::{self, BoxFuture},
};
use jiff::Timestamp;
use kernel::desktop::{
    Action, After, Desktop, DesktopError, Devices, Format, Info, Order, Outcome, Pixels, Shot,
    State, Waiting,
};
use remote::{SEED, hello::Hello, reply, say};
use serde_json::{Map, Value, json};
use tokio::{
    sync::{Mutex, MutexGuard, mpsc, oneshot, watch},
    time::{Instant, sleep, timeout},
};

/// How long an answer may take, and how much longer than what a command says of itself.
const PATIENCE: Duration = Duration::from_secs(30);
const GRACE: Duration = Duration::from_secs(10);
/// How many orders wait for their turn.
const MOST: usize = 64;
/// Between two pictures of which the second tells whether the first is still true.
const GLANCE: Duration = Duration::from_millis(80);
/// How often it is asked for its picture at most while somebody looks; it cannot tell what has
/// changed.
const POLL: Duration = Duration::from_millis(200);
/// How large that picture is.
const GLANCED: u32 = 1920;

/// What is said to the task that holds the socket.
pub enum Wish {
    Send {
        id: String,
        frame: Map<String, Value>,
        reply: oneshot::Sender<Value>,
    },
    /// Nobody waits for this any more.
    Forget {
        id: String,
    },
    /// Somebody may drive it until then, or nobody any more.
    Armed(Option<Timestamp>),
}

pub struct Remote {
    name: String,
    hello: Hello,
    devices: Arc<Devices>,
    wishes: mpsc::UnboundedSender<Wish>,
    states: watch::Receiver<State>,
    /// Held by whoever's turn it is.
    turn: Mutex<()>,
    /// Held by whoever looks: one picture at a time, and nothing else waits for it.
    looking: Mutex<()>,
    waiting: AtomicUsize,
    /// What it was told last.
    lent: watch::Sender<Option<Timestamp>>,
}

impl Remote {
    pub fn new(
        name: String,
        hello: Hello,
        devices: Arc<Devices>,
        wishes: mpsc::UnboundedSender<Wish>,
        states: watch::Receiver<State>,
    ) -> Self {
        let (turn, looking) = (Mutex::default(), Mutex::default());
        let waiting = AtomicUsize::new(0);
        let lent = watch::Sender::default();
        Self { name, hello, devices, wishes, states, turn, looking, waiting, lent }
    }

    /// How many orders wait here, besides those that wait on the device.
    pub fn queue(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    async fn perform(&self, order: Order) -> Result<Outcome, DesktopError> {
        if let Action::Wait(Waiting::For(seconds)) = order.action {
            return self.idle(seconds, &order).await;
        }
        let kind = self.known(&order.action)?;
        let follows = order.after.filter(|_| SEED.contains(&kind));
        let order = Order { after: order.after.filter(|_| follows.is_none()), ..order };
        let _turn = if is_aside(&order.action) { None } else { Some(self.turn(&order).await?) };
        let outcome = self.ask(&order).await?;
        match follows {
            Some(after) => Ok(self.with_picture(outcome, after).await),
            None => Ok(outcome),
        }
    }

    /// The name of an action, if the device knows it.
    fn known(&self, action: &Action) -> Result<&'static str, DesktopError> {
        let kind = action.kind();
        let is_known = self.hello.info.commands.iter().any(|known| known == kind);
        if is_known { Ok(kind) } else { Err(DesktopError::unsupported(kind, &self.name)) }
    }

    /// Waiting needs no device.
    async fn idle(&self, seconds: f64, order: &Order) -> Result<Outcome, DesktopError> {
        let over = sleep(Duration::try_from_secs_f64(seconds).unwrap_or_default());
        self.devices.wait(&self.name, &order.id, over).await?;
        let outcome = Outcome::said(order.action.done(None));
        match order.after {
            Some(after) => Ok(self.with_picture(outcome, after).await),
            None => Ok(outcome),
        }
    }

    /// Orders are sent one at a time, so that each has all of its time.
    async fn turn(&self, order: &Order) -> Result<MutexGuard<'_, ()>, DesktopError> {
        let waiting = Count::up(&self.waiting);
        if waiting.before >= MOST {
            return Err(DesktopError::queue_full());
        }
        let is_taken = || self.states.borrow().paused.is_some();
        let was_taken = is_taken();
        let turn = self.devices.wait(&self.name, &order.id, self.turn.lock()).await?;
        // A person took it meanwhile; whoever comes later is told by the device itself.
        if order.action.is_input() && !was_taken && is_taken() {
            return Err(DesktopError::stopped());
        }
        Ok(turn)
    }

    /// Sends it, and waits for the answer.
    async fn ask(&self, order: &Order) -> Result<Outcome, DesktopError> {
        let id = if order.id.is_empty() { self.devices.number() } else { order.id.clone() };
        let order = Order { id: id.clone(), ..order.clone() };
        let frame = say::command(&order, !self.hello.is_extended)?;
        let reply = self.exchange(id, frame, patience(&order.action)).await?;
        reply::read(&order.action, &reply)
    }

    async fn exchange(
        &self,
        id: String,
        frame: Map<String, Value>,
        patience: Duration,
    ) -> Result<Value, DesktopError> {
        let (reply, answer) = oneshot::channel();
        let sent = self.wishes.send(Wish::Send { id: id.clone(), frame, reply });
        sent.map_err(|_| DesktopError::disconnected())?;
        let mut pending = Pending { id: Some(id), wishes: &self.wishes };
        let answered = timeout(patience, answer).await;
        if answered.is_ok() {
            pending.id = None;
        }
        match answered {
            Ok(Ok(reply)) => Ok(reply),
            Ok(Err(_)) => Err(DesktopError::disconnected()),
            Err(_) => Err(DesktopError::timeout()),
        }
    }

    /// The seed's commands have no room for a picture, so it is taken after them.
    async fn with_picture(&self, outcome: Outcome, after: After) -> Outcome {
        let Outcome::Done(mut done) = outcome else { return outcome };
        let settled = Instant::now() + Duration::from_millis(after.settle_ms.into());
        let shot = Order::from(Action::Screenshot(after.shot));
        let mut last = None;
        while let Ok(Outcome::Picture(picture)) = self.ask(&shot).await {
            let is_still = last.as_ref() == Some(&picture);
            last = Some(picture);
            if is_still || Instant::now() + GLANCE > settled {
                break;
            }
            sleep(GLANCE).await;
        }
        done.picture = last;
        Outcome::Done(done)
    }

    /// Something that only a device of ours understands.
    async fn tell(&self, kind: &str, more: Value) -> Result<Value, DesktopError> {
        if !self.hello.is_extended {
            return Err(DesktopError::unsupported(kind, &self.name));
        }
        let id = self.devices.number();
        let mut frame = Map::from_iter([("type".to_owned(), kind.into())]);
        frame.extend(more.as_object().cloned().unwrap_or_default());
        frame.insert("commandId".to_owned(), id.as_str().into());
        let reply = self.exchange(id, frame, PATIENCE).await?;
        // Both answer with words alone, as does letting go of everything.
        match reply::read(&Action::ReleaseAll, &reply) {
            Ok(_) => Ok(reply),
            Err(error) => Err(error),
        }
    }
}

impl Desktop for Remote {
    fn info(&self) -> BoxFuture<'_, Result<Info, DesktopError>> {
        future::ready(Ok(self.hello.info.clone())).boxed()
    }

    fn act(&self, order: Order) -> BoxFuture<'_, Result<Outcome, DesktopError>> {
        self.perform(order).boxed()
    }

    fn cancel(&self, target: Option<String>) -> BoxFuture<'_, Result<usize, DesktopError>> {
        async move {
            let target = target.map_or_else(|| json!({}), |id| json!({ "target": id }));
            let reply = self.tell("cancel", target).await?;
            let message = reply["message"].as_str().unwrap_or_default();
            let count = message.split(' ').find_map(|word| word.parse().ok());
            Ok(count.unwrap_or_default())
        }
        .boxed()
    }

    fn hand_back(&self) -> BoxFuture<'_, Result<(), DesktopError>> {
        async move {
            if self.hello.is_extended {
                self.tell("hand_back", json!({})).await?;
            }
            // One that knows only the seed has no person to hand it back.
            Ok(())
        }
        .boxed()
    }

    fn glance(&self, cursor: bool) -> BoxFuture<'_, Result<Pixels, DesktopError>> {
        async move {
            let shot = Shot { format: Format::Png, max_edge: GLANCED, cursor, ..Shot::default() };
            let order = Order::from(Action::Screenshot(shot));
            self.known(&order.action)?;
            let _looking = self.looking.lock().await;
            match self.ask(&order).await? {
                Outcome::Picture(frame) => glance::read(&frame),
                _ => Err(DesktopError::failed("the device answered without a picture")),
            }
        }
        .boxed()
    }

    fn pace(&self) -> Duration {
        if self.hello.is_extended { POLL } else { POLL * 2 }
    }

    fn lend(&self, until: Option<Timestamp>) {
        let is_news = |told: &mut Option<Timestamp>| std::mem::replace(told, until) != until;
        if self.hello.is_extended && self.lent.send_if_modified(is_news) {
            // A socket that is gone has nobody to tell.
            self.wishes.send(Wish::Armed(until)).ok();
        }
    }

    fn states(&self) -> watch::Receiver<State> {
        self.states.clone()
    }
}

/// What is answered at once, whatever else is being done.
fn is_aside(action: &Action) -> bool {
    matches!(action, Action::GetMousePosition | Action::ScreenInfo | Action::ReleaseAll)
}

fn patience(action: &Action) -> Duration {
    let stated = Duration::try_from_secs_f64(stated(action).clamp(0.0, 1e6)).unwrap_or_default();
    if stated.is_zero() { PATIENCE } else { PATIENCE.max(stated + GRACE) }
}

/// How many seconds it says that it takes.
fn stated(action: &Action) -> f64 {
    match action {
        Action::MouseMove { duration, .. }
        | Action::MouseMoveBy { duration, .. }
        | Action::HoldKey { duration, .. } => *duration,
        Action::MouseDrag(drag) => drag.duration,
        Action::KeyboardType { text, delay_ms, .. } => {
            let count = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
            f64::from(count) * f64::from(*delay_ms) / 1000.0
        }
        Action::Wait(Waiting::For(seconds) | Waiting::Stable { timeout: seconds }) => *seconds,
        Action::Batch { actions, .. } => actions.iter().map(stated).sum(),
        _ => 0.0,
    }
}

/// Counts those who wait.
struct Count<'a> {
    count: &'a AtomicUsize,
    before: usize,
}

impl<'a> Count<'a> {
    fn up(count: &'a AtomicUsize) -> Self {
        Self { count, before: count.fetch_add(1, Ordering::Relaxed) }
    }
}

impl Drop for Count<'_> {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A command without an answer; dropping it calls it off.
struct Pending<'a> {
    id: Option<String>,
    wishes: &'a mpsc::UnboundedSender<Wish>,
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        if let Some(id) = self.id.take() {
            // Who is gone need not be told.
            self.wishes.send(Wish::Forget { id }).ok();
        }
    }
}
