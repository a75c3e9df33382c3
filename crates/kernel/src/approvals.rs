//! What needs a person's yes, and the grants they have given: decided here and nowhere else.

mod grant;

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    message::Errand,
    ports::{Catalog, Clock, Log, Shelf, StoreError},
    question::{About, Question, Verdict},
    roster::Roster,
    state::{Doubt, State},
    toolbox::{Call, Caller, Deed, Risk, Tool, ToolError},
    update::{Fact, SessionId, ToolRequest},
};

pub use grant::{Grant, fits};

/// How far back the request of a call in doubt is looked for, in facts: so many at once, and how often.
const PAGE: usize = 16;
const PAGES: usize = 64;

/// How much an agent may do without asking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// It looks around freely, and asks before it changes anything.
    #[default]
    Ask,
    /// It also edits files in its folder, and runs programs that are locked in there.
    AutoSafe,
    /// It does whatever it thinks right.
    Full,
}

impl Mode {
    pub fn name(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::AutoSafe => "auto-safe",
            Self::Full => "full",
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Of sessions that have not been given another.
    pub mode: Mode,
    /// How long a question waits for a person who may be expected to answer.
    pub patience: Duration,
    /// And how long when nobody asked for the turn: it was scheduled, or another agent's wish.
    pub unattended: Duration,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            mode: Mode::default(),
            patience: Duration::from_hours(24),
            unattended: Duration::from_mins(10),
        }
    }
}

/// The run of a schedule that a call belongs to: one that its own turn makes, and nobody beside it.
fn errand<'a>(state: &'a State, call: &Call) -> Option<&'a (String, Errand)> {
    let own = match call.caller {
        Caller::Model | Caller::Agent { .. } => call.id.is_some(),
        Caller::Owner
        | Caller::Applet { .. }
        | Caller::App { .. }
        | Caller::Widget { .. }
        | Caller::Client => false,
    };
    state.turn.as_ref().and_then(|turn| turn.errand.as_ref()).filter(|_| own)
}

/// What the rules say to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement {
    Allow,
    Ask { why: String },
}

pub struct Approvals {
    rules: Rules,
    grants: Mutex<Vec<Grant>>,
    /// The views that somebody shows: what they are allowed is never stored, and goes with them.
    views: Mutex<HashSet<Uuid>>,
    catalog: Arc<dyn Catalog>,
    log: Arc<dyn Log>,
    clock: Arc<dyn Clock>,
    roster: Arc<Roster>,
}

impl Approvals {
    pub async fn open(
        rules: Rules,
        catalog: Arc<dyn Catalog>,
        log: Arc<dyn Log>,
        clock: Arc<dyn Clock>,
        roster: Arc<Roster>,
    ) -> Result<Self, StoreError> {
        let kept = catalog.list(Shelf::Grants, "").await?;
        let grants = kept.iter().filter_map(|(_, text)| serde_json::from_str(text).ok()).collect();
        let (grants, views) = (Mutex::new(grants), Mutex::default());
        Ok(Self { rules, grants, views, catalog, log, clock, roster })
    }

    /// What a session may do without asking: no more than the one whose agent made it.
    pub fn mode(&self, state: &State) -> Mode {
        let own = state.mode.unwrap_or(self.rules.mode);
        let parent = state.parent.and_then(|parent| self.roster.get(parent));
        parent.map_or(own, |parent| own.min(self.mode(&parent)))
    }

    /// Returns once this may be done; asks the person if the rules say so.
    pub(crate) async fn agree(
        &self,
        tool: &dyn Tool,
        call: &Call,
        deed: Deed,
    ) -> Result<(), ToolError> {
        let name = &tool.spec().name;
        let state = self.roster.get(call.session.id()).unwrap_or_default();
        let told = tool.told(&call.args);
        let args = told.as_ref().unwrap_or(&call.args);
        let doubt = self.doubt(&state, name, call, args, deed.risk).await;
        // What was shown to them was a change of a file, and nothing else is covered by it.
        let agreed = call.agreed && deed.risk == Risk::Edits;
        let why = match (&doubt, self.judge(&state, name, call, &deed)) {
            (Some(_), _) => {
                "the same call was cut off before; it may have had its effect already".into()
            }
            (None, Judgement::Ask { why }) if !agreed => why,
            (None, Judgement::Ask { .. } | Judgement::Allow) => {
                self.withdraw(&state, call).await;
                return Ok(());
            }
        };
        let doubt = doubt.map(|doubt| doubt.call);
        let question = Question {
            id: self.clock.id(),
            call: call.id.clone(),
            caller: call.caller.clone(),
            tool: name.clone(),
            title: tool.title(&call.args),
            about: About::Leave { deed, why, doubt },
            expires: self.expiry(call.attended),
        };
        match call.session.put(question).await {
            Some(Verdict::Allowed { .. }) => Ok(()),
            Some(verdict) => Err(ToolError::Denied(refusal(&verdict))),
            None => Err(ToolError::Denied("The session ended before anyone answered.".into())),
        }
    }

    /// Whether this may be done without asking anybody.
    pub(crate) async fn allows(&self, tool: &str, call: &Call, deed: &Deed) -> bool {
        let state = self.roster.get(call.session.id()).unwrap_or_default();
        self.doubt(&state, tool, call, &call.args, deed.risk).await.is_none()
            && self.judge(&state, tool, call, deed) == Judgement::Allow
    }

    /// Whether it is only to be found out what this call would do.
    pub(crate) fn rehearses(&self, call: &Call) -> bool {
        let state = self.roster.get(call.session.id());
        state.is_some_and(|state| errand(&state, call).is_some_and(|(_, it)| it.rehearsal))
    }

    /// When a question that is asked now is given up.
    pub fn expiry(&self, attended: bool) -> Option<Timestamp> {
        let Rules { patience, unattended, .. } = self.rules;
        self.clock.now().checked_add(if attended { patience } else { unattended }).ok()
    }

    /// The rules, for a call of which nothing is in doubt.
    fn judge(&self, state: &State, tool: &str, call: &Call, deed: &Deed) -> Judgement {
        let Call { caller, mode, .. } = call;
        let allowed = match (deed.risk, mode) {
            _ if *caller == Caller::Owner => true,
            (Risk::Reads | Risk::Shows, _)
            | (_, Mode::Full)
            | (Risk::Edits | Risk::RunsBoxed, Mode::AutoSafe) => true,
            (Risk::Edits | Risk::RunsBoxed | Risk::Runs | Risk::Reaches | Risk::Acts, _) => {
                let schedule = errand(state, call).map(|(slug, _)| slug.as_str());
                self.is_granted(call, schedule, tool, deed)
            }
        };
        if allowed {
            return Judgement::Allow;
        }
        let changed = self.grants().iter().any(|grant| grant.is_outdated(tool, caller));
        let changed = if changed {
            "; you allowed this before, and the applet has changed since"
        } else {
            ""
        };
        Judgement::Ask { why: format!("{}{changed}", why(deed.risk)) }
    }

    /// Whether grants cover every subject of a call.
    fn is_granted(
        &self,
        call: &Call,
        schedule: Option<&str>,
        tool: &str,
        Deed { subjects, within, .. }: &Deed,
    ) -> bool {
        let now = self.clock.now();
        let grants = self.grants();
        let holding = grants.iter().filter(|it| it.holds(call, schedule, tool, now));
        if within.is_none() && holding.clone().any(|grant| grant.pattern.is_none()) {
            return true;
        }
        let covered = |subject: &String| {
            holding.clone().any(|grant| grant.covers(subject, within.as_deref()))
        };
        !subjects.is_empty() && subjects.iter().all(covered)
    }

    /// An earlier call just like this one, as far as its arguments are on record, of which the outcome
    /// is not known.
    async fn doubt(
        &self,
        state: &State,
        tool: &str,
        call: &Call,
        args: &serde_json::Value,
        risk: Risk,
    ) -> Option<Doubt> {
        if risk == Risk::Reads || call.caller == Caller::Owner {
            return None;
        }
        let same = |it: &ToolRequest| it.name == tool && it.args == *args;
        for doubt in &state.doubts {
            match self.request(call.session.id(), doubt).await {
                Ok(request) if !request.as_ref().is_some_and(same) => (),
                // What cannot be looked up stays in doubt.
                Ok(_) | Err(_) => return Some(doubt.clone()),
            }
        }
        None
    }

    /// What a call in doubt was: as a rule in the very answer that is named, and where an agent did
    /// several things at once, in one before.
    async fn request(
        &self,
        session: SessionId,
        doubt: &Doubt,
    ) -> Result<Option<ToolRequest>, StoreError> {
        let mut before = doubt.at.next();
        for _ in 0..PAGES {
            let page = self.log.read_back(session, before, PAGE).await?;
            let Some(oldest) = page.last() else { break };
            before = oldest.seq;
            let found = page.into_iter().find_map(|entry| match entry.fact {
                Fact::Answered(answer) => answer.calls.into_iter().find(|it| it.id == doubt.call),
                _ => None,
            });
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// A call that waited for an answer before a restart needs none any more.
    async fn withdraw(&self, state: &State, call: &Call) {
        let open = state.questions.iter().find(|open| call.id.is_some() && open.call == call.id);
        let Some(open) = open else { return };
        let asked = self.log.read(call.session.id(), open.at.before(), 1).await.ok();
        let asked = asked.and_then(|mut found| found.pop()).map(|entry| entry.fact);
        // What the tool itself asked is for the tool to take up again.
        if let Some(Fact::Asked(question)) = asked
            && matches!(question.about, About::Leave { .. })
        {
            // Unsettled, it would only expire.
            call.session.settle(open.id, Verdict::Withdrawn, "the rules").await.ok();
        }
    }

    /// Every grant that holds, oldest first.
    pub fn all(&self) -> Vec<Grant> {
        let now = self.clock.now();
        let grants = self.grants();
        grants.iter().filter(|grant| grant.expires.is_none_or(|end| now < end)).cloned().collect()
    }

    /// What an applet was allowed when it was another goes, now that it is asked about anew.
    pub async fn grant(&self, grant: Grant) -> Result<(), StoreError> {
        if let Some(view) = grant.caller.view() {
            self.grant_to(view, grant);
            return Ok(());
        }
        self.catalog.save(Shelf::Grants, &grant.id.to_string(), &grant).await?;
        self.grants().push(grant.clone());
        self.revoke_all(|old| old.is_outdated(&grant.tool, &grant.caller)).await
    }

    /// Grants something for as long as the server runs: the configuration says so.
    pub fn lend(&self, grant: Grant) {
        self.grants().push(grant);
    }

    fn grant_to(&self, view: Uuid, grant: Grant) {
        // Held throughout, or a view that goes just now would leave its leave behind.
        let views = self.views();
        if views.contains(&view) {
            self.grants().push(grant);
        }
    }

    /// A view is there from now on, and may be granted something of its own.
    pub fn admit(&self, view: Uuid) {
        self.views().insert(view);
    }

    /// A view is gone, and so is what was granted to it.
    pub fn dismiss(&self, view: Uuid) {
        let mut views = self.views();
        views.remove(&view);
        self.grants().retain(|grant| grant.caller.view() != Some(view));
    }

    /// Takes a grant back; says whether there was one.
    pub async fn revoke(&self, id: Uuid) -> Result<bool, StoreError> {
        self.catalog.discard(Shelf::Grants, &id.to_string()).await?;
        let mut grants = self.grants();
        let before = grants.len();
        grants.retain(|grant| grant.id != id);
        Ok(grants.len() < before)
    }

    /// Takes back all that was granted to a session that is gone.
    pub(crate) async fn forget(&self, session: SessionId) -> Result<(), StoreError> {
        self.revoke_all(|grant| grant.session == Some(session)).await
    }

    /// Takes back all that was granted to a schedule that is gone.
    pub(crate) async fn forget_schedule(&self, slug: &str) -> Result<(), StoreError> {
        self.revoke_all(|grant| grant.schedule.as_deref() == Some(slug)).await
    }

    async fn revoke_all(&self, of: impl Fn(&Grant) -> bool) -> Result<(), StoreError> {
        let ids: Vec<Uuid> = self.grants().iter().filter(|it| of(it)).map(|it| it.id).collect();
        for id in ids {
            self.revoke(id).await?;
        }
        Ok(())
    }

    fn views(&self) -> MutexGuard<'_, HashSet<Uuid>> {
        self.views.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn grants(&self) -> MutexGuard<'_, Vec<Grant>> {
        self.grants.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn why(risk: Risk) -> &'static str {
    match risk {
        Risk::Reads => "it looks at something",
        Risk::Shows => "it changes something in a window",
        Risk::Edits => "it changes files",
        Risk::RunsBoxed => "it runs a program, locked into the session's folder",
        Risk::Runs => "it runs a program that can do whatever you can",
        Risk::Reaches => "it speaks to somebody outside this machine",
        Risk::Acts => "its effects are not known here",
    }
}

/// What the caller is told of a no.
fn refusal(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Denied { reason: Some(reason) } => {
            format!("The person refused this: {reason}")
        }
        Verdict::Denied { reason: None } | Verdict::Answered { .. } => {
            "The person refused this. Do not try it again in another way; ask what they want."
                .to_owned()
        }
        Verdict::Expired => "Nobody allowed this in time, so it was not done.".to_owned(),
        Verdict::Withdrawn | Verdict::Allowed { .. } => "This was given up.".to_owned(),
    }
}
