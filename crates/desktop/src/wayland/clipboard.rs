//! The clipboard of Wayland: reading what others offer, and offering a text until somebody else does.

use std::{
    fs::File,
    io::{Read as _, Write as _},
    os::fd::{AsFd as _, OwnedFd},
    path::Path,
    thread,
    time::{Duration, Instant},
};

use kernel::desktop::{DesktopError, LONGEST_CLIPBOARD};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    pipe::{PipeFlags, pipe_with},
};
use wayland_client::{
    Connection, Dispatch, QueueHandle, event_created_child, protocol::wl_seat::WlSeat,
};
use wayland_protocols_wlr::data_control::v1::client::{
    zwlr_data_control_device_v1::{self, ZwlrDataControlDeviceV1},
    zwlr_data_control_manager_v1::ZwlrDataControlManagerV1,
    zwlr_data_control_offer_v1::{self, ZwlrDataControlOfferV1},
    zwlr_data_control_source_v1::{self, ZwlrDataControlSourceV1},
};

use super::link::{Link, World, lost, silent};
use crate::{rig::lacking, stop::Stop};

/// What text is called, the best name first.
const TEXTS: [&str; 5] =
    ["text/plain;charset=utf-8", "UTF8_STRING", "text/plain", "STRING", "TEXT"];
/// How long whoever offers something may take to give it.
const PATIENCE: Duration = Duration::from_secs(2);
const GLANCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// What is offered now, and what we offer ourselves.
#[derive(Default)]
pub struct Board {
    offers: Vec<(ZwlrDataControlOfferV1, Vec<String>)>,
    selection: Option<ZwlrDataControlOfferV1>,
    text: String,
    replaced: bool,
}

pub struct Clipboard {
    /// What is offered is heard while this is there.
    _device: ZwlrDataControlDeviceV1,
}

impl Clipboard {
    /// None if the compositor keeps it to itself.
    pub fn new(link: &Link, seat: &WlSeat) -> Option<Self> {
        let manager: ZwlrDataControlManagerV1 = link.bind(1)?;
        Some(Self { _device: manager.get_data_device(seat, &link.handle(), ()) })
    }
}

/// None if it holds something that is not text.
pub fn read(link: &mut Link, stop: &Stop) -> Result<Option<String>, DesktopError> {
    link.sync()?;
    let board = &link.world.board;
    let Some(selection) = &board.selection else { return Ok(Some(String::new())) };
    let kinds = board.offers.iter().find(|(offer, _)| offer == selection);
    let kinds = kinds.map(|(_, kinds)| kinds.as_slice()).unwrap_or_default();
    let Some(kind) = TEXTS.into_iter().find(|kind| kinds.iter().any(|it| it == kind)) else {
        return Ok(None);
    };
    let (reads, writes) = pipe_with(PipeFlags::CLOEXEC).map_err(lost)?;
    selection.receive(kind.to_owned(), writes.as_fd());
    link.flush()?;
    drop(writes);
    let bytes = drain(reads, stop)?;
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

fn drain(pipe: OwnedFd, stop: &Stop) -> Result<Vec<u8>, DesktopError> {
    let mut file = File::from(pipe);
    let (mut bytes, mut part) = (Vec::new(), [0; 4096]);
    let mut end = Instant::now() + PATIENCE;
    loop {
        stop.check()?;
        let ready = poll(&mut [PollFd::new(&file, PollFlags::IN)], Some(&GLANCE)).map_err(lost)?;
        if ready == 0 {
            if Instant::now() >= end {
                return Err(DesktopError::failed("nobody gave what is on the clipboard"));
            }
            continue;
        }
        let count = file.read(&mut part).map_err(lost)?;
        if count == 0 {
            return Ok(bytes);
        }
        bytes.extend(part.iter().take(count));
        if bytes.len() > LONGEST_CLIPBOARD {
            return Err(DesktopError::failed("the clipboard holds more than 1 MB"));
        }
        end = Instant::now() + PATIENCE;
    }
}

/// Offers a text on a connection of its own, for as long as nobody offers anything else.
pub fn offer(socket: &Path, text: String) -> Result<(), DesktopError> {
    let mut link = Link::open(socket)?;
    let lacks = || lacking("this Wayland compositor offers no zwlr_data_control_manager_v1");
    let manager: ZwlrDataControlManagerV1 = link.bind(1).ok_or_else(lacks)?;
    let seat: WlSeat = link.require(1)?;
    let queue = link.handle();
    let source = manager.create_data_source(&queue, ());
    for kind in TEXTS {
        source.offer(kind.to_owned());
    }
    manager.get_data_device(&seat, &queue, ()).set_selection(Some(&source));
    link.world.board.text = text;
    link.sync()?;
    let serve = move || while !link.world.board.replaced && link.listen().is_ok() {};
    let begun = thread::Builder::new().name("desktop-clipboard".into()).spawn(serve);
    begun.map(drop).map_err(lost)
}

impl Dispatch<ZwlrDataControlDeviceV1, ()> for World {
    fn event(
        world: &mut Self,
        _: &ZwlrDataControlDeviceV1,
        event: zwlr_data_control_device_v1::Event,
        (): &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        use zwlr_data_control_device_v1::Event;
        match event {
            Event::DataOffer { id } => world.board.offers.push((id, Vec::new())),
            Event::Selection { id } => {
                world.board.selection = id;
                let current = world.board.selection.clone();
                world.board.offers.retain(|(offer, _)| {
                    let stays = Some(offer) == current.as_ref();
                    if !stays {
                        offer.destroy();
                    }
                    stays
                });
            }
            _ => (),
        }
    }

    event_created_child!(World, ZwlrDataControlDeviceV1, [
        zwlr_data_control_device_v1::EVT_DATA_OFFER_OPCODE => (ZwlrDataControlOfferV1, ()),
    ]);
}

impl Dispatch<ZwlrDataControlOfferV1, ()> for World {
    fn event(
        world: &mut Self,
        offer: &ZwlrDataControlOfferV1,
        event: zwlr_data_control_offer_v1::Event,
        (): &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        let zwlr_data_control_offer_v1::Event::Offer { mime_type } = event else { return };
        if let Some((_, kinds)) = world.board.offers.iter_mut().find(|(it, _)| it == offer) {
            kinds.push(mime_type);
        }
    }
}

impl Dispatch<ZwlrDataControlSourceV1, ()> for World {
    fn event(
        world: &mut Self,
        source: &ZwlrDataControlSourceV1,
        event: zwlr_data_control_source_v1::Event,
        (): &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        use zwlr_data_control_source_v1::Event;
        match event {
            Event::Send { fd, .. } => {
                let text = world.board.text.clone();
                // Whoever does not read keeps nobody else from it, and may leave before the end.
                let give = move || File::from(fd).write_all(text.as_bytes()).ok();
                thread::Builder::new().name("desktop-clipboard".into()).spawn(give).ok();
            }
            Event::Cancelled => {
                source.destroy();
                world.board.replaced = true;
            }
            _ => (),
        }
    }
}

silent!(ZwlrDataControlManagerV1);
