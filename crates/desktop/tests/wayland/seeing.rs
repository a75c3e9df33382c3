//! What is on the screen is seen as it is, pixel by pixel, on every output.

use desktop::Local;
use kernel::desktop::{Action, Code, Desktop as _, Format, Frame, Outcome, Point, Rect, Shot};

use crate::{
    stage::{PATIENCE, Stage},
    witness::{Seen, colour},
};

async fn picture(local: &Local, shot: Shot) -> Frame {
    match local.act(Action::Screenshot(shot).into()).await.unwrap() {
        Outcome::Picture(frame) => frame,
        other => panic!("{other:?}"),
    }
}

/// Red, green, blue, row by row.
fn pixels(frame: &Frame) -> Vec<u8> {
    let decoder = png::Decoder::new(std::io::Cursor::new(&frame.bytes));
    let mut reader = decoder.read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    pixels
}

fn drawn(area: Rect) -> Vec<u8> {
    let rows = area.y..area.y + area.h;
    rows.flat_map(|y| (area.x..area.x + area.w).map(move |x| (x, y)))
        .flat_map(|(x, y)| {
            let [blue, green, red] = colour(x, y);
            [red, green, blue]
        })
        .collect()
}

fn exact(region: Option<Rect>) -> Shot {
    Shot { region, format: Format::Png, cursor: false, max_edge: 5000, ..Shot::default() }
}

/// What another program has drawn shows in its own time.
async fn until_shown(local: &Local, shot: Shot, drawn: &[u8]) {
    let shows = async { while pixels(&picture(local, shot).await) != drawn {} };
    tokio::time::timeout(PATIENCE, shows).await.unwrap();
}

#[tokio::test]
async fn a_picture_shows_what_was_drawn() {
    let Some(stage) = Stage::set() else { return };
    // The pointer is in it for whoever wants to see it.
    stage.done(Action::MouseMove { to: Point { x: 320, y: 240 }, duration: 0.0 }).await;
    let with = Shot { cursor: true, ..exact(None) };
    let shows = async {
        loop {
            let seen = pixels(&picture(&stage.local, with).await);
            if seen.chunks(3).any(|pixel| pixel != &seen[..3]) {
                return;
            }
        }
    };
    tokio::time::timeout(PATIENCE, shows).await.unwrap();
    let _witness = stage.witness("witness").await;
    let info = stage.local.info().await.unwrap();
    assert_eq!((info.backend.as_str(), info.screen), ("wayland", Some((640, 480))));
    assert!(!info.commands.contains(&"window_move".to_owned()));
    assert!(info.commands.contains(&"clipboard_get".to_owned()));
    let whole = Rect { x: 0, y: 0, w: 640, h: 480 };
    until_shown(&stage.local, exact(None), &drawn(whole)).await;
    assert_eq!(picture(&stage.local, exact(None)).await.screen, whole);
    let region = Rect { x: 300, y: 250, w: 17, h: 9 };
    let frame = picture(&stage.local, exact(Some(region))).await;
    assert_eq!(pixels(&frame), drawn(region));
    let seen = stage.local.glance(false).await.unwrap();
    assert_eq!(seen.colours(region), drawn(region));
    let outside = exact(Some(Rect { x: 639, y: 0, w: 2, h: 1 }));
    let error = stage.act(Action::Screenshot(outside)).await.unwrap_err();
    assert_eq!(error.code, Code::OutOfBounds);
    let error = stage.act(Action::Screenshot(Shot { display: Some(7), ..exact(None) })).await;
    let text = "Screenshot failed: there is no display 7; there are 1, from 0";
    assert_eq!(error.unwrap_err().text, text);
}

#[tokio::test]
async fn several_outputs_are_one_screen_however_they_are_turned() {
    let config = "output HEADLESS-1 mode 300x200 position 0 0\n\
                  output HEADLESS-2 mode 400x200 position 350 10 transform 90\n\
                  workspace 9 output HEADLESS-2\n\
                  for_window [app_id=witness] move container to workspace 9, workspace 9\n";
    let Some(stage) = Stage::with(2, config) else { return };
    let Ok(Outcome::Screen(screen)) = stage.act(Action::ScreenInfo).await else { panic!() };
    let areas: Vec<Rect> = screen.displays.iter().map(|it| it.area).collect();
    let turned = Rect { x: 350, y: 10, w: 200, h: 400 };
    assert_eq!(areas, [Rect { x: 0, y: 0, w: 300, h: 200 }, turned]);
    assert_eq!((screen.w, screen.h, screen.backend.as_str()), (550, 410, "wayland"));
    let gap = Action::MouseMove { to: Point { x: 320, y: 50 }, duration: 0.0 };
    assert_eq!(stage.act(gap).await.unwrap_err().code, Code::OutOfBounds);
    let witness = stage.witness("witness").await;
    stage.done(Action::MouseMove { to: Point { x: 361, y: 232 }, duration: 0.0 }).await;
    witness.until(&Seen::Moved(11, 222));
    let there = Shot { display: Some(1), ..exact(None) };
    let shown = drawn(Rect { x: 0, y: 0, w: 200, h: 400 });
    until_shown(&stage.local, there, &shown).await;
    let frame = picture(&stage.local, exact(None)).await;
    assert_eq!(frame.screen, Rect { x: 0, y: 0, w: 550, h: 410 });
}

#[tokio::test]
async fn whoever_is_armed_shows_a_frame_that_is_not_in_the_way() {
    let Some(stage) = Stage::set() else { return };
    let witness = stage.witness("witness").await;
    let (orange, edge) = ([0xd9, 0x77, 0x06].repeat(3), Rect { x: 100, y: 0, w: 1, h: 3 });
    stage.local.indicate(true);
    let shows =
        async { while pixels(&picture(&stage.local, exact(Some(edge))).await) != orange {} };
    tokio::time::timeout(PATIENCE, shows).await.unwrap();
    let side = Rect { x: 637, y: 470, w: 3, h: 1 };
    until_shown(&stage.local, exact(Some(side)), &orange).await;
    // What is done there reaches what lies behind.
    stage.done(Action::MouseMove { to: Point { x: 100, y: 1 }, duration: 0.0 }).await;
    witness.until(&Seen::Moved(100, 1));
    stage.local.indicate(false);
    let gone = async { while pixels(&picture(&stage.local, exact(Some(edge))).await) == orange {} };
    tokio::time::timeout(PATIENCE, gone).await.unwrap();
}
