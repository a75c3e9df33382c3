//! Keeps agents that message each other from going round in circles. In memory: a restart ends every flow.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
};

use jiff::{SignedDuration, Timestamp};

use crate::update::SessionId;

#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub calls: usize,
    pub window: SignedDuration,
    pub depth: usize,
    /// A flow as old as this starts afresh.
    pub lifetime: SignedDuration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            calls: 10,
            window: SignedDuration::from_secs(60),
            depth: 2,
            lifetime: SignedDuration::from_secs(3600),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejected {
    #[error("Rate limit exceeded: {calls} calls per {seconds}s")]
    Rate { calls: usize, seconds: i64 },
    #[error("Effective call depth {depth} exceeds limit (max {max})")]
    Depth { depth: usize, max: usize },
}

/// How many flows may at least be remembered before the old ones are swept out.
const SWEEP: usize = 256;

#[derive(Default)]
pub struct Guard {
    limits: Limits,
    flows: Mutex<Flows>,
}

#[derive(Default)]
struct Flows {
    by_name: HashMap<String, Flow>,
    /// Sweeping waits until there are so many; twice what the last sweep left, so that it stays cheap.
    sweep_at: usize,
}

struct Flow {
    since: Timestamp,
    /// Sessions from the first to the current one, collapsed where a call came back.
    chain: Vec<SessionId>,
    calls: VecDeque<Timestamp>,
}

impl Guard {
    pub fn new(limits: Limits) -> Self {
        Self { limits, flows: Mutex::default() }
    }

    /// Whether a message of this flow may go to `target` now.
    pub fn check(&self, flow: &str, target: SessionId, now: Timestamp) -> Result<(), Rejected> {
        let mut flows = self.flows();
        let Some(flow) = flows.by_name.get_mut(flow) else { return Ok(()) };
        if now.duration_since(flow.since) > self.limits.lifetime {
            return Ok(());
        }
        flow.forget(now, &self.limits);
        if flow.calls.len() >= self.limits.calls {
            let (calls, seconds) = (self.limits.calls, self.limits.window.as_secs());
            return Err(Rejected::Rate { calls, seconds });
        }
        let depth = flow.extended(target).len();
        if depth > self.limits.depth {
            return Err(Rejected::Depth { depth, max: self.limits.depth });
        }
        Ok(())
    }

    /// Notes a message that was accepted.
    pub fn note(&self, flow: &str, target: SessionId, now: Timestamp) {
        let limits = self.limits;
        let mut flows = self.flows();
        if flows.by_name.len() >= flows.sweep_at.max(SWEEP) {
            flows.by_name.retain(|_, flow| now.duration_since(flow.since) <= limits.lifetime);
            flows.sweep_at = flows.by_name.len() * 2;
        }
        let new = || Flow { since: now, chain: Vec::new(), calls: VecDeque::new() };
        let flow = flows.by_name.entry(flow.to_owned()).or_insert_with(new);
        if now.duration_since(flow.since) > limits.lifetime {
            *flow = new();
        }
        flow.chain = flow.extended(target);
        flow.calls.push_back(now);
        flow.forget(now, &limits);
    }

    fn flows(&self) -> MutexGuard<'_, Flows> {
        self.flows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Flow {
    fn extended(&self, target: SessionId) -> Vec<SessionId> {
        let known = self.chain.iter().take_while(|session| **session != target);
        known.copied().chain([target]).collect()
    }

    fn forget(&mut self, now: Timestamp, limits: &Limits) {
        while self.calls.front().is_some_and(|at| now.duration_since(*at) >= limits.window) {
            self.calls.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn session(n: u128) -> SessionId {
        SessionId(Uuid::from_u128(n))
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn send(guard: &Guard, target: u128, second: i64) -> Result<(), String> {
        guard.check("f", session(target), at(second)).map_err(|no| no.to_string())?;
        guard.note("f", session(target), at(second));
        Ok(())
    }

    #[test]
    fn a_reply_is_allowed_and_a_third_level_is_not() {
        let guard = Guard::default();
        assert_eq!(send(&guard, 1, 0), Ok(()));
        assert_eq!(send(&guard, 2, 1), Ok(()));
        let refused = Err("Effective call depth 3 exceeds limit (max 2)".to_owned());
        assert_eq!(send(&guard, 3, 2), refused);
        assert_eq!(send(&guard, 1, 3), Ok(()));
        assert_eq!(send(&guard, 3, 4), Ok(()), "back at the first, one level is free again");
    }

    #[test]
    fn the_eleventh_call_in_a_minute_is_refused_and_allowed_after_it() {
        let guard = Guard::default();
        for second in 0..10 {
            assert_eq!(send(&guard, 1, second), Ok(()));
        }
        assert_eq!(send(&guard, 1, 59), Err("Rate limit exceeded: 10 calls per 60s".to_owned()));
        assert_eq!(send(&guard, 1, 60), Ok(()), "the first call has left the window");
        assert!(send(&guard, 1, 60).is_err(), "the second has not");
    }

    #[test]
    fn an_old_flow_starts_afresh() {
        let guard = Guard::default();
        send(&guard, 1, 0).unwrap();
        send(&guard, 2, 1).unwrap();
        assert!(send(&guard, 3, 2).is_err());
        assert_eq!(send(&guard, 3, 3602), Ok(()));
    }

    #[test]
    fn flows_do_not_pile_up() {
        let guard = Guard::default();
        for n in 0..5000 {
            guard.note(&n.to_string(), session(1), at(n * 60));
        }
        assert!(guard.flows().by_name.len() <= SWEEP);
    }
}
