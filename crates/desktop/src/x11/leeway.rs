//! How far a hand may still move that has just let us begin.

use std::collections::VecDeque;

use kernel::desktop::Point;

/// As far as that, and it is somebody who takes over; in pixels, all its ways together.
const FORGIVEN: u32 = 50;
/// So many places of ours are remembered: whoever looks may be a few steps late.
const REMEMBERED: usize = 16;

/// Where we put the pointer, and how far somebody else has moved it since the last rest.
#[derive(Default)]
pub struct Leeway {
    ours: VecDeque<Point>,
    /// Where it was last seen.
    seen: Option<Point>,
    travelled: u32,
    /// Whether somebody has been heard to move it: programs may put it elsewhere, too.
    stirred: bool,
}

impl Leeway {
    /// What was moved before does not count.
    pub fn begin(&mut self) {
        (self.seen, self.travelled, self.stirred) = (None, 0, false);
    }

    /// We put it there.
    pub fn put(&mut self, at: Point) {
        self.ours.truncate(REMEMBERED - 1);
        self.ours.push_front(at);
    }

    /// It has been seen there: as far from where it was as it must have been moved at least.
    pub fn see(&mut self, at: Point) {
        let known = self.ours.iter().chain(&self.seen);
        let moved = known.map(|from| distance(*from, at)).min().unwrap_or(0);
        self.travelled = self.travelled.saturating_add(moved);
        self.seen = Some(at);
    }

    /// Somebody was heard to move it.
    pub fn stir(&mut self) {
        self.stirred = true;
    }

    /// Whether that was more than a hand does that lets go.
    pub fn is_spent(&self) -> bool {
        self.stirred && self.travelled > FORGIVEN
    }
}

/// Along both edges.
pub fn distance(one: Point, other: Point) -> u32 {
    one.x.abs_diff(other.x).saturating_add(one.y.abs_diff(other.y))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(x: u32) -> Point {
        Point { x, y: 7 }
    }

    #[test]
    fn a_little_is_forgiven_and_a_little_again_and_again_is_not() {
        let mut leeway = Leeway::default();
        leeway.put(at(100));
        leeway.stir();
        for by in 1..=FORGIVEN {
            leeway.see(at(100 + by));
            assert!(!leeway.is_spent(), "{by}");
        }
        leeway.see(at(101 + FORGIVEN));
        assert!(leeway.is_spent());
        leeway.begin();
        assert!(!leeway.is_spent());
    }

    #[test]
    fn what_we_and_programs_do_is_nobody_who_takes_over() {
        let mut leeway = Leeway::default();
        leeway.put(at(100));
        leeway.see(at(900));
        assert!(!leeway.is_spent());
        leeway.begin();
        leeway.stir();
        for x in [300, 500, 700] {
            leeway.put(at(x));
            leeway.see(at(x + 1));
        }
        assert!(!leeway.is_spent());
    }
}
