//! A data directory of our own, and the real program run on it.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    os::unix::fs::PermissionsExt as _,
    path::PathBuf,
    process::{Child, ChildStdout, Command, Output, Stdio},
};

use jiff::{Timestamp, tz::TimeZone};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

pub struct Home {
    dir: TempDir,
    zone: String,
}

impl Home {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        // It is noon where it stands, so that no day ends there during a test.
        let made = fs::metadata(dir.path()).unwrap().modified().unwrap();
        let hour = Timestamp::try_from(made).unwrap().to_zoned(TimeZone::UTC).hour();
        Self { dir, zone: format!("Etc/GMT{:+}", hour - 12) }
    }

    /// Where the programs that it runs believe to be.
    pub fn time_zone(&self) -> TimeZone {
        TimeZone::get(&self.zone).unwrap()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_megaron"));
        let ours = |name: &str| name.starts_with("MEGARON_") || name.ends_with("_API_KEY");
        for (name, _) in std::env::vars().filter(|(name, _)| ours(name)) {
            command.env_remove(name);
        }
        command.args(args).env("MEGARON_DATA_DIR", self.path("home")).env_remove("RUST_LOG");
        // The keyring of whoever runs the tests is no concern of theirs.
        command.env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/no/such/bus");
        // Nor is their screen.
        command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").env("TZ", &self.zone);
        command.current_dir(self.dir.path()).stdin(Stdio::null());
        command
    }

    /// Runs it to its end.
    pub fn run(&self, args: &[&str]) -> Ran {
        Ran::of(self.command(args).output().unwrap())
    }

    pub fn serve(&self, args: &[&str]) -> Server {
        let mut all = vec!["serve", "--no-open"];
        if !args.contains(&"--listen") {
            all.extend(["--listen", "127.0.0.1:0"]);
        }
        all.extend(args);
        let mut command = self.command(&all);
        command.stderr(Stdio::piped());
        Server::begin(command)
    }

    /// Runs it to its end with this to read.
    pub fn piped(&self, args: &[&str], text: &str) -> Ran {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // It need not listen to the end, or at all.
        child.stdin.take().unwrap().write_all(text.as_bytes()).ok();
        Ran::of(child.wait_with_output().unwrap())
    }

    /// A file in the data directory that nobody else can read.
    pub fn write_private(&self, name: &str, text: &str) {
        let path = self.path("home").join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    }
}

/// What came of it.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Ran {
    pub fn of(output: Output) -> Self {
        let out = String::from_utf8(output.stdout).unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        Self { code: output.status.code(), out, err }
    }

    /// The session that an answer belongs to.
    pub fn session(&self) -> &str {
        let (_, rest) = self.err.split_once("--session ").unwrap();
        rest.split_whitespace().next().unwrap()
    }
}

/// A child that does not outlive its test.
pub struct Process {
    child: Child,
}

impl Process {
    pub fn start(mut command: Command) -> Self {
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        Self { child }
    }

    pub fn stdout(&mut self) -> BufReader<ChildStdout> {
        BufReader::new(self.child.stdout.take().unwrap())
    }

    /// What it remarks, up to the first line that contains this, which is returned.
    pub fn remark(&mut self, words: &str) -> String {
        let err = self.child.stderr.as_mut().unwrap();
        let (mut line, mut byte) = (Vec::new(), [0]);
        loop {
            err.read_exact(&mut byte).unwrap();
            if byte != *b"\n" {
                line.push(byte[0]);
            } else if String::from_utf8_lossy(&line).contains(words) {
                return String::from_utf8(line).unwrap();
            } else {
                line.clear();
            }
        }
    }

    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    pub fn wait(mut self) -> Ran {
        let mut ran = Ran { code: None, out: String::new(), err: String::new() };
        if let Some(mut out) = self.child.stdout.take() {
            out.read_to_string(&mut ran.out).unwrap();
        }
        if let Some(mut err) = self.child.stderr.take() {
            err.read_to_string(&mut ran.err).unwrap();
        }
        ran.code = self.child.wait().unwrap().code();
        ran
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

pub struct Server {
    pub process: Process,
    pub addr: String,
    pub login: String,
}

impl Server {
    /// Starts one and waits until it listens.
    pub fn begin(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let listening = lines.next().unwrap().unwrap();
        let addr = listening.strip_prefix("listening on http://").unwrap().to_owned();
        let login = lines.next().unwrap().unwrap();
        Self { process: Process { child }, addr, login }
    }

    /// Stops it once it has said this in its log.
    pub fn stop_after(mut self, words: &str) -> Ran {
        let mut log = BufReader::new(self.process.child.stderr.take().unwrap());
        let mut said = String::new();
        while !said.contains(words) {
            assert!(log.read_line(&mut said).unwrap() > 0, "it ended after {said}");
        }
        let mut ran = self.stop();
        log.read_to_string(&mut said).unwrap();
        ran.err = said;
        ran
    }

    pub fn stop(self) -> Ran {
        self.process.signal(Signal::TERM);
        self.process.wait()
    }

    /// The status and the JSON that answer a request with this key.
    pub fn ask(&self, method: &str, path: &str, key: &str, body: Option<&Value>) -> (u16, Value) {
        let body = body.map(Value::to_string).unwrap_or_default();
        let (host, length) = (&self.addr, body.len());
        let mut stream = TcpStream::connect(&self.addr).unwrap();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {key}\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\
             Connection: close\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap())
    }

    /// The status of a request with this key.
    pub fn get(&self, path: &str, key: &str) -> u16 {
        let mut stream = TcpStream::connect(&self.addr).unwrap();
        let host = &self.addr;
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {key}\r\nConnection: close\r\n\r\n"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.split(' ').nth(1).unwrap().parse().unwrap()
    }
}
