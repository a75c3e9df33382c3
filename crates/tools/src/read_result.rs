//! Reads on in what a tool returned, where it was too long to be shown whole.

use kernel::{
    prompt::RESULT_BYTES,
    toolbox::{Call, Risk},
    update::Output,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::typed::Typed;

/// Reads more of a tool's result that was cut because it was long. The note at the cut says with
/// which arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The id of the call, as the note says it.
    call: String,
    /// Where to read on, in bytes. The beginning if absent.
    offset: Option<usize>,
}

pub struct ReadResult;

impl Typed for ReadResult {
    type Input = Input;
    type Output = String;
    const NAME: &'static str = "read_result";
    const RISK: Risk = Risk::Reads;
    const PARALLEL: bool = true;

    fn title(&self, _: &Input) -> String {
        "Reading on in a long result".into()
    }

    async fn run(&self, Input { call: id, offset }: Input, call: Call) -> Result<String, String> {
        match call.session.returned(&id).await {
            Ok(Some(Output::Done { text, .. })) => piece(&text, offset.unwrap_or_default()),
            Ok(Some(_)) => Err(format!("call `{id}` failed, and has no result")),
            Ok(None) => Err(format!("no call of this session is named `{id}`")),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// A piece that is shown whole, with a word on where the next begins.
fn piece(text: &str, offset: usize) -> Result<String, String> {
    let size = text.len();
    if offset >= size {
        return Err(format!("the result has {size} bytes; there is nothing at {offset}"));
    }
    let start = text.floor_char_boundary(offset);
    // Room for the note, or the piece itself would be cut.
    let end = text.floor_char_boundary((start + RESULT_BYTES - 100).min(size));
    let shown = &text[start..end];
    if end == size {
        return Ok(shown.to_owned());
    }
    Ok(format!("{shown}\n[more: offset {end} of {size} bytes]"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_read_in_pieces_that_make_up_the_whole() {
        let text = "ä1".repeat(RESULT_BYTES);
        let (mut read, mut offset) = (String::new(), 0);
        while offset < text.len() {
            let piece = piece(&text, offset).unwrap();
            assert!(piece.len() <= RESULT_BYTES);
            let shown = piece.rsplit_once("\n[more").map_or(&*piece, |(shown, _)| shown);
            read.push_str(shown);
            offset = read.len();
        }
        assert_eq!(read, text);
        assert!(piece(&text, text.len()).is_err());
        assert!(piece("", 0).is_err());
    }
}
