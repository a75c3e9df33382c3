//! A manager of windows as small as one can be: a frame around each, and what other programs ask of it.

use std::thread;

use x11rb::{
    CURRENT_TIME,
    connection::Connection as _,
    errors::ReplyOrIdError,
    protocol::{
        Event,
        xproto::{
            Atom, AtomEnum, ChangeWindowAttributesAux, ClientMessageEvent, ConfigureWindowAux,
            ConnectionExt as _, CreateWindowAux, EventMask, InputFocus, PropMode, StackMode,
            Window, WindowClass,
        },
    },
    rust_connection::RustConnection,
    wrapper::ConnectionExt as _,
};

/// How much wider and higher a frame is to the left and above.
const EDGE: (i16, i16) = (4, 18);

struct Manager {
    conn: RustConnection,
    root: Window,
    /// Windows and their frames, the one in front last.
    framed: Vec<(Window, Window)>,
}

/// It is there when this returns, and until the display is gone.
pub fn begin(display: &str) {
    let mut manager = Manager::new(display).unwrap();
    thread::spawn(move || {
        // It ends with the display, whatever is lost by that.
        while let Ok(event) = manager.conn.wait_for_event() {
            manager.hear(&event).ok();
        }
    });
}

/// Whether somebody manages windows there.
pub fn is_managed(display: &str) -> bool {
    let (conn, screen) = RustConnection::connect(Some(display)).unwrap();
    let root = conn.setup().roots[screen].root;
    let name = atom(&conn, "_NET_SUPPORTING_WM_CHECK");
    let asked = conn.get_property(false, root, name, AtomEnum::WINDOW, 0, 1).unwrap();
    asked.reply().unwrap().value_len > 0
}

fn atom(conn: &RustConnection, name: &str) -> Atom {
    conn.intern_atom(false, name.as_bytes()).unwrap().reply().unwrap().atom
}

impl Manager {
    fn new(display: &str) -> Result<Self, ReplyOrIdError> {
        let (conn, screen) = RustConnection::connect(Some(display)).unwrap();
        let root = conn.setup().roots[screen].root;
        let events = EventMask::SUBSTRUCTURE_REDIRECT | EventMask::SUBSTRUCTURE_NOTIFY;
        let changes = ChangeWindowAttributesAux::new().event_mask(events);
        conn.change_window_attributes(root, &changes)?.check()?;
        let check = conn.generate_id()?;
        let (aux, output) = (CreateWindowAux::new(), WindowClass::INPUT_OUTPUT);
        conn.create_window(0, check, root, -9, -9, 1, 1, 0, output, 0, &aux)?.check()?;
        let manager = Self { conn, root, framed: Vec::new() };
        manager.tell(root, "_NET_SUPPORTING_WM_CHECK", &[check])?;
        manager.publish(x11rb::NONE)?;
        Ok(manager)
    }

    fn tell(&self, window: Window, name: &str, values: &[u32]) -> Result<(), ReplyOrIdError> {
        let (name, kind) = (atom(&self.conn, name), AtomEnum::WINDOW);
        let told = self.conn.change_property32(PropMode::REPLACE, window, name, kind, values)?;
        Ok(told.check()?)
    }

    fn publish(&self, active: Window) -> Result<(), ReplyOrIdError> {
        let windows: Vec<Window> = self.framed.iter().map(|(window, _)| *window).collect();
        self.tell(self.root, "_NET_CLIENT_LIST_STACKING", &windows)?;
        self.tell(self.root, "_NET_ACTIVE_WINDOW", &[active])
    }

    fn frame_of(&self, window: Window) -> Option<Window> {
        self.framed.iter().find(|(framed, _)| *framed == window).map(|(_, frame)| *frame)
    }

    fn hear(&mut self, event: &Event) -> Result<(), ReplyOrIdError> {
        match event {
            Event::MapRequest(event) => self.frame(event.window),
            Event::ConfigureRequest(event) => {
                let wish = ConfigureWindowAux::from_configure_request(event);
                self.conn.configure_window(event.window, &wish)?.check()?;
                Ok(())
            }
            Event::ClientMessage(event) => self.asked(event),
            Event::DestroyNotify(event) => {
                let Some(frame) = self.frame_of(event.window) else { return Ok(()) };
                self.framed.retain(|(window, _)| *window != event.window);
                self.conn.destroy_window(frame)?.check()?;
                self.publish(x11rb::NONE)
            }
            _ => Ok(()),
        }
    }

    fn frame(&mut self, window: Window) -> Result<(), ReplyOrIdError> {
        let (conn, size) = (&self.conn, self.conn.get_geometry(window)?.reply()?);
        let frame = conn.generate_id()?;
        let events = EventMask::SUBSTRUCTURE_REDIRECT | EventMask::SUBSTRUCTURE_NOTIFY;
        let aux = CreateWindowAux::new().event_mask(events);
        let (w, h) = (size.width + 8, size.height + 22);
        let output = WindowClass::INPUT_OUTPUT;
        conn.create_window(0, frame, self.root, size.x, size.y, w, h, 0, output, 0, &aux)?
            .check()?;
        conn.reparent_window(window, frame, EDGE.0, EDGE.1)?.check()?;
        let state = atom(conn, "WM_STATE");
        conn.change_property32(PropMode::REPLACE, window, state, state, &[1, 0])?.check()?;
        conn.map_window(window)?.check()?;
        conn.map_window(frame)?.check()?;
        self.framed.push((window, frame));
        self.activate(window, frame)
    }

    fn activate(&mut self, window: Window, frame: Window) -> Result<(), ReplyOrIdError> {
        let above = ConfigureWindowAux::new().stack_mode(StackMode::ABOVE);
        self.conn.configure_window(frame, &above)?.check()?;
        self.conn.set_input_focus(InputFocus::POINTER_ROOT, window, CURRENT_TIME)?.check()?;
        self.framed.retain(|(framed, _)| *framed != window);
        self.framed.push((window, frame));
        self.publish(window)
    }

    fn asked(&mut self, event: &ClientMessageEvent) -> Result<(), ReplyOrIdError> {
        let Some(frame) = self.frame_of(event.window) else { return Ok(()) };
        let [flags, x, y, w, h] = event.data.as_data32();
        if event.type_ == atom(&self.conn, "_NET_ACTIVE_WINDOW") {
            return self.activate(event.window, frame);
        }
        if event.type_ == atom(&self.conn, "_NET_CLOSE_WINDOW") {
            self.conn.kill_client(event.window)?.check()?;
        }
        if event.type_ == atom(&self.conn, "_NET_MOVERESIZE_WINDOW") {
            let given = |bit: u32, value: u32| (flags & (1 << bit) != 0).then_some(value);
            let mut place = ConfigureWindowAux::new();
            place.x = given(8, x).map(|x| x.cast_signed() - i32::from(EDGE.0));
            place.y = given(9, y).map(|y| y.cast_signed() - i32::from(EDGE.1));
            self.conn.configure_window(frame, &place)?.check()?;
            let mut size = ConfigureWindowAux::new();
            (size.width, size.height) = (given(10, w), given(11, h));
            self.conn.configure_window(event.window, &size)?.check()?;
        }
        Ok(())
    }
}
