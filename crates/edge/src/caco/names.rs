//! Names for whatever the Caco socket tells of.

use std::hash::{DefaultHasher, Hash, Hasher as _};

use kernel::update::{Seq, SessionId};
use uuid::{Builder, Uuid};

/// Beyond any number of frames that one fact becomes.
pub const TEXT: u64 = 1 << 56;
pub const REASONING: u64 = 2 << 56;
pub const INTENT: u64 = 3 << 56;
pub const UNRECORDED: u64 = 4 << 56;
pub const CONTEXT: u64 = 5 << 56;
pub const MESSAGE: u64 = 6 << 56;
pub const THOUGHT: u64 = 7 << 56;
pub const RETRY: u64 = 8 << 56;
pub const BUDGET: u64 = 9 << 56;
pub const PRINTED: u64 = 10 << 56;
pub const PROGRESS: u64 = 11 << 56;
pub const RELOAD: u64 = 12 << 56;
pub const WIDGET: u64 = 13 << 56;

/// Tells apart what may be said at the same place; below any of the above.
pub fn hash(of: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish() >> 8
}

pub fn event_id(session: SessionId, seq: Seq) -> Uuid {
    derive(session, seq, 0)
}

pub fn message_id(session: SessionId, step: Seq) -> Uuid {
    derive(session, step, MESSAGE)
}

pub fn reasoning_id(session: SessionId, step: Seq) -> Uuid {
    derive(session, step, THOUGHT)
}

/// Names follow from places, so that they need no room in the log and are the same in every
/// telling. The mixing is that of `SplitMix64`, enough to keep names apart.
pub fn derive(session: SessionId, seq: Seq, part: u64) -> Uuid {
    fn mix(value: u64) -> u64 {
        let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ (value >> 31)
    }
    let (high, low) = session.0.as_u64_pair();
    let high = mix(high ^ mix(seq.0.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    let low = mix(low ^ high ^ mix(part.wrapping_mul(0xd1b5_4a32_d192_ed03)));
    let high = mix(high ^ low);
    let bytes = (u128::from(high) << 64 | u128::from(low)).to_be_bytes();
    Builder::from_custom_bytes(bytes).into_uuid()
}
