//! How far a view has come, and what is to be said of one that comes no further.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use kernel::views::{
    Verdict,
    fact::{Noticed, WidgetFact},
};
use tokio::{sync::watch, time::timeout};

use super::scribe::Scribe;

/// For so long a view may take to say a word, from when its page is asked for.
const GREETING: Duration = Duration::from_secs(15);
/// And so long until it listens.
const LISTENING: Duration = Duration::from_secs(10);
const DETAIL_CHARS: usize = 1000;
/// Of so many things that went wrong in a view the model is told, however often that is shown.
const NOTICED: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    Loading,
    Greeted,
    Ready,
}

pub struct Progress {
    stage: watch::Sender<Stage>,
    verdict: Mutex<Option<Verdict>>,
    /// Something was said of it since it was opened.
    judged: AtomicBool,
    /// What the model knows to have gone wrong although it works.
    noticed: Mutex<Vec<Verdict>>,
}

impl Progress {
    /// What was wrong the last time is said again if it is so again: somebody tried once more.
    pub fn new(before: Option<Verdict>, noticed: Vec<Verdict>) -> Self {
        let verdict = Mutex::new(before.filter(|verdict| verdict.name == "ok"));
        let stage = watch::Sender::new(Stage::Loading);
        Self { stage, verdict, judged: AtomicBool::new(false), noticed: Mutex::new(noticed) }
    }

    pub fn reach(&self, stage: Stage) {
        self.stage.send_if_modified(|now| {
            let further = stage > *now;
            *now = stage.max(*now);
            further
        });
    }

    pub fn is_ready(&self) -> bool {
        *self.stage.borrow() == Stage::Ready
    }

    /// What keeps a view from being ready; `None` once it is.
    pub async fn stuck(&self) -> Option<(&'static str, String)> {
        let mut stage = self.stage.subscribe();
        let greeted = timeout(GREETING, stage.wait_for(|it| *it >= Stage::Greeted)).await.is_ok();
        if !greeted {
            let seconds = GREETING.as_secs();
            let why = format!("it did not say ui/initialize within {seconds} seconds");
            return Some(("no-initialize", why));
        }
        let ready = timeout(LISTENING, stage.wait_for(|it| *it == Stage::Ready)).await.is_ok();
        let seconds = LISTENING.as_secs();
        let why = format!("it did not say that it is ready within {seconds} seconds");
        (!ready).then_some(("no-initialized", why))
    }

    /// Says that nothing more came of it, unless something worse is known.
    pub fn give_up(&self, scribe: &Scribe, name: &str, detail: &str) {
        if !self.judged.load(Ordering::Relaxed) {
            self.judge(scribe, name, detail);
        }
    }

    /// Writes a verdict down, unless it is the one that is there.
    pub fn judge(&self, scribe: &Scribe, name: &str, detail: &str) {
        self.judged.store(true, Ordering::Relaxed);
        let verdict = sized(name, detail);
        let before = {
            let mut known = self.verdict.lock().unwrap_or_else(PoisonError::into_inner);
            known.replace(verdict.clone())
        };
        if before.as_ref() != Some(&verdict) {
            let (call, Verdict { name: verdict, detail }) = (String::new(), verdict);
            scribe.note_later(WidgetFact::Judged { call, verdict, detail, told: false });
        }
    }

    /// What the model is to know of something that went wrong although the view works: each thing
    /// once, and no more than so many.
    pub fn notice(
        &self,
        (server, tool): (&str, &str),
        name: &str,
        detail: &str,
    ) -> Option<WidgetFact> {
        let found = sized(name, detail);
        let mut noticed = self.noticed.lock().unwrap_or_else(PoisonError::into_inner);
        if noticed.len() >= NOTICED || noticed.contains(&found) {
            return None;
        }
        noticed.push(found.clone());
        let Verdict { name: verdict, detail } = found;
        let (call, server, tool) = (String::new(), server.to_owned(), tool.to_owned());
        Some(WidgetFact::Noticed(Noticed { call, server, tool, verdict, detail }))
    }
}

fn sized(name: &str, detail: &str) -> Verdict {
    Verdict { name: name.to_owned(), detail: detail.chars().take(DETAIL_CHARS).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_view_that_comes_no_further_is_found_stuck_where_it_is_and_in_time() {
        for (reached, found, after) in [
            (None, Some("no-initialize"), GREETING),
            (Some(Stage::Greeted), Some("no-initialized"), LISTENING),
            (Some(Stage::Ready), None, Duration::ZERO),
        ] {
            let (progress, began) = (Progress::new(None, Vec::new()), tokio::time::Instant::now());
            if let Some(stage) = reached {
                progress.reach(stage);
            }
            let stuck = progress.stuck().await.map(|(name, _)| name);
            assert_eq!((stuck, began.elapsed()), (found, after));
        }
    }
}
