//! Commands that a page or an applet may have run: few, without a shell, and with an end.

mod git;
mod plain;
mod run;
mod stream;

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::Arc,
};

use axum::{Json as Reply, extract::State};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

pub use stream::Shells;

use crate::{
    App,
    error::ApiError,
    extract::{self, Json},
    files::{Refused, RefusedBody},
};

/// What may be run where nothing else was configured: it looks, and changes little.
pub const ALLOWED: &[&str] = &[
    "git", "ls", "cat", "head", "tail", "wc", "stat", "file", "du", "df", "pwd", "date", "uname",
    "hostname", "which", "echo", "true",
];

pub struct Shell {
    allow: Vec<String>,
    /// Where programs are looked for, whatever a request says.
    path: OsString,
    workspace: PathBuf,
    /// Holds our key, which no command is shown.
    shut: PathBuf,
}

impl Shell {
    pub fn new(allow: Option<Vec<String>>, workspace: PathBuf, data_dir: &Path) -> Self {
        let allow = allow.unwrap_or_else(|| ALLOWED.iter().map(|it| (*it).to_owned()).collect());
        let shut = data_dir.canonicalize().unwrap_or_else(|_| data_dir.to_owned());
        let places = std::env::var_os("PATH").unwrap_or_default();
        let places = std::env::split_paths(&places).filter(|it| it.is_absolute());
        let path = std::env::join_paths(places).unwrap_or_default();
        Self { allow, path, workspace, shut }
    }
}

#[derive(Deserialize, ToSchema)]
pub struct Order {
    #[serde(default, deserialize_with = "extract::text")]
    command: Option<String>,
    #[schema(value_type = Option<Vec<String>>)]
    #[serde(default, deserialize_with = "present")]
    args: Option<Value>,
    /// Absolute; the workspace otherwise.
    #[serde(default, deserialize_with = "extract::text")]
    cwd: Option<String>,
}

/// What is to be run, once it is known that it may be.
pub struct Errand {
    program: PathBuf,
    /// As it was asked for.
    line: String,
    args: Vec<String>,
    cwd: PathBuf,
    path: OsString,
    is_git: bool,
}

impl Errand {
    fn failed(&self) -> ApiError {
        ApiError::internal(format!("Command failed: {}\n", self.line))
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Done {
    stdout: String,
    stderr: String,
    code: i32,
}

/// Run a command
///
/// One of those that the configuration allows, without a shell in between: at most 60 seconds and 10 MB.
#[utoipa::path(post, path = "/api/shell", tag = "files", request_body = Order,
    responses((status = 200, body = Done), (status = 400, body = RefusedBody),
        (status = 403, body = RefusedBody), (status = 408, body = RefusedBody),
        (status = 500, body = RefusedBody)))]
pub async fn post(
    State(app): State<Arc<App>>,
    order: Result<Json<Order>, ApiError>,
) -> Result<Reply<Done>, Refused> {
    let errand = app.shell.errand(order?.0)?;
    Ok(Reply(run::whole(&errand).await?))
}

impl Shell {
    pub fn errand(&self, Order { command, args, cwd }: Order) -> Result<Errand, ApiError> {
        let command = command.ok_or_else(|| ApiError::bad_request("command is required"))?;
        let args = arguments(args)?;
        let refused = || ApiError::forbidden(format!("Command not allowed: {command}"));
        if command.contains('/') || !self.allow.contains(&command) {
            return Err(refused());
        }
        let is_git = command == "git";
        if is_git && !git::is_plain(&args) {
            return Err(refused());
        }
        let cwd = self.folder(cwd)?;
        if self.keeps(&cwd) || args.iter().any(|arg| self.names_ours(&cwd, arg)) {
            return Err(refused());
        }
        let program = std::env::split_paths(&self.path)
            .map(|place| place.join(&command))
            .find(|program| is_program(program));
        let missing = || ApiError::internal(format!("Command not found: {command}"));
        let program = program.ok_or_else(missing)?;
        let line = [vec![command], args.clone()].concat().join(" ");
        Ok(Errand { program, line, args, cwd, path: self.path.clone(), is_git })
    }

    /// Whether an argument names something of our own, alone or as the value of an option.
    fn names_ours(&self, cwd: &Path, arg: &str) -> bool {
        let value = arg.split_once('=').map_or(arg, |(_, value)| value);
        let short = arg.strip_prefix('-').and_then(|it| it.get(1..)).unwrap_or(arg);
        [arg, value, short].iter().any(|path| self.keeps(&cwd.join(path)))
    }

    fn keeps(&self, path: &Path) -> bool {
        let ours = |real: PathBuf| {
            let rest = real.strip_prefix(&self.shut).ok().map(Path::to_owned);
            let open = |it: &PathBuf| it.starts_with("applets") || it.starts_with("tmp");
            rest.is_some_and(|rest| !open(&rest))
        };
        path.canonicalize().is_ok_and(ours)
    }

    fn folder(&self, cwd: Option<String>) -> Result<PathBuf, ApiError> {
        let Some(cwd) = cwd.map(PathBuf::from) else { return Ok(self.workspace.clone()) };
        let refused = |what| ApiError::bad_request(format!("Working directory {what}"));
        if !cwd.is_absolute() {
            return Err(refused("must be absolute path"));
        }
        match cwd.metadata() {
            Err(_) => Err(refused("does not exist")),
            Ok(found) if !found.is_dir() => Err(refused("is not a directory")),
            Ok(_) => Ok(cwd),
        }
    }
}

/// Also when it is null, which is no list.
fn present<'de, D: Deserializer<'de>>(reader: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(reader).map(Some)
}

fn arguments(args: Option<Value>) -> Result<Vec<String>, ApiError> {
    let Some(args) = args else { return Ok(Vec::new()) };
    let strings = serde_json::from_value::<Vec<String>>(args).ok();
    let strings = strings.filter(|args| !args.iter().any(|it| it.contains('\0')));
    strings.ok_or_else(|| ApiError::bad_request("args must be an array of strings"))
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}
