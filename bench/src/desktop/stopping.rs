//! How exact a slow move is, what it costs, and how soon it ends when somebody wants that.

use std::time::{Duration, Instant};

use anyhow::Context as _;
use desktop::Local;
use kernel::desktop::{Action, Code, Desktop as _, DesktopError, Outcome, Point};
use rustix::time::{ClockId, clock_gettime};
use x11rb::{
    connection::Connection as _,
    protocol::{xproto::MOTION_NOTIFY_EVENT, xtest::ConnectionExt as _},
};

use super::{Floor, place};

const TIMES: usize = 5;
/// Longer than anybody waits for it to be stopped.
const LONG: f64 = 20.0;

pub struct Glide {
    pub took: f64,
    /// Of all that this program does, in seconds.
    pub busy: f64,
}

pub async fn glide(local: &Local) -> anyhow::Result<Glide> {
    local.act(Action::MouseMove { to: place(0), duration: 0.0 }.into()).await?;
    let (begun, before) = (Instant::now(), busy());
    local.act(Action::MouseMove { to: place(400), duration: 1.0 }.into()).await?;
    Ok(Glide { took: begun.elapsed().as_secs_f64(), busy: busy() - before })
}

pub async fn cancel(local: &Local) -> anyhow::Result<f64> {
    let mut longest = Duration::ZERO;
    for _ in 0..TIMES {
        let stop = async || Ok(local.cancel(None).await.map(drop)?);
        longest = longest.max(stopped(local, Code::Cancelled, stop).await?);
    }
    Ok(longest.as_secs_f64())
}

/// By somebody else than us, which is a person.
pub async fn touch(local: &Local, floor: &Floor) -> anyhow::Result<f64> {
    let mut longest = Duration::ZERO;
    for _ in 0..TIMES {
        let stop = async || {
            let conn = &floor.conn;
            conn.xtest_fake_input(MOTION_NOTIFY_EVENT, 0, 0, floor.root, 1500, 900, 0)?;
            Ok(conn.flush()?)
        };
        longest = longest.max(stopped(local, Code::Paused, stop).await?);
        local.hand_back().await?;
    }
    Ok(longest.as_secs_f64())
}

/// How long it takes a slow move to end, for this reason.
async fn stopped(
    local: &Local,
    why: Code,
    stop: impl AsyncFn() -> anyhow::Result<()>,
) -> anyhow::Result<Duration> {
    local.act(Action::MouseMove { to: place(0), duration: 0.0 }.into()).await?;
    let slow = local.act(Action::MouseMove { to: place(499), duration: LONG }.into());
    let interrupted = async {
        under_way(local).await?;
        let begun = Instant::now();
        stop().await?;
        anyhow::Ok(begun)
    };
    let (result, begun) = tokio::join!(ended(slow), interrupted);
    let (error, at) = result.context("it was not stopped")?;
    anyhow::ensure!(error.code == why, "{error}");
    Ok(at - begun?)
}

async fn ended(
    slow: impl Future<Output = Result<Outcome, DesktopError>>,
) -> Option<(DesktopError, Instant)> {
    let error = slow.await.err()?;
    Some((error, Instant::now()))
}

/// Returns when the pointer has left where it was.
async fn under_way(local: &Local) -> anyhow::Result<()> {
    let Point { x, .. } = place(0);
    loop {
        match local.act(Action::GetMousePosition.into()).await? {
            Outcome::Position { x: now, .. } if now > i32::try_from(x)? + 1 => return Ok(()),
            _ => tokio::time::sleep(Duration::from_millis(1)).await,
        }
    }
}

/// In seconds.
fn busy() -> f64 {
    let spent = clock_gettime(ClockId::ProcessCPUTime);
    Duration::try_from(spent).unwrap_or_default().as_secs_f64()
}
