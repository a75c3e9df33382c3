//! A window of another program, which sees what is done to it.

use std::{
    fs::File,
    io::Write as _,
    os::{fd::AsFd as _, unix::net::UnixStream},
    path::Path,
    sync::mpsc::{Receiver, Sender, channel},
    thread,
};

use rustix::fs::{MemfdFlags, memfd_create};
use wayland_client::{
    Connection, Dispatch, Proxy, QueueHandle, WEnum, delegate_noop,
    globals::{GlobalListContents, registry_queue_init},
    protocol::{
        wl_buffer::WlBuffer,
        wl_compositor::WlCompositor,
        wl_keyboard::{self, WlKeyboard},
        wl_pointer::{self, WlPointer},
        wl_registry::WlRegistry,
        wl_seat::{self, Capability, WlSeat},
        wl_shm::{Format, WlShm},
        wl_shm_pool::WlShmPool,
        wl_surface::WlSurface,
    },
};
use wayland_protocols::xdg::shell::client::{
    xdg_surface::{self, XdgSurface},
    xdg_toplevel::{self, XdgToplevel},
    xdg_wm_base::{self, XdgWmBase},
};

use crate::stage::PATIENCE;

#[derive(Clone, Debug, PartialEq)]
pub enum Seen {
    /// Where the pointer came in or went.
    Moved(i32, i32),
    Left,
    Button {
        code: u32,
        down: bool,
    },
    /// Steps of the wheel, across or not.
    Turned {
        across: bool,
        steps: i32,
    },
    Key {
        code: u32,
        down: bool,
    },
    /// What is held and what is locked.
    Modifiers(u32, u32),
    Shown,
    Focused,
    Closed,
}

pub struct Witness {
    seen: Receiver<Seen>,
}

impl Witness {
    /// A window of that program as large as it may be, every pixel with a colour of its own; it is
    /// there and has the focus.
    pub fn at(socket: &Path, program: &str) -> Self {
        let (heard, seen) = channel();
        let (socket, program) = (socket.to_owned(), program.to_owned());
        thread::spawn(move || show(&socket, &program, heard));
        let witness = Self { seen };
        let mut missing = vec![Seen::Shown, Seen::Focused];
        while !missing.is_empty() {
            let seen = witness.next();
            missing.retain(|it| *it != seen);
        }
        witness
    }

    pub fn next(&self) -> Seen {
        self.seen.recv_timeout(PATIENCE).unwrap()
    }

    /// The next so many that are of interest.
    pub fn seen(&self, count: usize, of_interest: impl Fn(&Seen) -> bool) -> Vec<Seen> {
        let all = std::iter::repeat_with(|| self.next());
        all.filter(|seen| of_interest(seen)).take(count).collect()
    }

    /// Everything up to and with this.
    pub fn until(&self, last: &Seen) -> Vec<Seen> {
        let mut all = Vec::new();
        while all.last() != Some(last) {
            all.push(self.next());
        }
        all
    }
}

/// Blue, green and red of a pixel of such a window.
pub fn colour(x: u32, y: u32) -> [u8; 3] {
    let low = |number: u32| number.to_le_bytes()[0];
    [low(x), low(y), low((x / 256) * 16 + (y / 256) * 64 + 5)]
}

struct Program {
    heard: Sender<Seen>,
    shm: WlShm,
    surface: WlSurface,
    size: (i32, i32),
    turned: Option<(bool, i32)>,
    keyboard: Option<WlKeyboard>,
    pointer: Option<WlPointer>,
    is_shown: bool,
}

fn show(socket: &Path, name: &str, heard: Sender<Seen>) {
    let connection = Connection::from_socket(UnixStream::connect(socket).unwrap()).unwrap();
    let (globals, mut queue) = registry_queue_init::<Program>(&connection).unwrap();
    let handle = queue.handle();
    let compositor: WlCompositor = globals.bind(&handle, 4..=4, ()).unwrap();
    let shm: WlShm = globals.bind(&handle, 1..=1, ()).unwrap();
    let base: XdgWmBase = globals.bind(&handle, 1..=1, ()).unwrap();
    let _seat: WlSeat = globals.bind(&handle, 5..=5, ()).unwrap();
    let surface = compositor.create_surface(&handle, ());
    let window = base.get_xdg_surface(&surface, &handle, ()).get_toplevel(&handle, ());
    window.set_app_id(name.to_owned());
    window.set_title(format!("The window of {name}"));
    surface.commit();
    let size = (640, 480);
    let (turned, keyboard, pointer) = (None, None, None);
    let mut program =
        Program { heard, shm, surface, size, turned, keyboard, pointer, is_shown: false };
    // It ends with the compositor, or when nobody asks any more.
    while queue.blocking_dispatch(&mut program).is_ok() {}
}

impl Program {
    fn tell(&self, seen: Seen) {
        self.heard.send(seen).ok();
    }

    fn draw(&mut self, queue: &QueueHandle<Self>) {
        let (width, height) = self.size;
        let mut bytes = Vec::new();
        for y in 0..u32::try_from(height).unwrap() {
            for x in 0..u32::try_from(width).unwrap() {
                bytes.extend(colour(x, y));
                bytes.push(255);
            }
        }
        let mut file = File::from(memfd_create("window", MemfdFlags::CLOEXEC).unwrap());
        file.write_all(&bytes).unwrap();
        let pool = self.shm.create_pool(file.as_fd(), width * height * 4, queue, ());
        let buffer = pool.create_buffer(0, width, height, width * 4, Format::Xrgb8888, queue, ());
        self.surface.attach(Some(&buffer), 0, 0);
        self.surface.damage_buffer(0, 0, width, height);
        // When it was shown, it is there to be seen.
        if !self.is_shown {
            self.surface.frame(queue, ());
        }
        self.surface.commit();
    }
}

impl Dispatch<wayland_client::protocol::wl_callback::WlCallback, ()> for Program {
    fn event(
        program: &mut Self,
        _: &wayland_client::protocol::wl_callback::WlCallback,
        _: wayland_client::protocol::wl_callback::Event,
        (): &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        program.is_shown = true;
        program.tell(Seen::Shown);
    }
}

impl Dispatch<XdgToplevel, ()> for Program {
    fn event(
        program: &mut Self,
        _: &XdgToplevel,
        event: xdg_toplevel::Event,
        (): &(),
        connection: &Connection,
        _: &QueueHandle<Self>,
    ) {
        match event {
            xdg_toplevel::Event::Configure { width, height, .. } if width > 0 && height > 0 => {
                program.size = (width, height);
            }
            xdg_toplevel::Event::Close => {
                program.tell(Seen::Closed);
                program.surface.attach(None, 0, 0);
                program.surface.commit();
                connection.flush().unwrap();
            }
            _ => (),
        }
    }
}

impl Dispatch<XdgSurface, ()> for Program {
    fn event(
        program: &mut Self,
        surface: &XdgSurface,
        event: xdg_surface::Event,
        (): &(),
        _: &Connection,
        queue: &QueueHandle<Self>,
    ) {
        if let xdg_surface::Event::Configure { serial } = event {
            surface.ack_configure(serial);
            program.draw(queue);
        }
    }
}

impl Dispatch<XdgWmBase, ()> for Program {
    fn event(
        _: &mut Self,
        base: &XdgWmBase,
        event: xdg_wm_base::Event,
        (): &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let xdg_wm_base::Event::Ping { serial } = event {
            base.pong(serial);
        }
    }
}

impl Dispatch<WlSeat, ()> for Program {
    fn event(
        program: &mut Self,
        seat: &WlSeat,
        event: wl_seat::Event,
        (): &(),
        _: &Connection,
        queue: &QueueHandle<Self>,
    ) {
        let wl_seat::Event::Capabilities { capabilities: WEnum::Value(has) } = event else {
            return;
        };
        if has.contains(Capability::Keyboard) && program.keyboard.is_none() {
            program.keyboard = Some(seat.get_keyboard(queue, ()));
        }
        if has.contains(Capability::Pointer) && program.pointer.is_none() {
            program.pointer = Some(seat.get_pointer(queue, ()));
        }
        if !has.contains(Capability::Keyboard) {
            program.keyboard = None;
        }
        if !has.contains(Capability::Pointer) {
            program.pointer = None;
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "within a window")]
fn whole(number: f64) -> i32 {
    number.floor() as i32
}

impl Dispatch<WlPointer, ()> for Program {
    fn event(
        program: &mut Self,
        pointer: &WlPointer,
        event: wl_pointer::Event,
        (): &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        use wl_pointer::{Axis, ButtonState, Event};
        let across = |axis| axis == WEnum::Value(Axis::HorizontalScroll);
        // Compositors that nobody sees draw the pointer into every picture, unless it hides.
        if let Event::Enter { serial, .. } = event {
            pointer.set_cursor(serial, None, 0, 0);
        }
        match event {
            Event::Enter { surface_x: x, surface_y: y, .. }
            | Event::Motion { surface_x: x, surface_y: y, .. } => {
                program.tell(Seen::Moved(whole(x), whole(y)));
            }
            Event::Leave { .. } => program.tell(Seen::Left),
            Event::Button { button: code, state, .. } => {
                let down = state == WEnum::Value(ButtonState::Pressed);
                program.tell(Seen::Button { code, down });
            }
            Event::AxisDiscrete { axis, discrete } => {
                program.turned = Some((across(axis), discrete));
            }
            Event::Frame => {
                if let Some((across, steps)) = program.turned.take() {
                    program.tell(Seen::Turned { across, steps });
                }
            }
            _ => (),
        }
    }
}

impl Dispatch<WlKeyboard, ()> for Program {
    fn event(
        program: &mut Self,
        _: &WlKeyboard,
        event: wl_keyboard::Event,
        (): &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        use wl_keyboard::{Event, KeyState};
        match event {
            Event::Enter { .. } => program.tell(Seen::Focused),
            Event::Key { key: code, state, .. } => {
                let down = state == WEnum::Value(KeyState::Pressed);
                program.tell(Seen::Key { code, down });
            }
            Event::Modifiers { mods_depressed, mods_locked, .. } => {
                program.tell(Seen::Modifiers(mods_depressed, mods_locked));
            }
            _ => (),
        }
    }
}

impl Dispatch<WlRegistry, GlobalListContents> for Program {
    fn event(
        _: &mut Self,
        _: &WlRegistry,
        _: <WlRegistry as Proxy>::Event,
        _: &GlobalListContents,
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
    }
}

delegate_noop!(Program: ignore WlCompositor);
delegate_noop!(Program: ignore WlShm);
delegate_noop!(Program: ignore WlShmPool);
delegate_noop!(Program: ignore WlBuffer);
delegate_noop!(Program: ignore WlSurface);
