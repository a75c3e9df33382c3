//! Finding out what a schedule needs before it runs: its prompt is answered once, and nothing is done.

use std::{sync::Arc, time::Duration};

use super::{Definition, Need, running::Heeded};
use crate::{
    approvals::Grant,
    host::{Host, OpenError, PostError},
    message::Errand,
    ports::StoreError,
    toolbox::Caller,
    update::{Message, Origin, Outcome, SessionId, WhenBusy},
    visit::{agent_of, names_agent},
};

/// How long a rehearsal may take.
const PATIENCE: Duration = Duration::from_mins(10);

/// What came of a rehearsal.
#[derive(Clone, Debug, PartialEq)]
pub struct Rehearsed {
    /// What it would have done and has no leave for.
    pub needs: Vec<Need>,
    /// What went wrong, so that there may be more.
    pub trouble: Option<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum RehearseError {
    /// Its tools are its own, and cannot be kept from acting.
    #[error("{0} acts on its own and cannot be rehearsed")]
    Agent(String),
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Post(#[from] PostError),
}

impl Host {
    /// Answers the prompt in a session that is gone afterwards. Tools look, and change nothing.
    pub async fn rehearse(
        self: &Arc<Self>,
        slug: &str,
        definition: &Definition,
    ) -> Result<Rehearsed, RehearseError> {
        let model = definition.model.clone();
        let model = model.unwrap_or_else(|| self.ports.models.default_id());
        if names_agent(&model) {
            return Err(RehearseError::Agent(model));
        }
        let cwd = definition.cwd.clone().unwrap_or_else(|| self.ports.workspace.clone());
        let session = self.create(&cwd, &model, &format!("Rehearsal of {slug}")).await?;
        let (host, slug, prompt) = (self.clone(), slug.to_owned(), definition.prompt.clone());
        // To its end even if the caller loses interest, or the session would stay.
        let rehearsal = tokio::spawn(async move {
            let rehearsed = host.act_out(session, &slug, prompt).await;
            host.clear_stage(session).await;
            rehearsed
        });
        rehearsal.await.unwrap_or_else(|_| {
            let broken = StoreError::Unavailable("the rehearsal broke down".into());
            Err(OpenError::from(broken).into())
        })
    }

    async fn act_out(
        &self,
        session: SessionId,
        slug: &str,
        prompt: String,
    ) -> Result<Rehearsed, RehearseError> {
        let errand = Errand { run: self.ports.clock.id(), ends: false, rehearsal: true };
        let origin = Origin::Schedule { slug: slug.to_owned(), errand: Some(errand) };
        let message = Message { origin, ..Message::from_user(prompt) };
        let receipt = self.post(session, message, WhenBusy::Refuse).await?;
        let heard = self.listen_to(session, receipt.seq);
        if let Ok(heard) = tokio::time::timeout(PATIENCE, heard).await {
            let Heeded { outcome, needs } = heard?.ok_or(OpenError::Closing)?;
            return Ok(Rehearsed { needs, trouble: trouble(outcome) });
        }
        self.cancel(session).await.map_err(OpenError::from)?;
        let heard = self.listen_to(session, receipt.seq).await?;
        let needs = heard.map(|heard| heard.needs).unwrap_or_default();
        Ok(Rehearsed { needs, trouble: Some("it took too long and was stopped".to_owned()) })
    }

    async fn clear_stage(&self, session: SessionId) {
        // Whatever went wrong, it has nothing more to do.
        self.cancel(session).await.ok();
        if let Err(error) = self.delete(session).await {
            tracing::warn!(%session, %error, "the session of a rehearsal stays");
        }
    }

    /// Allows a schedule something for good, whoever answers in it; nobody else may do it for that.
    pub async fn grant_schedule(
        &self,
        slug: &str,
        model: Option<&str>,
        tool: String,
        pattern: Option<String>,
    ) -> Result<Grant, StoreError> {
        let default = self.ports.models.default_id();
        let caller = match agent_of(model.unwrap_or(&default)) {
            Some(name) => Caller::Agent { name: name.to_owned() },
            None => Caller::Model,
        };
        let same = |it: &Grant| {
            it.schedule.as_deref() == Some(slug)
                && (&it.tool, &it.pattern, &it.caller) == (&tool, &pattern, &caller)
        };
        if let Some(grant) = self.approvals.all().into_iter().find(same) {
            return Ok(grant);
        }
        let grant = Grant {
            id: self.ports.clock.id(),
            tool,
            caller,
            session: None,
            schedule: Some(slug.to_owned()),
            pattern,
            expires: None,
            given: self.ports.clock.now(),
        };
        self.approvals.grant(grant.clone()).await?;
        Ok(grant)
    }
}

fn trouble(outcome: Outcome) -> Option<String> {
    match outcome {
        Outcome::Finished => None,
        Outcome::Failed { reason, .. } => Some(reason),
        Outcome::Cancelled => Some("it was cancelled".to_owned()),
        Outcome::Interrupted => Some("it was interrupted".to_owned()),
    }
}
