//! Waiting that ends at once when somebody says stop, and whether the pointer is on its way meanwhile.

use std::{
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use kernel::desktop::DesktopError;

/// Belongs to one order; whoever may stop it has it too.
#[derive(Default)]
pub struct Stop {
    why: Mutex<Option<DesktopError>>,
    said: Condvar,
    moving: AtomicBool,
}

/// The pointer is on its way for as long as this is kept.
pub struct Moving<'a>(&'a AtomicBool);

impl Drop for Moving<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl Stop {
    /// The first word counts.
    pub fn say(&self, why: DesktopError) {
        self.why().get_or_insert(why);
        self.said.notify_all();
    }

    /// For whoever asks where the pointer is: it will not stay there.
    pub fn moves(&self) -> Moving<'_> {
        self.moving.store(true, Ordering::Release);
        Moving(&self.moving)
    }

    pub fn is_moving(&self) -> bool {
        self.moving.load(Ordering::Acquire)
    }

    pub fn check(&self) -> Result<(), DesktopError> {
        self.why().clone().map_or(Ok(()), Err)
    }

    pub fn rest(&self, duration: Duration) -> Result<(), DesktopError> {
        match Instant::now().checked_add(duration) {
            Some(until) => self.rest_until(until),
            None => Err(DesktopError::bad("that is too long")),
        }
    }

    pub fn rest_until(&self, until: Instant) -> Result<(), DesktopError> {
        let mut why = self.why();
        loop {
            if let Some(why) = &*why {
                return Err(why.clone());
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            why = self.said.wait_timeout(why, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn why(&self) -> MutexGuard<'_, Option<DesktopError>> {
        self.why.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
