//! The pictures that a session was shown, and whose points a model means.

use std::collections::VecDeque;

use kernel::desktop::{Action, DesktopError, Done, Drag, Mapping, Point, Rect, Shot};

/// How many pictures of a device can still be named.
const MOST: usize = 32;

/// The picture that a model took its points from, if it has seen any.
#[derive(Clone, Copy, Debug)]
pub struct View(pub Option<Mapping>);

impl View {
    fn point(self, at: Point) -> Result<Point, DesktopError> {
        let Some(mapping) = self.0 else { return Ok(at) };
        let point = mapping.to_screen(at);
        point.ok_or_else(|| DesktopError::out_of_bounds(at.x.into(), at.y.into()))
    }

    /// Both corners lie in the picture.
    fn area(self, Rect { x, y, w, h }: Rect) -> Result<Rect, DesktopError> {
        let first = self.point(Point { x, y })?;
        let (right, bottom) = (x.saturating_add(w).max(1), y.saturating_add(h).max(1));
        let last = self.point(Point { x: right - 1, y: bottom - 1 })?;
        Ok(Rect {
            x: first.x,
            y: first.y,
            w: last.x.saturating_sub(first.x).saturating_add(1),
            h: last.y.saturating_sub(first.y).saturating_add(1),
        })
    }

    /// What a model means in its own points, in pixels of the screen.
    pub fn on_screen(self, action: &Action) -> Result<Action, DesktopError> {
        let at = |at: &Option<Point>| at.map(|at| self.point(at)).transpose();
        let mut action = action.clone();
        match &mut action {
            Action::MouseMove { to: point, .. } | Action::MouseScrollAt { at: point, .. } => {
                *point = self.point(*point)?;
            }
            Action::MouseClickAt { at: point, .. }
            | Action::MouseDown { at: point, .. }
            | Action::MouseUp { at: point, .. } => *point = at(point)?,
            Action::MouseDrag(Drag { path, .. }) => {
                for point in path {
                    *point = self.point(*point)?;
                }
            }
            Action::MouseMoveBy { dx, dy, .. } => {
                if let Some(Mapping { width, height, screen }) = self.0 {
                    *dx = stretched(*dx, width, screen.w);
                    *dy = stretched(*dy, height, screen.h);
                }
            }
            Action::Zoom(Shot { region: Some(region), .. }) => *region = self.area(*region)?,
            Action::Batch { actions, .. } => {
                for action in actions {
                    *action = self.on_screen(action)?;
                }
            }
            _ => (),
        }
        Ok(action)
    }

    /// What was done, in the numbers of whoever asked for it; and where that is on the screen, if
    /// that is another place.
    pub fn words(self, own: &Action, done: &Done) -> (String, Option<Point>) {
        let unchanged = || (done.message.clone(), None);
        let Some(mapping) = self.0.filter(|it| !is_the_screen(*it)) else { return unchanged() };
        let named = match own {
            Action::MouseMove { to: point, .. } | Action::MouseScrollAt { at: point, .. } => {
                Some(*point)
            }
            Action::MouseClickAt { at, .. }
            | Action::MouseDown { at, .. }
            | Action::MouseUp { at, .. } => *at,
            Action::MouseDrag(Drag { path, .. }) => path.last().copied(),
            Action::MouseMoveBy { .. } => None,
            _ => return unchanged(),
        };
        let there = match named {
            Some(point) => mapping.to_screen(point).map(|there| (point, there)),
            None => done.at.and_then(|there| mapping.to_picture(there).map(|point| (point, there))),
        };
        match there {
            Some((point, there)) => (own.done(Some(point)), Some(there)),
            None => unchanged(),
        }
    }
}

/// So far in a picture, as far on the screen that it shows.
fn stretched(by: i32, from: u32, onto: u32) -> i32 {
    let (by, from, onto) = (i128::from(by), i128::from(from.max(1)), i128::from(onto));
    // Half of it more or less, so that it is rounded and not cut.
    let half = from / 2 * by.signum();
    let most = (i128::from(i32::MIN), i128::from(i32::MAX));
    i32::try_from(((by * onto + half) / from).clamp(most.0, most.1)).unwrap_or(i32::MAX)
}

fn is_the_screen(Mapping { width, height, screen }: Mapping) -> bool {
    (screen.x, screen.y, screen.w, screen.h) == (0, 0, width, height)
}

/// The pictures of one device that a session was shown.
#[derive(Default)]
pub struct Album {
    /// Counts all there were.
    count: u64,
    /// The newest last.
    pictures: VecDeque<(u64, Mapping)>,
    /// The one whose points are meant where none is named.
    current: Option<(u64, Mapping)>,
}

impl Album {
    /// Returns its name. What only shows a part more closely does not change which points are meant.
    pub fn add(&mut self, mapping: Mapping, only_looked: bool) -> String {
        self.count += 1;
        if self.pictures.len() == MOST {
            self.pictures.pop_front();
        }
        self.pictures.push_back((self.count, mapping));
        if !only_looked {
            self.current = Some((self.count, mapping));
        }
        name(self.count)
    }

    pub fn current(&self) -> Option<String> {
        self.current.map(|(number, _)| name(number))
    }

    pub fn view(&self, shot: Option<&str>) -> Result<View, DesktopError> {
        let Some(shot) = shot else { return Ok(View(self.current.map(|(_, mapping)| mapping))) };
        let found = self.pictures.iter().chain(&self.current).find(|(it, _)| name(*it) == shot);
        let none = || {
            let names = self.pictures.iter().map(|(number, _)| name(*number));
            DesktopError::bad(format!("No picture is named {shot}")).expecting(names)
        };
        found.map(|(_, mapping)| View(Some(*mapping))).ok_or_else(none)
    }
}

fn name(number: u64) -> String {
    format!("shot_{number}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const HALF: Mapping =
        Mapping { width: 100, height: 50, screen: Rect { x: 0, y: 0, w: 200, h: 100 } };

    #[test]
    fn a_way_is_as_long_on_the_screen_as_in_the_picture() {
        for (by, from, onto, to) in [
            (10, 100, 200, 20),
            (-10, 100, 200, -20),
            (3, 1568, 1920, 4),
            (-3, 1568, 1920, -4),
            (0, 7, 3, 0),
            (i32::MAX, 1, 2, i32::MAX),
            (i32::MIN, 1, 2, i32::MIN),
            (5, 0, 5, 25),
        ] {
            assert_eq!(stretched(by, from, onto), to, "{by} of {from} onto {onto}");
        }
    }

    #[test]
    fn old_pictures_are_forgotten_but_never_the_one_that_counts() {
        let mut album = Album::default();
        assert_eq!(album.add(HALF, false), "shot_1");
        for _ in 0..MOST {
            album.add(HALF, true);
        }
        assert_eq!(album.pictures.len(), MOST);
        assert_eq!(album.current().as_deref(), Some("shot_1"));
        assert_eq!(album.view(Some("shot_1")).unwrap().0, Some(HALF));
        assert_eq!(album.add(HALF, false), "shot_34");
        let gone = album.view(Some("shot_1")).unwrap_err();
        assert_eq!((gone.text.as_str(), gone.expected.len()), ("No picture is named shot_1", MOST));
    }
}
