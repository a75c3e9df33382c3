//! Leave for a part of the screen: whether what is wanted stays within it.

use std::{slice, sync::OnceLock};

use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard};

use super::{Action, Class, Code, Desktop, DesktopError, Devices, Outcome, lasting::Right};
use crate::{
    desktop::{Pane, Point, Reach, Rect},
    update::SessionId,
};

const ONLY: &str = "Desktop control is lent for a part of the screen only";

/// Whose turn it is on a device. Whoever is bound to a part is alone there, or another could move the pointer or the
/// focus between the look and the deed.
pub(super) enum Turn {
    Among { _guard: OwnedRwLockReadGuard<()> },
    Alone { _guard: OwnedRwLockWriteGuard<()> },
}

/// A point of the screen, or beside it.
#[derive(Clone, Copy)]
struct Place {
    x: i64,
    y: i64,
}

/// Where an action takes the pointer.
enum Aim {
    To(Vec<Point>),
    By(i32, i32),
}

/// What the device has told of itself; only what is needed is asked.
#[derive(Default)]
struct Told {
    pointer: Option<Place>,
    windows: Vec<Pane>,
}

/// The classes that are lent for parts of the screen alone, and for which.
#[derive(Debug)]
pub(super) struct Bounds(Vec<(Class, Vec<Rect>)>);

/// By which bounds something was begun, set once it is: to none if it had none.
pub(super) type Begun = OnceLock<Option<Bounds>>;

impl Devices {
    /// The parts of the screen for which a device is lent to a session, or to anybody for the owner; none if
    /// something is lent for all of it.
    pub fn parts(&self, device: &str, session: Option<SessionId>) -> Vec<Rect> {
        let holding = self.armings().into_iter().filter(|it| it.counts(device, session));
        together(holding.map(|arming| arming.area)).unwrap_or_default()
    }

    /// Returns when it may be done, if it stays within what is lent. Where that is everything the device is asked
    /// nothing, and nobody waits unless somebody else is bound.
    pub(super) async fn within(
        &self,
        right: Right<'_>,
        desktop: &dyn Desktop,
        begun: &Begun,
    ) -> Result<Turn, DesktopError> {
        let turns = self.inner().present.get(right.device).map(|present| present.turns.clone());
        let turns = turns.ok_or_else(DesktopError::disconnected)?;
        // Whatever is awaited, what is lent may be another afterwards.
        loop {
            if self.bounds(right).is_none() {
                let guard = turns.clone().read_owned().await;
                if self.bounds(right).is_none() {
                    begun.set(None).ok();
                    return Ok(Turn::Among { _guard: guard });
                }
                continue;
            }
            let guard = turns.clone().write_owned().await;
            let Some(bounds) = self.bounds(right) else { continue };
            let told = bounds.ask(right.action, desktop).await?;
            let bounds = self.bounds(right);
            bounds.iter().try_for_each(|bounds| bounds.check(right.action, &told))?;
            begun.set(bounds).ok();
            return Ok(Turn::Alone { _guard: guard });
        }
    }

    /// Whether all is still lent by which something was begun. What was not yet begun is asked that when it is.
    pub(super) fn still_within(&self, right: Right<'_>, begun: &Begun) -> Result<(), DesktopError> {
        match (begun.get(), self.bounds(right)) {
            (Some(before), Some(now)) if !now.covers(before.as_ref()) => {
                Err(refused("another part is lent by now", &now.all()))
            }
            _ => Ok(()),
        }
    }

    fn bounds(&self, Right { who, device, action, .. }: Right<'_>) -> Option<Bounds> {
        let (now, inner) = (self.clock.now(), self.inner());
        let bound = |class: Class| {
            let lending = inner.lending(now, device, who.session, class);
            let parts = together(lending.map(|arming| arming.area));
            // What is not lent at all is refused for that.
            parts.filter(|parts| !parts.is_empty()).map(|parts| (class, parts))
        };
        let bounds: Vec<_> = action.classes().into_iter().filter_map(bound).collect();
        (!bounds.is_empty()).then_some(Bounds(bounds))
    }
}

impl Bounds {
    fn of(&self, action: &Action) -> Option<&[Rect]> {
        let class = action.class();
        self.0.iter().find(|(bound, _)| *bound == class).map(|(_, parts)| parts.as_slice())
    }

    /// Everything that it is about; for what cannot be told of a single class.
    fn all(&self) -> Vec<Rect> {
        let all = self.0.iter().flat_map(|(_, parts)| parts);
        together(all.copied().map(Some)).unwrap_or_default()
    }

    fn covers(&self, before: Option<&Self>) -> bool {
        let had = |class: Class| before?.0.iter().find(|(bound, _)| *bound == class);
        self.0.iter().all(|(class, parts)| {
            had(*class).is_some_and(|(_, had)| had.iter().all(|part| parts.contains(part)))
        })
    }

    async fn ask(&self, action: &Action, desktop: &dyn Desktop) -> Result<Told, DesktopError> {
        let untold = |error: DesktopError, what: &str| {
            // That it is stopped or gone is said as ever.
            if error.code.is_ours() {
                return error;
            }
            refused(&format!("this device does not tell where {what} ({error})"), &self.all())
        };
        if let Some(Aim::By(..)) = steps(action).iter().find_map(aim) {
            return match desktop.act(Action::GetMousePosition.into()).await {
                Ok(Outcome::Position { x, y, .. }) => {
                    let pointer = Some(Place { x: x.into(), y: y.into() });
                    Ok(Told { pointer, ..Told::default() })
                }
                Ok(_) => Ok(Told::default()),
                Err(error) => Err(untold(error, "its pointer is")),
            };
        }
        if !matches!(action.reach(), Reach::Focus | Reach::Window(_)) {
            return Ok(Told::default());
        }
        match desktop.act(Action::WindowList.into()).await {
            Ok(Outcome::Windows(windows)) => Ok(Told { windows, ..Told::default() }),
            Ok(_) => Ok(Told::default()),
            Err(error) => Err(untold(error, "its windows are")),
        }
    }

    fn check(&self, action: &Action, told: &Told) -> Result<(), DesktopError> {
        let Action::Batch { actions, stop_on_error } = action else {
            return match (self.of(action), action.reach()) {
                (Some(parts), Reach::Focus) => focused(&told.windows, parts),
                (Some(parts), Reach::Window(id)) => named(&told.windows, id, parts),
                _ => self.follow(slice::from_ref(action), told.pointer, true),
            };
        };
        // A key could change the focus between.
        let is_loose = |step: &&Action| matches!(step.reach(), Reach::Focus | Reach::Window(_));
        if let Some(parts) = actions.iter().filter(is_loose).find_map(|step| self.of(step)) {
            return Err(refused("send keys and what is done to windows one by one", parts));
        }
        self.follow(actions, told.pointer, *stop_on_error)
    }

    /// Goes with the pointer, step by step.
    fn follow(
        &self,
        steps: &[Action],
        mut at: Option<Place>,
        stop_on_error: bool,
    ) -> Result<(), DesktopError> {
        for step in steps {
            let Some(aim) = aim(step) else { continue };
            let is_still = matches!(aim, Aim::By(0, 0));
            let places: Option<Vec<Place>> = match aim {
                Aim::To(points) => Some(points.into_iter().map(Place::from).collect()),
                Aim::By(dx, dy) => at.map(|at| vec![at.beside(dx, dy)]),
            };
            at = places.as_ref().and_then(|places| places.last().copied());
            if !stop_on_error && !is_still {
                // Should this step fail, the pointer stays behind and the next is done all the same.
                at = None;
            }
            let Some(parts) = self.of(step) else { continue };
            let unknown = "name the point, for where the pointer is by then cannot be told";
            let places = places.ok_or_else(|| refused(unknown, parts))?;
            if let Some(Place { x, y }) = places.into_iter().find(|place| !place.is_in(parts)) {
                return Err(refused(&format!("({x}, {y}) lies outside"), parts));
            }
        }
        Ok(())
    }
}

impl Place {
    fn beside(self, dx: i32, dy: i32) -> Self {
        Self { x: self.x + i64::from(dx), y: self.y + i64::from(dy) }
    }

    fn is_in(self, parts: &[Rect]) -> bool {
        let point = u32::try_from(self.x).ok().zip(u32::try_from(self.y).ok());
        point.is_some_and(|(x, y)| parts.iter().any(|part| part.contains(Point { x, y })))
    }
}

impl From<Point> for Place {
    fn from(Point { x, y }: Point) -> Self {
        Self { x: x.into(), y: y.into() }
    }
}

/// Each part once; none if everything is among them.
fn together(areas: impl Iterator<Item = Option<Rect>>) -> Option<Vec<Rect>> {
    let mut parts = Vec::new();
    for area in areas {
        let part = area?;
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    Some(parts)
}

fn steps(action: &Action) -> &[Action] {
    match action {
        Action::Batch { actions, .. } => actions,
        single => slice::from_ref(single),
    }
}

fn aim(action: &Action) -> Option<Aim> {
    match (action, action.reach()) {
        (Action::MouseMove { to, .. }, _) => Some(Aim::To(vec![*to])),
        (Action::MouseMoveBy { dx, dy, .. }, _) => Some(Aim::By(*dx, *dy)),
        (_, Reach::Here) => Some(Aim::By(0, 0)),
        (_, Reach::At(at)) => Some(Aim::To(vec![at])),
        (_, Reach::Along(path)) => Some(Aim::To(path.to_vec())),
        (_, Reach::Nothing | Reach::Focus | Reach::Window(_)) => None,
    }
}

fn focused(windows: &[Pane], parts: &[Rect]) -> Result<(), DesktopError> {
    let pane = windows.iter().find(|pane| pane.focused);
    let pane = pane.ok_or_else(|| refused("no window is in focus", parts))?;
    overlaps(pane, "the window in focus", parts)
}

fn named(windows: &[Pane], id: u32, parts: &[Rect]) -> Result<(), DesktopError> {
    let pane = windows.iter().find(|pane| pane.id == id);
    let pane = pane.ok_or_else(|| refused(&format!("there is no window {id}"), parts))?;
    overlaps(pane, &format!("window {id}"), parts)
}

fn overlaps(pane: &Pane, what: &str, parts: &[Rect]) -> Result<(), DesktopError> {
    if pane.w == 0 || pane.h == 0 {
        return Err(refused("this device does not tell where its windows are", parts));
    }
    let meets = |from: i32, length: u32, start: u32, size: u32| {
        let (from, start) = (i64::from(from), i64::from(start));
        from < start + i64::from(size) && start < from + i64::from(length)
    };
    let meets = |part: &Rect| {
        meets(pane.x, pane.w, part.x, part.w) && meets(pane.y, pane.h, part.y, part.h)
    };
    if parts.iter().any(meets) {
        return Ok(());
    }
    Err(refused(&format!("{what} lies outside"), parts))
}

fn refused(why: &str, parts: &[Rect]) -> DesktopError {
    let error = DesktopError::new(Code::Denied, format!("{ONLY}: {why}"));
    error.expecting(parts.iter().map(Rect::to_string))
}
