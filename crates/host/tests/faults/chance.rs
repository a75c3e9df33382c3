//! Random numbers that can be had again: set `FAULT_SEED` to what a failed test printed.

use std::{
    hash::{BuildHasher as _, Hasher as _, RandomState},
    ops::Range,
};

pub struct Chance(u64);

impl Chance {
    /// Says its seed, which is shown if the test fails.
    pub fn new() -> Self {
        let given = std::env::var("FAULT_SEED").ok().map(|seed| seed.parse().unwrap());
        let seed = given.unwrap_or_else(|| Self::any().0);
        println!("FAULT_SEED={seed}");
        Self(seed)
    }

    /// One that is different every time, come what may.
    pub fn any() -> Self {
        Self(RandomState::new().build_hasher().finish())
    }

    /// Another one, whose numbers do not depend on how many are taken from this one.
    pub fn fork(&mut self) -> Self {
        Self(self.next())
    }

    pub fn of(&mut self, range: Range<u64>) -> u64 {
        range.start + self.next() % (range.end - range.start)
    }

    /// `SplitMix64`.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let value = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ (value >> 31)
    }
}
