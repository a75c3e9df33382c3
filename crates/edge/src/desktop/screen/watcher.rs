//! Looks at a device for as long as somebody wants to see it, as often as they can draw it.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use kernel::desktop::{DesktopError, Devices, News, Pixels, Rect};
use tokio::{
    sync::{
        broadcast::{self, error::RecvError},
        mpsc, watch,
    },
    time::{Instant, sleep_until},
};

use super::tiles;

/// How many pictures may be on their way: one that is drawn, and one behind it.
const AHEAD: u32 = 2;
/// Looking takes up no more than one part in so many of the time.
const SHARE: u32 = 4;
/// A screen on which nothing happens is looked at less and less often, up to this rest or so many
/// times the shortest one.
const LAZIEST: Duration = Duration::from_millis(500);
const SLOWER: u32 = 8;
/// How long to wait after it could not be seen.
const RETRY: Duration = Duration::from_secs(2);

/// What somebody who looks is told.
pub enum Shown {
    /// From now on pictures are this large, and show this much.
    Size {
        screen: Rect,
        width: u32,
        height: u32,
    },
    Frame(Bytes),
    Trouble(String),
}

pub struct Watcher {
    devices: Arc<Devices>,
    device: String,
    /// How many pictures have been drawn on the other side.
    drawn: watch::Receiver<u32>,
    /// Somebody did something, so there is something to see.
    touches: watch::Receiver<()>,
    news: broadcast::Receiver<News>,
    sent: u32,
    before: Option<Arc<Pixels>>,
    /// For how long nothing need be looked at.
    rest: Duration,
    trouble: Option<String>,
}

/// Nobody looks any more.
struct Gone;

/// Returns when something was done on the device by anybody, or may have been.
async fn acted(news: &mut broadcast::Receiver<News>, device: &str) {
    loop {
        match news.recv().await {
            Ok(News::Acted(noted)) if noted.deed.device == device => return,
            Ok(_) => (),
            Err(RecvError::Lagged(_)) => return,
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
}

impl Watcher {
    pub fn new(
        devices: Arc<Devices>,
        device: String,
        drawn: watch::Receiver<u32>,
        touches: watch::Receiver<()>,
    ) -> Self {
        let (rest, news) = (Duration::ZERO, devices.news());
        Self { devices, device, drawn, touches, news, sent: 0, before: None, rest, trouble: None }
    }

    pub async fn run(mut self, show: mpsc::Sender<Shown>) {
        while self.step(&show).await.is_ok() {}
    }

    async fn step(&mut self, show: &mpsc::Sender<Shown>) -> Result<(), Gone> {
        let sent = self.sent;
        // Whoever draws slowly gets fewer pictures, and never an old one.
        let drawn = self.drawn.wait_for(|drawn| sent.saturating_sub(*drawn) < AHEAD).await;
        drop(drawn.map_err(|_| Gone)?);
        let begun = Instant::now();
        let seen = match self.devices.get(&self.device) {
            Some(desktop) => {
                let pace = desktop.pace();
                desktop.glance(true).await.map(|pixels| (pixels, pace))
            }
            None => Err(DesktopError::no_client()),
        };
        let cost = begun.elapsed() * SHARE;
        match seen {
            Ok((pixels, pace)) => {
                let changed = self.show(Arc::new(pixels), show).await?;
                let lazier = if changed { Duration::ZERO } else { self.rest * 3 / 2 };
                let laziest = LAZIEST.max(pace * SLOWER);
                self.rest = lazier.min(laziest).max(pace).max(cost);
                self.wait(begun + cost, begun + self.rest).await;
            }
            Err(error) => {
                self.before = None;
                if self.trouble.as_ref() != Some(&error.text) {
                    self.trouble = Some(error.text.clone());
                    show.send(Shown::Trouble(error.text)).await.map_err(|_| Gone)?;
                }
                self.wait(begun + cost, begun + RETRY).await;
            }
        }
        if show.is_closed() { Err(Gone) } else { Ok(()) }
    }

    /// Until then, or less where something was done; but so long at least.
    async fn wait(&mut self, at_least: Instant, until: Instant) {
        tokio::select! {
            () = sleep_until(until) => return,
            Ok(()) = self.touches.changed() => (),
            () = acted(&mut self.news, &self.device) => (),
        }
        // It takes a moment for anything to come of it.
        self.rest = Duration::ZERO;
        sleep_until(at_least).await;
    }

    /// Says whether there was anything new.
    async fn show(
        &mut self,
        pixels: Arc<Pixels>,
        show: &mpsc::Sender<Shown>,
    ) -> Result<bool, Gone> {
        let (mapping, before) = (pixels.mapping(), self.before.clone());
        let is_other = before.as_ref().is_none_or(|before| before.mapping() != mapping);
        let (number, now) = (self.sent + 1, pixels.clone());
        let work = tokio::task::spawn_blocking(move || {
            let parts = tiles::changed(before.as_deref(), &now);
            (!parts.is_empty()).then(|| tiles::written(number, &now, &parts))
        });
        let written = match work.await {
            Ok(None) => return Ok(false),
            Ok(Some(written)) => written,
            Err(error) => Err(error.to_string()),
        };
        self.trouble = None;
        if is_other {
            let (screen, width, height) = (mapping.screen, mapping.width, mapping.height);
            show.send(Shown::Size { screen, width, height }).await.map_err(|_| Gone)?;
        }
        let shown = match written {
            Ok(frame) => {
                self.sent = number;
                Shown::Frame(frame)
            }
            Err(error) => Shown::Trouble(format!("the picture cannot be made: {error}")),
        };
        self.before = Some(pixels);
        show.send(shown).await.map_err(|_| Gone)?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use kernel::{
        desktop::{Action, Arming, Button, Class, Who},
        roster::Roster,
        toolbox::Caller,
    };
    use testkit::{FakeDesktop, ManualClock};
    use tokio::time::sleep;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_still_screen_is_looked_at_seldom_and_at_once_when_somebody_does_something() {
        let clock = Arc::new(ManualClock::default());
        let devices = Arc::new(Devices::new(clock, Arc::new(Roster::new([]))));
        let desktop = FakeDesktop::default();
        let _stay = devices.join("studio", Arc::new(desktop.clone()));
        let (device, classes) = ("studio".to_owned(), Class::ALL.to_vec());
        let until = jiff::Timestamp::MAX;
        devices.arm(Arming { device, session: None, classes, until, area: None });
        let (_drawn, seen) = watch::channel(0);
        let (_touched, touches) = watch::channel(());
        let (show, mut shown) = mpsc::channel(8);
        let watcher = Watcher::new(devices.clone(), "studio".to_owned(), seen, touches);
        let running = tokio::spawn(watcher.run(show));
        while !matches!(shown.recv().await, Some(Shown::Frame(_))) {}
        // By then it has become as lazy as it will be.
        sleep(Duration::from_secs(5)).await;
        let next = async || {
            let (begun, before) = (Instant::now(), desktop.glances());
            while desktop.glances() == before {
                sleep(Duration::from_millis(1)).await;
            }
            begun.elapsed()
        };
        next().await;
        assert!(next().await > LAZIEST / 2);
        let who = Who { session: None, caller: Caller::Owner };
        let click = Action::MouseClick { button: Button::Left };
        devices.act(who, "studio", click.into()).await.1.unwrap();
        assert!(next().await < LAZIEST / 10);
        running.abort();
    }
}
