//! A desktop that tells where everything is, and somebody to whom a part of it is lent.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::{FutureExt as _, future::BoxFuture};
use kernel::{
    desktop::{
        Action, Arming, Button, Class, Code, Desktop, DesktopError, Drag, Info, Modifier, Order,
        Outcome, Pane, Point, Rect, State, Stay, Who,
    },
    host::{Host, Settings},
    toolbox::Caller,
    update::SessionId,
};
use testkit::World;
use tokio::sync::watch;

pub const PART: Rect = Rect { x: 100, y: 100, w: 800, h: 600 };
pub const ONLY: &str = "Desktop control is lent for a part of the screen only";

/// Tells where its pointer and its windows are, if it can, and keeps everything that it was asked.
#[derive(Clone, Default)]
pub struct Watched {
    asked: Arc<Mutex<Vec<Action>>>,
    pub pointer: Arc<Mutex<Option<(i32, i32)>>>,
    windows: Arc<Mutex<Option<Vec<Pane>>>>,
    states: watch::Sender<State>,
}

impl Watched {
    pub fn at(x: i32, y: i32) -> Self {
        let watched = Self::default();
        *watched.pointer.lock().unwrap() = Some((x, y));
        watched
    }

    pub fn with(windows: Vec<Pane>) -> Self {
        let watched = Self::default();
        *watched.windows.lock().unwrap() = Some(windows);
        watched
    }

    /// Everything since this was last asked.
    pub fn asked(&self) -> Vec<Action> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

impl Desktop for Watched {
    fn info(&self) -> BoxFuture<'_, Result<Info, DesktopError>> {
        async { Err(DesktopError::no_client()) }.boxed()
    }

    fn act(&self, order: Order) -> BoxFuture<'_, Result<Outcome, DesktopError>> {
        let unsupported = || DesktopError::unsupported(order.action.kind(), "studio");
        let outcome = match &order.action {
            Action::GetMousePosition => {
                let at = *self.pointer.lock().unwrap();
                let told = at.map(|(x, y)| Outcome::Position { x, y, moving: false });
                told.ok_or_else(unsupported)
            }
            Action::WindowList => {
                let windows = self.windows.lock().unwrap().clone();
                windows.map(Outcome::Windows).ok_or_else(unsupported)
            }
            action => Ok(Outcome::said(action.done(None))),
        };
        self.asked.lock().unwrap().push(order.action);
        async { outcome }.boxed()
    }

    fn cancel(&self, _: Option<String>) -> BoxFuture<'_, Result<usize, DesktopError>> {
        async { Ok(0) }.boxed()
    }

    fn hand_back(&self) -> BoxFuture<'_, Result<(), DesktopError>> {
        async { Ok(()) }.boxed()
    }

    fn states(&self) -> watch::Receiver<State> {
        self.states.subscribe()
    }
}

pub struct Home {
    pub host: Arc<Host>,
    pub session: SessionId,
    _stay: Stay,
}

impl Home {
    pub async fn new(desktop: impl Desktop + 'static) -> Self {
        let host = Host::start(World::new([]).ports(), Settings::default()).await.unwrap();
        let session = host.create("/".as_ref(), "test", "").await.unwrap();
        let stay = host.devices.join("studio", Arc::new(desktop));
        Self { host, session, _stay: stay }
    }

    /// With leave for the part.
    pub async fn bound(desktop: impl Desktop + 'static) -> Self {
        let home = Self::new(desktop).await;
        home.lend(Some(home.session), &Class::ALL, Some(PART));
        home
    }

    pub fn lend(&self, session: Option<SessionId>, classes: &[Class], area: Option<Rect>) {
        let until = self.host.ports.clock.now() + Duration::from_mins(15);
        let (device, classes) = ("studio".to_owned(), classes.into());
        self.host.devices.arm(Arming { device, session, classes, until, area });
    }

    pub fn act(&self, action: Action) -> BoxFuture<'_, Result<Outcome, DesktopError>> {
        self.act_for(self.session, action)
    }

    pub fn act_for(
        &self,
        session: SessionId,
        action: Action,
    ) -> BoxFuture<'_, Result<Outcome, DesktopError>> {
        let who = Who { session: Some(session), caller: Caller::Model };
        async move { self.host.devices.act(who, "studio", action.into()).await.1 }.boxed()
    }
}

pub fn refused(why: &str) -> DesktopError {
    DesktopError::new(Code::Denied, format!("{ONLY}: {why}")).expecting(["100, 100, 800 × 600"])
}

pub fn point(x: u32, y: u32) -> Point {
    Point { x, y }
}

pub fn to(x: u32, y: u32) -> Action {
    Action::MouseMove { to: point(x, y), duration: 0.0 }
}

pub fn by(dx: i32, dy: i32) -> Action {
    Action::MouseMoveBy { dx, dy, duration: 0.0 }
}

pub fn drag(path: &[(u32, u32)]) -> Action {
    let path = path.iter().map(|(x, y)| point(*x, *y)).collect();
    Action::MouseDrag(Drag { path, button: Button::Left, duration: 0.0, modifiers: vec![] })
}

pub fn click() -> Action {
    Action::MouseClick { button: Button::Left }
}

pub fn click_at(x: u32, y: u32, modifiers: &[Modifier]) -> Action {
    let (at, modifiers) = (Some(point(x, y)), modifiers.into());
    Action::MouseClickAt { at, button: Button::Left, count: 1, modifiers }
}

pub fn text() -> Action {
    Action::KeyboardInput { text: "a".into(), secret: false }
}

pub fn batch(actions: Vec<Action>, stop_on_error: bool) -> Action {
    Action::Batch { actions, stop_on_error }
}

pub fn pane(id: u32, (x, y, w, h): (i32, i32, u32, u32), focused: bool) -> Pane {
    let (title, class) = ("a window".to_owned(), "XTerm".to_owned());
    Pane { id, title, class, pid: None, x, y, w, h, focused, minimized: false, display: None }
}
