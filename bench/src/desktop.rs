//! What it takes to move, click, type and look on a display that nobody sees, beside the least that it could take.

mod peers;
mod stopping;

use std::{
    io::{BufRead as _, BufReader},
    os::fd::AsFd as _,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::Context as _;
use desktop::{Local, Settings};
use kernel::desktop::{Action, Button, Desktop as _, Format, Outcome, Point, Shot};
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use x11rb::{
    connection::Connection as _,
    protocol::{
        shm::{ConnectionExt as _, Seg},
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
    let act = async |action: Action| {
        let outcome = local.act(action.into()).await?;
        let good = matches!(outcome, Outcome::Done(_) | Outcome::Picture(_) | Outcome::Batch(_));
        anyhow::ensure!(good, "{outcome:?}");
        Ok(())
    };
    let to = |nth| Action::MouseMove { to: place(nth), duration: 0.0 };
    let click = || Action::MouseClick { button: Button::Left };
    let batch = |nth: usize| {
        let actions = (0..BATCH).map(|step| to(nth * BATCH + step)).collect();
        Action::Batch { actions, stop_on_error: true }
    };
    let trip = || floor.round_trip();
    let moved = alternately(ROUNDS, trip, async |nth| act(to(nth)).await).await?;
    let clicked = alternately(ROUNDS, trip, async |_| act(click()).await).await?;
    // In the first second after a rest each step is looked at first.
    let smooth = stopping::glide(&local).await?;
    let trips = || (0..BATCH).try_for_each(|_| trip());
    let batched = alternately(LOOKS, trips, async |nth| act(batch(nth)).await).await?;
    let of = f64::from(u32::try_from(BATCH)?);
    let batched = Pair { ours: batched.ours / of, least: batched.least / of };
    let segment = floor.share()?;
    let look = || floor.look(segment);
    let captured = alternately(LOOKS, look, async |_| Ok(local.capture().await?)).await?;
    let cancelled = stopping::cancel(&local).await?;
    let taken = stopping::touch(&local, &floor).await?;
    let text = TEXT.repeat(10);
    let typed = median(STARTS, async |_| {
        act(Action::KeyboardInput { text: text.clone(), secret: false }).await
    });
    let typed = typed.await? / f64::from(u32::try_from(text.len())?);
    let looked = median(LOOKS, async |_| Ok(local.glance(false).await.map(drop)?)).await?;
    let whole = Shot { max_edge: u32::MAX, cursor: false, format: Format::Png, ..Shot::default() };
    let fast = median(LOOKS, async |_| act(Action::Screenshot(whole)).await).await?;
    let small = median(LOOKS, async |_| act(Action::Screenshot(Shot::default())).await).await?;

    let micro = |what, pair: &Pair, times: f64| {
        Row::new(what, pair.ours * 1e6, "µs")
            .at_most(times * pair.least * 1e6)
            .beside("one round trip", pair.least * 1e6)
    };
    let milli = |what, seconds: f64| Row::new(what, seconds * 1e3, "ms");
    let mut rows = vec![
        micro("a move that is seen to be done, median", &moved, 1.5),
        micro("a move that is seen to be done, one of 24 in a batch, median", &batched, 1.5),
        micro("a click that is seen to be done, median", &clicked, 1.8),
        Row::new("a typed character", typed * 1e6, "µs")
            .beside("one round trip", moved.least * 1e6),
        milli("the screen taken, median", captured.ours)
            .at_most(1.5 * captured.least * 1e3)
            .beside("shared memory alone", captured.least * 1e3),
        milli("the screen taken and read, median", looked).beside("taking it", captured.ours * 1e3),
        milli("the screen as PNG, median", fast).beside("reading it", looked * 1e3),
        milli("the screen as a model sees it, median", small).beside("reading it", looked * 1e3),
    ];
    peers::compare(&stage, &mut rows);
    rows.extend([
        Row::new("a move that shall take a second", smooth.took * 1e3, "ms").at_most(1050.0),
        Row::new("what it takes of a processor", smooth.busy * 1e3, "ms").at_most(20.0),
        milli("from a cancel to a move that has stopped, the longest", cancelled).at_most(100.0),
        milli("from a touch to a move that has stopped, the longest", taken).at_most(100.0),
    ]);
    Ok(rows)
}

fn place(nth: usize) -> Point {
    let step = u32::try_from(nth % 500).unwrap_or(0);
    Point { x: 300 + step, y: 200 + step }
}

/// Medians, in seconds.
struct Pair {
    ours: f64,
    least: f64,
}

/// One of each in turn, so that what else the machine does meets both alike.
async fn alternately(
    rounds: usize,
    least: impl Fn() -> anyhow::Result<()>,
    ours: impl AsyncFn(usize) -> anyhow::Result<()>,
) -> anyhow::Result<Pair> {
    let (mut done, mut floor) = (Vec::new(), Vec::new());
    for nth in 0..=rounds {
        let begun = Instant::now();
        least()?;
        let between = Instant::now();
        ours(nth).await?;
        done.push(between.elapsed());
        floor.push(between - begun);
    }
    // What came first warmed everything up.
    Ok(Pair { ours: middle(&mut done[1..]), least: middle(&mut floor[1..]) })
}

/// In seconds.
async fn median(
    rounds: usize,
    work: impl AsyncFn(usize) -> anyhow::Result<()>,
) -> anyhow::Result<f64> {
    Ok(alternately(rounds, || Ok(()), work).await?.ours)
}

fn middle(took: &mut [Duration]) -> f64 {
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

    fn round_trip(&self) -> anyhow::Result<()> {
        self.conn.query_pointer(self.root)?.reply()?;
        Ok(())
    }

    /// Memory that all pixels fit in, which the display knows too.
    fn share(&self) -> anyhow::Result<Seg> {
        let memory = memfd_create("floor", MemfdFlags::CLOEXEC)?;
        ftruncate(&memory, u64::from(SIZE.0) * u64::from(SIZE.1) * 4)?;
        let segment = self.conn.generate_id()?;
        let lent = memory.as_fd().try_clone_to_owned()?;
        self.conn.shm_attach_fd(segment, lent, false)?.check()?;
        Ok(segment)
    }

    fn look(&self, segment: Seg) -> anyhow::Result<()> {
        let (w, h) = SIZE;
        self.conn.shm_get_image(self.root, 0, 0, w, h, !0, 2, segment, 0)?.reply()?;
        Ok(())
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
