//! What becomes of desktops, told to everybody who has the page open.

use kernel::desktop::News;

use super::{Connection, say};
use crate::{
    caco::frames::{Frame, Global},
    desktop::action,
};

impl Connection {
    /// Nothing means that something was missed.
    pub(super) fn spread_desktop(&mut self, news: Option<News>) {
        let event = match news {
            Some(News::Acted(noted)) => Global::DesktopActed { action: Box::new(action(&noted)) },
            Some(News::Replayed { device, done, of }) => {
                Global::DesktopReplayed { device, done, of }
            }
            Some(
                News::Came { device }
                | News::Left { device }
                | News::Disarmed { device, .. }
                | News::Paused { device, .. }
                | News::HandedBack { device }
                | News::Recording { device },
            ) => Global::DesktopChanged { device: Some(device) },
            Some(News::Armed(arming)) => Global::DesktopChanged { device: Some(arming.device) },
            None => Global::DesktopChanged { device: None },
        };
        self.out.push(say::write(&Frame::GlobalEvent { event }).text);
    }
}
