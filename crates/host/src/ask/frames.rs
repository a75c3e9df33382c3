//! The frames of the Caco WebSocket, as far as somebody who asks needs to understand them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::asked::Asked;

/// What we send.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Request<'a> {
    Subscribe { session_id: &'a str, after: u64, deltas: &'static str },
    RequestHistory { session_id: &'a str, after: u64 },
}

/// What we hear.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Frame {
    Event(EventFrame),
    HistoryComplete {
        #[serde(default)]
        seq: u64,
    },
    Error {
        error: String,
    },
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
pub struct EventFrame {
    /// Present on the last frame of a stored fact.
    pub seq: Option<u64>,
    pub event: Event,
}

#[derive(Debug, Deserialize)]
pub struct Event {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    data: Value,
    pub id: Option<String>,
    /// Not stored, so never repeated.
    #[serde(default)]
    pub ephemeral: bool,
}

/// The events that mean something here.
#[derive(Debug, PartialEq)]
pub enum Happening {
    Asked(Content),
    Text(Delta),
    Reasoning(Delta),
    Said(Content),
    Reasoned(Content),
    ToolStarted(ToolStarted),
    ToolEnded(ToolEnded),
    Remark(Remark),
    /// What is meant to be done, and how far it has come.
    Planned(Task),
    PlanEnded(PlanEnded),
    /// The person is wanted.
    Wanted(Box<Asked>),
    /// And is no longer.
    Settled(Settled),
    Idle,
    Failed(Failed),
    Other,
}

#[derive(Debug, PartialEq, Deserialize)]
pub struct Content {
    pub content: String,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Delta {
    pub delta_content: String,
    /// It is all that was said so far, not only what is new.
    #[serde(default)]
    pub replace: bool,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolStarted {
    pub tool_call_id: String,
    pub tool_name: String,
    #[serde(default)]
    pub arguments: Value,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolEnded {
    pub tool_call_id: String,
    pub success: bool,
    pub error: Option<Failed>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Remark {
    #[serde(default)]
    pub info_type: String,
    pub message: String,
}

#[derive(Debug, PartialEq, Deserialize)]
pub struct Task {
    pub id: String,
    pub title: String,
    pub steps: Vec<Step>,
    #[serde(default)]
    pub visibility: String,
}

#[derive(Debug, PartialEq, Deserialize)]
pub struct Step {
    pub text: String,
    pub status: String,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanEnded {
    pub task_id: String,
    pub status: String,
    pub reason: Option<String>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Settled {
    pub approval_id: String,
    pub verdict: String,
    pub by: String,
}

#[derive(Debug, PartialEq, Deserialize)]
pub struct Failed {
    pub message: String,
}

impl Event {
    /// An event in a shape we do not know is one we can do without.
    pub fn happening(self) -> Happening {
        fn read<T: for<'de> Deserialize<'de>>(data: Value, of: fn(T) -> Happening) -> Happening {
            serde_json::from_value(data).map_or(Happening::Other, of)
        }
        match self.kind.as_str() {
            "user.message" => read(self.data, Happening::Asked),
            "assistant.message_delta" => read(self.data, Happening::Text),
            "assistant.reasoning_delta" => read(self.data, Happening::Reasoning),
            "assistant.message" => read(self.data, Happening::Said),
            "assistant.reasoning" => read(self.data, Happening::Reasoned),
            "tool.execution_start" => read(self.data, Happening::ToolStarted),
            "tool.execution_complete" => read(self.data, Happening::ToolEnded),
            "task.created" | "task.updated" => {
                #[derive(Deserialize)]
                struct Told {
                    task: Task,
                }
                read(self.data, |it: Told| Happening::Planned(it.task))
            }
            "task.completed" => read(self.data, Happening::PlanEnded),
            "session.info" => read(self.data, Happening::Remark),
            "permission.requested" => {
                #[derive(Deserialize)]
                struct Requested {
                    approval: Box<Asked>,
                }
                read(self.data, |it: Requested| Happening::Wanted(it.approval))
            }
            "permission.completed" => read(self.data, Happening::Settled),
            "session.idle" => Happening::Idle,
            "session.error" => read(self.data, Happening::Failed),
            _ => Happening::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_subscription_is_spelt_as_the_protocol_has_it() {
        let wish = Request::Subscribe { session_id: "S", after: 3, deltas: "native" };
        assert_eq!(
            serde_json::to_value(wish).unwrap(),
            json!({"type": "subscribe", "sessionId": "S", "after": 3, "deltas": "native"})
        );
        let wish = Request::RequestHistory { session_id: "S", after: 3 };
        assert_eq!(
            serde_json::to_value(wish).unwrap(),
            json!({"type": "requestHistory", "sessionId": "S", "after": 3})
        );
    }

    #[test]
    fn what_is_not_understood_does_no_harm() {
        for frame in [
            json!({"type": "globalEvent", "event": {"type": "session.busy"}}),
            json!({"type": "pong"}),
            json!({"type": "brand.new", "x": []}),
        ] {
            assert!(matches!(serde_json::from_value(frame).unwrap(), Frame::Other));
        }
        let odd = json!({"seq": 1, "event": {"type": "assistant.message", "data": {"content": 3}}});
        let odd: EventFrame = serde_json::from_value(odd).unwrap();
        assert_eq!(odd.event.happening(), Happening::Other);
    }
}
