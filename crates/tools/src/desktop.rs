//! Tools by which an agent sees a screen and moves a pointer and a keyboard, once the person lets it.

mod arguments;
mod computer;
mod driving;
mod replay;
mod seed;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use kernel::{desktop::News, host::Host};
use tokio::sync::broadcast::error::RecvError;

use self::{
    computer::Input as Computer,
    driving::{Driver, Driving, Gesture},
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
        let mut offered = false;
        loop {
            let Some(host) = host.upgrade() else { return };
            let wanted = !host.devices.list().is_empty();
            match (offered, wanted) {
                (false, true) => add_all(&host, &driver),
                (true, false) => remove_all(&host),
                (false, false) | (true, true) => (),
            }
            offered = wanted;
            drop(host);
            if !changed(&mut news).await {
                return;
            }
        }
    }
}

/// Returns when a device has come or gone, with whether there may be more of that.
async fn changed(news: &mut tokio::sync::broadcast::Receiver<News>) -> bool {
    loop {
        match news.recv().await {
            Ok(News::Came { .. } | News::Left { .. }) | Err(RecvError::Lagged(_)) => return true,
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
