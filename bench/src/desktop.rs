//! What it takes to move, click, type and look on a display that nobody sees, beside the least that it could take.

mod peers;

use std::{
    io::{BufRead as _, BufReader},
    os::fd::AsFd as _,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::Context as _;
use desktop::{Local, Settings};
use kernel::desktop::{Action, Button, Desktop as _, DesktopError, Format, Outcome, Point, Shot};
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use x11rb::{
    connection::Connection as _,
    protocol::{
        shm::ConnectionExt as _,
        xproto::{ConnectionExt as _, CreateWindowAux, InputFocus, Window, WindowClass},
    },
    rust_connection::RustConnection,
};

pub use self::peers::{XCAP, xcap};
use crate::table::Row;

const SIZE: (u16, u16) = (1920, 1080);
const ROUNDS: usize = 500;
const LOOKS: usize = 30;
/// The most that go into one batch.
const BATCH: usize = 24;
/// Others are started anew for each, and take their time.
const STARTS: usize = 10;
const TEXT: &str = "the quick brown fox jumps over the lazy dog 0123456789 ";

pub fn measure() -> anyhow::Result<Vec<Row>> {
    // As the house has it.
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(compare())
}

async fn compare() -> anyhow::Result<Vec<Row>> {
    let stage = Stage::set()?;
    let floor = Floor::open(&stage.display)?;
    let local =
        Local::new(Settings { display: Some(stage.display.clone()), ..Settings::default() });
    let trip = floor.round_trip()?;
    let moved = seconds(ROUNDS, &local, |nth| Action::MouseMove { to: place(nth), duration: 0.0 });
    let moved = moved.await? * 1e6;
    let batch = |nth: usize| {
        let moves = (0..BATCH).map(|step| place(nth * BATCH + step));
        let actions = moves.map(|to| Action::MouseMove { to, duration: 0.0 }).collect();
        Action::Batch { actions, stop_on_error: true }
    };
    let batched =
        seconds(ROUNDS / BATCH, &local, batch).await? * 1e6 / f64::from(u32::try_from(BATCH)?);
    let clicked = seconds(ROUNDS, &local, |_| Action::MouseClick { button: Button::Left });
    let clicked = clicked.await? * 1e6;
    let text = TEXT.repeat(10);
    let typed = seconds(STARTS, &local, |_| Action::KeyboardInput { text: text.clone() });
    let typed = typed.await? * 1e6 / f64::from(u32::try_from(text.len())?);
    let raw = floor.look()? * 1e3;
    let captured = timed(|| local.capture()).await? * 1e3;
    let looked = timed(|| local.glance(false)).await? * 1e3;
    let whole = |format| Shot { max_edge: u32::MAX, cursor: false, format, ..Shot::default() };
    let fast = seconds(LOOKS, &local, |_| Action::Screenshot(whole(Format::Png))).await? * 1e3;
    let small = seconds(LOOKS, &local, |_| Action::Screenshot(Shot::default())).await? * 1e3;

    let mut rows = vec![
        Row::new("a move that is seen to be done, median", moved, "µs")
            .at_most(1.5 * trip)
            .beside("one round trip", trip),
        Row::new("a move that is seen to be done, one of 24 in a batch, median", batched, "µs")
            .at_most(1.5 * trip)
            .beside("one round trip", trip),
        Row::new("a click that is seen to be done, median", clicked, "µs")
            .at_most(1.8 * trip)
            .beside("one round trip", trip),
        Row::new("a typed character", typed, "µs").beside("one round trip", trip),
        Row::new("the screen taken, median", captured, "ms")
            .at_most(1.5 * raw)
            .beside("shared memory alone", raw),
        Row::new("the screen taken and read, median", looked, "ms").beside("taking it", captured),
        Row::new("the screen as PNG, median", fast, "ms").beside("reading it", looked),
        Row::new("the screen as a model sees it, median", small, "ms").beside("reading it", looked),
    ];
    peers::compare(&stage, &mut rows);
    Ok(rows)
}

fn place(nth: usize) -> Point {
    let step = u32::try_from(nth % 500).unwrap_or(0);
    Point { x: 300 + step, y: 200 + step }
}

/// The median, in seconds.
async fn seconds(
    rounds: usize,
    local: &Local,
    action: impl Fn(usize) -> Action,
) -> anyhow::Result<f64> {
    let mut took = Vec::with_capacity(rounds);
    for nth in 0..rounds {
        let action = action(nth);
        let begun = Instant::now();
        let outcome = local.act(action.into()).await?;
        took.push(begun.elapsed());
        anyhow::ensure!(
            matches!(outcome, Outcome::Done(_) | Outcome::Picture(_) | Outcome::Batch(_)),
            "{outcome:?}"
        );
    }
    Ok(median(&mut took))
}

/// The median of many looks, in seconds.
async fn timed<T, F>(look: impl Fn() -> F) -> anyhow::Result<f64>
where
    F: Future<Output = Result<T, DesktopError>>,
{
    let mut took = Vec::with_capacity(LOOKS);
    for _ in 0..LOOKS {
        let begun = Instant::now();
        look().await?;
        took.push(begun.elapsed());
    }
    Ok(median(&mut took))
}

fn median(took: &mut [Duration]) -> f64 {
    took.sort_unstable();
    took[took.len() / 2].as_secs_f64()
}

/// The least that anything on a display can take.
struct Floor {
    conn: RustConnection,
    root: Window,
}

impl Floor {
    /// With a window in focus, which takes what is typed.
    fn open(display: &str) -> anyhow::Result<Self> {
        let (conn, screen) = RustConnection::connect(Some(display))?;
        let root = conn.setup().roots.get(screen).context("a display without a screen")?.root;
        let window = conn.generate_id()?;
        let aux = CreateWindowAux::new();
        let (w, h) = SIZE;
        let output = WindowClass::INPUT_OUTPUT;
        conn.create_window(0, window, root, 0, 0, w, h, 0, output, 0, &aux)?.check()?;
        conn.map_window(window)?.check()?;
        conn.set_input_focus(InputFocus::POINTER_ROOT, window, x11rb::CURRENT_TIME)?.check()?;
        Ok(Self { conn, root })
    }

    /// In microseconds, the median.
    fn round_trip(&self) -> anyhow::Result<f64> {
        let mut took = Vec::with_capacity(ROUNDS);
        for _ in 0..ROUNDS {
            let begun = Instant::now();
            self.conn.query_pointer(self.root)?.reply()?;
            took.push(begun.elapsed());
        }
        Ok(median(&mut took) * 1e6)
    }

    /// All pixels through shared memory, in seconds, the median.
    fn look(&self) -> anyhow::Result<f64> {
        let (w, h) = SIZE;
        let size = u64::from(w) * u64::from(h) * 4;
        let memory = memfd_create("floor", MemfdFlags::CLOEXEC)?;
        ftruncate(&memory, size)?;
        let segment = self.conn.generate_id()?;
        let lent = memory.as_fd().try_clone_to_owned()?;
        self.conn.shm_attach_fd(segment, lent, false)?.check()?;
        let mut took = Vec::with_capacity(LOOKS);
        for _ in 0..LOOKS {
            let begun = Instant::now();
            self.conn.shm_get_image(self.root, 0, 0, w, h, !0, 2, segment, 0)?.reply()?;
            took.push(begun.elapsed());
        }
        Ok(median(&mut took))
    }
}

/// A display that nobody sees.
struct Stage {
    server: Child,
    display: String,
}

impl Stage {
    fn set() -> anyhow::Result<Self> {
        let screen = format!("{}x{}x24", SIZE.0, SIZE.1);
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", &screen, "-nolisten", "tcp", "-noreset"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("this needs Xvfb, which `make display` installs")?;
        let mut line = String::new();
        let told = server.stdout.take().context("Xvfb tells nothing")?;
        BufReader::new(told).read_line(&mut line)?;
        Ok(Self { server, display: format!(":{}", line.trim()) })
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // What has ended already needs no ending.
        self.server.kill().ok();
        self.server.wait().ok();
    }
}
