//! What whoever sits in front of this machine is told of who may drive it, and who has it.

use futures::future;
use jiff::Timestamp;
use kernel::desktop::{Pause, State};
use tokio::sync::watch;

/// Whether anything may be done here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Window {
    #[default]
    Closed,
    /// Until then, if that was said at this machine or by the hub; else until the hub ends it.
    Open { until: Option<Timestamp> },
    /// The time is over that was given at this machine.
    Over,
}

/// Something of that which was not so before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Window(Window),
    Paused(Pause),
    HandedBack,
}

/// How it was shown last, and how it is.
pub struct Shown {
    window: watch::Receiver<Window>,
    states: watch::Receiver<State>,
    was_window: Window,
    was_paused: Option<Pause>,
}

impl Shown {
    pub fn new(window: watch::Receiver<Window>, states: watch::Receiver<State>) -> Self {
        Self { window, states, was_window: Window::Closed, was_paused: None }
    }

    /// The next change. Dropping this in between loses nothing.
    pub async fn next(&mut self) -> Change {
        loop {
            let window = *self.window.borrow_and_update();
            let before = std::mem::replace(&mut self.was_window, window);
            // What is over need not be ended as well.
            if before != window && (before, window) != (Window::Over, Window::Closed) {
                return Change::Window(window);
            }
            let paused = self.states.borrow_and_update().paused;
            if std::mem::replace(&mut self.was_paused, paused) != paused {
                return paused.map_or(Change::HandedBack, Change::Paused);
            }
            tokio::select! {
                () = changed(&mut self.window) => (),
                () = changed(&mut self.states) => (),
            }
        }
    }
}

/// Returns when there is something new.
pub async fn changed<T>(what: &mut watch::Receiver<T>) {
    if what.changed().await.is_err() {
        // Who would tell is gone, and nothing changes any more.
        future::pending::<()>().await;
    }
}
