//! The real program on a data directory and a port of its own, started and ended at will.

use std::{
    fs::{self, File},
    net::{TcpListener, UdpSocket},
    path::PathBuf,
    process::{ExitStatus, Stdio},
};

use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, ChildStderr, ChildStdout, Command},
};

use crate::{chance::Chance, within};

pub struct Home {
    dir: TempDir,
    /// The same for every server here, so that clients find the next one.
    pub port: u16,
    /// Keeps other tests from choosing the same, also while no server listens there.
    _claim: UdpSocket,
}

impl Home {
    pub fn new() -> Self {
        let (port, claim) = free_port();
        Self { dir: tempfile::tempdir().unwrap(), port, _claim: claim }
    }

    pub fn configure(&self, config: &str) {
        fs::create_dir_all(self.data_dir()).unwrap();
        fs::write(self.data_dir().join("config.toml"), config).unwrap();
    }

    pub fn key(&self) -> String {
        fs::read_to_string(self.data_dir().join("key")).unwrap().trim().to_owned()
    }

    pub async fn serve(&self, args: &[&str]) -> Server {
        self.serve_logging(args, Stdio::piped()).await
    }

    /// With its log in a file beside the data, which takes up room as well.
    pub async fn serve_logging_to_file(&self) -> Server {
        let log = File::create(self.dir.path().join("log")).unwrap();
        self.serve_logging(&[], log.into()).await
    }

    async fn serve_logging(&self, args: &[&str], log: Stdio) -> Server {
        // A file that would grow too large is an error to be handled, not a reason to die: only
        // whoever starts a program can say so for it without unsafe code.
        let mut command = Command::new("sh");
        command.args(["-c", r#"trap "" XFSZ; exec "$0" "$@""#, env!("CARGO_BIN_EXE_megaron")]);
        let listen = format!("127.0.0.1:{}", self.port);
        self.dress(&mut command, &["serve", "--no-open", "--listen", &listen]).args(args);
        command.stdout(Stdio::piped()).stderr(log).kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        if let Some(log) = child.stderr.take() {
            tokio::spawn(pass_on(log));
        }
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        within("the server to listen", stdout.read_line(&mut line)).await.unwrap();
        assert_eq!(line, format!("listening on http://{listen}\n"));
        Server { child, _stdout: stdout }
    }

    /// Runs it to its end and returns the exit code and what it complained of.
    pub async fn run(&self, args: &[&str]) -> (Option<i32>, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_megaron"));
        let output = self.dress(&mut command, args).kill_on_drop(true).output();
        let output = within("it to end", output).await.unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    }

    fn dress<'a>(&self, command: &'a mut Command, args: &[&str]) -> &'a mut Command {
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("MEGARON_")) {
            command.env_remove(name);
        }
        command.args(args).env("MEGARON_DATA_DIR", self.data_dir()).env_remove("RUST_LOG");
        command.current_dir(self.dir.path()).stdin(Stdio::null())
    }

    /// Something in the folder that sessions work in.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn data_dir(&self) -> PathBuf {
        self.dir.path().join("home")
    }
}

/// Shown if the test fails.
async fn pass_on(stderr: ChildStderr) {
    let mut lines = BufReader::new(stderr).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        println!("{line}");
    }
}

/// Below those that the system hands out: one of these, tried while nobody listens on it, can end
/// up connected to itself.
fn free_port() -> (u16, UdpSocket) {
    let mut chance = Chance::any();
    let mut ports = std::iter::repeat_with(|| u16::try_from(chance.of(10_000..32_000)).unwrap());
    let claim = |port| {
        let claim = UdpSocket::bind(("127.0.0.1", port)).ok()?;
        TcpListener::bind(("127.0.0.1", port)).ok()?;
        Some((port, claim))
    };
    ports.find_map(claim).unwrap()
}

/// A running server that does not outlive its test.
pub struct Server {
    child: Child,
    /// It may have more to say.
    _stdout: BufReader<ChildStdout>,
}

impl Server {
    /// As a power cut would end it.
    pub async fn kill(mut self) {
        self.child.start_kill().unwrap();
        self.ended().await;
    }

    pub fn terminate(&self) {
        kill_process(self.pid(), Signal::TERM).unwrap();
    }

    pub async fn ended(&mut self) -> ExitStatus {
        within("the server to end", self.child.wait()).await.unwrap()
    }

    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// From now on no file of this server can grow beyond so many bytes.
    pub fn limit_files(&self, bytes: Option<u64>) {
        let limit = Rlimit { current: bytes, maximum: None };
        prlimit(Some(self.pid()), Resource::Fsize, limit).unwrap();
    }

    /// How much memory it holds, in bytes.
    pub fn memory(&self) -> u64 {
        let pid = self.pid().as_raw_nonzero();
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() * 1024
    }

    fn pid(&self) -> Pid {
        Pid::from_raw(i32::try_from(self.child.id().unwrap()).unwrap()).unwrap()
    }
}
