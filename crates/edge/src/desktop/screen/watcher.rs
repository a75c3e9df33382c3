//! Looks at a device for as long as somebody wants to see it, as often as they can draw it.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use kernel::desktop::{DesktopError, Devices, Pixels, Rect};
use tokio::{
    sync::{mpsc, watch},
    time::{Instant, sleep_until},
};

use super::tiles;

/// How many pictures may be on their way: one that is drawn, and one behind it.
const AHEAD: u32 = 2;
/// Looking takes up no more than one part in so many of the time.
const SHARE: u32 = 4;
/// A screen on which nothing happens is looked at less and less often.
const LAZIEST: Duration = Duration::from_millis(500);
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
    sent: u32,
    before: Option<Arc<Pixels>>,
    /// For how long nothing need be looked at.
    rest: Duration,
    trouble: Option<String>,
}

/// Nobody looks any more.
struct Gone;

impl Watcher {
    pub fn new(
        devices: Arc<Devices>,
        device: String,
        drawn: watch::Receiver<u32>,
        touches: watch::Receiver<()>,
    ) -> Self {
        let rest = Duration::ZERO;
        Self { devices, device, drawn, touches, sent: 0, before: None, rest, trouble: None }
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
        match seen {
            Ok((pixels, pace)) => {
                let cost = begun.elapsed() * SHARE;
                let changed = self.show(Arc::new(pixels), show).await?;
                let lazier = if changed { Duration::ZERO } else { self.rest * 3 / 2 };
                self.rest = lazier.min(LAZIEST).max(pace).max(cost);
                self.wait(begun + self.rest).await;
            }
            Err(error) => {
                self.before = None;
                if self.trouble.as_ref() != Some(&error.text) {
                    self.trouble = Some(error.text.clone());
                    show.send(Shown::Trouble(error.text)).await.map_err(|_| Gone)?;
                }
                self.wait(begun + RETRY).await;
            }
        }
        if show.is_closed() { Err(Gone) } else { Ok(()) }
    }

    async fn wait(&mut self, until: Instant) {
        tokio::select! {
            () = sleep_until(until) => (),
            // It takes a moment for anything to come of it.
            Ok(()) = self.touches.changed() => self.rest = Duration::ZERO,
        }
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
