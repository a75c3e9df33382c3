//! A compositor that nobody sees, and what happens on it.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _},
    os::unix::fs::{MetadataExt as _, chown},
    path::PathBuf,
    process::{Child, ChildStdout, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::Duration,
};

use desktop::{Backend, Local, Settings};
use kernel::desktop::{Action, Desktop as _, DesktopError, Done, Outcome, Pane};
use tempfile::TempDir;

use crate::witness::Witness;

/// How long anything may take before a test gives up.
pub const PATIENCE: Duration = Duration::from_mins(1);
/// It refuses to be the superuser, and then is nobody.
const NOBODY: u32 = 65_534;
/// A key that comes up late on a busy machine shall not be taken for one that is held.
const PLAIN: &str = "xwayland disable\ndefault_border none\nfocus_follows_mouse no\n\
                     input * repeat_delay 60000\n";

pub struct Stage {
    compositor: Child,
    outputs: u32,
    pub local: Local,
    pub folder: TempDir,
    pub socket: PathBuf,
}

impl Stage {
    /// None where there is no compositor, which is said.
    pub fn set() -> Option<Self> {
        Self::with(1, "output HEADLESS-1 mode 640x480 position 0 0\n")
    }

    pub fn with(outputs: u32, config: &str) -> Option<Self> {
        let missing = |program: &&&str| Command::new(**program).arg("--version").output().is_err();
        if let Some(missing) = ["sway", "foot", "setpriv"].iter().find(missing) {
            eprintln!("skipped: this test needs {missing}, `make display`");
            return None;
        }
        let folder = TempDir::new().unwrap();
        let told = "exec echo $WAYLAND_DISPLAY\n";
        fs::write(folder.path().join("config"), format!("{PLAIN}{config}{told}")).unwrap();
        if is_superuser(&folder) {
            chown(folder.path(), Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let (compositor, name) = compositor(&folder, outputs);
        let socket = folder.path().join(name);
        let local = Local::new(settings(&socket));
        Some(Self { compositor, outputs, local, folder, socket })
    }

    /// Whoever was here leaves, and another comes.
    pub fn leave(&mut self) {
        self.local = Local::new(settings(&self.socket));
    }

    /// The compositor is gone.
    pub fn end(&mut self) {
        self.compositor.kill().unwrap();
        self.compositor.wait().unwrap();
    }

    /// And another comes in its place.
    pub fn begin_again(&mut self) {
        fs::remove_file(&self.socket).unwrap();
        let (compositor, name) = compositor(&self.folder, self.outputs);
        assert_eq!(self.folder.path().join(name), self.socket);
        self.compositor = compositor;
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

    /// Another program with a window in focus.
    pub async fn witness(&self, program: &str) -> Witness {
        // We bring the keyboard with us that there is to be a focus of.
        self.windows().await;
        Witness::at(&self.socket, program)
    }

    /// Returns when a program shows a window that has the focus.
    pub async fn window(&self, class: &str) -> Pane {
        let found = async {
            loop {
                let mut windows = self.windows().await.into_iter();
                if let Some(found) = windows.find(|pane| pane.class == class && pane.focused) {
                    return found;
                }
            }
        };
        tokio::time::timeout(PATIENCE, found).await.unwrap()
    }
}

pub fn settings(socket: &std::path::Path) -> Settings {
    let display = Some(socket.to_str().unwrap().to_owned());
    Settings { backend: Some(Backend::Wayland), display, ..Settings::default() }
}

fn is_superuser(folder: &TempDir) -> bool {
    fs::metadata(folder.path().join("config")).unwrap().uid() == 0
}

/// One that is ready, and the name under which it is reached.
fn compositor(folder: &TempDir, outputs: u32) -> (Child, String) {
    let mut command = if is_superuser(folder) {
        let mut command = Command::new("setpriv");
        let nobody = NOBODY.to_string();
        command.args(["--reuid", &nobody, "--regid", &nobody, "--clear-groups", "sway"]);
        command
    } else {
        Command::new("sway")
    };
    let mut compositor = command
        .arg("--config")
        .arg(folder.path().join("config"))
        .env("XDG_RUNTIME_DIR", folder.path())
        .env("HOME", folder.path())
        .env("WLR_BACKENDS", "headless")
        .env("WLR_HEADLESS_OUTPUTS", outputs.to_string())
        .env("WLR_LIBINPUT_NO_DEVICES", "1")
        .env("WLR_RENDERER", "pixman")
        .env_remove("WAYLAND_DISPLAY")
        .env_remove("DISPLAY")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(compositor.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("wayland-"), "the compositor did not begin: {line:?}");
    (compositor, line.trim().to_owned())
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.compositor.kill().ok();
        self.compositor.wait().ok();
    }
}

/// A terminal, and everything that is typed into it.
pub struct Terminal {
    program: Child,
    typed: Receiver<u8>,
}

impl Terminal {
    pub async fn open(stage: &Stage) -> Self {
        // We bring the only keyboard there is, and programs look for one when they begin.
        stage.windows().await;
        let script = "stty raw -echo; printf R >&3; exec cat >&3";
        let mut program = Command::new("sh")
            .args(["-c", "exec 3>&1; exec foot sh -c \"$0\" >/dev/null 2>&1", script])
            .env("XDG_RUNTIME_DIR", stage.folder.path())
            .env("WAYLAND_DISPLAY", &stage.socket)
            .env("HOME", stage.folder.path())
            .env_remove("XDG_CONFIG_HOME")
            .env("LC_ALL", "C.UTF-8")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let typed = listen(program.stdout.take().unwrap());
        let mut terminal = Self { program, typed };
        assert_eq!(terminal.read(1), "R", "these tests need foot, `make display`");
        stage.window("foot").await;
        terminal
    }

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

fn listen(pipe: ChildStdout) -> Receiver<u8> {
    let (heard, typed) = channel();
    thread::spawn(move || {
        for byte in BufReader::new(pipe).bytes().map_while(Result::ok) {
            if heard.send(byte).is_err() {
                return;
            }
        }
    });
    typed
}
