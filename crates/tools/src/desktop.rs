//! Tools by which an agent sees a screen and moves a pointer and a keyboard, once the person lets it.

mod computer;
mod discreet;
mod driving;
mod given;
mod leave;
mod replay;
mod seed;
#[cfg(test)]
mod tests;
mod view;

use std::sync::{Arc, Weak};

use kernel::{
    desktop::{Info, Mapping, News, Rect, Shot},
    host::Host,
};
use serde_json::json;
use tokio::sync::broadcast::error::RecvError;

use self::{
    computer::Computer,
    driving::{Driver, Driving},
    given::Gesture,
    replay::Replaying,
    seed::{
        GetMousePosition, KeyboardCommand, KeyboardInput, MouseClick, MouseMove, MouseScroll,
        Screenshot,
    },
};
use crate::{agents::House, typed::Adapter};

/// Offers the tools while there is a device that they could drive. Ends when the house is gone.
pub fn offer(host: &Arc<Host>) -> impl Future<Output = ()> + Send + 'static {
    let driver = Arc::new(Driver::new(House(Arc::downgrade(host))));
    let mut news = host.devices.news();
    let host = Arc::downgrade(host);
    async move {
        let mut offered: Vec<String> = Vec::new();
        loop {
            let Some(host) = host.upgrade() else { return };
            let devices: Vec<String> =
                host.devices.list().into_iter().map(|(name, _)| name).collect();
            match (offered.is_empty(), devices.is_empty()) {
                (true, false) => add_all(&host, &driver),
                (false, true) => remove_all(&host),
                (true, true) | (false, false) => (),
            }
            offered = devices;
            // Nothing is asked of a device before somebody may drive it.
            if !host.devices.armings().is_empty() {
                tokio::spawn(measure(Arc::downgrade(&host), driver.clone(), offered.clone()));
            }
            drop(host);
            if !changed(&mut news).await {
                return;
            }
        }
    }
}

/// Lets the tool say how large its pictures are, where there is one device alone and it tells: some
/// providers want to know before the first.
async fn measure(host: Weak<Host>, driver: Arc<Driver>, devices: Vec<String>) {
    let [device] = devices.as_slice() else { return };
    let Some(desktop) = host.upgrade().and_then(|host| host.devices.get(device)) else { return };
    // Whoever does not tell is asked like any other tool.
    let Ok(Info { screen: Some((w, h)), .. }) = desktop.info().await else { return };
    let Some(host) = host.upgrade() else { return };
    let now: Vec<String> = host.devices.list().into_iter().map(|(name, _)| name).collect();
    if now != devices {
        return;
    }
    let mapping = Mapping::within(Rect { x: 0, y: 0, w, h }, Shot::default().max_edge);
    let screen = json!({ "width": mapping.width, "height": mapping.height });
    let tool = Driving::<Computer>::new(driver);
    host.ports.tools.add(Adapter::with(tool, "x-screen", screen));
}

/// Returns when a device has come or gone, or may be driven, with whether there may be more of that.
async fn changed(news: &mut tokio::sync::broadcast::Receiver<News>) -> bool {
    loop {
        match news.recv().await {
            Ok(News::Came { .. } | News::Left { .. } | News::Armed(_))
            | Err(RecvError::Lagged(_)) => return true,
            Ok(_) => (),
            Err(RecvError::Closed) => return false,
        }
    }
}

macro_rules! every {
    ($act:ident) => {
        $act!(
            GetMousePosition,
            KeyboardCommand,
            KeyboardInput,
            MouseClick,
            MouseMove,
            MouseScroll,
            Screenshot,
            Computer
        )
    };
}

fn add_all(host: &Host, driver: &Arc<Driver>) {
    macro_rules! add {
        ($($gesture:ty),*) => {
            $(host.ports.tools.add(Adapter::new(Driving::<$gesture>::new(driver.clone())));)*
        };
    }
    host.ports.tools.add(Adapter::new(Replaying(driver.clone())));
    every!(add);
}

fn remove_all(host: &Host) {
    macro_rules! remove {
        ($($gesture:ty),*) => { $(host.ports.tools.remove(<$gesture as Gesture>::NAME);)* };
    }
    every!(remove);
    host.ports.tools.remove(Replaying::NAME);
}
