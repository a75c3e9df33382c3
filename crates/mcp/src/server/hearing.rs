//! Listening to a session until it has answered, and telling the client what is heard.

use kernel::{
    feed::{Feed, Heard},
    host::Host,
    update::{Entry, Fact, Outcome, Seq, SessionId, Signal, Update},
};

use super::progress::Progress;

/// The turn that answers one message, as far as it has been heard.
pub struct Hearing<'a> {
    host: &'a Host,
    feed: Feed,
    /// Where the message went.
    said: Seq,
    pub begun: bool,
    /// What the agent said last.
    pub answer: String,
}

impl<'a> Hearing<'a> {
    /// The feed must have been opened before the message was sent.
    pub fn new(host: &'a Host, feed: Feed, said: Seq) -> Self {
        Self { host, feed, said, begun: false, answer: String::new() }
    }

    /// How the turn ended. Cancel safe.
    pub async fn end(&mut self, progress: &mut Progress) -> Result<Outcome, String> {
        loop {
            let heard = next(self.host, &mut self.feed).await?;
            for piece in pieces(heard) {
                if let Some(outcome) = self.hear(piece, progress).await {
                    return Ok(outcome);
                }
            }
        }
    }

    async fn hear(&mut self, piece: Update, progress: &mut Progress) -> Option<Outcome> {
        if let Update::Fact(entry) = &piece
            && let Fact::Said { queued, .. } = &entry.fact
        {
            self.begun |= entry.seq == self.said || *queued == Some(self.said);
        }
        if !self.begun {
            return None;
        }
        if let Update::Fact(entry) = &piece {
            match &entry.fact {
                Fact::TurnEnded(outcome) => return Some(outcome.clone()),
                Fact::Answered(answer) if !answer.text.is_empty() => {
                    self.answer.clone_from(&answer.text);
                }
                _ => (),
            }
        }
        tell(&piece, progress).await;
        None
    }
}

/// The next of a session, which is opened again should it have been let go.
pub async fn next(host: &Host, feed: &mut Feed) -> Result<Heard, String> {
    loop {
        if let Some(heard) = feed.next().await {
            return Ok(heard);
        }
        let (id, last): (SessionId, Seq) = (feed.session().id(), feed.last());
        *feed = host.feed(id, Some(last)).await.map_err(|error| error.to_string())?;
    }
}

pub fn pieces(heard: Heard) -> Vec<Update> {
    match heard {
        Heard::Past(entry) => vec![Update::Fact(std::sync::Arc::from(entry))],
        // What is being said now comes whole at its end.
        Heard::Now { .. } => Vec::new(),
        Heard::Live(told) => told.updates.clone(),
    }
}

/// Tells the client what is worth telling while it waits.
pub async fn tell(piece: &Update, progress: &mut Progress) {
    match piece {
        Update::Fact(entry) => tell_fact(entry, progress).await,
        Update::Signal { signal: Signal::Text { delta, .. }, .. } => progress.gather(delta).await,
        Update::Signal { signal: Signal::Progress { message, .. }, .. } => {
            progress.say(message).await;
        }
        Update::Signal { signal: Signal::Retrying { reason, attempt, attempts, .. }, .. } => {
            let attempt = attempt.saturating_add(1);
            progress.say(format!("Asking again ({attempt} of {attempts}): {reason}")).await;
        }
        Update::Signal { .. } => (),
    }
}

async fn tell_fact(entry: &Entry, progress: &mut Progress) {
    match &entry.fact {
        Fact::Answered(answer) => {
            for call in &answer.calls {
                progress.say(&call.title).await;
            }
        }
        Fact::Asked(question) => {
            progress.say(format!("Waiting for the person: {}", question.title)).await;
        }
        Fact::Settled { verdict, .. } => {
            progress.say(format!("The question was {}", verdict.name())).await;
        }
        Fact::CompactionStarted => progress.say("Summing up what lies further back").await,
        _ => (),
    }
}
