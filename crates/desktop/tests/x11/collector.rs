//! A program that fetches whatever is put on the clipboard, as soon as somebody puts it there.

use std::{
    sync::mpsc::{Receiver, channel},
    thread,
};

use x11rb::{
    CURRENT_TIME,
    connection::Connection as _,
    protocol::{
        Event,
        xfixes::{ConnectionExt as _, SelectionEventMask},
        xproto::{AtomEnum, ConnectionExt as _, CreateWindowAux, WindowClass},
    },
    rust_connection::RustConnection,
};

/// All that it has fetched, until the display is gone.
pub fn begin(display: &str) -> Receiver<String> {
    let (conn, screen) = RustConnection::connect(Some(display)).unwrap();
    let root = conn.setup().roots[screen].root;
    let window = conn.generate_id().unwrap();
    let (aux, only) = (CreateWindowAux::new(), WindowClass::INPUT_ONLY);
    conn.create_window(0, window, root, 0, 0, 1, 1, 0, only, 0, &aux).unwrap().check().unwrap();
    let atom = |name: &str| conn.intern_atom(false, name.as_bytes()).unwrap().reply().unwrap().atom;
    let (clipboard, text, place) = (atom("CLIPBOARD"), atom("UTF8_STRING"), atom("COLLECTED"));
    conn.xfixes_query_version(5, 0).unwrap().reply().unwrap();
    let owners = SelectionEventMask::SET_SELECTION_OWNER;
    conn.xfixes_select_selection_input(root, clipboard, owners).unwrap().check().unwrap();
    let (fetched, all) = channel();
    thread::spawn(move || {
        while let Ok(event) = conn.wait_for_event() {
            match event {
                Event::XfixesSelectionNotify(_) => {
                    let asked =
                        conn.convert_selection(window, clipboard, text, place, CURRENT_TIME);
                    asked.unwrap().ignore_error();
                    conn.flush().ok();
                }
                Event::SelectionNotify(event) if event.property == place => {
                    let asked = conn.get_property(true, window, place, AtomEnum::ANY, 0, 1 << 16);
                    let Ok(read) = asked.unwrap().reply() else { return };
                    if fetched.send(String::from_utf8_lossy(&read.value).into_owned()).is_err() {
                        return;
                    }
                }
                _ => (),
            }
        }
    });
    all
}
