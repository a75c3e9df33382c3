//! What a session publishes, in the words of the App Protocol: frames out of updates, and nothing else.

use std::{borrow::Cow, collections::HashMap};

use kernel::{
    apps::{AppFact, News, Telling},
    question::{About, Question},
    update::{Answer, Entry, Fact, Outcome, Output, Signal, Update},
    windows::{self, By, DockEdge, Stance, Variant, Window, WindowChange},
};

use super::{
    frames::{AGENT, Action, Content, Created, Frame, Operation, PermissionOptions, Step},
    traffic::Trace,
};

/// How many commands may be on their way that are told of as they go.
const STEPS: usize = 100;

pub mod hands;

/// How much a connection wants to hear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interest {
    /// What happens to windows: all else it hears in another dialect.
    Windows,
    /// The conversation as well.
    Everything,
}

/// Tells one connection what happens; remembers the sentence that is being spoken.
pub struct Teller {
    interest: Interest,
    /// The desktop it looks at; all of them if it named none.
    pub monitor: Option<String>,
    text: String,
    reasoning: String,
    /// What running tools are called.
    tools: HashMap<String, String>,
    /// Whose hands windows are in, if it wants to know.
    pub hands: Option<hands::Hands>,
    /// The window whose app is inspected, by its scoped id.
    pub inspects: Option<String>,
    /// Commands that have told how far they are, and in which window they run.
    steps: HashMap<String, String>,
}

impl Teller {
    pub fn new(interest: Interest, monitor: Option<String>) -> Self {
        let (text, reasoning, tools, inspects, steps) = Default::default();
        Self { interest, monitor, text, reasoning, tools, hands: None, inspects, steps }
    }

    /// Everything that came together. Of a sentence that grows, only how it stands at the end.
    pub fn tell(&mut self, updates: &[Update], mut say: impl FnMut(&Frame<'_>)) {
        let mut grown = Grown::default();
        for update in updates {
            match update {
                Update::Fact(entry) => {
                    self.grow(&mut grown, &mut say);
                    self.entry(entry, &mut say);
                }
                Update::Signal { signal, .. } => self.signal(signal, &mut grown, &mut say),
            }
        }
        self.grow(&mut grown, &mut say);
    }

    pub fn entry(&mut self, entry: &Entry, say: &mut impl FnMut(&Frame<'_>)) {
        match &entry.fact {
            Fact::App(fact) => {
                self.ended(fact, say);
                let inspected = self.inspects.as_deref();
                if inspected.is_some_and(|key| fact.window().is_none_or(|window| window == key)) {
                    let entries = Trace::of_fact(entry).into_iter().collect();
                    say(&Frame::AppProtocolTrace { entries });
                }
            }
            fact => self.fact(fact, say),
        }
        let hands = self.hands.as_mut();
        let words = hands.map(|hands| hands.fact(&entry.fact)).unwrap_or_default();
        self.tell_hands(&words, say);
    }

    /// A command has an outcome: nothing more is told of how far it is.
    fn ended(&mut self, fact: &AppFact, say: &mut impl FnMut(&Frame<'_>)) {
        let (AppFact::Response { request, .. } | AppFact::Failed { request, .. }) = fact else {
            return;
        };
        let Some(window) = self.steps.remove(request) else { return };
        let (monitor_id, window_id) = split(&window);
        let step = Step::Ended { ended: true };
        say(&Frame::AppProtocolProgress { request_id: request, window_id, monitor_id, step });
    }

    fn news(&mut self, news: &News, say: &mut impl FnMut(&Frame<'_>)) {
        if let Telling::Progress { request, done, total, note } = &news.what {
            let (monitor_id, window_id) = split(&news.window);
            let seen = self.monitor.as_deref().is_none_or(|wanted| same(wanted, monitor_id));
            if seen && (self.steps.len() < STEPS || self.steps.contains_key(request)) {
                self.steps.insert(request.clone(), news.window.clone());
                let step = Step::To { done: *done, total: *total, note: note.as_deref() };
                let request_id = request;
                say(&Frame::AppProtocolProgress { request_id, window_id, monitor_id, step });
            }
        }
        if self.inspects.as_ref() == Some(&news.window) {
            say(&Frame::AppProtocolTrace { entries: vec![Trace::of_news(news)] });
        }
    }

    fn fact(&mut self, fact: &Fact, say: &mut impl FnMut(&Frame<'_>)) {
        if let Some((monitor, by, action)) = action(fact) {
            if self.monitor.as_deref().is_none_or(|wanted| same(wanted, monitor)) {
                let agent_id = (*by == By::Agent).then_some(AGENT);
                let actions = vec![action];
                say(&Frame::Actions { actions, agent_id, monitor_id: Some(monitor) });
            }
        } else if self.interest == Interest::Everything {
            self.conversation(fact, say);
        }
    }

    pub fn tell_hands(&self, words: &[hands::Word], say: &mut impl FnMut(&Frame<'_>)) {
        for word in words {
            let (monitor, _) = split(word.window());
            if self.monitor.as_deref().is_none_or(|wanted| same(wanted, monitor)) {
                let actions = vec![word.action()];
                say(&Frame::Actions { actions, agent_id: None, monitor_id: Some(monitor) });
            }
        }
    }

    fn conversation(&mut self, fact: &Fact, say: &mut impl FnMut(&Frame<'_>)) {
        match fact {
            Fact::Said { .. } | Fact::StepStarted { .. } => {
                self.text.clear();
                self.reasoning.clear();
            }
            Fact::Answered(answer) => self.answered(answer, say),
            Fact::ToolReturned { call, output } => {
                let Some(tool_name) = self.tools.remove(call) else { return };
                let (status, message) = match output {
                    Output::Done { .. } => ("complete", None),
                    Output::Failed { message, .. } => ("error", Some(Cow::Borrowed(&**message))),
                    Output::Interrupted => ("error", Some(Cow::Borrowed("interrupted"))),
                };
                let (tool_name, tool_input) = (tool_name.as_str(), None);
                let agent_id = AGENT;
                say(&Frame::ToolProgress { tool_name, status, message, tool_input, agent_id });
            }
            Fact::Asked(question) => say(&asked(question)),
            Fact::TurnEnded(outcome) => self.turn_ended(outcome, say),
            // Not of the conversation, or nothing that these clients know.
            Fact::Opened { .. }
            | Fact::Renamed { .. }
            | Fact::EnvHinted { .. }
            | Fact::ModelChanged { .. }
            | Fact::ModeChanged { .. }
            | Fact::ContextChanged { .. }
            | Fact::Observed
            | Fact::Queued(_)
            | Fact::Unqueued { .. }
            | Fact::ToolStarted { .. }
            | Fact::Embedded(_)
            | Fact::CompactionStarted
            | Fact::CompactionEnded(_)
            | Fact::ModelLent { .. }
            | Fact::Settled { .. }
            | Fact::TaskOpened(_)
            | Fact::TaskMoved(_)
            | Fact::TaskClosed { .. }
            | Fact::WindowOpened(_)
            | Fact::WindowChanged { .. }
            | Fact::WindowClosed { .. }
            | Fact::App(_)
            | Fact::Desktop(_)
            | Fact::Widget(_)
            | Fact::Rewound { .. } => (),
        }
    }

    fn answered(&mut self, answer: &Answer, say: &mut impl FnMut(&Frame<'_>)) {
        self.text.clone_from(&answer.text);
        if !answer.reasoning.is_empty() && answer.reasoning != self.reasoning {
            say(&Frame::AgentThinking { content: &answer.reasoning, agent_id: AGENT });
        }
        self.reasoning.clear();
        if !answer.text.is_empty() {
            say(&response(&answer.text, false));
        }
        for call in &answer.calls {
            self.tools.insert(call.id.clone(), call.name.clone());
            say(&Frame::ToolProgress {
                tool_name: &call.name,
                status: "running",
                message: None,
                tool_input: Some(&call.args),
                agent_id: AGENT,
            });
        }
    }

    fn turn_ended(&mut self, outcome: &Outcome, say: &mut impl FnMut(&Frame<'_>)) {
        match outcome {
            Outcome::Finished | Outcome::Cancelled => (),
            Outcome::Failed { reason, .. } => say(&Frame::Error { error: reason }),
            Outcome::Interrupted => {
                let error = "the server stopped before this answer was finished";
                say(&Frame::Error { error });
            }
        }
        say(&response(&self.text, true));
        self.text.clear();
        self.reasoning.clear();
        self.tools.clear();
    }

    fn signal(&mut self, signal: &Signal, grown: &mut Grown, say: &mut impl FnMut(&Frame<'_>)) {
        if let Signal::App(news) = signal {
            return self.news(news, say);
        }
        if self.interest == Interest::Windows {
            return;
        }
        match signal {
            Signal::Text { delta, .. } => {
                self.text.push_str(delta);
                grown.text = true;
            }
            Signal::Reasoning { delta, .. } => {
                self.reasoning.push_str(delta);
                grown.reasoning = true;
            }
            Signal::Progress { call, message, .. } => {
                let Some(tool_name) = self.tools.get(call) else { return };
                let (status, message) = ("running", Some(Cow::Borrowed(&**message)));
                let (tool_input, agent_id) = (None, AGENT);
                say(&Frame::ToolProgress { tool_name, status, message, tool_input, agent_id });
            }
            Signal::Unrecorded { reason } => say(&Frame::Error { error: reason }),
            Signal::Intent { .. }
            | Signal::Calling { .. }
            | Signal::Printed { .. }
            | Signal::Retrying { .. }
            | Signal::App(_)
            | Signal::WidgetTools { .. }
            | Signal::Writing { .. }
            | Signal::NearBudget(_)
            | Signal::ReloadWanted => (),
        }
    }

    fn grow(&self, grown: &mut Grown, say: &mut impl FnMut(&Frame<'_>)) {
        let Grown { text, reasoning } = std::mem::take(grown);
        if reasoning {
            say(&Frame::AgentThinking { content: &self.reasoning, agent_id: AGENT });
        }
        if text {
            say(&response(&self.text, false));
        }
    }

    /// The sentence being spoken, for one who joins in its middle.
    pub fn join(&mut self, text: &str, reasoning: &str, mut say: impl FnMut(&Frame<'_>)) {
        if self.interest == Interest::Windows {
            return;
        }
        text.clone_into(&mut self.text);
        reasoning.clone_into(&mut self.reasoning);
        let mut grown = Grown { text: !text.is_empty(), reasoning: !reasoning.is_empty() };
        self.grow(&mut grown, &mut say);
    }
}

/// What has become longer and was not told yet.
#[derive(Default)]
struct Grown {
    text: bool,
    reasoning: bool,
}

/// All windows there are, for one who has just come.
pub fn snapshot<'a>(windows: impl Iterator<Item = &'a Window>) -> Frame<'a> {
    let actions = windows.map(|window| Action::Create(Box::new(created(window)))).collect();
    Frame::Actions { actions, agent_id: None, monitor_id: None }
}

/// A question as a dialog with two buttons; one that wants more than a yes or no is put there too,
/// and can be declined.
pub fn asked(question: &Question) -> Frame<'_> {
    let message = match &question.about {
        About::Leave { why, .. } => Cow::Borrowed(&**why),
        About::Choice { text, choices, .. } if !choices.is_empty() => {
            Cow::Owned(format!("{text} ({})", choices.join(", ")))
        }
        About::Choice { text, .. } | About::Form { text, .. } => Cow::Borrowed(&**text),
        About::Visit { text, url } => Cow::Owned(format!("{text} {url}")),
    };
    let leave = matches!(question.about, About::Leave { .. });
    Frame::ApprovalRequest {
        dialog_id: question.id.to_string(),
        title: &question.title,
        message,
        confirm_text: if leave { "Allow" } else { "Done" },
        cancel_text: if leave { "Deny" } else { "Decline" },
        permission_options: PermissionOptions {
            show_remember_choice: leave,
            tool_name: &question.tool,
        },
        agent_id: AGENT,
    }
}

/// Whether two spellings name one monitor: `monitor-0` and `0`.
pub fn same(one: &str, other: &str) -> bool {
    let bare = |name: &'_ str| name.strip_prefix("monitor-").unwrap_or(name).to_owned();
    bare(one) == bare(other)
}

/// What a fact does to a window, on which monitor, and by whom.
fn action(fact: &Fact) -> Option<(&str, &By, Action<'_>)> {
    match fact {
        Fact::WindowOpened(window) => {
            let action = Action::Create(Box::new(created(window)));
            Some((&window.monitor, &window.by, action))
        }
        Fact::WindowChanged { window, change, by } => {
            let (monitor, window_id) = split(window);
            Some((monitor, by, changed(window_id, change)))
        }
        Fact::WindowClosed { window, by, .. } => {
            let (monitor, window_id) = split(window);
            Some((monitor, by, Action::Close { window_id }))
        }
        _ => None,
    }
}

fn changed<'a>(window_id: &'a str, change: &'a WindowChange) -> Action<'a> {
    match change {
        WindowChange::Moved { x, y } => Action::Move { window_id, x: *x, y: *y },
        WindowChange::Resized { w, h } => Action::Resize { window_id, w: *w, h: *h },
        WindowChange::Focused => Action::Focus { window_id },
        WindowChange::Titled { title } => Action::SetTitle { window_id, title },
        WindowChange::Content { content: shown } => {
            Action::SetContent { window_id, content: content(shown) }
        }
        WindowChange::Updated { operation: how } => {
            Action::UpdateContent { window_id, operation: operation(how) }
        }
        WindowChange::Minimised => Action::Minimise { window_id },
        WindowChange::Maximised => Action::Maximise { window_id },
        WindowChange::Restored => Action::Restore { window_id },
    }
}

fn created(window: &Window) -> Created<'_> {
    Created {
        window_id: &window.id,
        title: &window.title,
        bounds: window.bounds,
        content: content(&window.content),
        variant: window.variant.map(|variant| match variant {
            Variant::Standard => "standard",
            Variant::Widget => "widget",
            Variant::Panel => "panel",
        }),
        dock_edge: window.dock_edge.map(|edge| match edge {
            DockEdge::Top => "top",
            DockEdge::Bottom => "bottom",
        }),
        frameless: window.frameless,
        minimized: window.stance == Stance::Minimised,
        maximized: window.stance == Stance::Maximised,
        app_id: window.app.as_deref(),
        monitor_id: &window.monitor,
    }
}

fn content(content: &windows::Content) -> Content<'_> {
    Content { renderer: content.renderer.name(), data: &content.data }
}

fn operation(operation: &windows::Operation) -> Operation<'_> {
    use windows::Operation as Kept;
    match operation {
        Kept::Append { data } => Operation::Append { data },
        Kept::Prepend { data } => Operation::Prepend { data },
        Kept::Replace { data } => Operation::Replace { data },
        Kept::InsertAt { position, data } => Operation::InsertAt { position: *position, data },
        Kept::Clear => Operation::Clear,
    }
}

fn response(content: &str, is_complete: bool) -> Frame<'_> {
    Frame::AgentResponse { content, is_complete, agent_id: AGENT }
}

/// A scoped id in its two parts.
pub fn split(window: &str) -> (&str, &str) {
    window.split_once('/').unwrap_or((windows::MONITOR, window))
}

#[cfg(test)]
mod tests;
