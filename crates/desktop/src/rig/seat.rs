//! One thread that does what is asked, in its order, and eyes for quick questions.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use kernel::desktop::{Action, DesktopError, Mapping, Outcome, Pixels, Shot};

use super::{Eyes, Hands, area, performing::Performer, screen, size};
use crate::{
    desk::{Desk, Job},
    local::Settings,
    seat::Seat,
    worker::{Queue, Worker},
};

pub struct Rigged {
    worker: Worker,
    eyes: Mutex<Box<dyn Eyes>>,
    commands: Vec<String>,
    alive: Arc<AtomicBool>,
}

impl Rigged {
    /// The eyes of whoever acts, and those of whoever looks on.
    pub fn new(
        hands: Box<dyn Hands>,
        [acting, looking]: [Box<dyn Eyes>; 2],
        settings: &Settings,
        desk: &Arc<Desk>,
    ) -> Result<Self, DesktopError> {
        let lacks = hands.lacks();
        let kinds = Action::KINDS.into_iter().filter(|kind| !lacks.contains(kind));
        let commands = kinds.map(ToOwned::to_owned).collect();
        let alive = Arc::new(AtomicBool::new(true));
        let performer = Performer::new(hands, acting, settings.denied.clone(), alive.clone());
        let worker = Worker::start(performer, Queue::open(), desk, settings.longest_hold)?;
        Ok(Self { worker, eyes: Mutex::new(looking), commands, alive })
    }

    /// What cannot be seen because the line is cut is the last that is asked for on it.
    fn look<T>(
        &self,
        work: impl FnOnce(&mut dyn Eyes) -> Result<T, DesktopError>,
    ) -> Result<T, DesktopError> {
        let mut eyes = self.eyes();
        let seen = work(eyes.as_mut());
        if seen.is_err() && !eyes.is_alive() {
            self.alive.store(false, Ordering::Release);
        }
        seen
    }

    fn eyes(&self) -> MutexGuard<'_, Box<dyn Eyes>> {
        self.eyes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seat for Rigged {
    fn enqueue(&self, job: Job) {
        self.worker.enqueue(job);
    }

    fn position(&self, moving: bool) -> Result<Outcome, DesktopError> {
        let at = self.look(|eyes| eyes.pointer())?;
        let signed = |number: u32| i32::try_from(number).unwrap_or(i32::MAX);
        Ok(Outcome::Position { x: signed(at.x), y: signed(at.y), moving })
    }

    fn screen(&self) -> Result<Outcome, DesktopError> {
        self.look(|eyes| screen(eyes)).map(Outcome::Screen)
    }

    fn glance(&self, cursor: bool) -> Result<Pixels, DesktopError> {
        self.look(|eyes| {
            let area = area(eyes, &Shot::default())?;
            let bytes = eyes.pixels(area, cursor)?;
            let mapping = Mapping { width: area.w, height: area.h, screen: area };
            let odd = || DesktopError::failed("the picture is not as large as the screen");
            Pixels::new(mapping, bytes).ok_or_else(odd)
        })
    }

    fn size(&self) -> Result<(u32, u32), DesktopError> {
        self.look(|eyes| Ok(size(&eyes.displays()?)))
    }

    fn commands(&self) -> Vec<String> {
        self.commands.clone()
    }

    fn hears(&self) -> bool {
        false
    }

    fn is_alive(&self) -> bool {
        self.alive.load(Ordering::Acquire)
    }

    /// Nobody listens to what a person does here.
    fn rest(&self) -> Result<(), DesktopError> {
        Ok(())
    }
}
