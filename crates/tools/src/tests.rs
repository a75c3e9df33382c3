//! The tools as callers meet them: by name, out of a box.

use std::{fs, path::PathBuf, sync::Arc};

use futures::{FutureExt as _, future::BoxFuture};
use jiff::Timestamp;
use kernel::{
    host::{Host, Settings},
    ports::{
        Attic, Batch, Catalog, Clock, Log, Model, ModelError, ModelInfo, Models, Ports, Shelf,
        Stored,
    },
    state::State,
    toolbox::{Call, Caller, ToolError, ToolSpec, Toolbox},
    update::{Entry, Seq, SessionId},
};
use serde_json::{Value, json};
use tempfile::TempDir;
use uuid::Uuid;

use super::add_all;

/// A world without anything in it: enough for a session to exist.
struct Nothing;

fn ok<'a, T: Send + 'a>(value: T) -> Stored<'a, T> {
    async { Ok(value) }.boxed()
}

impl Log for Nothing {
    fn append(&self, _: Batch) -> Stored<'_, ()> {
        ok(())
    }
    fn read(&self, _: SessionId, _: Seq, _: usize) -> Stored<'_, Vec<Entry>> {
        ok(Vec::new())
    }
    fn read_back(&self, _: SessionId, _: Seq, _: usize) -> Stored<'_, Vec<Entry>> {
        ok(Vec::new())
    }
    fn keyed(&self, _: SessionId, _: &str) -> Stored<'_, Option<Entry>> {
        ok(None)
    }
    fn draft(&self, _: SessionId, _: &str) {}
    fn drafted(&self, _: SessionId) -> Stored<'_, String> {
        ok(String::new())
    }
}

impl Catalog for Nothing {
    fn sessions(&self) -> Stored<'_, Vec<(SessionId, State)>> {
        ok(Vec::new())
    }
    fn remove(&self, _: SessionId) -> Stored<'_, ()> {
        ok(())
    }
    fn get(&self, _: Shelf, _: &str) -> Stored<'_, Option<String>> {
        ok(None)
    }
    fn put(&self, _: Shelf, _: &str, _: String) -> Stored<'_, ()> {
        ok(())
    }
    fn discard(&self, _: Shelf, _: &str) -> Stored<'_, ()> {
        ok(())
    }
    fn list(&self, _: Shelf, _: &str) -> Stored<'_, Vec<(String, String)>> {
        ok(Vec::new())
    }
}

impl Attic for Nothing {
    fn keep(&self, _: SessionId, _: &str, _: Vec<u8>) -> Stored<'_, PathBuf> {
        ok(PathBuf::new())
    }
    fn clear(&self, _: SessionId) -> Stored<'_, ()> {
        ok(())
    }
}

impl Models for Nothing {
    fn list(&self) -> BoxFuture<'_, Result<Vec<ModelInfo>, ModelError>> {
        async { Ok(Vec::new()) }.boxed()
    }
    fn find(&self, _: &str) -> Option<Arc<dyn Model>> {
        None
    }
    fn default_id(&self) -> String {
        String::new()
    }
}

impl Clock for Nothing {
    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH
    }
    fn id(&self) -> Uuid {
        Uuid::from_u128(1)
    }

    fn chance(&self) -> f64 {
        0.0
    }
}

fn toolbox() -> Toolbox {
    let mut toolbox = Toolbox::default();
    add_all(&mut toolbox, Arc::new(Nothing));
    toolbox
}

/// Calls a tool in this folder.
async fn call(folder: &TempDir, name: &str, args: Value) -> Result<String, ToolError> {
    let ports = Ports {
        log: Arc::new(Nothing),
        catalog: Arc::new(Nothing),
        attic: Arc::new(Nothing),
        models: Arc::new(Nothing),
        tools: Arc::default(),
        clock: Arc::new(Nothing),
        workspace: folder.path().into(),
    };
    let host = Host::start(ports, Settings::default()).await.unwrap();
    let id = host.create(folder.path(), "", "").await.unwrap();
    let session = host.open(id).await.unwrap();
    let (caller, cwd) = (Caller::Model, folder.path().into());
    toolbox().call(name, Call { caller, session, cwd, flow: String::new(), args }).await
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
    assert_eq!(time.as_deref(), Ok("1970-01-01T00:00:00+00:00, Thursday (UTC)"));
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
            "current_time",
            "Tells the current date, time and day of the week.",
            json!({ "timezone": {
                "type": "string",
                "description": "An IANA time zone such as `Europe/Berlin`. UTC if absent.",
            } }),
            &[],
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
            "Reads a text file (UTF-8) in the session's folder. Of a long file only the first part \
             is returned, with a note that says where to read on.",
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

#[test]
fn only_reading_may_overlap() {
    let parallel = |name| toolbox().parallel(name);
    let reading = ["current_time", "list_directory", "read_file"];
    assert_eq!(reading.map(parallel), [true; 3]);
    assert!(!parallel("write_file"));
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
        ("current_time", json!({}), "Looking at the clock".to_owned()),
    ] {
        assert_eq!(toolbox().title(name, &args), title);
    }
}
