//! The shapes of the App Protocol, going out.

use std::borrow::Cow;

use kernel::{update::SessionId, windows::Bounds};
use serde::Serialize;
use serde_json::Value;

use super::traffic::Trace;

/// Who speaks, for clients that tell agents apart: a session has one.
pub const AGENT: &str = "agent";

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "SCREAMING_SNAKE_CASE", rename_all_fields = "camelCase")]
pub enum Frame<'a> {
    ConnectionStatus {
        status: &'static str,
        provider: &'a str,
        session_id: SessionId,
        /// How many windows the next frame tells of. Ours; others count what they are told.
        windows: usize,
    },
    Actions {
        actions: Vec<Action<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        agent_id: Option<&'static str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        monitor_id: Option<&'a str>,
    },
    AppProtocolRequest {
        request_id: &'a str,
        window_id: &'a str,
        request: Request<'a>,
        /// Ours: for which document of the app it is, and where in the journal what is played again.
        #[serde(skip_serializing_if = "Option::is_none")]
        instance: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        position: Option<u64>,
    },
    /// How far a command of the app in a window is. Ours, as are the next two.
    AppProtocolProgress {
        request_id: &'a str,
        window_id: &'a str,
        monitor_id: &'a str,
        #[serde(flatten)]
        step: Step<'a>,
    },
    /// Whose app is inspected from now on.
    AppProtocolInspecting {
        #[serde(skip_serializing_if = "Option::is_none")]
        window_id: Option<&'a str>,
    },
    AppProtocolTrace {
        entries: Vec<Trace<'a>>,
    },
    AgentThinking {
        content: &'a str,
        agent_id: &'static str,
    },
    AgentResponse {
        content: &'a str,
        is_complete: bool,
        agent_id: &'static str,
    },
    ToolProgress {
        tool_name: &'a str,
        status: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<Cow<'a, str>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_input: Option<&'a Value>,
        agent_id: &'static str,
    },
    Error {
        error: &'a str,
    },
    MessageAccepted {
        message_id: &'a str,
        agent_id: &'static str,
    },
    MessageQueued {
        message_id: &'a str,
        position: usize,
    },
    ApprovalRequest {
        dialog_id: String,
        title: &'a str,
        message: Cow<'a, str>,
        confirm_text: &'static str,
        cancel_text: &'static str,
        permission_options: PermissionOptions<'a>,
        agent_id: &'static str,
    },
}

/// How far it is, or that there is nothing more to tell.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Step<'a> {
    To {
        done: f64,
        #[serde(skip_serializing_if = "Option::is_none")]
        total: Option<f64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        note: Option<&'a str>,
    },
    Ended {
        ended: bool,
    },
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionOptions<'a> {
    pub show_remember_choice: bool,
    pub tool_name: &'a str,
}

#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Request<'a> {
    Manifest,
    Query {
        state_key: &'a str,
    },
    Command {
        command: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        params: Option<&'a Value>,
    },
}

/// Something that happens to a window.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
pub enum Action<'a> {
    #[serde(rename = "window.create")]
    Create(Box<Created<'a>>),
    #[serde(rename = "window.close")]
    Close { window_id: &'a str },
    #[serde(rename = "window.focus")]
    Focus { window_id: &'a str },
    #[serde(rename = "window.minimize")]
    Minimise { window_id: &'a str },
    #[serde(rename = "window.maximize")]
    Maximise { window_id: &'a str },
    #[serde(rename = "window.restore")]
    Restore { window_id: &'a str },
    #[serde(rename = "window.move")]
    Move { window_id: &'a str, x: i32, y: i32 },
    #[serde(rename = "window.resize")]
    Resize { window_id: &'a str, w: u32, h: u32 },
    #[serde(rename = "window.setTitle")]
    SetTitle { window_id: &'a str, title: &'a str },
    #[serde(rename = "window.setContent")]
    SetContent { window_id: &'a str, content: Content<'a> },
    #[serde(rename = "window.updateContent")]
    UpdateContent { window_id: &'a str, operation: Operation<'a> },
    /// Ours, for those who asked: whose hands it is in, and whether an agent is at work there.
    #[serde(rename = "window.hands")]
    Hands { window_id: &'a str, hands: &'static str, driven: bool },
    /// Ours, likewise: there is something new in its history.
    #[serde(rename = "window.noted")]
    Noted { window_id: &'a str },
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Created<'a> {
    pub window_id: &'a str,
    pub title: &'a str,
    pub bounds: Bounds,
    pub content: Content<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dock_edge: Option<&'static str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub frameless: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub minimized: bool,
    /// Ours, as it is said in a snapshot only.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub maximized: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app_id: Option<&'a str>,
    /// A snapshot tells of all desktops at once.
    pub monitor_id: &'a str,
}

#[derive(Debug, Serialize)]
pub struct Content<'a> {
    pub renderer: &'static str,
    pub data: &'a Value,
}

#[derive(Debug, Serialize)]
#[serde(tag = "op", rename_all = "camelCase")]
pub enum Operation<'a> {
    Append { data: &'a Value },
    Prepend { data: &'a Value },
    Replace { data: &'a Value },
    InsertAt { position: u64, data: &'a Value },
    Clear,
}

/// A frame as it is sent: counted, unless it is for this connection alone.
#[derive(Serialize)]
struct Stamped<'a> {
    #[serde(flatten)]
    frame: &'a Frame<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
}

pub fn write(frame: &Frame<'_>, seq: Option<u64>) -> String {
    // Our own frames have string keys and no failing parts, so this cannot fail.
    serde_json::to_string(&Stamped { frame, seq }).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn requests_look_as_they_always_did() {
        let ask = |request, seq| {
            let (request_id, window_id) = ("req-1", "dock");
            let (instance, position) = (None, None);
            let frame =
                Frame::AppProtocolRequest { request_id, window_id, request, instance, position };
            write(&frame, seq)
        };
        let begin =
            r#"{"type":"APP_PROTOCOL_REQUEST","requestId":"req-1","windowId":"dock","request":"#;
        let params = json!({ "by": 2 });
        let command = |params| Request::Command { command: "inc", params };
        for (request, seq, end) in [
            (Request::Manifest, Some(1), r#"{"kind":"manifest"},"seq":1}"#),
            (Request::Query { state_key: "n" }, None, r#"{"kind":"query","stateKey":"n"}}"#),
            (
                command(Some(&params)),
                Some(6),
                r#"{"kind":"command","command":"inc","params":{"by":2}},"seq":6}"#,
            ),
            (command(None), Some(7), r#"{"kind":"command","command":"inc"},"seq":7}"#),
        ] {
            assert_eq!(ask(request, seq), format!("{begin}{end}"));
        }
    }
}
