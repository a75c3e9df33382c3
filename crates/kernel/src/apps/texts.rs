//! The sentences of the App Protocol, which its clients know by heart.

use serde_json::Value;

use crate::apps::{Kind, Response};

/// How many characters of a result a caller is shown.
pub const SHOWN: usize = 40_000;

pub const NOT_REGISTERED: &str = "App did not register with the App Protocol (timeout). The iframe \
                                  app may not call window.yaar.app.register().";
pub const NO_MANIFEST: &str = "App did not respond to manifest request (timeout). The app may not \
                               support the App Protocol.";
pub const NO_RESPONSE: &str = "App did not respond (timeout).";
pub const UNEXPECTED: &str = "Unexpected response kind.";
pub const NO_CLIENT: &str = "No client is connected to this session, so no page can load the app.";
pub const OWNER_LOST: &str = "The connection that hosted the app closed before it replied; the \
                              command may have run.";
pub const RELOADED: &str = "The app reloaded before it replied; the command may have run.";
pub const CLOSED: &str =
    "The window was closed or shows something else now; the command may have run.";
/// In a run that nobody attends.
pub const IN_PERSONS_HANDS: &str = "The person has taken this window over, and in this run nobody is \
                                    waited for. Nothing was done. Leave the window to them, or try \
                                    again in a later turn.";
pub const STILL_IN_PERSONS_HANDS: &str = "The person has taken this window over and is still busy \
                                          there, so nothing was done. Go on with something else, \
                                          or ask them whether they are finished.";
pub const BEING_UNDONE: &str = "That is being undone already.";
pub const TOO_MANY: &str = "Too many calls wait for the apps of this session. Try again later.";

pub fn not_found(window: &str) -> String {
    format!("Window \"{window}\" not found.")
}

pub fn not_an_app(window: &str) -> String {
    format!("Window \"{window}\" is not an iframe app.")
}

pub fn ambiguous(window: &str, keys: &[&str]) -> String {
    format!("Window \"{window}\" is on several monitors. Use one of: {}.", keys.join(", "))
}

pub fn key_reused(key: &str) -> String {
    format!("idempotencyKey \"{key}\" was already used for a different command.")
}

pub fn nothing_to_undo(window: &str) -> String {
    format!("There is nothing in window \"{window}\" that can be undone.")
}

pub fn undone_already(command: &str) -> String {
    format!("\"{command}\" was undone already.")
}

pub fn covered(command: &str) -> String {
    format!("Other changes came after \"{command}\". Undo those first.")
}

pub fn passed(command: &str) -> String {
    format!(
        "The person has changed something in this window since \"{command}\", and the app does not \
         say whether that can be undone by itself."
    )
}

pub fn unrecorded(why: &str) -> String {
    format!("The command was not sent, because it could not be recorded: {why}.")
}

/// No reply has come, whatever was asked.
pub fn silent(kind: Kind) -> &'static str {
    match kind {
        Kind::Manifest => NO_MANIFEST,
        Kind::Query | Kind::Command => NO_RESPONSE,
    }
}

pub fn still_open(request: &str) -> String {
    format!(
        "The request {request} is still open. Its result will follow as a message in this session, \
         unless the app is closed or loaded anew first."
    )
}

/// What a caller reads: the value as JSON, or what went wrong.
pub fn result(kind: Kind, response: &Response) -> Result<String, String> {
    if response.kind != Some(kind) {
        return Err(UNEXPECTED.to_owned());
    }
    if let Some(error) = &response.error {
        return Err(cut(error.clone(), SHOWN));
    }
    let text = match (&response.value, kind) {
        (None, Kind::Command) => "Done.".to_owned(),
        (None, Kind::Manifest | Kind::Query) => "null".to_owned(),
        (Some(value), _) => pretty(value),
    };
    Ok(cut(text, SHOWN))
}

pub fn pretty(value: &Value) -> String {
    format!("{value:#}")
}

/// At most so many characters, with a note of how much there was.
pub fn cut(mut text: String, most: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(most) else { return text };
    let whole = text.len().div_ceil(1024);
    text.truncate(end);
    text + &format!("\n... (truncated, {whole}KB total)")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_shown_as_json_and_nothing_in_words() {
        let told = |kind, value| result(kind, &Response::of(kind, value));
        assert_eq!(told(Kind::Query, None), Ok("null".into()));
        assert_eq!(told(Kind::Command, None), Ok("Done.".into()));
        assert_eq!(told(Kind::Command, Some(json!(null))), Ok("null".into()));
        assert_eq!(told(Kind::Query, Some(json!("a"))), Ok("\"a\"".into()));
        assert_eq!(told(Kind::Query, Some(json!(7))), Ok("7".into()));
        let nested = json!({ "b": { "a": [1, {}] } });
        let text = "{\n  \"b\": {\n    \"a\": [\n      1,\n      {}\n    ]\n  }\n}";
        assert_eq!(told(Kind::Query, Some(nested)), Ok(text.into()));
    }

    #[test]
    fn an_error_wins_over_a_value_and_a_wrong_kind_over_both() {
        let both = Response { value: Some(json!(1)), ..Response::error(Kind::Query, "no") };
        assert_eq!(result(Kind::Query, &both), Err("no".into()));
        assert_eq!(result(Kind::Command, &both), Err(UNEXPECTED.into()));
        assert_eq!(result(Kind::Query, &Response::default()), Err(UNEXPECTED.into()));
    }

    #[test]
    fn what_is_too_long_is_cut_between_characters() {
        let text = cut("ä".repeat(1_000_000), 40_000);
        assert_eq!(text, "ä".repeat(40_000) + "\n... (truncated, 1954KB total)");
        assert_eq!(cut("ä".repeat(40_000), 40_000), "ä".repeat(40_000));
    }
}
