//! Saying something else instead of what was said: all from there on is taken back.

use super::Desk;
use crate::{
    back::Back,
    ports::StoreError,
    question::Verdict,
    session::{Receipt, SayError},
    state::{OpenQuestion, SummedUp},
    tasks::Close,
    update::{Answer, Compaction, Entry, Fact, Message, Origin, Seq},
};

/// How things stood at a place in the past, as far as that has been found out.
#[derive(Default)]
#[expect(clippy::option_option, reason = "known to be nothing is not the same as unknown")]
struct Then {
    filled: Option<Option<u64>>,
    summed_up: Option<Option<SummedUp>>,
    /// Whether anything had been said.
    said: Option<bool>,
}

impl Desk {
    pub(super) async fn say_instead(
        &mut self,
        place: Seq,
        message: Message,
    ) -> Result<Receipt, SayError> {
        if self.state.is_unfinished() {
            return Err(SayError::Busy);
        }
        let facts = self.rewinding(place).await?;
        // An agent would remember what was taken back; it is called anew, and told what was not.
        self.ports.agents.dismiss(self.id);
        self.begin_after(facts, message, None).await?;
        let open = &self.state.questions;
        let closed = self.waiting.extract_if(|id, _| open.iter().all(|it| it.id != *id));
        for (_, waiting) in closed {
            // Whoever asked may have left.
            waiting.send(Verdict::Withdrawn).ok();
        }
        Ok(Receipt { seq: self.state.last, queued: None, repeated: false })
    }

    /// The facts that take back everything from this message on.
    async fn rewinding(&self, place: Seq) -> Result<Vec<Fact>, SayError> {
        if !self.is_said(place).await? {
            return Err(SayError::NotSaid(place));
        }
        let mut then = Then::default();
        let mut back = Back::from(self.ports.log.as_ref(), self.id, self.state.last.next());
        let task = self.state.task.as_ref().map(|task| task.id);
        let (mut task_opened, mut stands) = (false, false);
        while let Some(Entry { seq, fact, .. }) = back.next().await? {
            if let Fact::TaskOpened(opened) = &fact {
                task_opened |= task == Some(opened.id);
            }
            if seq <= place {
                stands = seq == place;
                break;
            }
        }
        if !stands {
            return Err(SayError::NotSaid(place));
        }
        self.look_back(&mut then, place, back).await?;
        let asked = self.state.questions.iter().filter(|open| open.at >= place);
        let withdrawn = |open: &OpenQuestion| Fact::Settled {
            question: open.id,
            verdict: Verdict::Withdrawn,
            by: "what led to it was taken back".into(),
        };
        let mut facts: Vec<Fact> = asked.map(withdrawn).collect();
        let close = Close::Cancelled;
        let task = task.filter(|_| task_opened);
        let reason = Some("what led to it was taken back".to_owned());
        facts.extend(task.map(|task| Fact::TaskClosed { task, close, reason }));
        facts.push(Fact::Rewound {
            before: place,
            filled: then.filled.flatten(),
            summed_up: then.summed_up.flatten(),
            anew: !then.said.unwrap_or_default(),
        });
        Ok(facts)
    }

    /// Whether the person said something there.
    async fn is_said(&self, place: Seq) -> Result<bool, StoreError> {
        if place == Seq(0) || place > self.state.last {
            return Ok(false);
        }
        let found = self.ports.log.read(self.id, place.before(), 1).await?.pop();
        let fact = found.map(|entry| entry.fact);
        Ok(matches!(fact, Some(Fact::Said { message, .. }) if message.origin == Origin::User))
    }

    /// Finds out how things stood, going back from the place, no further than that takes.
    async fn look_back(
        &self,
        then: &mut Then,
        place: Seq,
        mut back: Back<'_>,
    ) -> Result<(), StoreError> {
        if self.state.summed_up.is_none_or(|it| it.at < place) {
            then.summed_up = Some(self.state.summed_up);
            if self.state.filled.is_none() {
                // Nothing since could have emptied it.
                then.filled.get_or_insert(None);
            }
        }
        while !then.is_known()
            && let Some(entry) = back.next().await?
        {
            then.read(&entry, &self.state.model);
        }
        Ok(())
    }
}

impl Then {
    fn is_known(&self) -> bool {
        self.filled.is_some() && self.summed_up.is_some() && self.said.is_some()
    }

    /// Reads on, towards the beginning: what is known already is known better.
    fn read(&mut self, Entry { seq, fact, .. }: &Entry, model: &str) {
        match fact {
            Fact::Said { .. } => drop(self.said.get_or_insert(true)),
            Fact::Answered(Answer { usage: Some(usage), model: counted, .. }) => {
                let filled = usage.input_tokens.saturating_add(usage.output_tokens);
                // Another model counts in other tokens.
                self.filled.get_or_insert((counted == model).then_some(filled));
            }
            Fact::ModelChanged { .. } => drop(self.filled.get_or_insert(None)),
            Fact::CompactionEnded(Compaction::Done { upto, .. }) => {
                self.filled.get_or_insert(None);
                self.summed_up.get_or_insert(Some(SummedUp { upto: *upto, at: *seq }));
            }
            Fact::Rewound { filled, summed_up, anew, .. } => {
                self.filled.get_or_insert(*filled);
                self.summed_up.get_or_insert(*summed_up);
                self.said.get_or_insert(!*anew);
            }
            _ => (),
        }
    }
}
