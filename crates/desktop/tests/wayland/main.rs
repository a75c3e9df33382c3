//! This machine's desktop on Wayland: a real compositor that nobody sees, with other programs as witnesses.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "all of it is a test")]

mod keyboard;
mod lacking;
mod pointer;
mod seeing;
mod stage;
mod windows;
mod witness;

#[tokio::test]
async fn a_compositor_makes_a_desktop_like_any_other() {
    let whole = "output HEADLESS-1 mode 1920x1080 position 0 0\n";
    let Some(stage) = stage::Stage::with(1, whole) else { return };
    let _window = stage.witness("first").await;
    testkit::contract::desktop(&stage.local).await;
}
