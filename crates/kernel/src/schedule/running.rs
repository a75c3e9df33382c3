//! How a run comes to pass: the clock says when, the prompt is said as anyone would, and what the turn comes to is what the run came to.

use std::{sync::Arc, time::Duration};

use super::{Need, OnNewNeed, Run, RunError, RunOutcome, Schedule};
use crate::{
    feed::Heard,
    host::{Host, OpenError, PostError},
    message::Errand,
    ports::StoreError,
    question::About,
    session::Receipt,
    update::{Amendment, Entry, Fact, Message, Origin, Outcome, Seq, SessionId, WhenBusy},
};

/// How soon what could not begin is tried again.
const RETRY: Duration = Duration::from_secs(5);
const INTERRUPTED: &str = "interrupted by restart";

impl Host {
    /// Runs schedules from now on, each when it is due, until the house is shut.
    pub fn keep_schedules(self: &Arc<Self>) {
        let weak = Arc::downgrade(self);
        let (schedules, clock) = (self.schedules.clone(), self.ports.clock.clone());
        self.pick_up();
        tokio::spawn(async move {
            loop {
                let Some(host) = weak.upgrade().filter(|host| !host.is_closing()) else { return };
                let well = host.run_due().await;
                drop(host);
                let next = schedules.earliest();
                if !well {
                    // For want of storage nothing could begin.
                    tokio::time::sleep(RETRY).await;
                    continue;
                }
                tokio::select! {
                    () = schedules.changed.notified() => (),
                    () = async {
                        match next {
                            Some(next) => clock.until(next).await,
                            None => std::future::pending().await,
                        }
                    } => (),
                }
            }
        });
    }

    /// Runs a schedule now, whether it is due or not. Returns once its prompt is safe in a session.
    pub async fn run_schedule(self: &Arc<Self>, slug: &str) -> Result<SessionId, RunError> {
        let run = self.schedules.begin_by_hand(slug).await?;
        let host = self.clone();
        let slug = slug.to_owned();
        // To its end even if the caller loses interest.
        let started = tokio::spawn(async move { host.set_going(&slug, run).await });
        started
            .await
            .unwrap_or_else(|_| Err(StoreError::Unavailable("the work broke down".into()).into()))
    }

    /// Removes a schedule, with what it was allowed; says whether there was one.
    pub async fn remove_schedule(&self, slug: &str) -> Result<bool, StoreError> {
        let removed = self.schedules.remove(slug).await?;
        if removed {
            self.approvals.forget_schedule(slug).await?;
        }
        Ok(removed)
    }

    /// Says whether all that was due could begin.
    async fn run_due(self: &Arc<Self>) -> bool {
        let mut well = true;
        if let Err(error) = self.schedules.mend().await {
            tracing::error!(%error, "cannot set schedules right after the clock was set");
        }
        for slug in self.schedules.due() {
            match self.schedules.begin_due(&slug).await {
                Ok(Some(run)) => {
                    let host = self.clone();
                    tokio::spawn(async move {
                        if let Err(error) = host.set_going(&slug, run).await {
                            tracing::warn!(slug, %error, "a schedule could not run");
                        }
                    });
                }
                Ok(None) => (),
                Err(error) => {
                    tracing::error!(slug, %error, "a schedule cannot begin");
                    well = false;
                }
            }
        }
        well
    }

    /// Goes on with the runs that a restart found unfinished: what was said is heard to its end.
    fn pick_up(self: &Arc<Self>) {
        for (schedule, _) in self.schedules.all() {
            let Some(run) = schedule.running.clone() else { continue };
            let (host, slug) = (self.clone(), schedule.slug.clone());
            tokio::spawn(async move {
                let said = match run.session {
                    Some(session) => host.ports.log.keyed(session, &run.key()).await,
                    None => Ok(None),
                };
                match said {
                    Ok(Some(entry)) => host.hear_out(&slug, run, entry.seq).await,
                    Ok(None) => {
                        host.end(&slug, run, RunOutcome::Error, Some(INTERRUPTED.into())).await;
                    }
                    Err(error) => tracing::error!(slug, %error, "cannot tell how a run ended"),
                }
            });
        }
    }

    /// Says the prompt of a run that is on record, and lets it be heard out.
    async fn set_going(self: &Arc<Self>, slug: &str, run: Run) -> Result<SessionId, RunError> {
        let started = self.speak(slug, run.clone()).await;
        match started {
            Ok((run, receipt)) => {
                let (host, slug) = (self.clone(), slug.to_owned());
                let session = run.session.unwrap_or(SessionId(run.id));
                tokio::spawn(async move { host.hear_out(&slug, run, receipt.seq).await });
                Ok(session)
            }
            Err(error) => {
                self.end(slug, run, RunOutcome::Error, Some(error.to_string())).await;
                Err(error)
            }
        }
    }

    async fn speak(&self, slug: &str, mut run: Run) -> Result<(Run, Receipt), RunError> {
        let (schedule, _) =
            self.schedules.get(slug).ok_or_else(|| RunError::Unknown(slug.to_owned()))?;
        let session = self.place_of(&schedule).await?;
        run.session = Some(session);
        self.schedules.place(slug, &run, session).await?;
        let ends = schedule.definition.on_new_need == OnNewNeed::End;
        let errand = Errand { run: run.id, ends, rehearsal: false };
        let origin = Origin::Schedule { slug: slug.to_owned(), errand: Some(errand) };
        let key = Some(run.key());
        let message =
            Message { origin, key, ..Message::from_user(schedule.definition.prompt.clone()) };
        let receipt = self.post(session, message, WhenBusy::Queue).await?;
        Ok((run, receipt))
    }

    /// The session a run takes place in.
    async fn place_of(&self, schedule: &Schedule) -> Result<SessionId, PostError> {
        let definition = &schedule.definition;
        let lasting = schedule.session.filter(|_| definition.persist);
        if let Some(session) = lasting
            && let Some(state) = self.roster.get(session)
        {
            if let Some(model) = definition.model.clone().filter(|model| *model != state.model) {
                let amendment = Amendment { model: Some(model), ..Amendment::default() };
                self.amend(session, amendment).await?;
            }
            return Ok(session);
        }
        let model = definition.model.clone();
        let model = model.unwrap_or_else(|| self.ports.models.default_id());
        let cwd = definition.cwd.clone().unwrap_or_else(|| self.ports.workspace.clone());
        Ok(self.create(&cwd, &model, &schedule.slug).await?)
    }

    /// Waits until the turn that answers the message at `said` has ended, and has that on record.
    async fn hear_out(&self, slug: &str, mut run: Run, said: Seq) {
        let Some(session) = run.session else { return };
        match self.listen_to(session, said).await {
            Ok(Some(Heeded { outcome, needs })) => {
                run.needed = needs;
                let (outcome, error) = judged(outcome);
                self.end(slug, run, outcome, error).await;
            }
            // The house is being shut; whoever starts next looks again.
            Ok(None) | Err(OpenError::Closing) => (),
            Err(OpenError::Unknown(_)) => {
                let gone = Some("its session was removed".to_owned());
                self.end(slug, run, RunOutcome::Error, gone).await;
            }
            Err(error @ OpenError::Store(_)) => {
                self.end(slug, run, RunOutcome::Error, Some(error.to_string())).await;
            }
        }
    }

    async fn end(&self, slug: &str, run: Run, outcome: RunOutcome, error: Option<String>) {
        let run = Run { outcome: Some(outcome), error, ..run };
        if let Err(error) = self.schedules.finish(slug, run).await {
            tracing::error!(slug, %error, "cannot record how a run ended");
        }
    }

    /// Hears a turn out; none if the house is shut first.
    pub(super) async fn listen_to(
        &self,
        session: SessionId,
        said: Seq,
    ) -> Result<Option<Heeded>, OpenError> {
        let mut listener = Listener { said, ours: false, needs: Vec::new() };
        let mut after = said.before();
        loop {
            let mut feed = self.feed(session, Some(after)).await?;
            while let Some(heard) = feed.next().await {
                let ended = match heard {
                    Heard::Past(entry) => listener.hear(&entry),
                    Heard::Live(told) => told.facts().find_map(|entry| listener.hear(entry)),
                    Heard::Now { .. } => None,
                };
                if let Some(outcome) = ended {
                    return Ok(Some(Heeded { outcome, needs: listener.needs }));
                }
                after = feed.last();
            }
            if self.is_closing() {
                return Ok(None);
            }
        }
    }
}

/// What came of a turn.
pub(super) struct Heeded {
    pub outcome: Outcome,
    pub needs: Vec<Need>,
}

struct Listener {
    /// The message whose answer matters.
    said: Seq,
    /// Whether its turn is running.
    ours: bool,
    needs: Vec<Need>,
}

impl Listener {
    fn hear(&mut self, Entry { seq, fact, .. }: &Entry) -> Option<Outcome> {
        match fact {
            Fact::Said { queued, .. } => {
                self.ours = *seq == self.said || *queued == Some(self.said);
            }
            Fact::Asked(question) if self.ours => {
                if let About::Leave { deed, .. } = &question.about {
                    let need = Need {
                        tool: question.tool.clone(),
                        title: question.title.clone(),
                        caller: question.caller.clone(),
                        deed: deed.clone(),
                    };
                    if !self.needs.contains(&need) {
                        self.needs.push(need);
                    }
                }
            }
            Fact::TurnEnded(outcome) if self.ours => return Some(outcome.clone()),
            _ => (),
        }
        None
    }
}

fn judged(outcome: Outcome) -> (RunOutcome, Option<String>) {
    match outcome {
        Outcome::Finished => (RunOutcome::Success, None),
        Outcome::Cancelled => (RunOutcome::Cancelled, None),
        Outcome::Failed { reason, .. } => (RunOutcome::Error, Some(reason)),
        Outcome::Interrupted => (RunOutcome::Error, Some(INTERRUPTED.into())),
    }
}
