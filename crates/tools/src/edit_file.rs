//! Replaces a piece of a file by another.

use kernel::toolbox::{Call, Deed, Reply, Risk};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    change::{self, Change, LARGEST, Old, carry_out, deed},
    folder::Folder,
    hint,
    typed::{Typed, shorten},
    workshop::Workshop,
};

/// Replaces a piece of a text file in the session's folder by another. The piece must be exactly as
/// it is in the file, and must occur only once, unless `all` is set.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The file, relative to the session's folder, or absolute inside it.
    path: String,
    /// What is there now, with its spaces and line breaks, and enough of it to occur only once.
    old: String,
    /// What shall be there instead. May be empty.
    new: String,
    /// Replaces it wherever it occurs. False if absent.
    all: Option<bool>,
}

pub struct EditFile {
    pub workshop: Workshop,
}

impl Typed for EditFile {
    type Input = Input;
    type Output = Reply;
    const NAME: &'static str = "edit_file";
    const RISK: Risk = Risk::Edits;

    fn title(&self, input: &Input) -> String {
        format!("Editing {}", shorten(&input.path, 80))
    }

    async fn foresee(&self, input: Input, call: &Call) -> Result<Deed, String> {
        let root = self.workshop.root(&input.path, call);
        let deed = self
            .workshop
            .within(root.clone(), move |folder| Ok(deed(&[plan(folder, &input)?.0])))
            .await?;
        Ok(self.workshop.judged(&root, deed))
    }

    async fn run(&self, input: Input, call: Call) -> Result<Reply, String> {
        let root = self.workshop.root(&input.path, &call);
        self.workshop.within(root, move |folder| edit(folder, &input)).await
    }
}

fn edit(folder: &Folder, input: &Input) -> Result<Reply, String> {
    let (change, count) = plan(folder, input)?;
    let times = if count == 1 { String::new() } else { format!(" in {count} places") };
    carry_out(folder, &[change], &format!("edited `{}`{times}", input.path))
}

/// What becomes of the file, and in how many places.
fn plan(folder: &Folder, input: &Input) -> Result<(Change, usize), String> {
    let path = folder.settle(&input.path)?;
    let text = change::text(folder, &input.path, &path)?;
    let (new, count) = replaced(&text, input)?;
    Ok((Change::replace(path, Old::Text(text), new), count))
}

fn replaced(text: &str, Input { path, old, new, all }: &Input) -> Result<(String, usize), String> {
    if old.is_empty() {
        return Err("`old` is empty; write_file makes new files, and replaces whole ones".into());
    }
    if old == new {
        return Err("`old` and `new` are the same, so there is nothing to change".into());
    }
    let [old, new] = [old, new].map(|piece| fitting(text, piece));
    let found: Vec<usize> = text.match_indices(&old).map(|(at, _)| at).collect();
    match found.len() {
        0 => return Err(format!("`old` does not occur in `{path}`{}", hint::nearest(text, &old))),
        1 => {}
        count if *all != Some(true) => {
            let lines = hint::places(&hint::line_numbers(text, &found));
            return Err(format!(
                "`old` occurs {count} times in `{path}` ({lines}); \
                 give more of what is around the one you mean, or set `all`"
            ));
        }
        _ => {}
    }
    let size = new.len().checked_mul(found.len()).and_then(|added| added.checked_add(text.len()));
    if size.is_none_or(|size| size as u64 > LARGEST) {
        return Err(format!("`{path}` would have more than {LARGEST} bytes"));
    }
    Ok((text.replace(&old, &new), found.len()))
}

/// The piece with the line ends of a text, where those are all CRLF and the piece has none.
fn fitting(text: &str, piece: &str) -> String {
    if hint::is_crlf(text) && !piece.contains('\r') {
        return piece.replace('\n', "\r\n");
    }
    piece.to_owned()
}

#[cfg(test)]
mod tests;
