//! Why a desktop did not do what was asked, in the words of the reference.

use serde::{Deserialize, Serialize};

/// What the one who asked can make of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    BadRequest,
    UnknownKey,
    OutOfBounds,
    TextUnsupported,
    Unsupported,
    NoDisplay,
    Permission,
    NotArmed,
    Denied,
    Paused,
    Cancelled,
    RateLimited,
    QueueFull,
    Timeout,
    Disconnected,
    Failed,
}

impl Code {
    /// Whether it is about whether something is done at all, which is said in the same words whatever it is.
    pub(super) fn is_ours(self) -> bool {
        matches!(
            self,
            Self::Cancelled
                | Self::Paused
                | Self::NotArmed
                | Self::Denied
                | Self::RateLimited
                | Self::QueueFull
                | Self::Timeout
                | Self::Disconnected
        )
    }

    pub const ALL: [Self; 16] = [
        Self::BadRequest,
        Self::UnknownKey,
        Self::OutOfBounds,
        Self::TextUnsupported,
        Self::Unsupported,
        Self::NoDisplay,
        Self::Permission,
        Self::NotArmed,
        Self::Denied,
        Self::Paused,
        Self::Cancelled,
        Self::RateLimited,
        Self::QueueFull,
        Self::Timeout,
        Self::Disconnected,
        Self::Failed,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::BadRequest => "bad_request",
            Self::UnknownKey => "unknown_key",
            Self::OutOfBounds => "out_of_bounds",
            Self::TextUnsupported => "text_unsupported",
            Self::Unsupported => "unsupported",
            Self::NoDisplay => "no_display",
            Self::Permission => "permission",
            Self::NotArmed => "not_armed",
            Self::Denied => "denied",
            Self::Paused => "paused",
            Self::Cancelled => "cancelled",
            Self::RateLimited => "rate_limited",
            Self::QueueFull => "queue_full",
            Self::Timeout => "timeout",
            Self::Disconnected => "disconnected",
            Self::Failed => "failed",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.name() == name)
    }
}

/// Why something was not done. The text is what the one who asked reads, whole.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct DesktopError {
    pub code: Code,
    pub text: String,
    /// What would have been right, where that can be listed.
    pub expected: Vec<String>,
}

impl DesktopError {
    pub fn new(code: Code, text: impl Into<String>) -> Self {
        Self { code, text: text.into(), expected: Vec::new() }
    }

    pub fn bad(text: impl Into<String>) -> Self {
        Self::new(Code::BadRequest, text)
    }

    pub fn failed(text: impl Into<String>) -> Self {
        Self::new(Code::Failed, text)
    }

    pub fn out_of_bounds(x: i64, y: i64) -> Self {
        let text = format!("Out of bounds error: Out of bounds at positions x,y :{x}, {y}");
        Self::new(Code::OutOfBounds, text)
    }

    pub fn button(name: &str) -> Self {
        Self::bad(format!("Invalid button: {name}")).expecting(["left", "right", "middle"])
    }

    pub fn direction(name: &str) -> Self {
        Self::bad(format!("Invalid scroll direction: {name}"))
            .expecting(["up", "down", "left", "right"])
    }

    pub fn key(name: &str) -> Self {
        let text = format!("Key not supported: {name} key/command is not supported");
        Self::new(Code::UnknownKey, text)
    }

    pub fn unsupported(kind: &str, device: &str) -> Self {
        Self::new(Code::Unsupported, format!("{kind} is not supported by device {device}"))
    }

    pub fn cancelled() -> Self {
        Self::new(Code::Cancelled, "Cancelled")
    }

    /// What was running and waiting when a person took over.
    pub fn stopped() -> Self {
        Self::new(Code::Paused, "Stopped by user")
    }

    /// What came after that.
    pub fn paused() -> Self {
        Self::new(Code::Paused, "Paused by user")
    }

    pub fn queue_full() -> Self {
        Self::new(Code::QueueFull, "Too many commands are waiting")
    }

    pub fn rate_limited() -> Self {
        Self::new(Code::RateLimited, "Too many commands in a short time")
    }

    pub fn no_client() -> Self {
        Self::new(Code::Disconnected, "No client connected")
    }

    pub fn disconnected() -> Self {
        Self::new(Code::Disconnected, "Client disconnected")
    }

    pub fn timeout() -> Self {
        Self::new(Code::Timeout, "Command timeout - no response from client")
    }

    #[must_use]
    pub fn expecting(mut self, what: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.expected = what.into_iter().map(Into::into).collect();
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_known_by_its_name() {
        for code in Code::ALL {
            assert_eq!(Code::parse(code.name()), Some(code));
            assert_eq!(serde_json::to_value(code).unwrap(), code.name());
        }
        assert_eq!(Code::parse("Failed"), None);
    }
}
