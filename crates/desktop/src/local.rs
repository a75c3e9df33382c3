//! The desktop of this machine, connected when it is first needed and again when the line was cut.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures::{FutureExt as _, future::BoxFuture};
use kernel::desktop::{Action, Desktop, DesktopError, Info, Order, Outcome, Pixels, State};
use tokio::sync::watch;

use crate::{
    choice::{Backend, chosen},
    desk::Desk,
    guard::Post,
    lamp::Lamp,
    seat::{self, Seat},
};

#[derive(Clone, Debug)]
pub struct Settings {
    /// What drives it, if that shall not be chosen by the environment.
    pub backend: Option<Backend>,
    /// The display, if not that of the environment: of X11, unless another backend is named.
    pub display: Option<String>,
    /// Where it is noted what to put right after a crash.
    pub journal: Option<PathBuf>,
    /// How a process is started that does so at once, from what is noted; none if empty.
    pub guard: Post,
    /// How long a key or button stays down that nobody lets go.
    pub longest_hold: Duration,
    /// Programs whose windows get no input, by what they call themselves, whatever the case; a
    /// `*` at the end stands for anything.
    pub denied: Vec<String>,
    /// How long a window may take to fetch what is pasted into it.
    pub paste_patience: Duration,
    /// How long after a rest a pointer may still be moved a little: the hand that said yes is on
    /// the mouse.
    pub grace: Duration,
    /// Whether it is heard what a person does, where the display tells; else it is only seen that
    /// the pointer is not where we put it.
    pub listen: bool,
}

/// Who keeps or asks for passwords.
const SECRETIVE: [&str; 14] = [
    "1password*",
    "bitwarden*",
    "enpass*",
    "gcr-prompter",
    "gnome-keyring*",
    "kdesu*",
    "keepass*",
    "ksecretd*",
    "kwallet*",
    "lxqt-policykit*",
    "org.keepassxc*",
    "pinentry*",
    "polkit*",
    "seahorse*",
];

impl Default for Settings {
    fn default() -> Self {
        Self {
            backend: None,
            display: None,
            journal: None,
            guard: Vec::new(),
            longest_hold: Duration::from_mins(1),
            denied: SECRETIVE.map(ToOwned::to_owned).into(),
            paste_patience: Duration::from_millis(500),
            grace: Duration::from_secs(1),
            listen: true,
        }
    }
}

#[derive(Clone)]
pub struct Local {
    settings: Settings,
    desk: Arc<Desk>,
    seat: Arc<Mutex<Option<Arc<dyn Seat>>>>,
    lamp: Arc<Lamp>,
}

impl Local {
    pub fn new(settings: Settings) -> Self {
        Self { settings, desk: Desk::new(), seat: Arc::default(), lamp: Arc::default() }
    }

    /// Puts right what a crash has left, if there is anything; a machine without a display has
    /// nothing to put right.
    pub async fn mend(&self) {
        let left = self.settings.journal.as_deref().is_some_and(is_left);
        if left && let Err(error) = self.with_seat(|_| Ok(())).await {
            tracing::warn!(%error, "cannot put the keyboard right after a crash");
        }
    }

    /// Has the whole screen put where it can be read, for measuring.
    pub async fn capture(&self) -> Result<(), DesktopError> {
        self.with_seat(|seat| seat.capture()).await
    }

    async fn attempt(&self, order: Order) -> Result<Outcome, DesktopError> {
        match order.action {
            Action::GetMousePosition if order.after.is_none() => {
                let moving = self.desk.is_moving();
                self.with_seat(move |seat| seat.position(moving)).await
            }
            Action::ScreenInfo if order.after.is_none() => {
                self.with_seat(|seat| seat.screen()).await
            }
            _ => {
                let (job, waiting, answer) = self.desk.open(order);
                if let Some(seat) = self.open_seat() {
                    seat.enqueue(job);
                } else {
                    let enqueue = move |seat: &dyn Seat| {
                        seat.enqueue(job);
                        Ok(())
                    };
                    self.with_seat(enqueue).await?;
                }
                let cut = || DesktopError::failed("OS Failure: the line to the display is cut");
                let result = answer.await.unwrap_or_else(|_| Err(cut()));
                drop(waiting);
                result
            }
        }
    }

    /// Does something that may wait for the display, where waiting harms nobody.
    async fn with_seat<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn Seat) -> Result<T, DesktopError> + Send + 'static,
    ) -> Result<T, DesktopError> {
        let local = self.clone();
        let done = tokio::task::spawn_blocking(move || work(local.seat()?.as_ref())).await;
        done.unwrap_or_else(|_| Err(DesktopError::failed("OS Failure: the work broke down")))
    }

    /// What a person has done so far is not a taking over.
    async fn rested(&self) -> Result<(), DesktopError> {
        let seat = self.seat.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(seat) = seat else { return Ok(()) };
        let rested = tokio::task::spawn_blocking(move || seat.rest()).await;
        rested.unwrap_or_else(|_| Err(DesktopError::failed("OS Failure: the work broke down")))
    }

    /// If it is there, and nobody is about to open it.
    fn open_seat(&self) -> Option<Arc<dyn Seat>> {
        let seat = self.seat.try_lock().ok()?;
        seat.as_ref().filter(|seat| seat.is_alive()).cloned()
    }

    fn seat(&self) -> Result<Arc<dyn Seat>, DesktopError> {
        let mut seat = self.seat.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(seat) = seat.as_ref().filter(|seat| seat.is_alive()) {
            return Ok(seat.clone());
        }
        *seat = None;
        let opened = seat::open(&self.settings, &self.desk)?;
        *seat = Some(opened.clone());
        Ok(opened)
    }
}

impl Desktop for Local {
    fn info(&self) -> BoxFuture<'_, Result<Info, DesktopError>> {
        async {
            let backend = chosen(&self.settings)?.name().to_owned();
            let look = |seat: &dyn Seat| Ok((seat.size()?, seat.commands(), seat.hears()));
            let (screen, commands, hears) = self.with_seat(look).await?;
            let platform = std::env::consts::OS.to_owned();
            Ok(Info { platform, backend, screen: Some(screen), commands, hears })
        }
        .boxed()
    }

    fn act(&self, order: Order) -> BoxFuture<'_, Result<Outcome, DesktopError>> {
        async {
            order.action.check()?;
            let action = order.action.clone();
            if let Some(after) = &order.after {
                after.check().map_err(|error| action.failed(error))?;
            }
            self.attempt(order).await.map_err(|error| action.failed(error))
        }
        .boxed()
    }

    fn cancel(&self, target: Option<String>) -> BoxFuture<'_, Result<usize, DesktopError>> {
        async move { Ok(self.desk.cancel(target.as_deref())) }.boxed()
    }

    fn hand_back(&self) -> BoxFuture<'_, Result<(), DesktopError>> {
        async {
            self.rested().await?;
            self.desk.hand_back();
            Ok(())
        }
        .boxed()
    }

    fn glance(&self, cursor: bool) -> BoxFuture<'_, Result<Pixels, DesktopError>> {
        self.with_seat(move |seat| seat.glance(cursor)).boxed()
    }

    fn pace(&self) -> Duration {
        Duration::from_millis(66)
    }

    fn rest(&self) {
        let local = self.clone();
        tokio::spawn(async move {
            if let Err(error) = local.rested().await {
                tracing::warn!(%error, "cannot tell whether a person has let go of the desktop");
            }
        });
    }

    fn indicate(&self, armed: bool) {
        self.lamp.set(armed, &self.settings);
    }

    fn states(&self) -> watch::Receiver<State> {
        self.desk.states.subscribe()
    }
}

#[cfg(target_os = "linux")]
fn is_left(journal: &Path) -> bool {
    journal.exists() || crate::wayland::record(journal).exists()
}

#[cfg(not(target_os = "linux"))]
fn is_left(journal: &Path) -> bool {
    journal.exists()
}
