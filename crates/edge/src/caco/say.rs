//! What a session publishes, in the words of the Caco socket.

mod passing;

use axum::extract::ws::Utf8Bytes;
use jiff::Timestamp;
use kernel::{
    feed::Told,
    outputs::Embed,
    question::{Scope, Verdict},
    roster::{Change, News},
    update::{
        Answer, Attachment, Compaction, Entry, Fact, Failure, Message, Origin, Outcome, Output,
        Seq, SessionId, ToolRequest, Update,
    },
    views::fact::{Answered, Shown, WidgetFact},
};
use uuid::Uuid;

use super::{
    asked::Approval,
    frames::{
        Body, Event, FileAttachment, Frame, Global, Iso, Picture, Source, ToolFailure,
        ToolRequest as Requested, ToolResult,
    },
    names::{derive, event_id, message_id, reasoning_id},
    pictures, tasks,
};

pub use passing::{context, draft};

use passing::passing;

/// Which of the two names for a piece of text a connection wants to hear.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Deltas {
    Seed,
    Native,
    #[default]
    Both,
}

impl Deltas {
    /// Whether a line said under this name, or under any, is for such a connection.
    pub fn include(self, line: &Line) -> bool {
        line.name.is_none_or(|name| self == Self::Both || self == name)
    }
}

/// A frame ready to send, shared by all connections it goes to.
#[derive(Clone, Debug)]
pub struct Line {
    pub text: Utf8Bytes,
    /// The name it uses for a piece of text, if it is one.
    name: Option<Deltas>,
}

/// Written once, however many listen.
pub fn live(session: SessionId, told: &Told, tell: impl FnOnce(&Vec<Line>)) {
    let line = |update: &Update| match update {
        Update::Fact(entry) => past(session, entry),
        Update::Signal { after, at, signal } => passing(session, *after, *at, signal),
    };
    told.with_made(|updates| updates.iter().flat_map(line).collect(), tell);
}

/// The frames of a fact hang together in a chain: each names the one before it, the last bears
/// `seq` and the fact's own id.
pub fn past(session: SessionId, Entry { seq, at, fact }: &Entry) -> Vec<Line> {
    let bodies = bodies(session, *seq, *at, fact);
    let last = bodies.len().saturating_sub(1);
    let mut parent_id = (seq.0 > 1).then(|| event_id(session, seq.before()));
    let line = |(index, body)| {
        let is_last = index == last;
        let part = if is_last { 0 } else { index as u64 + 1 };
        let id = derive(session, *seq, part);
        let parent_id = parent_id.replace(id);
        let event = Event { body, id, timestamp: Iso(*at), parent_id, ephemeral: false };
        write(&Frame::Event { session_id: session, seq: is_last.then_some(*seq), event })
    };
    bodies.into_iter().enumerate().map(line).collect()
}

fn bodies(session: SessionId, seq: Seq, at: Timestamp, fact: &Fact) -> Vec<Body<'_>> {
    match fact {
        Fact::Opened { .. }
        | Fact::Renamed { .. }
        | Fact::EnvHinted { .. }
        | Fact::ModelChanged { .. }
        | Fact::ToolStarted { .. }
        | Fact::ModelLent { .. }
        | Fact::Observed
        | Fact::Queued(_)
        | Fact::Unqueued { .. }
        // Windows have a dialect of their own.
        | Fact::WindowOpened(_)
        | Fact::WindowChanged { .. }
        | Fact::WindowClosed { .. }
        | Fact::App(_)
        // So have desktops.
        | Fact::Desktop(_) => Vec::new(),
        Fact::Widget(fact) => of_widget(fact).into_iter().collect(),
        Fact::ContextChanged { set, context } => {
            vec![Body::Context { reason: "changed", context, set_name: Some(set) }]
        }
        Fact::Embedded(Embed { output, provider, title }) => {
            vec![Body::Embed { output_id: output, provider, title }]
        }
        Fact::Said { message, .. } => vec![user_message(session, seq, message)],
        Fact::StepStarted { index } => vec![Body::TurnStart { turn_id: index.to_string() }],
        Fact::Answered(answer) => answered(session, answer),
        Fact::ToolReturned { call, output } => vec![tool_complete(session, seq, call, output)],
        Fact::CompactionStarted => vec![Body::CompactionStart {}],
        Fact::CompactionEnded(compaction) => vec![compaction_complete(compaction)],
        Fact::ModeChanged { mode } => vec![Body::ModeChanged { mode: mode.name() }],
        Fact::Asked(question) => {
            let approval = Box::new(Approval::new(session, at, question));
            vec![Body::PermissionRequested { approval }]
        }
        Fact::Settled { question, verdict, by } => {
            vec![permission_completed(*question, verdict, by)]
        }
        Fact::TaskOpened(task) => vec![Body::TaskCreated { task: task.into() }],
        Fact::TaskMoved(task) => vec![Body::TaskUpdated { task: task.into() }],
        Fact::TaskClosed { task, close, reason } => vec![Body::TaskCompleted {
            task_id: *task,
            status: tasks::closed(*close),
            reason: reason.as_deref(),
        }],
        Fact::Rewound { before, .. } => vec![Body::Rewound { before: *before }],
        Fact::TurnEnded(outcome) => turn_ended(outcome),
    }
}

fn of_widget(fact: &WidgetFact) -> Option<Body<'_>> {
    let tool_call_id = fact.call();
    Some(match fact {
        WidgetFact::Shown(Shown { server, tool, uri, page, changed, .. }) => {
            Body::WidgetShown { tool_call_id, server, tool, uri, page, changed: *changed }
        }
        WidgetFact::Judged { verdict, detail, .. } => {
            Body::WidgetVerdict { tool_call_id, verdict, detail }
        }
        WidgetFact::Remembered(memory) => {
            Body::WidgetContext { tool_call_id, version: memory.version, text: memory.told() }
        }
        WidgetFact::Asked { method, .. } => {
            Body::WidgetCall { tool_call_id, method, outcome: "begun" }
        }
        WidgetFact::Answered(Answered { method, outcome, .. }) => {
            Body::WidgetCall { tool_call_id, method, outcome: outcome.name() }
        }
        WidgetFact::Noticed(_) | WidgetFact::Logged { .. } => return None,
    })
}

fn permission_completed<'a>(approval_id: Uuid, verdict: &Verdict, by: &'a str) -> Body<'a> {
    let scope = match verdict {
        Verdict::Allowed { scope: Scope::Once } => Some("once"),
        Verdict::Allowed { scope: Scope::View } => Some("view"),
        Verdict::Allowed { scope: Scope::Session } => Some("session"),
        Verdict::Allowed { scope: Scope::Always } => Some("always"),
        Verdict::Denied { .. }
        | Verdict::Answered { .. }
        | Verdict::Expired
        | Verdict::Withdrawn => None,
    };
    Body::PermissionCompleted { approval_id, verdict: verdict.name(), scope, by }
}

fn user_message(session: SessionId, seq: Seq, message: &Message) -> Body<'_> {
    let attachments = message.attachments.iter().enumerate().map(|(index, file)| FileAttachment {
        r#type: "file",
        path: &file.path,
        display_name: &file.name,
        mime_type: &file.mime,
        url: pictures::url(session, seq, index),
    });
    let source = match &message.origin {
        Origin::User => None,
        Origin::Applet { slug } => Some(Source::Applet { applet_slug: slug }),
        Origin::Agent { session } => Some(Source::Agent { from_session: session }),
        Origin::Schedule { slug, .. } => Some(Source::Scheduler { schedule_slug: slug }),
        Origin::App { id, .. } => Some(Source::App { app_id: id }),
        Origin::Widget { server, tool } => Some(Source::Widget { server, tool }),
    };
    Body::UserMessage { content: &message.text, attachments: attachments.collect(), source }
}

/// The text, the reasoning that led to it, and the tools it asks for, in this order. A part that
/// is empty is not said.
fn answered(session: SessionId, answer: &Answer) -> Vec<Body<'_>> {
    let Answer { step, text, reasoning, calls, partial, .. } = answer;
    let mut bodies = Vec::with_capacity(2 + calls.len());
    if !text.is_empty() {
        bodies.push(Body::Message {
            message_id: message_id(session, *step),
            content: text,
            tool_requests: calls.iter().map(requested).collect(),
            partial: *partial,
        });
    }
    if !reasoning.is_empty() {
        let reasoning_id = reasoning_id(session, *step);
        bodies.push(Body::Reasoning { reasoning_id, content: reasoning });
    }
    bodies.extend(calls.iter().map(|call| Body::ToolStart {
        tool_call_id: &call.id,
        tool_name: &call.name,
        arguments: &call.args,
    }));
    bodies
}

fn requested(ToolRequest { id, name, args, .. }: &ToolRequest) -> Requested<'_> {
    Requested { tool_call_id: id, name, arguments: args, r#type: "function" }
}

fn tool_complete<'a>(session: SessionId, seq: Seq, call: &'a str, output: &'a Output) -> Body<'a> {
    let picture = |(index, image): (usize, &'a Attachment)| Picture {
        url: pictures::url(session, seq, index),
        mime_type: &image.mime,
        name: &image.name,
    };
    let (result, error) = match output {
        Output::Done { text, data, images } => {
            let images = images.iter().enumerate().map(picture).collect();
            (Some(ToolResult { content: text, data: data.as_ref(), images }), None)
        }
        Output::Failed { message, .. } => (None, Some(ToolFailure { message, code: "failure" })),
        Output::Interrupted => {
            let message = "The turn ended before the tool returned.";
            (None, Some(ToolFailure { message, code: "interrupted" }))
        }
    };
    Body::ToolComplete { tool_call_id: call, success: error.is_none(), result, error }
}

fn compaction_complete(compaction: &Compaction) -> Body<'_> {
    match compaction {
        Compaction::Done { summary, tokens_before, tokens_after, .. } => Body::CompactionComplete {
            success: true,
            error: None,
            pre_compaction_tokens: Some(*tokens_before),
            post_compaction_tokens: Some(*tokens_after),
            summary_content: Some(summary),
        },
        Compaction::Failed { reason, .. } => Body::CompactionComplete {
            success: false,
            error: Some(reason),
            pre_compaction_tokens: None,
            post_compaction_tokens: None,
            summary_content: None,
        },
    }
}

fn turn_ended(outcome: &Outcome) -> Vec<Body<'_>> {
    match outcome {
        Outcome::Finished => vec![Body::Idle {}],
        Outcome::Cancelled => {
            let message = "Operation cancelled by user";
            vec![Body::Info { info_type: "cancellation", message }, Body::Idle {}]
        }
        Outcome::Failed { kind, reason } => {
            vec![Body::Error { error_type: error_type(*kind), message: reason }]
        }
        Outcome::Interrupted => {
            let message = "The server stopped before this answer was finished.";
            vec![Body::Error { error_type: "interrupted", message }]
        }
    }
}

fn error_type(kind: Failure) -> &'static str {
    match kind {
        Failure::BadKey => "authorization",
        Failure::NoQuota => "quota",
        Failure::RateLimited => "rate_limit",
        Failure::Overloaded => "overloaded",
        Failure::ContextTooLong => "context",
        Failure::Refused => "refused",
        Failure::Network => "network",
        Failure::Protocol => "query",
        Failure::NoModel => "model",
        Failure::OverBudget => "budget",
        Failure::Internal => "internal",
    }
}

/// What the whole house hears.
pub fn news(news: &News) -> Line {
    let list = |reason, session_id, unobserved_count| {
        let event = Global::ListChanged { reason, session_id: Some(session_id), unobserved_count };
        Frame::GlobalEvent { event }
    };
    match news {
        // Between tabs nothing is said of the session: whoever hears it is there.
        News::AppletState { session, slug, data, from, .. } => {
            let session_id = session.filter(|_| from.is_none());
            write(&Frame::StateUpdate { session_id, applet_slug: slug.as_deref(), data })
        }
        News::AppletChanged { slug } => {
            write(&Frame::GlobalEvent { event: Global::AppletChanged { slug: slug.clone() } })
        }
        News::AppChanged { id } => {
            write(&Frame::GlobalEvent { event: Global::AppChanged { id: id.clone() } })
        }
        News::Schedules => write(&Frame::GlobalEvent { event: Global::SchedulesChanged {} }),
        News::Devices => write(&Frame::GlobalEvent { event: Global::DevicesChanged {} }),
        News::Session { session, change, .. } => write(&match change {
            Change::Created => list("created", *session, None),
            Change::Deleted => list("deleted", *session, None),
            Change::Renamed => list("renamed", *session, None),
            Change::ModelChanged => list("model", *session, None),
            Change::Idle { unobserved } => list("idle", *session, Some(*unobserved)),
            Change::Observed { unobserved } => list("observed", *session, Some(*unobserved)),
            Change::ModeChanged => list("mode", *session, None),
            Change::Questions { open, by } => {
                let (session_id, open, by) = (*session, *open, by.clone());
                let event = Global::ApprovalsChanged { session_id, open, by };
                Frame::GlobalEvent { event }
            }
            Change::Busy(is_busy) => {
                let event = Global::Busy { session_id: *session, is_busy: *is_busy };
                Frame::GlobalEvent { event }
            }
        }),
    }
}

/// Some news was missed: the list is worth another look.
pub fn missed_news() -> Line {
    let (reason, session_id, unobserved_count) = ("changed", None, None);
    let event = Global::ListChanged { reason, session_id, unobserved_count };
    write(&Frame::GlobalEvent { event })
}

pub fn write(frame: &Frame<'_>) -> Line {
    // Our own frames have string keys and no failing parts, so this cannot fail.
    let text = serde_json::to_string(frame).unwrap_or_default();
    Line { text: text.into(), name: None }
}
