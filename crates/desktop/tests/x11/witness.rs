//! Another program on the same display, which tells what it saw.

use x11rb::{
    connection::Connection as _,
    protocol::{
        Event,
        xkb::{ConnectionExt as _, Group},
        xproto::{
            ConnectionExt as _, CreateWindowAux, EventMask, InputFocus, KeyButMask, ModMask,
            Window, WindowClass,
        },
        xtest::ConnectionExt as _,
    },
    rust_connection::RustConnection,
};

pub struct Witness {
    pub conn: RustConnection,
    pub root: Window,
    pub window: Window,
}

/// What a window was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    Pressed(u8, u16),
    Released(u8),
    Moved(i16, i16),
    KeyDown(u32),
    KeyUp(u32),
    Remapped,
}

impl Witness {
    /// With a window of this place and size, in focus.
    pub fn at(display: &str, (x, y, w, h): (i16, i16, u16, u16)) -> Self {
        let (conn, screen) = RustConnection::connect(Some(display)).unwrap();
        let screen = &conn.setup().roots[screen];
        let (root, white) = (screen.root, screen.white_pixel);
        let window = conn.generate_id().unwrap();
        let events = EventMask::BUTTON_PRESS
            | EventMask::BUTTON_RELEASE
            | EventMask::POINTER_MOTION
            | EventMask::KEY_PRESS
            | EventMask::KEY_RELEASE;
        let aux = CreateWindowAux::new().event_mask(events).background_pixel(white);
        let output = WindowClass::INPUT_OUTPUT;
        conn.create_window(0, window, root, x, y, w, h, 0, output, 0, &aux).unwrap();
        conn.map_window(window).unwrap();
        // Without a manager of windows it is there once the server has heard of it.
        conn.get_input_focus().unwrap().reply().unwrap();
        conn.set_input_focus(InputFocus::POINTER_ROOT, window, 0u32).unwrap().check().unwrap();
        let witness = Self { conn, root, window };
        witness.seen();
        witness
    }

    /// What was done to the window, without the news of keyboards.
    pub fn touched(&self) -> Vec<Seen> {
        self.seen().into_iter().filter(|seen| *seen != Seen::Remapped).collect()
    }

    /// Everything so far: what the server was told before this is here afterwards.
    pub fn seen(&self) -> Vec<Seen> {
        self.conn.get_input_focus().unwrap().reply().unwrap();
        let mut seen = Vec::new();
        while let Some(event) = self.conn.poll_for_event().unwrap() {
            match event {
                Event::ButtonPress(event) => {
                    seen.push(Seen::Pressed(event.detail, held(event.state)));
                }
                Event::ButtonRelease(event) => seen.push(Seen::Released(event.detail)),
                Event::MotionNotify(event) => seen.push(Seen::Moved(event.root_x, event.root_y)),
                Event::KeyPress(event) => {
                    seen.push(Seen::KeyDown(self.symbol(event.detail, event.state)));
                }
                Event::KeyRelease(event) => {
                    seen.push(Seen::KeyUp(self.symbol(event.detail, event.state)));
                }
                Event::MappingNotify(_) => seen.push(Seen::Remapped),
                _ => (),
            }
        }
        seen
    }

    pub fn pointer(&self) -> (i16, i16) {
        let reply = self.conn.query_pointer(self.root).unwrap().reply().unwrap();
        (reply.root_x, reply.root_y)
    }

    /// The keys and buttons that are down.
    pub fn held(&self) -> (Vec<u8>, u16) {
        let keys = self.conn.query_keymap().unwrap().reply().unwrap().keys;
        let down = |code: &u8| keys[usize::from(code / 8)] & (1 << (code % 8)) != 0;
        let reply = self.conn.query_pointer(self.root).unwrap().reply().unwrap();
        ((0..=255).filter(down).collect(), u16::from(reply.mask))
    }

    pub fn keymap(&self) -> Vec<u32> {
        let setup = self.conn.setup();
        let (first, last) = (setup.min_keycode, setup.max_keycode);
        let asked = self.conn.get_keyboard_mapping(first, last - first + 1).unwrap();
        asked.reply().unwrap().keysyms
    }

    /// Sets Caps Lock and the group of the layout.
    pub fn lock(&self, caps: bool, group: Group) {
        self.conn.xkb_use_extension(1, 0).unwrap().reply().unwrap();
        let locked = if caps { ModMask::LOCK } else { ModMask::from(0u16) };
        let none = ModMask::from(0u16);
        let sent = self.conn.xkb_latch_lock_state(
            0x100,
            ModMask::LOCK,
            locked,
            true,
            group,
            none,
            false,
            0,
        );
        sent.unwrap().check().unwrap();
    }

    /// Whether Caps Lock is on, and which group of the layout is in use.
    pub fn locks(&self) -> (bool, u8) {
        self.conn.xkb_use_extension(1, 0).unwrap().reply().unwrap();
        let state = self.conn.xkb_get_state(0x100).unwrap().reply().unwrap();
        let caps = u16::from(state.locked_mods) & u16::from(ModMask::LOCK) != 0;
        (caps, u8::from(state.locked_group))
    }

    /// As a person would, through another program.
    pub fn fake(&self, event: u8, detail: u8, (x, y): (i16, i16)) {
        let root = if event == 6 { self.root } else { 0 };
        self.conn.xtest_fake_input(event, detail, 0, root, x, y, 0).unwrap().check().unwrap();
    }

    /// A key that means nothing.
    pub fn spare(&self) -> u8 {
        let setup = self.conn.setup();
        let map = self.keymap();
        let width = map.len() / usize::from(setup.max_keycode - setup.min_keycode + 1);
        let at = map.chunks(width).position(|symbols| symbols.iter().all(|it| *it == 0)).unwrap();
        setup.min_keycode + u8::try_from(at).unwrap()
    }

    pub fn code(&self, symbol: u32) -> u8 {
        let setup = self.conn.setup();
        let map = self.keymap();
        let width = map.len() / usize::from(setup.max_keycode - setup.min_keycode + 1);
        let at = map.chunks(width).position(|symbols| symbols.contains(&symbol)).unwrap();
        setup.min_keycode + u8::try_from(at).unwrap()
    }

    fn symbol(&self, code: u8, state: KeyButMask) -> u32 {
        let symbols = self.conn.get_keyboard_mapping(code, 1).unwrap().reply().unwrap().keysyms;
        let shifted = u16::from(state) & u16::from(KeyButMask::SHIFT) != 0;
        let column = usize::from(shifted && symbols.get(1).is_some_and(|it| *it != 0));
        symbols.get(column).copied().unwrap_or(0)
    }
}

fn held(state: KeyButMask) -> u16 {
    let all = KeyButMask::SHIFT | KeyButMask::CONTROL | KeyButMask::MOD1 | KeyButMask::MOD4;
    u16::from(state) & u16::from(all)
}
