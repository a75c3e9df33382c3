//! What a call of an agent's own would do, as far as it says: for whoever must allow it.

use std::path::{Path, PathBuf};

use agent_client_protocol::v1::schema::{Diff, ToolCall, ToolCallContent, ToolKind};
use kernel::toolbox::{Deed, Detail, Risk};
use serde_json::Value;
use similar::TextDiff;

use crate::files::is_inside;

/// A change of more than so many bytes is not shown line by line.
const SHOWN: usize = 512 * 1024;

/// It asks, so it is never taken to merely look: what it calls reading may be reading elsewhere.
pub fn deed(call: &ToolCall, cwd: &Path) -> Deed {
    let paths = paths(call);
    let inside = !paths.is_empty() && paths.iter().all(|path| is_inside(cwd, path));
    let risk = match call.kind {
        ToolKind::Edit | ToolKind::Move if inside => Risk::Edits,
        ToolKind::Execute => Risk::Runs,
        ToolKind::Fetch => Risk::Reaches,
        _ => Risk::Acts,
    };
    let input = call.raw_input.as_ref();
    let said = |key: &str| input.and_then(|it| it.get(key)).and_then(words);
    let first = diffs(call).next().map(|it| it.path.display().to_string());
    let change = first.map(|path| (path, diffs(call).map(changed).collect()));
    let (detail, subjects) = match (change, said("command"), said("url")) {
        (Some((path, diff)), ..) => (Detail::Change { path, diff }, shown(&paths)),
        (None, Some(command), _) if call.kind == ToolKind::Execute => {
            let cwd = said("cwd").unwrap_or_else(|| cwd.display().to_string());
            let detail =
                Detail::Command { command: command.clone(), cwd, sandboxed: false, why_not: None };
            (detail, vec![command])
        }
        (None, _, Some(url)) if call.kind == ToolKind::Fetch => {
            (Detail::Address { url: url.clone() }, vec![url])
        }
        _ => (Detail::Arguments { args: input.cloned().unwrap_or_default() }, shown(&paths)),
    };
    Deed { risk, detail, subjects, within: None }
}

/// A text, or the words of a command.
fn words(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(words) => {
            let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
            Some(words?.join(" "))
        }
        _ => None,
    }
}

fn shown(paths: &[PathBuf]) -> Vec<String> {
    paths.iter().map(|path| path.display().to_string()).collect()
}

/// The files that it says it is about.
fn paths(call: &ToolCall) -> Vec<PathBuf> {
    let located = call.locations.iter().map(|it| it.path.clone());
    let mut paths: Vec<PathBuf> = diffs(call).map(|it| it.path.clone()).chain(located).collect();
    paths.sort();
    paths.dedup();
    paths
}

pub fn diffs(call: &ToolCall) -> impl Iterator<Item = &Diff> {
    call.content.iter().filter_map(|content| match content {
        ToolCallContent::Diff(diff) => Some(diff),
        _ => None,
    })
}

/// As a unified diff.
pub fn changed(Diff { path, old_text, new_text, .. }: &Diff) -> String {
    let old = old_text.as_deref().unwrap_or_default();
    let name = path.display();
    if old.len() + new_text.len() > SHOWN {
        return format!("{name}: from {} to {} bytes, too many to show", old.len(), new_text.len());
    }
    let name = path.strip_prefix("/").unwrap_or(path).display();
    let before = if old_text.is_some() { format!("a/{name}") } else { "/dev/null".to_owned() };
    let diff = TextDiff::from_lines(old, new_text);
    diff.unified_diff().header(&before, &format!("b/{name}")).to_string()
}

#[cfg(test)]
mod tests {
    use agent_client_protocol::v1::schema::ToolCallLocation;
    use serde_json::json;

    use super::*;

    fn call(kind: ToolKind) -> ToolCall {
        ToolCall::new("1", "t").kind(kind)
    }

    #[test]
    fn only_a_change_inside_the_folder_is_an_edit() {
        let dir = tempfile::tempdir().unwrap();
        let risk = |kind, path: &str| {
            let call = call(kind).locations(vec![ToolCallLocation::new(path)]);
            deed(&call, dir.path()).risk
        };
        assert_eq!(risk(ToolKind::Edit, "a"), Risk::Edits);
        assert_eq!(risk(ToolKind::Edit, "/etc/passwd"), Risk::Acts);
        assert_eq!(risk(ToolKind::Edit, "../a"), Risk::Acts);
        assert_eq!(deed(&call(ToolKind::Edit), dir.path()).risk, Risk::Acts);
        assert_eq!(risk(ToolKind::Read, "a"), Risk::Acts);
        assert_eq!(risk(ToolKind::Delete, "a"), Risk::Acts);
        assert_eq!(risk(ToolKind::Execute, "a"), Risk::Runs);
        assert_eq!(risk(ToolKind::Fetch, "a"), Risk::Reaches);
    }

    #[test]
    fn what_would_be_done_is_told_as_exactly_as_the_agent_says() {
        let cwd = Path::new("/w");
        let change = Diff::new("/w/a", "one\nthree\n").old_text("one\ntwo\n".to_owned());
        let edit = call(ToolKind::Edit).content(vec![change.into()]);
        let expected = Detail::Change {
            path: "/w/a".into(),
            diff: "--- a/w/a\n+++ b/w/a\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n".into(),
        };
        assert_eq!(deed(&edit, cwd).detail, expected);
        assert_eq!(deed(&edit, cwd).subjects, ["/w/a"]);
        for command in [json!("ls -l"), json!(["ls", "-l"])] {
            let run = call(ToolKind::Execute).raw_input(json!({ "command": command }));
            let expected = Detail::Command {
                command: "ls -l".into(),
                cwd: "/w".into(),
                sandboxed: false,
                why_not: None,
            };
            assert_eq!(deed(&run, cwd).detail, expected);
        }
        let fetch = call(ToolKind::Fetch).raw_input(json!({ "url": "http://a" }));
        assert_eq!(deed(&fetch, cwd).detail, Detail::Address { url: "http://a".into() });
        let other = call(ToolKind::Other).raw_input(json!({ "command": 5 }));
        assert_eq!(deed(&other, cwd).detail, Detail::Arguments { args: json!({ "command": 5 }) });
    }
}
