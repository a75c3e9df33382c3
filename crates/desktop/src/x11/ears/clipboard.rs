//! The clipboard: giving text to whoever pastes, and reading what others have put there.

use std::time::{Duration, Instant};

use kernel::desktop::DesktopError;
use x11rb::{
    connection::Connection as _,
    protocol::xproto::{
        Atom, AtomEnum, ChangeWindowAttributesAux, ConnectionExt as _, EventMask, PropMode,
        Property, PropertyNotifyEvent, SELECTION_NOTIFY_EVENT, SelectionNotifyEvent,
        SelectionRequestEvent, Window,
    },
    wrapper::ConnectionExt as _,
};

use super::{Ears, Link, lost};
use crate::stop::Stop;

/// How long the owner of the clipboard may take to tell what is on it.
const READING: Duration = Duration::from_millis(500);
/// And how long it may take with the whole of something large.
const READING_ALL: Duration = Duration::from_secs(10);
/// The most that is read at once, in units of four bytes.
const LONGEST: u32 = 1 << 20;
/// What is larger is given piece by piece, each of this size.
const PIECE: usize = 256 * 1024;
/// The most that is read of what somebody else has put there.
const MOST: usize = 16 << 20;
/// How many windows may fetch something large at once.
const TRANSFERS: usize = 16;

pub(super) struct Atoms {
    pub(super) clipboard: Atom,
    pub(super) utf8: Atom,
    pub(super) targets: Atom,
    pub(super) text: Atom,
    pub(super) timestamp: Atom,
    pub(super) ours: Atom,
    pub(super) incr: Atom,
}

impl Atoms {
    pub(super) fn read(link: &Link) -> Result<Self, DesktopError> {
        Ok(Self {
            clipboard: link.atom("CLIPBOARD")?,
            utf8: link.atom("UTF8_STRING")?,
            targets: link.atom("TARGETS")?,
            text: link.atom("TEXT")?,
            timestamp: link.atom("TIMESTAMP")?,
            ours: link.atom("_MEGARON_SELECTION")?,
            incr: link.atom("INCR")?,
        })
    }
}

/// Something large on its way to a window, of which the first so many bytes were taken.
pub(super) struct Transfer {
    window: Window,
    property: Atom,
    kind: Atom,
    bytes: Vec<u8>,
    taken: usize,
}

/// What came of asking for the clipboard.
pub(super) enum Read {
    Text(String),
    Nothing,
}

impl Ears {
    /// Offers text to whoever pastes; the number names the offer.
    pub fn offer(&self, text: &str) -> Result<u64, DesktopError> {
        let offer = {
            let mut heard = self.heard();
            heard.offered = Some(text.to_owned());
            heard.takers.clear();
            heard.offer += 1;
            heard.offer
        };
        for selection in [self.atoms.clipboard, AtomEnum::PRIMARY.into()] {
            self.own(selection)?;
        }
        Ok(offer)
    }

    /// Puts text on the clipboard alone, where it stays while we run.
    pub fn set_clipboard(&self, text: &str) -> Result<(), DesktopError> {
        self.heard().offered = Some(text.to_owned());
        self.own(self.atoms.clipboard)
    }

    /// Gives back what was on the clipboard before an offer.
    pub fn restore(&self, before: Option<String>) -> Result<(), DesktopError> {
        let conn = &self.link.conn;
        let freed =
            conn.set_selection_owner(x11rb::NONE, AtomEnum::PRIMARY.into(), x11rb::CURRENT_TIME);
        freed.map_err(lost)?.check().map_err(lost)?;
        if let Some(before) = before {
            self.heard().offered = Some(before);
            return Ok(());
        }
        self.heard().offered = None;
        let clipboard = self.atoms.clipboard;
        let freed = conn.set_selection_owner(x11rb::NONE, clipboard, x11rb::CURRENT_TIME);
        freed.map_err(lost)?.check().map_err(lost)
    }

    /// Whether the program that this window belongs to has fetched what was offered, soon.
    pub fn taken(
        &self,
        offer: u64,
        by: Window,
        patience: Duration,
        stop: &Stop,
    ) -> Result<bool, DesktopError> {
        let until = Instant::now() + patience;
        let mask = !self.link.conn.setup().resource_id_mask;
        self.wait(until, stop, |heard| {
            let theirs = |taker: &Window| taker & mask == by & mask;
            (heard.offer == offer && heard.takers.iter().any(theirs)).then_some(())
        })
        .map(|taken| taken.is_some())
    }

    /// The text on the clipboard; none if there is none, or it is something else.
    pub fn read_clipboard(&self, stop: &Stop) -> Result<Option<String>, DesktopError> {
        let conn = &self.link.conn;
        let clipboard = self.atoms.clipboard;
        let owner = conn.get_selection_owner(clipboard).map_err(lost)?.reply().map_err(lost)?.owner;
        if owner == x11rb::NONE {
            return Ok(None);
        }
        if owner == self.window {
            return Ok(self.heard().offered.clone());
        }
        {
            let mut heard = self.heard();
            (heard.read, heard.incoming) = (None, None);
        }
        let Atoms { utf8, ours, .. } = self.atoms;
        let asked = conn.convert_selection(self.window, clipboard, utf8, ours, x11rb::CURRENT_TIME);
        asked.map_err(lost)?.check().map_err(lost)?;
        let begun = Instant::now();
        let mut read = self.wait(begun + READING, stop, |heard| heard.read.take())?;
        if read.is_none() && self.heard().incoming.is_some() {
            read = self.wait(begun + READING_ALL, stop, |heard| heard.read.take())?;
        }
        match read {
            Some(Read::Text(text)) => Ok(Some(text)),
            // Whoever owns it and does not tell has nothing for us.
            Some(Read::Nothing) | None => Ok(None),
        }
    }

    fn own(&self, selection: Atom) -> Result<(), DesktopError> {
        let conn = &self.link.conn;
        let owned = conn.set_selection_owner(self.window, selection, x11rb::CURRENT_TIME);
        owned.map_err(lost)?.check().map_err(lost)
    }

    /// Somebody pastes.
    pub(super) fn give(&self, request: &SelectionRequestEvent) -> Result<(), DesktopError> {
        let Atoms { utf8, targets, text, timestamp, .. } = self.atoms;
        let conn = &self.link.conn;
        // Old programs name no property, and mean the target.
        let property =
            if request.property == x11rb::NONE { request.target } else { request.property };
        let offered = self.heard().offered.clone();
        let texts = [utf8, text, AtomEnum::STRING.into()];
        let given = match offered {
            Some(_) if request.target == targets => {
                let all = [targets, timestamp, utf8, text];
                let atom = AtomEnum::ATOM;
                conn.change_property32(PropMode::REPLACE, request.requestor, property, atom, &all)
                    .map_err(lost)?
                    .ignore_error();
                Some(false)
            }
            Some(offered) if texts.contains(&request.target) => {
                let kind = if request.target == text { utf8 } else { request.target };
                let bytes = offered.into_bytes();
                let (window, replace) = (request.requestor, PropMode::REPLACE);
                if bytes.len() > PIECE {
                    self.begin(Transfer { window, property, kind, bytes, taken: 0 })?;
                } else {
                    let given = conn.change_property8(replace, window, property, kind, &bytes);
                    given.map_err(lost)?.ignore_error();
                }
                Some(true)
            }
            _ => None,
        };
        let event = SelectionNotifyEvent {
            response_type: SELECTION_NOTIFY_EVENT,
            sequence: 0,
            time: request.time,
            requestor: request.requestor,
            selection: request.selection,
            target: request.target,
            property: if given.is_some() { property } else { x11rb::NONE },
        };
        let sent = conn.send_event(false, request.requestor, EventMask::NO_EVENT, event);
        sent.map_err(lost)?.ignore_error();
        // Whatever is typed after this comes after it.
        self.link.sync()?;
        if given == Some(true) {
            self.heard().takers.push(request.requestor);
            self.news.notify_all();
        }
        Ok(())
    }

    /// What we asked for came, or will not.
    pub(super) fn got(&self, event: &SelectionNotifyEvent) -> Result<(), DesktopError> {
        let mut read = None;
        if event.property != x11rb::NONE {
            let Atoms { utf8, incr, .. } = self.atoms;
            let (kind, value) = self.fetch()?;
            if kind == incr {
                // It comes in pieces, the first of them now that the announcement was taken away.
                self.heard().incoming = Some(Vec::new());
                return Ok(());
            }
            if kind == utf8 {
                read = String::from_utf8(value).ok();
            }
        }
        self.conclude(read);
        Ok(())
    }

    /// Takes away what was put down for us.
    fn fetch(&self) -> Result<(Atom, Vec<u8>), DesktopError> {
        let Atoms { ours, .. } = self.atoms;
        let asked = self.link.conn.get_property(true, self.window, ours, AtomEnum::ANY, 0, LONGEST);
        let reply = asked.map_err(lost)?.reply().map_err(lost)?;
        Ok((reply.type_, reply.value))
    }

    fn conclude(&self, read: Option<String>) {
        let mut heard = self.heard();
        heard.incoming = None;
        heard.read = Some(read.map_or(Read::Nothing, Read::Text));
        drop(heard);
        self.news.notify_all();
    }

    /// A property changed: another piece has come for us, or somebody has taken one of ours.
    pub(super) fn passed_on(&self, event: &PropertyNotifyEvent) -> Result<(), DesktopError> {
        match (event.state, event.window == self.window) {
            (Property::NEW_VALUE, true) if event.atom == self.atoms.ours => self.take_piece(),
            (Property::DELETE, false) => self.give_piece(event.window, event.atom),
            _ => Ok(()),
        }
    }

    fn take_piece(&self) -> Result<(), DesktopError> {
        let Some(mut whole) = self.heard().incoming.take() else { return Ok(()) };
        let (_, piece) = self.fetch()?;
        if piece.is_empty() {
            self.conclude(String::from_utf8(whole).ok());
            return Ok(());
        }
        whole.extend(piece);
        if whole.len() > MOST {
            self.conclude(None);
            return Ok(());
        }
        self.heard().incoming = Some(whole);
        Ok(())
    }

    /// Says how much will come, and hears when the other side is ready for it.
    fn begin(&self, transfer: Transfer) -> Result<(), DesktopError> {
        let conn = &self.link.conn;
        let watched = ChangeWindowAttributesAux::new().event_mask(EventMask::PROPERTY_CHANGE);
        let Transfer { window, property, bytes, .. } = &transfer;
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        conn.change_window_attributes(*window, &watched).map_err(lost)?.ignore_error();
        let (replace, incr) = (PropMode::REPLACE, self.atoms.incr);
        let told = conn.change_property32(replace, *window, *property, incr, &[length]);
        told.map_err(lost)?.ignore_error();
        let mut heard = self.heard();
        heard.transfers.retain(|it| (it.window, it.property) != (*window, *property));
        if heard.transfers.len() >= TRANSFERS {
            // Who has not come for it until now will not.
            heard.transfers.remove(0);
        }
        heard.transfers.push(transfer);
        Ok(())
    }

    fn give_piece(&self, window: Window, property: Atom) -> Result<(), DesktopError> {
        let mut heard = self.heard();
        let at =
            heard.transfers.iter().position(|it| (it.window, it.property) == (window, property));
        let Some(at) = at else { return Ok(()) };
        let transfer = &mut heard.transfers[at];
        let end = (transfer.taken + PIECE).min(transfer.bytes.len());
        // An empty piece is the end of it.
        let piece = transfer.bytes[transfer.taken..end].to_vec();
        transfer.taken = end;
        let kind = transfer.kind;
        if piece.is_empty() {
            heard.transfers.remove(at);
        }
        drop(heard);
        let conn = &self.link.conn;
        let given = conn.change_property8(PropMode::REPLACE, window, property, kind, &piece);
        given.map_err(lost)?.ignore_error();
        self.link.flush()
    }
}
