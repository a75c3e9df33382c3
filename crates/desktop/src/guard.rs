//! A process that outlives us, and lets go of what we held when we are gone without having done so.

use std::{
    ffi::{OsStr, OsString},
    io::{self, Read as _},
    path::Path,
    process::{ChildStdin, Command, ExitCode, Stdio},
    thread,
};

/// How one is started: a program and what it is told before anything else.
pub type Post = Vec<OsString>;

/// It watches while this is there: the end of the line is what it waits for, however that came.
pub struct Guard {
    _line: ChildStdin,
}

#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "elsewhere nothing stays held"))]
impl Guard {
    /// None if it cannot be started. Then there is still what is on record, for the next start.
    pub fn post(post: &[OsString], display: &str, journal: &Path, owner: &str) -> Option<Self> {
        let (program, arguments) = post.split_first()?;
        let mut command = Command::new(program);
        command.args(arguments).arg(display).arg(journal).arg(owner);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // What is sent to everybody in front of a terminal shall not reach it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) => {
                tracing::warn!(%error, "nobody will let go of held keys if this process is killed");
                return None;
            }
        };
        let line = child.stdin.take()?;
        let awaited =
            thread::Builder::new().name("desktop-guard".into()).spawn(move || child.wait());
        if let Err(error) = awaited {
            tracing::warn!(%error, "nobody waits for the guard of the desktop to end");
        }
        Some(Self { _line: line })
    }
}

/// What that process does. It is told the display, the record, and whose it must be.
pub fn guard(arguments: &[OsString]) -> ExitCode {
    let [display, journal, owner] = arguments else {
        eprintln!("megaron: expected a display, a file and an owner");
        return ExitCode::FAILURE;
    };
    wait_for_end();
    let text = |it: &OsStr| it.to_string_lossy().into_owned();
    match mend(&text(display), Path::new(journal), &text(owner)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("megaron: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Nothing is ever said on that line.
fn wait_for_end() {
    let mut said = [0; 64];
    loop {
        match io::stdin().read(&mut said) {
            Ok(0) => return,
            Err(error) if error.kind() != io::ErrorKind::Interrupted => return,
            Ok(_) | Err(_) => (),
        }
    }
}

/// A display of Wayland is a file, by its whole path.
#[cfg(target_os = "linux")]
fn mend(display: &str, journal: &Path, owner: &str) -> Result<(), kernel::desktop::DesktopError> {
    let socket = Path::new(display);
    if socket.is_absolute() {
        return crate::wayland::mend(socket, journal, owner);
    }
    crate::x11::mend(display, journal, owner)
}

/// Nothing is on record there.
#[cfg(not(target_os = "linux"))]
fn mend(_: &str, _: &Path, _: &str) -> Result<(), kernel::desktop::DesktopError> {
    Ok(())
}
