//! Any path of a pointer, and whether it may be taken.

use kernel::desktop::{Action, Code, Waiting};
use proptest::prelude::*;

use crate::stage::{Home, Watched, batch, by, click, drag, to};

/// A step of a path, and how it is told to a desktop.
#[derive(Clone, Debug)]
enum Step {
    To(u32, u32),
    By(i32, i32),
    Here,
    Along(Vec<(u32, u32)>),
    Wait,
}

impl Step {
    fn action(&self) -> Action {
        match self {
            Self::To(x, y) => to(*x, *y),
            Self::By(dx, dy) => by(*dx, *dy),
            Self::Here => click(),
            Self::Along(path) => drag(path),
            Self::Wait => Action::Wait(Waiting::For(0.0)),
        }
    }

    /// Every point that is touched, the last of which is where the pointer is then.
    fn touched(&self, (x, y): (i64, i64)) -> Vec<(i64, i64)> {
        let wide = |(x, y): &(u32, u32)| (i64::from(*x), i64::from(*y));
        match self {
            Self::To(x, y) => vec![wide(&(*x, *y))],
            Self::By(dx, dy) => vec![(x + i64::from(*dx), y + i64::from(*dy))],
            Self::Here => vec![(x, y)],
            Self::Along(path) => path.iter().map(wide).collect(),
            Self::Wait => vec![],
        }
    }
}

fn step() -> impl Strategy<Value = Step> {
    // Mostly within, so that long paths are done as often as refused.
    let near = || (95..905_u32, 95..705_u32);
    prop_oneof![
        near().prop_map(|(x, y)| Step::To(x, y)),
        (-9..10_i32, -9..10_i32).prop_map(|(dx, dy)| Step::By(dx, dy)),
        Just(Step::Here),
        prop::collection::vec(near(), 2..4).prop_map(Step::Along),
        Just(Step::Wait),
    ]
}

proptest! {
    #[test]
    fn a_path_is_refused_exactly_when_a_point_of_it_lies_outside(
        start in (95..905_i32, 95..705_i32),
        steps in prop::collection::vec(step(), 1..8),
    ) {
        let (mut at, mut strays) = ((i64::from(start.0), i64::from(start.1)), false);
        for step in &steps {
            let touched = step.touched(at);
            at = touched.last().copied().unwrap_or(at);
            strays |= touched.iter().any(|(x, y)| !(100..900).contains(x) || !(100..700).contains(y));
        }
        let path = batch(steps.iter().map(Step::action).collect(), true);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (refused, sent) = runtime.block_on(async {
            let desktop = Watched::at(start.0, start.1);
            let home = Home::bound(desktop.clone()).await;
            let result = home.act(path.clone()).await;
            (result.is_err_and(|error| error.code == Code::Denied), desktop.asked().contains(&path))
        });
        prop_assert_eq!((refused, sent), (strays, !strays));
    }
}
