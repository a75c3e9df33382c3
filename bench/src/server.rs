//! The real binary, started for a measurement and ended with it.

use std::{
    env, fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};

pub struct Server {
    child: Child,
    pub address: String,
    pub key: String,
    /// Lets a browser in, once.
    pub login: String,
    /// From starting the process to its saying that it listens.
    pub ready: Duration,
}

impl Server {
    pub fn start(data_dir: &Path) -> anyhow::Result<Self> {
        Self::start_in(data_dir, &env::temp_dir())
    }

    pub fn start_in(data_dir: &Path, workspace: &Path) -> anyhow::Result<Self> {
        let begun = Instant::now();
        let mut child = Command::new(binary()?)
            .args(["serve", "--listen", "127.0.0.1:0", "--no-open", "--data-dir"])
            .arg(data_dir)
            .arg("--workspace")
            .arg(workspace)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot start the server")?;
        let mut lines = BufReader::new(child.stdout.take().context("no output")?).lines();
        let first = lines.next().context("the server said nothing")??;
        let ready = begun.elapsed();
        let address =
            first.strip_prefix("listening on http://").context("not listening")?.to_owned();
        let second = lines.next().context("the server did not say how to sign in")??;
        let login = second.split_whitespace().find(|word| word.starts_with("http"));
        let login = login.context("no address to sign in")?.to_owned();
        let key = fs::read_to_string(data_dir.join("key"))?.trim().to_owned();
        Ok(Self { child, address, key, login, ready })
    }

    /// Memory in use now, in MB.
    pub fn resident(&self) -> anyhow::Result<f64> {
        resident(self.child.id())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to end.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

pub fn resident(process: u32) -> anyhow::Result<f64> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
    let kilobytes: f64 = line.trim().trim_end_matches(" kB").trim().parse()?;
    Ok(kilobytes / 1024.0)
}

fn binary() -> anyhow::Result<PathBuf> {
    let beside = env::current_exe()?.with_file_name("megaron");
    let path = env::var_os("MEGARON_BIN").map_or(beside, PathBuf::from);
    ensure!(path.exists(), "no binary at {}; build it with `make build`", path.display());
    Ok(path)
}
