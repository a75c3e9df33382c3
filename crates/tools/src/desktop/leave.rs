//! What a person has let a session do on a device, and asking them for more.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use jiff::Timestamp;
use kernel::{
    desktop::{Armed, Arming, Class},
    host::Host,
    leave::Wish,
    toolbox::{Call, Deed, Detail, Risk},
    update::SessionId,
};
use serde_json::{Value, json};

/// For how long a person's yes lets a session drive a device.
const WINDOW: Duration = Duration::from_mins(15);
/// What that yes is about. The rest is asked about when it is needed.
const USUAL: [Class; 3] = [Class::Look, Class::Point, Class::Type];

/// What a call needs, and how a person is told of it.
pub struct Need {
    pub classes: Vec<Class>,
    pub title: String,
    pub args: Value,
}

/// By session and device, with the end of the arming that it is part of.
type Agreed = HashMap<(SessionId, String), (Timestamp, Vec<Class>)>;

/// What persons said yes to when they were asked here.
#[derive(Default)]
pub struct Leaves {
    agreed: Mutex<Agreed>,
}

impl Leaves {
    /// What a person must agree to before the call is made, though the device is armed for it: what
    /// sends something off, and the clipboard, unless they were asked here before. What is not armed
    /// is asked about by [`Self::armed`], or refused.
    pub fn asks(
        &self,
        host: &Host,
        session: SessionId,
        device: &str,
        needed: &[Class],
    ) -> Option<Class> {
        let Armed::Until(_, granted) = host.devices.armed(device, Some(session)) else {
            return None;
        };
        if needed.iter().any(|class| !granted.contains(class)) {
            return None;
        }
        let agreed = self.agreed_to(host, session, device);
        needed.iter().copied().find(|class| is_asked(*class) && !agreed.contains(class))
    }

    /// Whether [`Self::armed`] will ask about the deed itself, and not only about the device.
    pub fn will_ask(host: &Host, session: SessionId, device: &str, needed: &[Class]) -> bool {
        let granted = match host.devices.armed(device, Some(session)) {
            Armed::Until(_, granted) => granted,
            Armed::Never | Armed::Expired(_) => USUAL.to_vec(),
        };
        let mut missing = needed.iter().filter(|class| !granted.contains(class)).peekable();
        missing.peek().is_some() && missing.all(|class| is_asked(*class))
    }

    /// Returns when the session may do this on the device, or is to be refused there: it may already,
    /// or the person says so now. However much an agent may do unasked, this is asked.
    pub async fn armed(
        &self,
        host: &Host,
        call: &Call,
        device: &str,
        need: Need,
    ) -> Result<(), String> {
        let session = call.session.id();
        let granted = match host.devices.armed(device, Some(session)) {
            Armed::Until(_, granted) => granted,
            Armed::Never | Armed::Expired(_) => first(host, call, device).await?,
        };
        let Need { classes, title, args } = need;
        let lacks = |class: &Class| !granted.contains(class);
        let missing: Vec<Class> = classes.into_iter().filter(lacks).collect();
        if missing.iter().any(|class| !is_asked(*class)) {
            return Ok(());
        }
        for class in &missing {
            let title = match class {
                Class::Clipboard => format!("{title}: let it use the clipboard of {device}"),
                _ => {
                    format!("{title}: let it act on {device} (Return, shortcuts, closing windows)")
                }
            };
            let name = format!("desktop:{}", class.name());
            ask(host, call, device, Wanted { name, title, args: args.clone() }).await?;
        }
        // Whatever was armed while they thought about it, for no longer and for no more of the screen.
        match host.devices.arming(device, session) {
            Some(arming) if !missing.is_empty() => {
                let classes = [arming.classes.clone(), missing.clone()].concat();
                let until = arm(host, Arming { session: Some(session), classes, ..arming }).await?;
                self.agree(session, device, until, missing);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn agree(&self, session: SessionId, device: &str, until: Timestamp, classes: Vec<Class>) {
        let mut agreed = self.agreed();
        let kept = agreed.entry((session, device.to_owned())).or_insert((until, Vec::new()));
        if kept.0 != until {
            *kept = (until, Vec::new());
        }
        kept.1.extend(classes);
    }

    /// As long as the arming holds of which it is part.
    fn agreed_to(&self, host: &Host, session: SessionId, device: &str) -> Vec<Class> {
        let agreed = self.agreed().get(&(session, device.to_owned())).cloned();
        let Some((until, classes)) = agreed else { return Vec::new() };
        let holds = |it: &Arming| (it.session, it.until) == (Some(session), until);
        let armings = host.devices.armings();
        let holds = armings.iter().any(|arming| arming.device == device && holds(arming));
        if holds { classes } else { Vec::new() }
    }

    pub fn forget(&self, session: SessionId) {
        self.agreed().retain(|(of, _), _| *of != session);
    }

    fn agreed(&self) -> MutexGuard<'_, Agreed> {
        self.agreed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_asked(class: Class) -> bool {
    matches!(class, Class::Act | Class::Clipboard)
}

/// The person lets a session see and drive a device.
async fn first(host: &Host, call: &Call, device: &str) -> Result<Vec<Class>, String> {
    let minutes = WINDOW.as_secs() / 60;
    let title = format!("See and drive the desktop {device} for {minutes} minutes");
    let args = json!({ "device": device, "minutes": minutes });
    ask(host, call, device, Wanted { name: "desktop".into(), title, args }).await?;
    let until = host.ports.clock.now().checked_add(WINDOW).map_err(|error| error.to_string())?;
    let arming = Arming {
        device: device.to_owned(),
        session: Some(call.session.id()),
        classes: USUAL.to_vec(),
        until,
        area: None,
    };
    arm(host, arming).await?;
    Ok(USUAL.to_vec())
}

struct Wanted {
    /// A lasting yes to one is none to another.
    name: String,
    title: String,
    args: Value,
}

async fn ask(host: &Host, call: &Call, device: &str, wanted: Wanted) -> Result<(), String> {
    let Wanted { name, title, args } = wanted;
    let (detail, subjects) = (Detail::Arguments { args }, vec![device.to_owned()]);
    let deed = Deed { risk: Risk::Acts, detail, subjects, within: None };
    let leave =
        host.leave(call.session.id(), call.caller.clone(), Wish { name, title, deed }).await;
    leave.map(drop).map_err(|error| format!("Desktop control is not granted. {error}"))
}

async fn arm(host: &Host, arming: Arming) -> Result<Timestamp, String> {
    host.arm(arming).await.map(|arming| arming.until).map_err(|error| error.to_string())
}
