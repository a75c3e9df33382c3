//! What must be put right if we are gone before we have: keys held, meanings lent, locks changed.

use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use kernel::desktop::DesktopError;
use serde::{Deserialize, Serialize};
use x11rb::protocol::{
    xkb::{self, ConnectionExt as _},
    xproto::{BUTTON_RELEASE_EVENT, ConnectionExt as _, KEY_RELEASE_EVENT, ModMask},
    xtest::ConnectionExt as _,
};

use super::link::{Link, lost};
use crate::{guard::Guard, stop::Stop};

/// The core keyboard.
pub const KEYBOARD: u16 = 0x100;
/// How long a display may take to read what somebody sent who is no more.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// Counts the records of this process.
static RECORDS: AtomicU64 = AtomicU64::new(0);

/// Written before anything is done, and empty when all is as it was.
pub struct Journal {
    path: Option<PathBuf>,
    page: Page,
    /// Watches over us while we keep this.
    _guard: Option<Guard>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Page {
    display: String,
    /// Whose it is.
    #[serde(default)]
    owner: String,
    #[serde(default)]
    keys: Vec<u8>,
    /// Keys that are pressed and released at once, while text is typed.
    #[serde(default)]
    typing: Vec<u8>,
    #[serde(default)]
    buttons: Vec<u8>,
    #[serde(default)]
    bound: Vec<u8>,
    #[serde(default)]
    locks: Option<Locks>,
}

/// What was locked before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Locks {
    pub modifiers: u16,
    pub group: u8,
}

impl Page {
    fn is_empty(&self) -> bool {
        let Self { display: _, owner: _, keys, typing, buttons, bound, locks } = self;
        keys.is_empty()
            && typing.is_empty()
            && buttons.is_empty()
            && bound.is_empty()
            && locks.is_none()
    }
}

impl Journal {
    /// Puts right what was left by one who had no time to.
    pub fn open(
        path: Option<PathBuf>,
        post: &[OsString],
        link: &Link,
    ) -> Result<Self, DesktopError> {
        if let Some(left) = path.as_deref().and_then(|path| left(path, &link.display)) {
            left.mend(link)?;
            tracing::info!(display = %link.display, "put the keyboard right after a crash");
        }
        let owner = format!("{}.{}", process::id(), RECORDS.fetch_add(1, Ordering::Relaxed));
        let guard = path.as_deref();
        let guard = guard.and_then(|path| Guard::post(post, &link.display, path, &owner));
        let page = Page { display: link.display.clone(), owner, ..Page::default() };
        let journal = Self { path, page, _guard: guard };
        journal.write()?;
        Ok(journal)
    }

    pub fn keys(&mut self, keys: &[u8]) -> Result<(), DesktopError> {
        self.page.keys = keys.to_vec();
        self.write()
    }

    pub fn typing(&mut self, mut keys: Vec<u8>) -> Result<(), DesktopError> {
        keys.sort_unstable();
        keys.dedup();
        self.page.typing = keys;
        self.write()
    }

    pub fn buttons(&mut self, buttons: &[u8]) -> Result<(), DesktopError> {
        self.page.buttons = buttons.to_vec();
        self.write()
    }

    pub fn bound(&mut self, keys: &[u8]) -> Result<(), DesktopError> {
        self.page.bound = keys.to_vec();
        self.write()
    }

    pub fn locks(&mut self, locks: Option<Locks>) -> Result<(), DesktopError> {
        self.page.locks = locks;
        self.write()
    }

    fn write(&self) -> Result<(), DesktopError> {
        let Some(path) = &self.path else { return Ok(()) };
        let written = if self.page.is_empty() {
            remove(path)
        } else {
            let text = serde_json::to_vec(&self.page).unwrap_or_default();
            let beside = path.with_extension("new");
            fs::write(&beside, text).and_then(|()| fs::rename(&beside, path))
        };
        let told = |error| format!("cannot keep on record what is pressed: {error}");
        written.map_err(|error| DesktopError::failed(told(error)))
    }
}

/// Puts right what one who is no more has left, unless somebody has done so already.
pub fn mend(display: &str, path: &Path, owner: &str) -> Result<(), DesktopError> {
    let theirs = || left(path, display).filter(|page| page.owner == owner);
    if theirs().is_none() {
        return Ok(());
    }
    let link = Link::open(display)?;
    for wait in [Duration::ZERO, LAST_WORDS] {
        Stop::default().rest(wait)?;
        // Another may have come in their place meanwhile.
        let Some(page) = theirs() else { return Ok(()) };
        page.mend(&link)?;
    }
    remove(path).map_err(|error| DesktopError::failed(error.to_string()))
}

/// What somebody left on this display.
fn left(path: &Path, display: &str) -> Option<Page> {
    let text = fs::read_to_string(path).ok()?;
    let page: Page = serde_json::from_str(&text).ok()?;
    (page.display == display && !page.is_empty()).then_some(page)
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

impl Page {
    /// Only what is still as it was left: a person may have pressed the key meanwhile, and let it go.
    fn mend(&self, link: &Link) -> Result<(), DesktopError> {
        let conn = &link.conn;
        let down = conn.query_keymap().map_err(lost)?.reply().map_err(lost)?.keys;
        let is_down = |code: u8| down[usize::from(code / 8)] & (1 << (code % 8)) != 0;
        for code in self.keys.iter().chain(&self.typing).copied().filter(|code| is_down(*code)) {
            let faked = conn.xtest_fake_input(KEY_RELEASE_EVENT, code, 0, x11rb::NONE, 0, 0, 0);
            faked.map_err(lost)?.ignore_error();
        }
        for button in &self.buttons {
            let faked =
                conn.xtest_fake_input(BUTTON_RELEASE_EVENT, *button, 0, x11rb::NONE, 0, 0, 0);
            faked.map_err(lost)?.ignore_error();
        }
        for code in &self.bound {
            bind(link, *code, 0)?;
        }
        if let Some(locks) = self.locks {
            lock(link, locks)?;
        }
        link.sync()
    }
}

/// Lends a key a meaning, or takes it back.
pub fn bind(link: &Link, code: u8, symbol: u32) -> Result<(), DesktopError> {
    let symbols = [symbol, symbol];
    let bound = link.conn.change_keyboard_mapping(1, code, 2, &symbols);
    bound.map_err(lost)?.check().map_err(lost)
}

/// Sets Caps Lock and the group; Num Lock stays as it is.
pub fn lock(link: &Link, Locks { modifiers, group }: Locks) -> Result<(), DesktopError> {
    let none = ModMask::from(0u16);
    let locked = ModMask::from(modifiers & u16::from(ModMask::LOCK));
    let group = xkb::Group::from(group);
    let sent = link.conn.xkb_latch_lock_state(
        KEYBOARD,
        ModMask::LOCK,
        locked,
        true,
        group,
        none,
        false,
        0,
    );
    sent.map_err(lost)?.check().map_err(lost)
}
