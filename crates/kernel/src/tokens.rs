//! How many tokens something takes up, where no provider has counted it.

use crate::prompt::{Part, Prompt};

/// Most tokenizers make a token of about so many bytes of English; for code and other scripts it
/// is less, so this errs on the side of too many tokens.
const BYTES: usize = 3;
/// What providers charge for a picture of ordinary size.
const IMAGE: u64 = 1500;
/// What surrounds each part on the wire.
const PART: u64 = 8;

pub fn of_text(text: &str) -> u64 {
    text.len().div_ceil(BYTES) as u64
}

pub fn of_part(part: &Part) -> u64 {
    PART + match part {
        Part::User { text, images } => of_text(text) + IMAGE * images.len() as u64,
        Part::Assistant { text, calls, .. } => {
            let call = |call: &crate::update::ToolRequest| {
                PART + of_text(&call.name) + of_text(&call.args.to_string())
            };
            of_text(text) + calls.iter().map(call).sum::<u64>()
        }
        Part::Result { output, .. } => of_text(output.text()),
        Part::Pictures { images } => IMAGE * images.len() as u64,
    }
}

pub fn of_prompt(prompt: &Prompt) -> u64 {
    let tool = |tool: &crate::toolbox::ToolSpec| {
        PART + of_text(&tool.name) + of_text(&tool.description) + of_text(&tool.schema.to_string())
    };
    of_text(&prompt.system)
        + prompt.tools.iter().map(tool).sum::<u64>()
        + prompt.parts.iter().map(of_part).sum::<u64>()
}
