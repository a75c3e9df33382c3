//! Does again what was recorded on a desktop, step by step, as long as it looks as it did.

use std::{collections::BTreeSet, sync::Arc};

use kernel::{
    desktop::{Again, By, Class, Stopped, Trajectory, Who},
    toolbox::{Call, Deed, Detail, Reply, Risk},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    driving::{Driver, explained, handed_back},
    leave::{Leaves, Need},
};
use crate::typed::{Typed, shorten};

/// Does again what a person recorded on a desktop, by the name they gave it. Before each step it is
/// looked whether the screen is as it was; where it is not, this stops and tells you the step. Then
/// look at the screen, put it right or ask the person, and go on with `from_step`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Input {
    /// The name of the recording. An empty one gives the list of names.
    name: String,
    /// The step to begin with, from 1; the first if absent.
    from_step: Option<usize>,
    /// Which machine; the one where it was recorded if absent.
    device: Option<String>,
}

/// What must be allowed for all of it.
fn classes(trajectory: &Trajectory) -> Vec<Class> {
    // What cannot be read as an action any more is refused at its step.
    let actions = trajectory.steps.iter().filter_map(|step| step.motion.action().ok().flatten());
    let classes: BTreeSet<Class> = actions.flat_map(|action| action.classes()).collect();
    classes.into_iter().collect()
}

fn told(device: &str, trajectory: &Trajectory) -> Value {
    let steps: Vec<String> = trajectory.steps.iter().map(|it| it.motion.title()).collect();
    json!({ "device": device, "name": trajectory.name, "steps": steps })
}

pub struct Replaying(pub Arc<Driver>);

impl Replaying {
    pub const NAME: &'static str = "desktop_replay";

    async fn find(&self, input: &Input) -> Result<Trajectory, String> {
        let all = &self.0.host()?.trajectories;
        let found = all.find(input.name.trim()).await.map_err(|error| error.to_string())?;
        if let Some(found) = found {
            return Ok(found);
        }
        let all = all.list().await.map_err(|error| error.to_string())?;
        if all.is_empty() {
            return Err("Nothing has been recorded yet; the person does that.".to_owned());
        }
        let names: Vec<&str> = all.iter().map(|it| it.name.as_str()).collect();
        let name = shorten(&input.name, 80);
        Err(format!("No recording is named `{name}`; there are: {}", names.join(", ")))
    }
}

impl Typed for Replaying {
    type Input = Input;
    type Output = Reply;
    const NAME: &'static str = Self::NAME;
    const RISK: Risk = Risk::Acts;

    fn title(&self, input: &Input) -> String {
        format!("Doing {} again", shorten(&input.name, 80))
    }

    /// A recording may send something off, whatever it is called. Where that is asked when it is run,
    /// it is not asked here.
    async fn foresee(&self, input: Input, call: &Call) -> Result<Deed, String> {
        let trajectory = self.find(&input).await?;
        let device = input.device.unwrap_or_else(|| trajectory.device.clone());
        let args = told(&device, &trajectory);
        let subjects = vec![format!("{device} replay {}", trajectory.name)];
        let (host, session) = (self.0.host()?, call.session.id());
        let asked_later = Leaves::will_ask(&host, session, &device, &classes(&trajectory));
        let risk = if asked_later { Risk::Shows } else { Risk::Acts };
        Ok(Deed { risk, detail: Detail::Arguments { args }, subjects, within: None })
    }

    async fn run(&self, input: Input, call: Call) -> Result<Reply, String> {
        let trajectory = self.find(&input).await?;
        let (host, session) = (self.0.host()?, call.session.id());
        let named = input.device.as_deref().unwrap_or(&trajectory.device);
        let device = host.devices.pick(Some(named), Some(session)).map_err(explained)?;
        let steps = trajectory.steps.len();
        let first = input.from_step.unwrap_or(1);
        if !(1..=steps).contains(&first) {
            return Err(format!("from_step must be from 1 to {steps}, not {first}"));
        }
        let need = Need {
            classes: classes(&trajectory),
            title: self.title(&input),
            args: told(&device, &trajectory),
        };
        self.0.leaves.armed(&host, &call, &device, need).await?;
        handed_back(&host, &device).await;
        let by = By::Leave(Who { session: Some(session), caller: call.caller.clone() });
        let again = Again { from: first - 1, anyway: false };
        let replay = host.replay(by, &device, &trajectory, again).await;
        let text = replay.summary();
        match replay.stopped {
            None => Ok(text.into()),
            Some(Stopped::Differs { .. } | Stopped::Secret | Stopped::Failed(_)) => {
                let step = trajectory.steps.get(replay.done).map(|step| step.motion.title());
                let step = step.unwrap_or_default();
                Err(format!(
                    "{text} That step is: {step}. Take a screenshot to see what is there, and ask the \
                     person if you are not sure."
                ))
            }
        }
    }
}
