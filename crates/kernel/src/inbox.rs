//! The person's inbox: what waits for them in every session, and how they answer it.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;
use uuid::Uuid;

use crate::{
    approvals::{Grant, fits},
    form,
    host::{Host, OpenError},
    ports::StoreError,
    question::{About, Decision, Question, Scope, Verdict},
    toolbox::{Call, Caller, Companion, Reply, ToolError},
    update::{Entry, Fact, SessionId},
};

/// A question that is open.
#[derive(Clone, Debug, PartialEq)]
pub struct Waiting {
    pub session: SessionId,
    pub since: Timestamp,
    pub question: Question,
}

/// Why an answer was not taken.
#[derive(Debug, thiserror::Error)]
pub enum DecideError {
    #[error("no such question is open: {0}")]
    Unknown(Uuid),
    #[error("this question has been settled already")]
    Settled,
    /// It is no answer to this question.
    #[error("{0}")]
    Wrong(String),
    #[error(transparent)]
    Open(#[from] OpenError),
}

/// Why a call from outside any turn gave no result.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Tool(#[from] ToolError),
}

impl Host {
    /// All that is open, oldest first.
    pub async fn questions(&self) -> Result<Vec<Waiting>, StoreError> {
        let mut waiting = Vec::new();
        for (session, state) in self.roster.all() {
            for open in &state.questions {
                let found = self.ports.log.read(session, open.at.before(), 1).await?.pop();
                if let Some(Entry { at: since, fact: Fact::Asked(question), .. }) = found {
                    waiting.push(Waiting { session, since, question: *question });
                }
            }
        }
        waiting.sort_by_key(|it| (it.since, it.question.id));
        Ok(waiting)
    }

    /// Answers a question, for good: the first answer counts. `by` says who, for a person.
    pub async fn decide(
        &self,
        id: Uuid,
        decision: Decision,
        by: &str,
    ) -> Result<Verdict, DecideError> {
        let waiting = self.questions().await.map_err(OpenError::from)?;
        let Some(Waiting { session, question, .. }) =
            waiting.into_iter().find(|it| it.question.id == id)
        else {
            let settled = self.roster.was_settled(id);
            return Err(if settled { DecideError::Settled } else { DecideError::Unknown(id) });
        };
        let verdict = verdict(&question, &decision).map_err(DecideError::Wrong)?;
        // Before the answer, or the next call would be asked about once more.
        let grant = self.grant(session, &question, &decision);
        if let Some(grant) = &grant {
            self.approvals.grant(grant.clone()).await.map_err(OpenError::from)?;
        }
        if self.settle(session, id, verdict.clone(), by).await? {
            return Ok(verdict);
        }
        if let Some(grant) = grant {
            self.approvals.revoke(grant.id).await.map_err(OpenError::from)?;
        }
        Err(DecideError::Settled)
    }

    async fn settle(
        &self,
        session: SessionId,
        id: Uuid,
        verdict: Verdict,
        by: &str,
    ) -> Result<bool, OpenError> {
        loop {
            let session = self.open(session).await?;
            if let Ok(settled) = session.settle(id, verdict.clone(), by).await {
                return Ok(settled?);
            }
        }
    }

    /// What this answer allows beyond this once. Where what was asked about lies apart, a yes to all
    /// of it is one to all that lies there.
    fn grant(&self, session: SessionId, asked: &Question, decision: &Decision) -> Option<Grant> {
        let Decision::Allow { scope, pattern, lasts } = decision else { return None };
        let whole = || asked.caller.clone().whole();
        let (session, caller) = match scope {
            Scope::Once => return None,
            Scope::View => (Some(session), asked.caller.clone()),
            Scope::Session => (Some(session), whole()),
            Scope::Always => (None, whole()),
        };
        let within = match &asked.about {
            About::Leave { deed, .. } => deed.within.as_ref(),
            About::Choice { .. } | About::Form { .. } | About::Visit { .. } => None,
        };
        let all = within.map(|folder| format!("{folder}/*"));
        let now = self.ports.clock.now();
        Some(Grant {
            id: self.ports.clock.id(),
            tool: asked.tool.clone(),
            caller,
            session,
            schedule: None,
            pattern: pattern.clone().or(all),
            expires: lasts.and_then(|lasts| now.checked_add(lasts).ok()),
            given: now,
        })
    }

    /// Calls a tool for somebody who is not the session's own agent.
    pub async fn call(
        &self,
        session: SessionId,
        caller: Caller,
        name: &str,
        args: Value,
    ) -> Result<Reply, CallError> {
        self.call_along(session, caller, name, args, None).await
    }

    /// The same, with somebody who goes along.
    pub async fn call_along(
        &self,
        session: SessionId,
        caller: Caller,
        name: &str,
        args: Value,
        companion: Option<Arc<dyn Companion>>,
    ) -> Result<Reply, CallError> {
        let handle = self.open(session).await?;
        let state = self.roster.get(session).ok_or(OpenError::Unknown(session))?;
        let call = Call {
            caller,
            session: handle,
            id: None,
            cwd: self.ports.cwd(&state.cwd),
            flow: self.ports.clock.id().to_string(),
            mode: self.approvals.mode(&state),
            attended: true,
            agreed: false,
            companion,
            args,
        };
        // Boxed, for it is large and often waits for long.
        Ok(Box::pin(self.ports.tools.call(&self.approvals, name, call)).await?)
    }
}

/// What a decision means for this question, or why it means nothing.
fn verdict(question: &Question, decision: &Decision) -> Result<Verdict, String> {
    match (&question.about, decision) {
        (_, Decision::Deny { reason }) => Ok(Verdict::Denied { reason: reason.clone() }),
        (About::Leave { .. }, Decision::Allow { scope: Scope::View, .. })
            if question.caller.view().is_none() =>
        {
            Err("only what a widget asks for can be allowed for its view".to_owned())
        }
        (About::Leave { deed, .. }, Decision::Allow { scope, pattern, .. }) => {
            let covers = |pattern: &String| {
                !deed.subjects.is_empty() && deed.subjects.iter().all(|it| fits(pattern, it))
            };
            match pattern {
                Some(pattern) if !covers(pattern) => Err(format!(
                    "the pattern `{pattern}` does not cover what is asked: {}",
                    deed.subjects.join(", ")
                )),
                _ => Ok(Verdict::Allowed { scope: *scope }),
            }
        }
        (About::Leave { .. }, Decision::Answer(_)) => {
            Err("this question is answered by allowing or denying it".to_owned())
        }
        (About::Choice { choices, free, .. }, Decision::Answer(Value::String(text))) => {
            if *free || choices.contains(text) {
                Ok(Verdict::Answered { value: text.clone().into() })
            } else {
                Err(format!("`{text}` is not one of: {}", choices.join(", ")))
            }
        }
        (About::Choice { .. }, Decision::Answer(_)) => Err("the answer must be a text".to_owned()),
        (About::Form { schema, .. }, Decision::Answer(value)) => {
            form::check(schema, value).map(|()| Verdict::Answered { value: value.clone() })
        }
        (About::Visit { .. }, Decision::Answer(value)) => {
            Ok(Verdict::Answered { value: value.clone() })
        }
        (
            About::Choice { .. } | About::Form { .. } | About::Visit { .. },
            Decision::Allow { .. },
        ) => Err("this question wants an answer, not leave".to_owned()),
    }
}
