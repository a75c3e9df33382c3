//! Says what is meant to be done, step by step, for whoever watches.

use kernel::{
    tasks::{Plan, Progress, Step, Visibility},
    toolbox::{Call, Risk},
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::typed::{Typed, shorten};

const MOST_STEPS: usize = 50;
const TITLE_CHARS: usize = 200;
const TEXT_CHARS: usize = 500;

/// Shows the person what you mean to do, and how far you have come. Use it for work of several
/// steps: call it before you begin, and again whenever a step begins or ends, each time with all
/// steps. One step is active at a time. A plan ends with your answer: before it, mark what is done,
/// and skip what you leave out.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// What all of it is for, in a few words.
    title: String,
    /// All steps, in order.
    steps: Vec<StepInput>,
    /// `show` it even if it has one step, `hide` it where it would only disturb, or `auto`: shown if it
    /// has several steps. `auto` if absent, or what was said before.
    visibility: Option<VisibilityInput>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum VisibilityInput {
    Auto,
    Show,
    Hide,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct StepInput {
    /// What is done in it.
    text: String,
    status: Status,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    Pending,
    Active,
    Done,
    Failed,
    Skipped,
}

pub struct PlanTool;

impl Typed for PlanTool {
    type Input = Input;
    type Output = String;
    const NAME: &'static str = "plan";
    // It changes nothing but what the person sees, and to say it twice is to say it once.
    const RISK: Risk = Risk::Reads;

    fn title(&self, input: &Input) -> String {
        format!("Planning {}", shorten(&input.title, 80))
    }

    async fn run(&self, input: Input, call: Call) -> Result<String, String> {
        let plan = read(input)?;
        let said = said(&plan);
        match call.session.plan(plan).await {
            Ok(Ok(())) => Ok(said),
            Ok(Err(error)) => Err(error.to_string()),
            Err(error) => Err(error.to_string()),
        }
    }
}

fn read(Input { title, steps, visibility }: Input) -> Result<Plan, String> {
    let fit = |what: &str, text: &str, most: usize| match text.trim() {
        "" => Err(format!("{what} is empty")),
        text if text.chars().nth(most).is_some() => {
            Err(format!("{what} is longer than {most} characters"))
        }
        text => Ok(text.to_owned()),
    };
    if steps.is_empty() || steps.len() > MOST_STEPS {
        return Err(format!("a plan has 1 to {MOST_STEPS} steps, not {}", steps.len()));
    }
    let step = |(number, StepInput { text, status }): (usize, StepInput)| {
        let text = fit(&format!("the text of step {number}"), &text, TEXT_CHARS)?;
        Ok(Step { text, progress: progress(status) })
    };
    let title = fit("the title", &title, TITLE_CHARS)?;
    let steps: Result<Vec<Step>, String> = (1..).zip(steps).map(step).collect();
    Ok(Plan { title, steps: steps?, visibility: visibility.map(visible) })
}

fn visible(visibility: VisibilityInput) -> Visibility {
    match visibility {
        VisibilityInput::Auto => Visibility::Auto,
        VisibilityInput::Show => Visibility::Show,
        VisibilityInput::Hide => Visibility::Hide,
    }
}

fn progress(status: Status) -> Progress {
    match status {
        Status::Pending => Progress::Pending,
        Status::Active => Progress::Active,
        Status::Done => Progress::Done,
        Status::Failed => Progress::Failed,
        Status::Skipped => Progress::Skipped,
    }
}

fn said(plan: &Plan) -> String {
    let open = |step: &&Step| matches!(step.progress, Progress::Pending | Progress::Active);
    let left = plan.steps.iter().filter(open).count();
    format!("The person sees the plan; {left} of {} steps are left.", plan.steps.len())
}

#[cfg(test)]
mod tests;
