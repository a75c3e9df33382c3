//! Opens a page in the person's browser, where there is one.

use std::process::Stdio;

/// Whether somebody sits in front of a screen here, as far as that can be told.
pub fn is_at_hand() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let screen = cfg!(target_os = "macos") || set("DISPLAY") || set("WAYLAND_DISPLAY");
    screen && !set("CI")
}

pub fn open(url: &str) {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = tokio::process::Command::new(program);
    command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // In a group of its own, or Ctrl-C in the terminal would close the browser too.
    command.process_group(0);
    // The URL is printed anyway; a browser that does not open is no failure.
    command.spawn().ok();
}
