//! Commands that a page or an applet may have run: few, without a shell, and with an end.

mod run;

use std::{ffi::OsString, path::PathBuf, sync::Arc};

use axum::{Json as Reply, extract::State};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

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

/// Git as it comes. What else it is asked for may be an alias, which can be any program.
const GIT: &[&str] = &[
    "add",
    "annotate",
    "apply",
    "archive",
    "blame",
    "branch",
    "cat-file",
    "check-ignore",
    "checkout",
    "cherry",
    "cherry-pick",
    "clean",
    "commit",
    "count-objects",
    "describe",
    "diff",
    "diff-files",
    "diff-index",
    "diff-tree",
    "for-each-ref",
    "format-patch",
    "fsck",
    "grep",
    "help",
    "init",
    "log",
    "ls-files",
    "ls-tree",
    "merge",
    "merge-base",
    "mv",
    "name-rev",
    "notes",
    "range-diff",
    "reflog",
    "reset",
    "restore",
    "rev-list",
    "rev-parse",
    "revert",
    "rm",
    "shortlog",
    "show",
    "show-branch",
    "show-ref",
    "stash",
    "status",
    "switch",
    "symbolic-ref",
    "tag",
    "var",
    "verify-commit",
    "version",
    "whatchanged",
    "worktree",
];

/// Where git would start a program that the folder names to compare files.
const GIT_COMPARING: &[&str] = &[
    "diff",
    "diff-files",
    "diff-index",
    "diff-tree",
    "format-patch",
    "log",
    "show",
    "whatchanged",
];

/// Options with which git would start other programs, or be told to by what they name.
const GIT_REFUSED: &[&str] = &[
    "-c",
    "--config-env",
    "--exec-path",
    "--upload-pack",
    "--receive-pack",
    "--ext-diff",
    "-O",
    "--open-files-in-pager",
    "--textconv",
    "--exec",
    "-x",
    "--git-dir",
    "--work-tree",
];

pub struct Shell {
    allow: Vec<String>,
    /// Where programs are looked for, whatever a request says.
    path: OsString,
    workspace: PathBuf,
}

impl Shell {
    pub fn new(allow: Option<Vec<String>>, workspace: PathBuf) -> Self {
        let allow = allow.unwrap_or_else(|| ALLOWED.iter().map(|it| (*it).to_owned()).collect());
        let places = std::env::var_os("PATH").unwrap_or_default();
        let places = std::env::split_paths(&places).filter(|it| it.is_absolute());
        let path = std::env::join_paths(places).unwrap_or_default();
        Self { allow, path, workspace }
    }
}

#[derive(Deserialize, ToSchema)]
pub struct Order {
    #[serde(default, deserialize_with = "extract::text")]
    command: Option<String>,
    #[schema(value_type = Option<Vec<String>>)]
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
        if command == "git" && !is_plain_git(&args) {
            return Err(refused());
        }
        let cwd = self.folder(cwd)?;
        let program = std::env::split_paths(&self.path)
            .map(|place| place.join(&command))
            .find(|program| is_program(program));
        let missing = || ApiError::internal(format!("Command not found: {command}"));
        let program = program.ok_or_else(missing)?;
        let line = [vec![command.clone()], args.clone()].concat().join(" ");
        let args = if command == "git" { without_drivers(args) } else { args };
        Ok(Errand { program, line, args, cwd, path: self.path.clone() })
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

fn arguments(args: Option<Value>) -> Result<Vec<String>, ApiError> {
    let Some(args) = args else { return Ok(Vec::new()) };
    let strings = serde_json::from_value::<Vec<String>>(args).ok();
    let strings = strings.filter(|args| !args.iter().any(|it| it.contains('\0')));
    strings.ok_or_else(|| ApiError::bad_request("args must be an array of strings"))
}

/// Whether git is asked for something of its own, in a way that starts no other program.
fn is_plain_git(args: &[String]) -> bool {
    let asked = args.iter().find(|arg| !arg.starts_with('-'));
    let own = asked.is_none_or(|asked| GIT.contains(&asked.as_str()));
    let refused = |arg: &String| {
        let named = |it: &&&str| {
            let long = it.starts_with("--");
            let rest = arg.strip_prefix(**it);
            rest.is_some_and(|rest| rest.is_empty() || !long || rest.starts_with('='))
        };
        let hidden = arg.starts_with("ext::") || arg.starts_with("--") && abbreviates(arg);
        GIT_REFUSED.iter().any(|it| named(&it)) || hidden
    };
    own && !args.iter().take_while(|arg| *arg != "--").any(refused)
}

/// What git compares, it compares itself, whatever the folder would have it start instead.
fn without_drivers(mut args: Vec<String>) -> Vec<String> {
    let comparing = |arg: &String| GIT_COMPARING.contains(&arg.as_str());
    let asked = args.iter().position(|arg| !arg.starts_with('-'));
    if let Some(asked) = asked.filter(|asked| args.get(*asked).is_some_and(comparing)) {
        let rest = args.split_off(asked + 1);
        args.extend(["--no-ext-diff", "--no-textconv"].map(str::to_owned));
        args.extend(rest);
    }
    args
}

/// Git takes any beginning of an option for the option.
fn abbreviates(arg: &str) -> bool {
    let name = arg.split('=').next().unwrap_or(arg);
    name.len() > 4 && GIT_REFUSED.iter().any(|it| it.starts_with(name))
}

#[cfg(unix)]
fn is_program(path: &std::path::Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &std::path::Path) -> bool {
    path.is_file()
}
