//! Compositors that lack something, or die: a clear word, and everything works again when they are back.

use std::{
    io::{Read as _, Write as _},
    os::unix::net::UnixListener,
    path::PathBuf,
    thread,
};

use desktop::Local;
use kernel::desktop::{Action, Code, Desktop as _, DesktopError, Point};

use crate::stage::{PATIENCE, Stage, settings};

fn moved() -> Action {
    Action::MouseMove { to: Point { x: 10, y: 20 }, duration: 0.0 }
}

#[tokio::test]
async fn a_compositor_that_dies_is_one_error_and_works_again_when_it_is_back() {
    let Some(mut stage) = Stage::set() else { return };
    stage.done(moved()).await;
    stage.end();
    let error = stage.act(moved()).await.unwrap_err();
    assert!(error.text.starts_with("Mouse move failed: OS Failure: "), "{error}");
    let error = stage.act(moved()).await.unwrap_err();
    let at = stage.socket.display();
    let text = format!("Mouse move failed: cannot reach the compositor at {at}: ");
    assert!(error.text.starts_with(&text), "{error}");
    assert_eq!(error.code, Code::NoDisplay);
    stage.begin_again();
    let back = async { while stage.act(moved()).await.is_err() {} };
    tokio::time::timeout(PATIENCE, back).await.unwrap();
}

/// Says that it offers nothing, and that it has done what it was told.
fn poor(socket: PathBuf) {
    let listener = UnixListener::bind(socket).unwrap();
    thread::spawn(move || {
        for mut line in listener.incoming().map_while(Result::ok) {
            let mut header = [0; 8];
            while line.read_exact(&mut header).is_ok() {
                let word = |at: usize| u32::from_ne_bytes(header[at..at + 4].try_into().unwrap());
                let (object, opcode, size) = (word(0), word(4) & 0xffff, word(4) >> 16);
                let mut body = vec![0; usize::try_from(size).unwrap() - 8];
                line.read_exact(&mut body).unwrap();
                if (object, opcode) == (1, 0) {
                    // Its first word names who waits for the answer.
                    let id = u32::from_ne_bytes(body[..4].try_into().unwrap());
                    let answer = [id, 12 << 16, 0, 1, (12 << 16) | 1, id];
                    let answer: Vec<u8> = answer.iter().flat_map(|it| it.to_ne_bytes()).collect();
                    line.write_all(&answer).unwrap();
                }
            }
        }
    });
}

#[tokio::test]
async fn a_compositor_without_the_means_is_refused_with_what_would_help() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("wayland-0");
    poor(socket.clone());
    let local = Local::new(settings(&socket));
    let text = "Mouse move failed: this Wayland compositor offers no \
                zwlr_virtual_pointer_manager_v1, as those of GNOME and KDE do not; use one made of \
                wlroots, such as sway, or log in to an X session";
    let error = Err(DesktopError::new(Code::Unsupported, text));
    assert_eq!(local.act(moved().into()).await, error);
    let nowhere = Local::new(settings(&folder.path().join("wayland-9")));
    assert_eq!(nowhere.act(moved().into()).await.unwrap_err().code, Code::NoDisplay);
    assert_eq!(nowhere.info().await.unwrap_err().code, Code::NoDisplay);
}
