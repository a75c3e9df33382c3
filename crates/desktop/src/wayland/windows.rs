//! The windows of other programs, as far as a compositor tells of them: which there are, not where.

use std::{
    sync::atomic::{AtomicU32, Ordering},
    time::{Duration, Instant},
};

use kernel::desktop::{DesktopError, Pane};
use wayland_client::{
    Connection, Dispatch, QueueHandle, event_created_child, protocol::wl_seat::WlSeat,
};
use wayland_protocols_wlr::foreign_toplevel::v1::client::{
    zwlr_foreign_toplevel_handle_v1::{self, State, ZwlrForeignToplevelHandleV1},
    zwlr_foreign_toplevel_manager_v1::{self, ZwlrForeignToplevelManagerV1},
};

use super::link::{Link, World};
use crate::stop::Stop;

/// How long a compositor may take to do as it is told.
const PATIENCE: Duration = Duration::from_secs(2);
const GLANCE: Duration = Duration::from_millis(10);

/// So that no window is ever taken for one of another connection.
static NUMBER: AtomicU32 = AtomicU32::new(1);

/// A window as we were told of it.
pub struct Toplevel {
    id: u32,
    handle: ZwlrForeignToplevelHandleV1,
    title: String,
    class: String,
    focused: bool,
    minimized: bool,
}

#[derive(Clone)]
pub struct Windows {
    seat: WlSeat,
    /// Whatever it tells is heard while this is there.
    _manager: ZwlrForeignToplevelManagerV1,
}

impl Windows {
    /// None if the compositor tells nothing of windows.
    pub fn new(link: &Link, seat: WlSeat) -> Option<Self> {
        Some(Self { seat, _manager: link.bind(3)? })
    }

    pub fn focus(&self, link: &mut Link, id: u32, stop: &Stop) -> Result<Pane, DesktopError> {
        let (handle, _) = find(link, id)?;
        handle.unset_minimized();
        handle.activate(&self.seat);
        let otherwise = "the window did not get the focus";
        until(link, stop, otherwise, |world| world.toplevel(id).is_some_and(|it| it.focused))?;
        find(link, id).map(|(_, pane)| pane)
    }
}

/// That in focus first, then the newest.
pub fn list(link: &mut Link) -> Result<Vec<Pane>, DesktopError> {
    link.sync()?;
    let mut panes: Vec<Pane> = link.world.toplevels.iter().rev().map(pane).collect();
    panes.sort_by_key(|pane| !pane.focused);
    Ok(panes)
}

pub fn close(link: &mut Link, id: u32, stop: &Stop) -> Result<Pane, DesktopError> {
    let (handle, pane) = find(link, id)?;
    handle.close();
    until(link, stop, "the window is still there", |world| world.toplevel(id).is_none())?;
    Ok(pane)
}

fn find(link: &mut Link, id: u32) -> Result<(ZwlrForeignToplevelHandleV1, Pane), DesktopError> {
    link.sync()?;
    let found = link.world.toplevel(id).map(|it| (it.handle.clone(), pane(it)));
    found.ok_or_else(|| DesktopError::bad(format!("no window has the id {id}")))
}

fn until(
    link: &mut Link,
    stop: &Stop,
    otherwise: &str,
    holds: impl Fn(&World) -> bool,
) -> Result<(), DesktopError> {
    let end = Instant::now() + PATIENCE;
    loop {
        link.sync()?;
        if holds(&link.world) {
            return Ok(());
        }
        if Instant::now() >= end {
            return Err(DesktopError::failed(otherwise));
        }
        stop.rest(GLANCE)?;
    }
}

/// Where it lies and how large it is are not told.
fn pane(toplevel: &Toplevel) -> Pane {
    Pane {
        id: toplevel.id,
        title: toplevel.title.clone(),
        class: toplevel.class.clone(),
        pid: None,
        x: 0,
        y: 0,
        w: 0,
        h: 0,
        focused: toplevel.focused,
        minimized: toplevel.minimized,
        display: None,
    }
}

impl World {
    fn toplevel(&self, id: u32) -> Option<&Toplevel> {
        self.toplevels.iter().find(|it| it.id == id)
    }
}

impl Dispatch<ZwlrForeignToplevelManagerV1, ()> for World {
    fn event(
        world: &mut Self,
        _: &ZwlrForeignToplevelManagerV1,
        event: zwlr_foreign_toplevel_manager_v1::Event,
        (): &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        let zwlr_foreign_toplevel_manager_v1::Event::Toplevel { toplevel } = event else { return };
        world.toplevels.push(Toplevel {
            id: NUMBER.fetch_add(1, Ordering::Relaxed),
            handle: toplevel,
            title: String::new(),
            class: String::new(),
            focused: false,
            minimized: false,
        });
    }

    event_created_child!(World, ZwlrForeignToplevelManagerV1, [
        zwlr_foreign_toplevel_manager_v1::EVT_TOPLEVEL_OPCODE => (ZwlrForeignToplevelHandleV1, ()),
    ]);
}

impl Dispatch<ZwlrForeignToplevelHandleV1, ()> for World {
    fn event(
        world: &mut Self,
        handle: &ZwlrForeignToplevelHandleV1,
        event: zwlr_foreign_toplevel_handle_v1::Event,
        (): &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        use zwlr_foreign_toplevel_handle_v1::Event;
        let Some(at) = world.toplevels.iter().position(|it| it.handle == *handle) else { return };
        let toplevel = &mut world.toplevels[at];
        match event {
            Event::Title { title } => toplevel.title = title,
            Event::AppId { app_id } => toplevel.class = app_id,
            Event::State { state } => {
                let states = state.as_chunks::<4>().0.iter().map(|it| u32::from_ne_bytes(*it));
                let states: Vec<u32> = states.collect();
                toplevel.focused = states.contains(&u32::from(State::Activated));
                toplevel.minimized = states.contains(&u32::from(State::Minimized));
            }
            Event::Closed => {
                handle.destroy();
                world.toplevels.remove(at);
            }
            _ => (),
        }
    }
}
