//! A display that nobody sees, and what happens on it.

use std::{
    io::{BufRead as _, BufReader, Read as _},
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::Duration,
};

use desktop::{Local, Settings};
use kernel::desktop::{Action, Desktop as _, DesktopError, Done, Outcome, Pane};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// How long anything may take before a test gives up.
pub const PATIENCE: Duration = Duration::from_mins(1);

pub struct Stage {
    server: Child,
    pub display: String,
    pub local: Local,
    pub folder: TempDir,
}

impl Stage {
    pub fn set() -> Self {
        Self::sized("1920x1080x24")
    }

    pub fn sized(screen: &str) -> Self {
        Self::with(screen, &[])
    }

    pub fn with(screen: &str, more: &[&str]) -> Self {
        let (server, display) = display(screen, more);
        let folder = TempDir::new().unwrap();
        let settings = settings(&display, folder.path().join("desktop.json"));
        // A terminal that fetches what is pasted does so however busy the machine is.
        let local = Local::new(Settings { paste_patience: PATIENCE, ..settings });
        Self { server, display, local, folder }
    }

    /// The same desktop for somebody who does not wait long for a window to take what is pasted.
    pub fn impatient(&self) -> Local {
        Local::new(settings(&self.display, self.folder.path().join("impatient.json")))
    }

    /// On a display of a number that nobody else is given, so that another can come in its place.
    pub fn numbered() -> Self {
        let number = format!(":{}", 1000 + std::process::id() % 50_000);
        Self::with("640x480x24", &[&number])
    }

    /// The display is gone.
    pub fn end(&mut self) {
        self.server.kill().unwrap();
        self.server.wait().unwrap();
    }

    /// The display answers nothing, or again.
    pub fn hang(&self, hang: bool) {
        let signal = if hang { Signal::STOP } else { Signal::CONT };
        kill_process(Pid::from_child(&self.server), signal).unwrap();
    }

    /// And another comes in its place.
    pub fn begin_again(&mut self) {
        let (server, display) = display("640x480x24", &[&self.display]);
        assert_eq!(display, self.display);
        self.server = server;
    }

    pub async fn act(&self, action: Action) -> Result<Outcome, DesktopError> {
        self.local.act(action.into()).await
    }

    /// What was answered to something that was done.
    pub async fn done(&self, action: Action) -> String {
        match self.act(action).await.unwrap() {
            Outcome::Done(Done { message, .. }) => message,
            other => panic!("{other:?}"),
        }
    }

    pub async fn windows(&self) -> Vec<Pane> {
        match self.act(Action::WindowList).await.unwrap() {
            Outcome::Windows(windows) => windows,
            other => panic!("{other:?}"),
        }
    }

    pub fn layout(&self, layout: &str) {
        let mut command = Command::new("setxkbmap");
        command.args(["-display", &self.display, "-layout", layout]);
        assert!(command.status().unwrap().success());
    }

    /// A terminal in focus, and everything that is typed into it.
    pub async fn terminal(&self) -> Terminal {
        self.terminal_with(&[]).await
    }

    /// And it was told this when it was started.
    pub async fn terminal_with(&self, told: &[&str]) -> Terminal {
        let pipe = self.folder.path().join("typed");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let script = "exec 3>\"$0\"; stty raw -echo; printf R >&3; exec cat >&3";
        let program = Command::new("xterm")
            .args(["-display", &self.display, "-u8", "-geometry", "80x24+100+100"])
            .args(told)
            .args(["-e", "sh", "-c", script])
            .arg(&pipe)
            .env("LC_ALL", "C.UTF-8")
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("these tests need xterm, `make display`: {error}"));
        let mut terminal = Terminal { program, typed: listen(pipe) };
        assert_eq!(terminal.read(1), "R");
        let id = self.window("XTerm").await.id;
        self.done(Action::WindowFocus { id }).await;
        terminal
    }

    /// A terminal with this in its first line.
    pub fn showing(&self, text: &str) -> Terminal {
        let program = Command::new("xterm")
            .args(["-display", &self.display, "+sb", "-fn", "fixed", "-geometry", "80x24+100+100"])
            .args(["-e", "sh", "-c", "printf %s \"$0\"; exec cat", text])
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("these tests need xterm, `make display`: {error}"));
        Terminal { program, typed: channel().1 }
    }

    /// Returns when a program shows a window.
    pub async fn window(&self, class: &str) -> Pane {
        let found = async {
            loop {
                let mut windows = self.windows().await.into_iter();
                // A manager may know of it before it is there to be seen.
                let found = windows.find(|pane| pane.class == class && !pane.minimized);
                if let Some(found) = found {
                    return found;
                }
            }
        };
        tokio::time::timeout(PATIENCE, found).await.unwrap()
    }
}

/// A server, and the display that it serves.
fn display(screen: &str, more: &[&str]) -> (Child, String) {
    let mut server = Command::new("Xvfb")
        .args(more)
        .args(["-displayfd", "1", "-screen", "0", screen, "-nolisten", "tcp", "-noreset"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap_or_else(|error| panic!("these tests need Xvfb, `make display`: {error}"));
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (server, format!(":{}", line.trim()))
}

pub fn settings(display: &str, journal: PathBuf) -> Settings {
    Settings { display: Some(display.to_owned()), journal: Some(journal), ..Settings::default() }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.server.kill().ok();
        self.server.wait().ok();
    }
}

pub struct Terminal {
    program: Child,
    typed: Receiver<u8>,
}

impl Terminal {
    /// The next so many bytes that were typed, as soon as there are so many.
    pub fn read(&mut self, bytes: usize) -> String {
        let read: Vec<u8> =
            (0..bytes).map_while(|_| self.typed.recv_timeout(PATIENCE).ok()).collect();
        String::from_utf8_lossy(&read).into_owned()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.program.kill().ok();
        self.program.wait().ok();
    }
}

fn listen(pipe: PathBuf) -> Receiver<u8> {
    let (heard, typed) = channel();
    thread::spawn(move || {
        let file = BufReader::new(std::fs::File::open(pipe).unwrap());
        for byte in file.bytes().map_while(Result::ok) {
            if heard.send(byte).is_err() {
                return;
            }
        }
    });
    typed
}
