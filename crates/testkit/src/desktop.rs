//! A desktop that exists only in memory: a pointer on a screen of 1920 by 1080, and a list of what was done.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::{
    FutureExt as _,
    future::{self, BoxFuture},
};
use kernel::desktop::{
    Action, Desktop, DesktopError, Display, Done, Format, Frame, Info, Mapping, Order, Outcome,
    Pane, Pause, Pixels, Point, Rect, Screen, State, Waiting,
};
use tokio::{
    sync::watch,
    time::{Duration, sleep},
};

const WIDTH: u32 = 1920;
const HEIGHT: u32 = 1080;
const SCREEN: Rect = Rect { x: 0, y: 0, w: WIDTH, h: HEIGHT };
/// What is always to be seen on it: a picture of 16 by 9.
const PICTURE: &[u8] = include_bytes!("screen.png");

/// Clones are the same desktop.
#[derive(Clone)]
pub struct FakeDesktop(Arc<Inner>);

struct Inner {
    seen: Mutex<Seen>,
    states: watch::Sender<State>,
    /// Whether everything that is asked waits.
    held: watch::Sender<bool>,
    /// Whether glances wait, and how many do.
    dark: watch::Sender<bool>,
    looking: watch::Sender<usize>,
    /// Whether it shows that it may be driven.
    lit: watch::Sender<bool>,
    /// How many orders have begun, whether they were done or not.
    begun: watch::Sender<usize>,
    turn: tokio::sync::Mutex<()>,
    broken: Option<DesktopError>,
}

#[derive(Default)]
struct Seen {
    at: Option<Point>,
    moving: bool,
    done: Vec<Action>,
    clipboard: Option<String>,
    /// Parts of the screen that were painted over, later ones above earlier ones.
    paint: Vec<(Rect, [u8; 3])>,
    glances: usize,
    releases: usize,
}

impl Default for FakeDesktop {
    fn default() -> Self {
        Self::with(None)
    }
}

impl FakeDesktop {
    /// One that cannot be reached, for this reason.
    pub fn broken(error: DesktopError) -> Self {
        Self::with(Some(error))
    }

    fn with(broken: Option<DesktopError>) -> Self {
        Self(Arc::new(Inner {
            seen: Mutex::default(),
            states: watch::Sender::default(),
            held: watch::Sender::default(),
            dark: watch::Sender::default(),
            looking: watch::Sender::default(),
            lit: watch::Sender::default(),
            begun: watch::Sender::default(),
            turn: tokio::sync::Mutex::default(),
            broken,
        }))
    }

    /// Everything that changed something, in order.
    pub fn done(&self) -> Vec<Action> {
        self.seen().done.clone()
    }

    /// Whether it shows that it may be driven.
    pub fn is_lit(&self) -> bool {
        *self.0.lit.borrow()
    }

    pub fn at(&self) -> Point {
        self.seen().at.unwrap_or(Point { x: 0, y: 0 })
    }

    /// Lets input wait from now on, or lets it go.
    pub fn hold(&self, held: bool) {
        self.0.held.send_replace(held);
    }

    /// Returns when so many orders have begun.
    pub async fn begun(&self, count: usize) {
        let mut begun = self.0.begun.subscribe();
        begun.wait_for(|begun| *begun >= count).await.unwrap();
    }

    /// Paints over a part of its screen: red, green, blue.
    pub fn paint(&self, part: Rect, colour: [u8; 3]) {
        self.seen().paint.push((part, colour));
    }

    /// Nothing of its screen is to be seen from now on: whoever looks waits.
    pub fn darken(&self) {
        self.0.dark.send_replace(true);
    }

    /// Returns when so many look and wait.
    pub async fn looked_at_by(&self, count: usize) {
        let mut looking = self.0.looking.subscribe();
        looking.wait_for(|looking| *looking == count).await.unwrap();
    }

    /// How often somebody has looked at its screen.
    pub fn glances(&self) -> usize {
        self.seen().glances
    }

    /// How often it was told to let go of everything.
    pub fn releases(&self) -> usize {
        self.seen().releases
    }

    /// A person takes it, or gives it back.
    pub fn take(&self, paused: Option<Pause>) {
        self.0.states.send_modify(|state| state.paused = paused);
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn perform(&self, action: &Action) -> Result<Outcome, DesktopError> {
        action.check()?;
        if let Some(outcome) = self.look(action) {
            return Ok(outcome);
        }
        let _turn = self.0.turn.lock().await;
        self.0.begun.send_modify(|begun| *begun += 1);
        let mut held = self.0.held.subscribe();
        let mut taken = self.0.states.subscribe();
        tokio::select! {
            _ = held.wait_for(|held| !held) => (),
            _ = taken.wait_for(|state| state.paused.is_some()) => return Err(DesktopError::stopped()),
        }
        self.input(action).await
    }

    fn look(&self, action: &Action) -> Option<Outcome> {
        let mut seen = self.seen();
        let at = seen.at.unwrap_or(Point { x: 0, y: 0 });
        seen.releases += usize::from(*action == Action::ReleaseAll);
        Some(match action {
            Action::GetMousePosition => Outcome::Position {
                x: at.x.cast_signed(),
                y: at.y.cast_signed(),
                moving: seen.moving,
            },
            Action::ScreenInfo => Outcome::Screen(screen()),
            Action::WindowList => Outcome::Windows(vec![window()]),
            Action::ClipboardGet => Outcome::Clipboard { text: seen.clipboard.clone() },
            Action::ReleaseAll => Outcome::said("Released 0 keys, 0 buttons"),
            Action::Screenshot(_) | Action::Zoom(_) => Outcome::Picture(picture()),
            _ => return None,
        })
    }

    async fn input(&self, action: &Action) -> Result<Outcome, DesktopError> {
        match action {
            Action::MouseMove { to, duration } => self.slide(*to, *duration, action).await?,
            Action::Wait(Waiting::For(seconds)) => pause(*seconds).await,
            Action::HoldKey { duration, .. } => pause(*duration).await,
            Action::ClipboardSet { text } => self.seen().clipboard = Some(text.clone()),
            Action::Batch { actions, stop_on_error } => {
                return Ok(self.batch(actions, *stop_on_error).await);
            }
            Action::MouseClickAt { at: Some(at), .. } => self.slide(*at, 0.0, action).await?,
            _ => (),
        }
        let mut seen = self.seen();
        seen.done.push(action.clone());
        let at = seen.at;
        let done = Done { message: action.done(at), at, ..Done::default() };
        Ok(Outcome::Done(done))
    }

    async fn slide(&self, to: Point, seconds: f64, action: &Action) -> Result<(), DesktopError> {
        if !SCREEN.contains(to) {
            return Err(action.failed(DesktopError::out_of_bounds(to.x.into(), to.y.into())));
        }
        let moving = Moving::begin(self);
        pause(seconds).await;
        drop(moving);
        self.seen().at = Some(to);
        Ok(())
    }

    async fn batch(&self, actions: &[Action], stop_on_error: bool) -> Outcome {
        let mut results = Vec::new();
        for action in actions {
            let result = match self.look(action) {
                Some(outcome) => Ok(outcome),
                None => Box::pin(self.input(action)).await,
            };
            let failed = result.is_err();
            results.push(result);
            if failed && stop_on_error {
                break;
            }
        }
        Outcome::Batch(results)
    }
}

/// Somebody looks while this is there.
struct Looking<'a>(&'a FakeDesktop);

impl<'a> Looking<'a> {
    fn begin(desktop: &'a FakeDesktop) -> Self {
        desktop.0.looking.send_modify(|looking| *looking += 1);
        Self(desktop)
    }
}

impl Drop for Looking<'_> {
    fn drop(&mut self) {
        self.0.0.looking.send_modify(|looking| *looking -= 1);
    }
}

/// The pointer is on its way while this is there.
struct Moving<'a>(&'a FakeDesktop);

impl<'a> Moving<'a> {
    fn begin(desktop: &'a FakeDesktop) -> Self {
        desktop.seen().moving = true;
        Self(desktop)
    }
}

impl Drop for Moving<'_> {
    fn drop(&mut self) {
        self.0.seen().moving = false;
    }
}

async fn pause(seconds: f64) {
    sleep(Duration::try_from_secs_f64(seconds).unwrap_or_default()).await;
}

fn screen() -> Screen {
    let display = Display { id: 0, name: "fake".into(), area: SCREEN, scale: 1.0, primary: true };
    Screen {
        w: WIDTH,
        h: HEIGHT,
        displays: vec![display],
        backend: "fake".into(),
        layout: "us".into(),
        group: 0,
    }
}

fn window() -> Pane {
    Pane {
        id: 7,
        title: "A terminal".into(),
        class: "XTerm".into(),
        pid: Some(42),
        x: -3,
        y: 20,
        w: 640,
        h: 480,
        focused: true,
        minimized: false,
        display: Some(0),
    }
}

fn picture() -> Frame {
    Frame { bytes: PICTURE.to_vec(), format: Format::Png, width: 16, height: 9, screen: SCREEN }
}

/// What a glance shows: a sixth of the screen's size each way, grey where nothing was painted.
fn shown(paint: &[(Rect, [u8; 3])]) -> Pixels {
    let mapping = Mapping { width: WIDTH / 6, height: HEIGHT / 6, screen: SCREEN };
    let points = (0..mapping.height).flat_map(|y| (0..mapping.width).map(move |x| Point { x, y }));
    let bytes = points.flat_map(|point| {
        let at = mapping.to_screen(point).unwrap_or(point);
        let above = paint.iter().rev().find(|(part, _)| part.contains(at));
        let [red, green, blue] = above.map_or([128; 3], |(_, colour)| *colour);
        [blue, green, red, 0]
    });
    Pixels::new(mapping, bytes.collect()).unwrap()
}

impl Desktop for FakeDesktop {
    fn info(&self) -> BoxFuture<'_, Result<Info, DesktopError>> {
        let info = Info {
            platform: "linux".into(),
            backend: "fake".into(),
            screen: Some((WIDTH, HEIGHT)),
            commands: Action::KINDS.map(str::to_owned).to_vec(),
            hears: true,
        };
        future::ready(self.0.broken.clone().map_or(Ok(info), Err)).boxed()
    }

    fn act(&self, order: Order) -> BoxFuture<'_, Result<Outcome, DesktopError>> {
        async move {
            if let Some(error) = &self.0.broken {
                return Err(order.action.failed(error.clone()));
            }
            let is_taken = self.0.states.borrow().paused.is_some();
            if is_taken && order.action.is_input() {
                return Err(DesktopError::paused());
            }
            let mut outcome = self.perform(&order.action).await?;
            if let (Outcome::Done(done), Some(_)) = (&mut outcome, order.after) {
                done.picture = Some(picture());
            }
            Ok(outcome)
        }
        .boxed()
    }

    fn cancel(&self, _: Option<String>) -> BoxFuture<'_, Result<usize, DesktopError>> {
        // Whoever asked drops what they asked for.
        future::ready(Ok(0)).boxed()
    }

    fn hand_back(&self) -> BoxFuture<'_, Result<(), DesktopError>> {
        self.take(None);
        future::ready(Ok(())).boxed()
    }

    fn glance(&self, _: bool) -> BoxFuture<'_, Result<Pixels, DesktopError>> {
        let mut seen = self.seen();
        seen.glances += 1;
        let shown = shown(&seen.paint);
        let mut dark = self.0.dark.subscribe();
        async move {
            let _looking = Looking::begin(self);
            dark.wait_for(|dark| !dark).await.unwrap();
            self.0.broken.clone().map_or(Ok(shown), Err)
        }
        .boxed()
    }

    fn pace(&self) -> Duration {
        Duration::from_millis(10)
    }

    fn indicate(&self, armed: bool) {
        self.0.lit.send_replace(armed);
    }

    fn states(&self) -> watch::Receiver<State> {
        self.0.states.subscribe()
    }
}
