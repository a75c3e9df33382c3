//! Somebody who asks the person from outside any turn, and takes the question back by leaving.

use tokio::runtime::Handle;
use uuid::Uuid;

use crate::{
    question::{Question, Verdict},
    session::Session,
};

/// Dropped before it was heard out, it withdraws what it asked.
pub(crate) struct Asker {
    asked: Option<(Session, Uuid)>,
}

impl Asker {
    /// What a turn has asked goes with the turn, or is taken up again with it; for that this does nothing.
    pub(crate) fn of(session: &Session, question: &Question) -> Self {
        let outside = question.call.is_none();
        Self { asked: outside.then(|| (session.clone(), question.id)) }
    }

    pub(crate) fn heard_out(mut self) {
        self.asked = None;
    }
}

impl Drop for Asker {
    fn drop(&mut self) {
        let (Some((session, question)), Ok(runtime)) = (self.asked.take(), Handle::try_current())
        else {
            return;
        };
        runtime.spawn(async move {
            // Unsettled, it would only expire.
            session.settle(question, Verdict::Withdrawn, "whoever asked is gone").await.ok();
        });
    }
}
