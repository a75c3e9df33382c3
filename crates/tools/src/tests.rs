//! The tools as callers meet them: by name, out of a box.

use std::{fs, sync::Arc};

use kernel::{
    host::{Host, Settings},
    inbox::CallError,
    ports::Ports,
    toolbox::{Caller, ToolError, ToolSpec, Toolbox},
    update::SessionId,
};
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::{ManualClock, Silence, World};

use super::add_all;

fn toolbox() -> Toolbox {
    let toolbox = Toolbox::default();
    add_all(
        &toolbox,
        Arc::new(ManualClock::default()),
        Arc::new(Silence),
        crate::Workshop::default(),
    );
    toolbox
}

/// Calls a tool in this folder.
async fn call(folder: &TempDir, name: &str, args: Value) -> Result<String, ToolError> {
    let ports = Ports { tools: Arc::new(toolbox()), ..World::new([]).ports() };
    let host = Host::start(ports, Settings::default()).await.unwrap();
    let id = host.create(folder.path(), "test", "").await.unwrap();
    match host.call(id, Caller::Owner, name, args).await {
        Ok(reply) => Ok(reply.text),
        Err(CallError::Tool(error)) => Err(error),
        Err(CallError::Open(error)) => panic!("{error}"),
    }
}

#[tokio::test]
async fn each_tool_works_in_the_folder_of_its_session() {
    let folder = TempDir::new().unwrap();
    let written = call(&folder, "write_file", json!({ "path": "a/b", "content": "text" })).await;
    assert_eq!(written.as_deref(), Ok("created `a/b` (4 bytes)"));
    assert_eq!(fs::read_to_string(folder.path().join("a/b")).unwrap(), "text");
    assert_eq!(call(&folder, "read_file", json!({ "path": "a/b" })).await.as_deref(), Ok("text"));
    assert_eq!(call(&folder, "list_directory", Value::Null).await.as_deref(), Ok("a/"));
    let time = call(&folder, "current_time", json!({})).await;
    assert_eq!(time.as_deref(), Ok("2026-02-01T10:00:00+00:00, Sunday (UTC)"));
}

#[tokio::test]
async fn what_is_wrong_is_said_in_words() {
    let folder = TempDir::new().unwrap();
    for (args, message) in [
        (
            json!({ "path": 5 }),
            "bad arguments for read_file: path: invalid type: integer `5`, expected a string",
        ),
        (Value::Null, "bad arguments for read_file: missing field `path`"),
        (json!({ "path": "gone" }), "`gone` does not exist"),
    ] {
        let failed = Err(ToolError::Failed(message.into()));
        assert_eq!(call(&folder, "read_file", args).await, failed);
    }
}

#[expect(clippy::too_many_lines, reason = "it is a list")]
#[test]
fn models_are_told_this_about_them() {
    let spec = |name: &str, description: &str, properties: Value, required: &[&str]| {
        let mut schema = json!({
            "type": "object",
            "properties": properties,
            "additionalProperties": false,
        });
        if !required.is_empty() {
            schema["required"] = json!(required);
        }
        ToolSpec { name: name.into(), description: description.into(), schema }
    };
    let file = json!({
        "type": "string",
        "description": "The file, relative to the session's folder, or absolute inside it.",
    });
    let expected = [
        spec(
            "apply_patch",
            "Applies a unified diff to files in the session's folder: adds, changes, deletes and \
             renames them, all of them or none. Unchanged and removed lines must be exactly as they \
             are in the files; the line numbers of a hunk may be off.",
            json!({ "patch": {
                "type": "string",
                "description": "For each file `--- a/path` and `+++ b/path`, then hunks that begin \
                                with `@@ -1,3 +1,4 @@`. `/dev/null` in the place of a path adds or \
                                deletes a file. To rename one, write `diff --git a/old b/new`, \
                                `rename from old` and `rename to new` before them.",
            } }),
            &["patch"],
        ),
        spec(
            "current_time",
            "Tells the current date, time and day of the week.",
            json!({ "timezone": {
                "type": "string",
                "description": "An IANA time zone such as `Europe/Berlin`. UTC if absent.",
            } }),
            &[],
        ),
        spec(
            "edit_file",
            "Replaces a piece of a text file in the session's folder by another. The piece must be \
             exactly as it is in the file, and must occur only once, unless `all` is set.",
            json!({
                "path": file,
                "old": {
                    "type": "string",
                    "description": "What is there now, with its spaces and line breaks, and enough \
                                    of it to occur only once.",
                },
                "new": {
                    "type": "string",
                    "description": "What shall be there instead. May be empty.",
                },
                "all": {
                    "type": "boolean",
                    "description": "Replaces it wherever it occurs. False if absent.",
                },
            }),
            &["path", "old", "new"],
        ),
        spec(
            "glob",
            "Finds files of the session's folder by their names, newest first. Skips what \
             `.gitignore` and `.ignore` name, and what version control keeps for itself. Does not \
             follow links.",
            json!({
                "pattern": {
                    "type": "string",
                    "description": "Such as `*.rs` (in every directory), `src/*.{ts,js}` or \
                                    `docs/**/*.md`.",
                },
                "path": {
                    "type": "string",
                    "description": "The directory to look in, relative to the session's folder, or \
                                    absolute inside it. Patterns begin there. The session's folder \
                                    itself if absent.",
                },
                "limit": {
                    "type": "integer",
                    "minimum": 0,
                    "description": "How many to show; at most 1000. 100 if absent.",
                },
            }),
            &["pattern"],
        ),
        spec(
            "grep",
            "Finds lines in the text files of the session's folder that match a regular expression. \
             Skips binary files, what `.gitignore` and `.ignore` name, and what version control \
             keeps for itself. Does not follow links.",
            json!({
                "pattern": {
                    "type": "string",
                    "description": "A regular expression in the syntax of Rust, for one line.",
                },
                "path": {
                    "type": "string",
                    "description": "The directory or file to search, relative to the session's \
                                    folder, or absolute inside it. The session's folder itself if \
                                    absent.",
                },
                "glob": {
                    "type": "string",
                    "description": "Only files named like this, such as `*.rs` or \
                                    `src/**/*.{ts,js}`; with `!` in front, only others.",
                },
                "type": {
                    "type": "string",
                    "description": "Only files of this type, such as `rust`, `py`, `js` or `md`.",
                },
                "ignore_case": {
                    "type": "boolean",
                    "description": "Whether upper and lower case are the same. False if absent.",
                },
                "context": {
                    "type": "integer",
                    "minimum": 0,
                    "description": "How many lines to show before and after each that matches; at \
                                    most 20. None if absent.",
                },
                "files_only": {
                    "type": "boolean",
                    "description": "Shows only the names of the files. False if absent.",
                },
                "count": {
                    "type": "boolean",
                    "description": "Shows only how many lines match in each file. False if absent.",
                },
                "limit": {
                    "type": "integer",
                    "minimum": 0,
                    "description": "How many lines that match (or files) to show; at most 2000. 200 \
                                    if absent.",
                },
            }),
            &["pattern"],
        ),
        spec(
            "list_directory",
            "Lists what is in a directory of the session's folder: directories first, with a `/` \
             behind their names, then files with their sizes.",
            json!({ "path": {
                "type": "string",
                "description": "The directory, relative to the session's folder, or absolute inside \
                                it. The session's folder itself if absent.",
            } }),
            &[],
        ),
        spec(
            "read_file",
            "Reads a text file (UTF-8) in the session's folder, or shows a picture (PNG, JPEG, GIF or \
             WebP). Of a long file only the first part is returned, with a note that says where to \
             read on.",
            json!({
                "path": file,
                "offset": {
                    "type": "integer",
                    "minimum": 0,
                    "description": "The first line to read; lines count from 1. From the beginning \
                                    if absent.",
                },
                "limit": {
                    "type": "integer",
                    "minimum": 0,
                    "description": "How many lines to read. All if absent.",
                },
            }),
            &["path"],
        ),
        spec(
            "read_result",
            "Reads more of a tool's result that was cut because it was long. The note at the cut \
             says with which arguments.",
            json!({
                "call": {
                    "type": "string",
                    "description": "The id of the call, as the note says it.",
                },
                "offset": {
                    "type": "integer",
                    "minimum": 0,
                    "description": "Where to read on, in bytes. The beginning if absent.",
                },
            }),
            &["call"],
        ),
        spec(
            "read_skill",
            "Reads a skill: how to do something that you were told by name that it is known here.",
            json!({
                "name": { "type": "string", "description": "The name, as you were told it." },
            }),
            &["name"],
        ),
        spec(
            "write_file",
            "Writes a text file in the session's folder, in place of any that is there. Missing \
             directories are made.",
            json!({
                "path": file,
                "content": { "type": "string", "description": "All that the file shall contain." },
            }),
            &["path", "content"],
        ),
    ];
    assert_eq!(toolbox().specs(&Caller::Model), expected);
}

/// These tools are the same in every session.
fn anywhere() -> SessionId {
    SessionId::parse("00000000-0000-0000-0000-000000000000").unwrap()
}

#[test]
fn only_reading_may_overlap() {
    let parallel = |name| toolbox().parallel(anywhere(), name);
    let reading = ["current_time", "glob", "grep", "list_directory", "read_file"];
    assert_eq!(reading.map(parallel), [true; 5]);
    assert_eq!(["apply_patch", "edit_file", "write_file"].map(parallel), [false; 3]);
}

#[test]
fn a_person_is_told_what_a_call_does() {
    let long = "x".repeat(100);
    for (name, args, title) in [
        ("read_file", json!({ "path": "a\nb" }), "Reading a b".to_owned()),
        ("read_file", json!({ "path": long }), format!("Reading {}…", "x".repeat(80))),
        ("read_file", json!({}), "read_file".to_owned()),
        ("write_file", json!({ "path": "a", "content": "" }), "Writing a".to_owned()),
        ("list_directory", json!({}), "Listing the session's folder".to_owned()),
        ("list_directory", json!({ "path": "src" }), "Listing src".to_owned()),
        ("edit_file", json!({ "path": "a", "old": "", "new": "" }), "Editing a".to_owned()),
        ("glob", json!({ "pattern": "*.rs" }), "Finding *.rs".to_owned()),
        ("grep", json!({ "pattern": "fn" }), "Searching for fn".to_owned()),
        ("grep", json!({ "pattern": "fn", "path": "src" }), "Searching for fn in src".to_owned()),
        (
            "apply_patch",
            json!({ "patch": "--- a/x\n+++ b/x\n--- a/y\n+++ /dev/null\n" }),
            "Patching x, y".to_owned(),
        ),
        ("apply_patch", json!({ "patch": "" }), "Applying a patch".to_owned()),
        ("current_time", json!({}), "Looking at the clock".to_owned()),
    ] {
        assert_eq!(toolbox().title(anywhere(), name, &args), title);
    }
}
