//! Listening to a display: whether a person touches it, and who wants what is on the clipboard.

mod clipboard;
mod raw;

use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use kernel::desktop::{DesktopError, Pause, Point};
use x11rb::{
    connection::Connection as _,
    errors::ConnectionError,
    protocol::{
        Event,
        xproto::{
            ClientMessageEvent, ConnectionExt as _, CreateWindowAux, EventMask, Window, WindowClass,
        },
    },
};

use self::clipboard::{Atoms, Read, Transfer};
use super::{
    leeway::{Leeway, distance},
    line::Purpose,
    link::{Link, lost},
};
use crate::{
    ledger::{Ledger, Sent},
    local::Settings,
    stop::Stop,
};

/// How long after the last thing that we did a person who moves is one who takes over.
const AT_WORK: Duration = Duration::from_secs(30);
/// A pointer that is so far from where we put it was moved by somebody, where nobody is heard.
const AMISS: u32 = 2;
/// How long we may take to hear our own word.
const CATCHING_UP: Duration = Duration::from_secs(10);
/// How long nothing is listened to after something was heard, if nobody waits for it: most of it is our own doing, and
/// to be woken by each of our clicks would take longer than the click.
const PAUSE: Duration = Duration::from_millis(4);
/// How often somebody who waits looks whether to stop.
const GLANCE: Duration = Duration::from_millis(20);

/// One thread that hears, and what it has heard.
pub struct Ears {
    link: Link,
    window: Window,
    atoms: Atoms,
    heard: Mutex<Heard>,
    news: Condvar,
    /// What a person does means that we must stop, while we do something and soon after.
    work: Mutex<Work>,
    /// How long that is not so after a rest, for a little way.
    grace: Duration,
    leeway: Mutex<Leeway>,
    /// Whether the display tells what a person does.
    pub hears: bool,
    alarm: Alarm,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Work {
    #[default]
    Rest,
    /// Since then: a pointer that still moves a moment after is one that was let go.
    Now(Instant),
    Since(Instant),
}

#[derive(Default)]
struct Heard {
    /// What we give to whoever asks, and since which offer.
    offered: Option<String>,
    offer: u64,
    /// Windows that fetched the text of the present offer.
    takers: Vec<Window>,
    /// The last word that we sent to ourselves and heard.
    echo: u32,
    asked: u32,
    /// What came of asking for the clipboard.
    read: Option<Read>,
    /// As much of it as has come, where it comes in pieces.
    incoming: Option<Vec<u8>>,
    /// What is fetched from us in pieces.
    transfers: Vec<Transfer>,
    /// How many wait for something to be heard.
    awaited: usize,
    gone: bool,
}

/// Whoever wants to know of it.
pub type Alarm = Box<dyn Fn(Touch) + Send + Sync>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touch {
    Stop(Pause),
    /// The chord by which a person gives back.
    HandBack,
}

impl Ears {
    pub fn open(
        display: &str,
        settings: &Settings,
        ledger: Arc<Ledger>,
        alarm: Alarm,
    ) -> Result<Arc<Self>, DesktopError> {
        let link = Link::open_for(display, Purpose::Listening)?;
        let conn = &link.conn;
        let window = conn.generate_id().map_err(lost)?;
        let aux = CreateWindowAux::new().event_mask(EventMask::PROPERTY_CHANGE);
        let made = conn.create_window(
            0,
            window,
            link.root,
            0,
            0,
            1,
            1,
            0,
            WindowClass::INPUT_ONLY,
            x11rb::COPY_FROM_PARENT,
            &aux,
        );
        made.map_err(lost)?.check().map_err(lost)?;
        let atoms = Atoms::read(&link)?;
        let hears = settings.listen && raw::watch(&link)?;
        let ears = Arc::new(Self {
            link,
            window,
            atoms,
            heard: Mutex::default(),
            news: Condvar::new(),
            work: Mutex::default(),
            grace: settings.grace,
            leeway: Mutex::default(),
            hears,
            alarm,
        });
        let listening = ears.clone();
        let begun = thread::Builder::new().name("desktop-ears".into()).spawn(move || {
            listening.listen(&ledger);
            listening.heard().gone = true;
            listening.news.notify_all();
        });
        begun.map_err(|error| lost(format!("no thread can be started: {error}")))?;
        Ok(ears)
    }

    /// Ends the thread, by a word that only it understands.
    pub fn close(&self) {
        self.heard().gone = true;
        self.news.notify_all();
        // A line that is cut has ended it already.
        self.say(0).ok();
    }

    /// Whether nothing is heard any more, for the line is cut.
    pub fn is_gone(&self) -> bool {
        self.heard().gone
    }

    /// Something is done now.
    pub fn work(&self) {
        let mut work = self.busy();
        let since = match *work {
            Work::Now(since) => since,
            Work::Since(since) if since.elapsed() < AT_WORK => since,
            Work::Rest | Work::Since(_) => {
                self.leeway().begin();
                let now = Instant::now();
                now.checked_add(self.grace).unwrap_or(now)
            }
        };
        *work = Work::Now(since);
    }

    /// And now it is done, well or not.
    pub fn worked(&self) {
        let mut work = self.busy();
        if let Work::Now(since) = *work {
            *work = Work::Since(since.max(Instant::now()));
        }
    }

    /// A person may do as they like until something is done again.
    pub fn rest(&self) {
        *self.busy() = Work::Rest;
    }

    /// Returns when everything has been heard that happened before.
    pub fn catch_up(&self) -> Result<(), DesktopError> {
        let word = {
            let mut heard = self.heard();
            heard.asked = heard.asked.wrapping_add(1).max(1);
            heard.asked
        };
        self.say(word)?;
        let until = Instant::now() + CATCHING_UP;
        self.wait(until, &Stop::default(), |heard| (heard.echo >= word).then_some(())).map(drop)
    }

    /// A word to ourselves; 0 is the last.
    fn say(&self, word: u32) -> Result<(), DesktopError> {
        let event = ClientMessageEvent::new(32, self.window, self.atoms.ours, [word, 0, 0, 0, 0]);
        let sent = self.link.conn.send_event(false, self.window, EventMask::NO_EVENT, event);
        sent.map_err(lost)?.ignore_error();
        self.link.flush()
    }

    fn is_at_work(&self) -> bool {
        match *self.busy() {
            Work::Rest => false,
            Work::Now(_) => true,
            Work::Since(at) => at.elapsed() < AT_WORK,
        }
    }

    /// Whether a person may still be letting go of the pointer.
    fn is_forgiving(&self) -> bool {
        match *self.busy() {
            Work::Rest => true,
            Work::Now(since) | Work::Since(since) => Instant::now() < since,
        }
    }

    /// Whether what we hear is not enough to know that somebody else moves the pointer: where nothing is heard, and as
    /// long as it counts how far.
    pub fn has_to_look(&self) -> bool {
        !self.hears || self.is_forgiving()
    }

    /// We are about to put the pointer there.
    pub fn put(&self, at: Point) {
        self.leeway().put(at);
    }

    /// The pointer has been seen there, where we had put it elsewhere or not.
    pub fn seen(&self, at: Point, ours: Point) {
        let spent = {
            let mut leeway = self.leeway();
            if !self.hears && distance(at, ours) > AMISS {
                leeway.stir();
            }
            leeway.see(at);
            leeway.is_spent()
        };
        let corner = (at.x, at.y) == (0, 0);
        let taken =
            if self.is_forgiving() { spent || (corner && !self.hears) } else { !self.hears };
        // Where it is heard who moves it, a program that puts it elsewhere is no person.
        if taken && distance(at, ours) > AMISS {
            (self.alarm)(Touch::Stop(if corner { Pause::Corner } else { Pause::Human }));
        }
    }

    fn leeway(&self) -> MutexGuard<'_, Leeway> {
        self.leeway.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn busy(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Without a pause until it is found, if it is.
    fn wait<T>(
        &self,
        until: Instant,
        stop: &Stop,
        found: impl FnMut(&mut Heard) -> Option<T>,
    ) -> Result<Option<T>, DesktopError> {
        self.heard().awaited += 1;
        self.news.notify_all();
        let waited = self.search(until, stop, found);
        self.heard().awaited -= 1;
        waited
    }

    fn search<T>(
        &self,
        until: Instant,
        stop: &Stop,
        mut found: impl FnMut(&mut Heard) -> Option<T>,
    ) -> Result<Option<T>, DesktopError> {
        let mut heard = self.heard();
        loop {
            if let Some(found) = found(&mut heard) {
                return Ok(Some(found));
            }
            stop.check()?;
            if heard.gone {
                return Err(lost("the line to the display is cut"));
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            let waited = self.news.wait_timeout(heard, left.min(GLANCE));
            heard = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// What has come already, else what comes after a pause.
    fn next(&self) -> Result<Event, ConnectionError> {
        if let Some(event) = self.link.conn.poll_for_event()? {
            return Ok(event);
        }
        let is_idle =
            |heard: &mut Heard| heard.awaited == 0 && heard.transfers.is_empty() && !heard.gone;
        drop(self.news.wait_timeout_while(self.heard(), PAUSE, is_idle));
        self.link.conn.wait_for_event()
    }

    fn listen(&self, ledger: &Ledger) {
        while let Ok(event) = self.next() {
            let kept = match event {
                Event::ClientMessage(event) if event.window == self.window => {
                    let [word, ..] = event.data.as_data32();
                    if word == 0 {
                        return;
                    }
                    self.heard().echo = word;
                    self.news.notify_all();
                    Ok(())
                }
                Event::SelectionRequest(event) => self.give(&event),
                Event::SelectionNotify(event) => self.got(&event),
                Event::PropertyNotify(event) => self.passed_on(&event),
                event => raw::told(&event).map_or(Ok(()), |what| self.touched(ledger, what)),
            };
            if kept.is_err() && !self.link.is_alive() {
                return;
            }
        }
    }

    /// Something moved or was pressed: by us, or by a person.
    fn touched(&self, ledger: &Ledger, what: Sent) -> Result<(), DesktopError> {
        if ledger.strike(what) {
            return Ok(());
        }
        if let Sent::Key { code, down: true } = what
            && let Some(touch) = self.chord(code)?
        {
            (self.alarm)(touch);
            return Ok(());
        }
        if !self.is_at_work() {
            return Ok(());
        }
        let at = self.link.pointer()?;
        let corner = what == Sent::Motion && (at.x, at.y) == (0, 0);
        if what == Sent::Motion && !corner && self.is_forgiving() {
            let mut leeway = self.leeway();
            leeway.stir();
            leeway.see(at);
            if !leeway.is_spent() {
                return Ok(());
            }
        }
        (self.alarm)(Touch::Stop(if corner { Pause::Corner } else { Pause::Human }));
        Ok(())
    }

    /// Whether this key completes one of the chords that are a person's alone.
    fn chord(&self, code: u8) -> Result<Option<Touch>, DesktopError> {
        use x11rb::protocol::xproto::KeyButMask;
        let asked = self.link.conn.get_keyboard_mapping(code, 1).map_err(lost)?;
        let pointer = self.link.conn.query_pointer(self.link.root).map_err(lost)?;
        let symbol = asked.reply().map_err(lost)?.keysyms.first().copied().unwrap_or(0);
        let held = u16::from(pointer.reply().map_err(lost)?.mask);
        let both = u16::from(KeyButMask::CONTROL) | u16::from(KeyButMask::MOD1);
        Ok(match symbol {
            0xff1b if held & both == both => Some(Touch::Stop(Pause::Panic)),
            0xff0d if held & both == both => Some(Touch::HandBack),
            _ => None,
        })
    }

    fn heard(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
