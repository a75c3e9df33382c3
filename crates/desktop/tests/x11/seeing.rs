//! What is on the screen is seen as it is.

use std::io::Cursor;

use kernel::desktop::{
    Action, After, Button, Code, Desktop as _, Format, Frame, Order, Outcome, Point, Rect, Shot,
};
use x11rb::protocol::{
    randr::{ConnectionExt as _, MonitorInfo},
    xproto::{ConnectionExt as _, CreateGCAux, Rectangle},
};

use crate::{
    stage::Stage,
    witness::{Seen, Witness},
};

/// Red, green and blue of a picture, row by row.
pub fn decoded(frame: &Frame) -> Vec<[u8; 3]> {
    let bytes = match frame.format {
        Format::Png => {
            let mut reader = png::Decoder::new(Cursor::new(&frame.bytes)).read_info().unwrap();
            let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
            let info = reader.next_frame(&mut bytes).unwrap();
            assert_eq!((info.width, info.height), (frame.width, frame.height));
            bytes
        }
        Format::Webp => {
            let mut decoder = image_webp::WebPDecoder::new(Cursor::new(&frame.bytes)).unwrap();
            assert_eq!(decoder.dimensions(), (frame.width, frame.height));
            let mut bytes = vec![0; decoder.output_buffer_size().unwrap()];
            decoder.read_image(&mut bytes).unwrap();
            bytes
        }
        Format::Jpeg => panic!("what loses something is not compared"),
    };
    bytes.as_chunks::<3>().0.to_vec()
}

async fn picture(stage: &Stage, shot: Shot) -> Frame {
    match stage.act(Action::Screenshot(shot)).await.unwrap() {
        Outcome::Picture(frame) => frame,
        other => panic!("{other:?}"),
    }
}

fn paint(witness: &Witness, colour: u32, (x, y, width, height): (i16, i16, u16, u16)) {
    use x11rb::connection::Connection as _;
    let pen = witness.conn.generate_id().unwrap();
    let aux = CreateGCAux::new().foreground(colour);
    witness.conn.create_gc(pen, witness.window, &aux).unwrap();
    let area = Rectangle { x, y, width, height };
    let drawn = witness.conn.poly_fill_rectangle(witness.window, pen, &[area]).unwrap();
    drawn.check().unwrap();
}

#[tokio::test]
async fn a_picture_shows_the_pixels_of_the_part_that_was_asked_for() {
    let stage = Stage::sized("640x400x24");
    let witness = Witness::at(&stage.display, (0, 0, 640, 400));
    paint(&witness, 0x00ff_8000, (10, 20, 30, 40));
    let region = Rect { x: 8, y: 18, w: 40, h: 50 };
    for format in [Format::Webp, Format::Png] {
        let shot = Shot { region: Some(region), format, cursor: false, ..Shot::default() };
        let frame = picture(&stage, shot).await;
        assert_eq!((frame.width, frame.height, frame.screen), (40, 50, region));
        let expected: Vec<[u8; 3]> = (18..68)
            .flat_map(|y| (8..48).map(move |x| (x, y)))
            .map(|(x, y)| {
                let inside = (10..40).contains(&x) && (20..60).contains(&y);
                if inside { [0xff, 0x80, 0x00] } else { [0xff, 0xff, 0xff] }
            })
            .collect();
        assert!(decoded(&frame) == expected, "{format:?}");
    }
    let shot = Shot { format: Format::Jpeg, quality: 50, ..Shot::default() };
    let frame = picture(&stage, shot).await;
    assert_eq!(frame.bytes[..3], [0xff, 0xd8, 0xff]);
    let outside = Shot { region: Some(Rect { x: 600, y: 0, w: 41, h: 1 }), ..Shot::default() };
    let error = stage.act(Action::Screenshot(outside)).await.unwrap_err();
    assert_eq!(error.code, Code::OutOfBounds);
    let error = stage.act(Action::Zoom(Shot::default())).await.unwrap_err();
    assert_eq!(error.text, "missing field `region`");
    let display = Shot { display: Some(7), ..Shot::default() };
    let error = stage.act(Action::Screenshot(display)).await.unwrap_err();
    assert_eq!(error.text, "Screenshot failed: there is no display 7; there are 1, from 0");
}

#[tokio::test]
async fn a_target_in_a_smaller_picture_is_hit_on_the_screen() {
    let stage = Stage::sized("1366x768x24");
    let witness = Witness::at(&stage.display, (0, 0, 1366, 768));
    paint(&witness, 0x0000_00ff, (1001, 503, 6, 6));
    let shot = Shot { max_edge: 600, format: Format::Png, cursor: false, ..Shot::default() };
    let frame = picture(&stage, shot).await;
    assert_eq!((frame.width, frame.height), (600, 337));
    let bluest = (0u32..).zip(decoded(&frame)).min_by_key(|(_, pixel)| pixel[0]).unwrap().0;
    let at = Point { x: bluest % frame.width, y: bluest / frame.width };
    let to = frame.mapping().to_screen(at).unwrap();
    assert!((1001..1007).contains(&to.x) && (503..509).contains(&to.y), "{to:?}");
    stage.done(Action::MouseMove { to, duration: 0.0 }).await;
    assert_eq!(frame.mapping().to_picture(to), Some(at));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_click_on_a_point_of_a_picture_arrives_at_the_pixel_that_it_shows() {
    for (w, h) in [(1366, 768), (2560, 1440)] {
        let stage = Stage::sized(&format!("{w}x{h}x24"));
        let witness = Witness::at(&stage.display, (0, 0, w, h));
        let frame = picture(&stage, Shot { max_edge: 1000, ..Shot::default() }).await;
        let mapping = frame.mapping();
        // As good as by chance, and the same each time.
        let mut chance = 12_345_u32;
        let mut below = |most: u32| {
            chance = chance.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (chance >> 8) % most
        };
        for _ in 0..50 {
            let at = Point { x: below(frame.width), y: below(frame.height) };
            let to = mapping.to_screen(at).unwrap();
            let (button, modifiers) = (Button::Left, vec![]);
            let click = Action::MouseClickAt { at: Some(to), button, count: 1, modifiers };
            stage.done(click).await;
            // In whole numbers: the middle of what the point shows.
            let scaled = |at: u32, screen: u16, picture: u32| {
                i16::try_from((2 * at + 1) * u32::from(screen) / (2 * picture)).unwrap()
            };
            let (x, y) = (scaled(at.x, w, frame.width), scaled(at.y, h, frame.height));
            let seen = witness.seen();
            assert_eq!(witness.pointer(), (x, y));
            assert!(seen.ends_with(&[Seen::Pressed(1, 0), Seen::Released(1)]), "{seen:?}");
            assert_eq!(mapping.to_picture(to), Some(at));
        }
    }
}

#[tokio::test]
async fn the_pointer_is_in_the_picture_if_it_is_wanted_and_a_picture_can_follow_what_was_done() {
    let stage = Stage::sized("640x400x24");
    let witness = Witness::at(&stage.display, (0, 0, 640, 400));
    // Without a shape of its own the pointer has that of the root, which may be none.
    let font = x11rb::connection::Connection::generate_id(&witness.conn).unwrap();
    witness.conn.open_font(font, b"cursor").unwrap().check().unwrap();
    let cursor = x11rb::connection::Connection::generate_id(&witness.conn).unwrap();
    witness
        .conn
        .create_glyph_cursor(cursor, font, font, 68, 69, 0, 0, 0, 65535, 65535, 65535)
        .unwrap()
        .check()
        .unwrap();
    let look = x11rb::protocol::xproto::ChangeWindowAttributesAux::new().cursor(cursor);
    witness.conn.change_window_attributes(witness.window, &look).unwrap().check().unwrap();
    let shot = Shot { format: Format::Png, ..Shot::default() };
    let order = Order {
        after: Some(After { settle_ms: 5000, shot }),
        ..Action::MouseMove { to: Point { x: 300, y: 200 }, duration: 0.0 }.into()
    };
    let Ok(Outcome::Done(done)) = stage.local.act(order).await else { panic!() };
    let seen = decoded(&done.picture.unwrap());
    assert!(seen.contains(&[0, 0, 0]));
    let bare = decoded(&picture(&stage, Shot { cursor: false, ..shot }).await);
    assert!(bare.iter().all(|pixel| *pixel == [0xff; 3]));
}

#[tokio::test]
async fn a_point_between_two_displays_is_on_none() {
    let stage = Stage::set();
    let witness = Witness::at(&stage.display, (0, 0, 10, 10));
    let conn = &witness.conn;
    let known = conn.randr_get_screen_resources_current(witness.root).unwrap().reply().unwrap();
    // The first takes the place of the one that the server has made for its output.
    for (name, x, width, outputs) in [("left", 0, 800, known.outputs), ("right", 1000, 920, vec![])]
    {
        let name = witness.conn.intern_atom(false, name.as_bytes()).unwrap().reply().unwrap().atom;
        let monitor = MonitorInfo {
            name,
            primary: x == 0,
            automatic: false,
            x,
            y: 0,
            width,
            height: 1080,
            width_in_millimeters: 100,
            height_in_millimeters: 100,
            outputs,
        };
        witness.conn.randr_set_monitor(witness.root, monitor).unwrap().check().unwrap();
        // By the time of this answer the news of it has come, too.
        stage.windows().await;
    }
    let Ok(Outcome::Screen(screen)) = stage.act(Action::ScreenInfo).await else { panic!() };
    let areas: Vec<(String, Rect)> =
        screen.displays.iter().map(|it| (it.name.clone(), it.area)).collect();
    let left = Rect { x: 0, y: 0, w: 800, h: 1080 };
    let right = Rect { x: 1000, y: 0, w: 920, h: 1080 };
    assert_eq!(areas, [("left".to_owned(), left), ("right".to_owned(), right)]);
    let to = |x: u32| Action::MouseMove { to: Point { x, y: 5 }, duration: 0.0 };
    for (x, is_on) in [(799, true), (800, false), (900, false), (999, false), (1000, true)] {
        let code = stage.act(to(x)).await.err().map(|error| error.code);
        assert_eq!(code, (!is_on).then_some(Code::OutOfBounds), "{x}");
    }
    assert_eq!(screen.layout, "us");
    let right = screen.displays.iter().position(|it| it.name == "right").unwrap();
    let shot = Shot { display: u32::try_from(right).ok(), ..Shot::default() };
    assert_eq!(picture(&stage, shot).await.screen, Rect { x: 1000, y: 0, w: 920, h: 1080 });
}

#[tokio::test]
async fn windows_are_listed_focused_moved_and_closed() {
    let stage = Stage::set();
    let _terminal = stage.terminal().await;
    let witness = Witness::at(&stage.display, (5, 5, 100, 50));
    let windows = stage.windows().await;
    let ids: Vec<u32> = windows.iter().map(|pane| pane.id).collect();
    let xterm = windows.iter().find(|pane| pane.class == "XTerm").unwrap().clone();
    assert_eq!(ids, [witness.window, xterm.id]);
    assert!(windows[0].focused && !xterm.focused);
    assert_eq!((windows[0].x, windows[0].y, windows[0].w, windows[0].h), (5, 5, 100, 50));
    stage.done(Action::WindowFocus { id: xterm.id }).await;
    let windows = stage.windows().await;
    assert!(windows[0].id == xterm.id && windows[0].focused);
    let id = witness.window;
    let moved = Action::WindowMove { id, x: Some(700), y: None, w: None, h: Some(90) };
    stage.done(moved).await;
    let pane = stage.windows().await.into_iter().find(|pane| pane.id == id).unwrap();
    assert_eq!((pane.x, pane.y, pane.w, pane.h), (700, 5, 100, 90));
    stage.done(Action::WindowClose { id: xterm.id }).await;
    assert_eq!(stage.windows().await.len(), 1);
    let error = stage.act(Action::WindowFocus { id: xterm.id }).await.unwrap_err();
    assert_eq!(error.text, format!("Window focus failed: no window has the id {}", xterm.id));
}
