//! The line to a display, on which a short wait keeps nobody waiting and a long one makes room for others.

use std::{
    io,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::{
    runtime::{Handle, RuntimeFlavor},
    task::block_in_place,
};
use x11rb::{
    errors::{ConnectError, DisplayParsingError},
    reexports::x11rb_protocol::{parse_display::parse_display, xauth::get_auth},
    rust_connection::{DefaultStream, PollMode, RustConnection, Stream},
    utils::RawFdContainer,
};

/// A display mostly answers in this time: less than it takes to fall asleep and be woken.
const INSTANT: Duration = Duration::from_micros(100);
/// It always answers in a part of this, unless it is busy.
const MOMENT: Timespec = Timespec { tv_sec: 0, tv_nsec: 1_000_000 };

pub type Connection = RustConnection<Line>;

pub struct Line {
    stream: DefaultStream,
    purpose: Purpose,
    /// Whether it took nothing more when something was last written.
    full: AtomicBool,
}

/// What a line is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Questions, which are answered at once.
    Asking,
    /// News, which may never come.
    Listening,
}

/// The line, and the number of the screen that is meant.
pub fn connect(display: &str, purpose: Purpose) -> Result<(Connection, usize), ConnectError> {
    let parsed = parse_display(Some(display))?;
    let screen = usize::from(parsed.screen);
    let mut failed = None;
    for address in parsed.connect_instruction() {
        match DefaultStream::connect(&address) {
            Ok((stream, (family, peer))) => {
                // A display that wants none is satisfied without.
                let key = get_auth(family, &peer, parsed.display).ok().flatten();
                let (name, data) = key.unwrap_or_default();
                let line = Line { stream, purpose, full: AtomicBool::default() };
                let opened =
                    RustConnection::connect_to_stream_with_auth_info(line, screen, name, data)?;
                return Ok((opened, screen));
            }
            Err(error) => failed = Some(error),
        }
    }
    Err(failed.map_or_else(|| DisplayParsingError::Unknown.into(), ConnectError::IoError))
}

impl Line {
    /// Whether it became ready within a moment.
    fn is_ready(&self, mode: PollMode) -> io::Result<bool> {
        let mut wanted = PollFlags::empty();
        wanted.set(PollFlags::IN, mode.readable());
        wanted.set(PollFlags::OUT, mode.writable());
        let within =
            |time: Timespec| match poll(&mut [PollFd::new(&self.stream, wanted)], Some(&time)) {
                Ok(ready) => Ok(ready > 0),
                Err(rustix::io::Errno::INTR) => Ok(false),
                Err(error) => Err(io::Error::from(error)),
            };
        let begun = Instant::now();
        while begun.elapsed() < INSTANT {
            if within(Timespec::default())? {
                return Ok(true);
            }
            // Where there is one core, the display needs it.
            thread::yield_now();
        }
        within(MOMENT)
    }

    fn note(&self, written: io::Result<usize>) -> io::Result<usize> {
        let full = written.as_ref().is_err_and(|it| it.kind() == io::ErrorKind::WouldBlock);
        self.full.store(full, Ordering::Relaxed);
        written
    }
}

impl Stream for Line {
    fn poll(&self, mode: PollMode) -> io::Result<()> {
        // Asked before each little request, most of which are only put beside the others.
        if mode.writable() && !self.full.swap(false, Ordering::Relaxed) {
            return Ok(());
        }
        if self.purpose == Purpose::Asking && self.is_ready(mode)? {
            return Ok(());
        }
        let wait = || self.stream.poll(mode);
        if is_shared() { block_in_place(wait) } else { wait() }
    }

    fn read(&self, into: &mut [u8], files: &mut Vec<RawFdContainer>) -> io::Result<usize> {
        self.stream.read(into, files)
    }

    fn write(&self, bytes: &[u8], files: &mut Vec<RawFdContainer>) -> io::Result<usize> {
        self.note(self.stream.write(bytes, files))
    }

    fn write_vectored(
        &self,
        bytes: &[io::IoSlice<'_>],
        files: &mut Vec<RawFdContainer>,
    ) -> io::Result<usize> {
        self.note(self.stream.write_vectored(bytes, files))
    }
}

/// Whether others want to go on on this thread, and another can be had for them.
pub fn is_shared() -> bool {
    Handle::try_current().is_ok_and(|it| it.runtime_flavor() == RuntimeFlavor::MultiThread)
}
